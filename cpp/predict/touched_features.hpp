// touched_features: records which features the rows of a block have tested.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/views.hpp"
#include "predict/compiled_forest.hpp"

namespace farthing {

// After some trees most rows have touched every feature that the trees test, and nothing is left to record.
template <index_t kRows>
class TouchedFeatures {
public:
    // For trees [begin, end).   OUT touched (n, words), or null: nothing is recorded.
    TouchedFeatures(const CompiledForest& trees, index_t begin, index_t end, std::uint64_t* touched)
        : trees_(trees), n_words_(trees.n_words()), stride_(trees.mask_stride()), touched_(touched),
          words_(touched ? static_cast<std::size_t>(kRows * stride_) : 0) {
        if (!trees.keeps_masks()) return;
        for (index_t t = begin; t < end; ++t) {
            for (index_t w = 0; w < n_words_; ++w) tested_[w] |= trees.tested(t)[w];
        }
    }

    // Starts a block of n rows.   IN numbers (n,): their indices in the table.
    void begin(const index_t* numbers, index_t n) {
        if (!touched_) return;
        n_ = n;
        for (index_t r = 0; r < n; ++r) {
            const std::uint64_t* from = touched_ + numbers[r] * n_words_;
            std::copy(from, from + n_words_, words_.data() + r * stride_);
        }
        if (trees_.keeps_masks()) refresh();
    }

    // Ends it.
    void end(const index_t* numbers) {
        if (!touched_) return;
        for (index_t r = 0; r < n_; ++r) {
            const std::uint64_t* from = words_.data() + r * stride_;
            std::copy(from, from + n_words_, touched_ + numbers[r] * n_words_);
        }
    }

    // Whether a tree may test a feature that some row has not touched yet.
    bool may_add(index_t t) {
        if (!touched_) return false;
        if (!trees_.keeps_masks()) return true;
        if (!adds(t)) return false;
        if (++trees_since_refresh_ <= kTreesBetweenRefreshes) return true;
        refresh();
        return adds(t);
    }

    // The sets of the rows, (kRows, stride of masks).
    std::uint64_t* words() { return words_.data(); }

    // Records what rows touch in a tree: touch(row of the block, words of the row).
    template <class Touch>
    void add(Touch touch) {
        for (index_t r = 0; r < n_; ++r) touch(r, words_.data() + r * stride_);
    }

private:
    static constexpr index_t kTreesBetweenRefreshes = 8;

    const CompiledForest& trees_;
    const index_t n_words_;
    const index_t stride_;
    std::uint64_t* touched_;
    std::vector<std::uint64_t> words_;
    std::uint64_t tested_[CompiledForest::kMaskWords] = {};     // features that any tree tests
    std::uint64_t untouched_[CompiledForest::kMaskWords] = {};  // of those, the ones that some row has not touched
    index_t n_ = 0;
    index_t trees_since_refresh_ = 0;

    bool adds(index_t t) const {
        const std::uint64_t* tested = trees_.tested(t);
        std::uint64_t any = 0;
        for (index_t w = 0; w < n_words_; ++w) any |= tested[w] & untouched_[w];
        return any != 0;
    }

    void refresh() {
        trees_since_refresh_ = 0;
        for (index_t w = 0; w < n_words_; ++w) {
            std::uint64_t by_all = ~std::uint64_t{0};
            for (index_t r = 0; r < n_; ++r) by_all &= words_[static_cast<std::size_t>(r * stride_ + w)];
            untouched_[w] = tested_[w] & ~by_all;
        }
    }
};

}  // namespace farthing
