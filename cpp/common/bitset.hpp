// bitset: a set of small integers (features, groups, category codes), one bit each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bits.hpp"
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

// Writes the integers below n of a set as flags, eight at a time.   IN words (n_words(n),).   OUT flags (n,).
inline void write_flags(const std::uint64_t* words, index_t n, bool* flags) {
    static_assert(sizeof(bool) == 1, "flags are bytes");
    index_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const std::uint64_t eight = (words[i >> 6] >> (i & 63)) & 0xff;
        // Bit k alone in byte k; adding 127 moves it, wherever it is, to the highest bit of its byte.
        const std::uint64_t apart = (eight * 0x0101010101010101ULL) & 0x8040201008040201ULL;
        const std::uint64_t ones = ((apart + 0x7f7f7f7f7f7f7f7fULL) >> 7) & 0x0101010101010101ULL;
        store_word(ones, reinterpret_cast<std::uint8_t*>(flags + i));
    }
    for (; i < n; ++i) flags[i] = (words[i >> 6] >> (i & 63)) & 1u;
}

// The same for sets [begin, end) of a table. Neighbours are often equal, so that their flags can be copied.
// IN words (rows, n_words(n)).   OUT flags (rows, n).
inline void write_flags(const std::uint64_t* words, index_t n, index_t begin, index_t end, bool* flags) {
    const index_t size = Bitset::n_words(n);
    for (index_t row = begin; row < end; ++row) {
        const std::uint64_t* own = words + row * size;
        bool* out = flags + row * n;
        if (row > begin && std::equal(own, own + size, own - size)) {
            std::copy(out - n, out, out);
        } else {
            write_flags(own, n, out);
        }
    }
}

}  // namespace farthing
