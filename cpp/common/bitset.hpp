// bitset: a set of small integers (features, groups, category codes), one bit each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/views.hpp"

namespace farthing {

// Integer i is bit i % 64 of word i / 64. The words go to Python as they are, so this layout is part of the
// interface.
class Bitset {
public:
    Bitset() = default;
    explicit Bitset(index_t size) : words_(static_cast<std::size_t>(n_words(size)), 0) {}

    static index_t n_words(index_t size) { return (size + 63) / 64; }

    bool has(index_t i) const { return (words_[static_cast<std::size_t>(i >> 6)] >> (i & 63)) & 1u; }
    void add(index_t i) { words_[static_cast<std::size_t>(i >> 6)] |= std::uint64_t{1} << (i & 63); }
    void clear() { words_.assign(words_.size(), 0); }
    const std::uint64_t* words() const { return words_.data(); }
    bool operator==(const Bitset& other) const { return words_ == other.words_; }

private:
    std::vector<std::uint64_t> words_;
};

}  // namespace farthing
