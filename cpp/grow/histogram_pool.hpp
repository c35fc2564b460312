// histogram_pool: a bounded number of reusable histograms.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/views.hpp"

namespace farthing {

// The bound keeps a tree with many open leaves from using more memory than its table. A leaf that gets no histogram
// has its children counted from their rows instead of by subtraction: slower, but the same sums.
class HistogramPool {
public:
    // Takes back all histograms and sets their length and maximal number.
    void reset(index_t length, index_t capacity) {
        if (length != length_) slots_.clear();
        length_ = length;
        capacity_ = capacity;
        slots_.resize(std::min(slots_.size(), static_cast<std::size_t>(capacity)));
        free_.clear();
        for (auto slot = static_cast<index_t>(slots_.size()) - 1; slot >= 0; --slot) free_.push_back(slot);
    }

    index_t acquire() {  // -1: none left
        if (free_.empty() && static_cast<index_t>(slots_.size()) == capacity_) return -1;
        if (free_.empty()) {
            slots_.emplace_back(static_cast<std::size_t>(length_));
            return static_cast<index_t>(slots_.size()) - 1;
        }
        const index_t slot = free_.back();
        free_.pop_back();
        return slot;
    }
    void release(index_t slot) {
        if (slot >= 0) free_.push_back(slot);
    }
    std::int64_t* data(index_t slot) { return slots_[static_cast<std::size_t>(slot)].data(); }

private:
    index_t length_ = 0;
    index_t capacity_ = 0;
    std::vector<std::vector<std::int64_t>> slots_;
    std::vector<index_t> free_;
};

}  // namespace farthing
