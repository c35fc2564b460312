// bitset: a set of small integers (features, groups, category codes), one bit each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/views.hpp"

namespace farthing {

// Integer i is bit i % 64 of word i / 64. The words go to Python as they are, so this layout is part of the
// interface. Up to 64 integers need no memory of their own: leaves of trees copy their sets.
class Bitset {
public:
    Bitset() = default;
    explicit Bitset(index_t size) : size_(n_words(size)) {
        if (size_ > 1) many_.resize(static_cast<std::size_t>(size_), 0);
    }

    static index_t n_words(index_t size) { return (size + 63) / 64; }

    bool has(index_t i) const { return (words()[i >> 6] >> (i & 63)) & 1u; }
    void add(index_t i) {
        std::uint64_t* all = size_ > 1 ? many_.data() : &single_;
        all[i >> 6] |= std::uint64_t{1} << (i & 63);
    }
    void clear() {
        single_ = 0;
        many_.assign(many_.size(), 0);
    }
    const std::uint64_t* words() const { return size_ > 1 ? many_.data() : &single_; }
    bool operator==(const Bitset& other) const { return single_ == other.single_ && many_ == other.many_; }

private:
    index_t size_ = 0;
    std::uint64_t single_ = 0;         // the only word, if there is one
    std::vector<std::uint64_t> many_;  // all words, if there are more
};

}  // namespace farthing
