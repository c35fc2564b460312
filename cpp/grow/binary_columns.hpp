// binary_columns: the histograms of columns with two bins, several columns at a time.
//
// Counted one by one, each row changes a cell of each column in memory, nearly always one that the row before has
// changed. Here the sums of the second bin stay in registers: whether a row belongs to it is a mask. The first bin is
// the total minus the others. Sums are integers, so the cells are those of any other way to count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "common/bits.hpp"
#include "common/simd_quad.hpp"
#include "common/simd_words.hpp"
#include "common/views.hpp"
#include "table/bin_codes.hpp"

namespace farthing {

constexpr index_t kBinaryLanes = 4;  // columns in one vector

// Targets whose cells are a sum of gradients, one of hessians and the number of rows.
template <class Target, class = void>
struct CountsBinary : std::false_type {};
template <class Target>
struct CountsBinary<Target, std::void_t<decltype(Target::Row::g), decltype(Target::Row::h)>> : std::true_type {};

// The sums of four columns over some rows of each.
struct BinarySums {
    SimdWords gradients = {0, 0, 0, 0};
    SimdWords hessians = {0, 0, 0, 0};
    SimdWords rows = {0, 0, 0, 0};

    // IN  bits: in each lane, 1 if the row is one of them, else 0.
    template <class Row>
    FARTHING_INLINE void add(const SimdWords& bits, const Row& row) {
        const auto g = static_cast<std::uint64_t>(row.g);
        const auto h = static_cast<std::uint64_t>(row.h);
        const SimdWords mask = SimdWords{0, 0, 0, 0} - bits;
        gradients += SimdWords{g, g, g, g} & mask;
        hessians += SimdWords{h, h, h, h} & mask;
        rows += bits;
    }
};

// The sums over all rows, and all codes that occurred.
struct BinaryTotal {
    std::uint64_t gradients = 0;
    std::uint64_t hessians = 0;
    std::uint64_t codes = 0;  // those of all rows, joined by or; the first column is the lowest byte

    // Whether any column has a missing value, whose code is 2.
    bool has_missing() const { return (codes & 0x0202020202020202u) != 0; }
};

// The sums of the eight columns of a word over the rows whose codes have a 1 at place `bit`.
// IN  rows[i], targets[i] for i < n.   OUT sums: of the first and of the last four columns.
template <class Row, class Rows>
FARTHING_INLINE void count_binary_any(const CodeWord& words, std::uint64_t bit, const Row* targets, index_t n,
                                      const Rows& rows, BinarySums* sums, BinaryTotal& total) {
    constexpr index_t kAhead = 32;  // prefetch distance in rows, as in histogram.hpp
    const SimdWords one = {1, 1, 1, 1};
    const SimdWords first = {bit, bit + 8, bit + 16, bit + 24};
    const SimdWords last = {bit + 32, bit + 40, bit + 48, bit + 56};
    BinarySums low;
    BinarySums high;
    BinaryTotal own;
    for (index_t i = 0; i < n; ++i) {
        prefetch(words.data + rows[std::min(i + kAhead, n - 1)] * kColumnsPerWord);
        const std::uint64_t word = words[rows[i]];
        const SimdWords codes = {word, word, word, word};
        low.add((codes >> first) & one, targets[i]);
        high.add((codes >> last) & one, targets[i]);
        own.gradients += static_cast<std::uint64_t>(targets[i].g);
        own.hessians += static_cast<std::uint64_t>(targets[i].h);
        own.codes |= word;
    }
    sums[0] = low;
    sums[1] = high;
    total = own;
}

template <class Row, class Rows>
FARTHING_AVX2 void count_binary_avx2(const CodeWord& words, std::uint64_t bit, const Row* targets, index_t n,
                                     const Rows& rows, BinarySums* sums, BinaryTotal& total) {
    count_binary_any(words, bit, targets, n, rows, sums, total);
}
template <class Row, class Rows>
void count_binary_plain(const CodeWord& words, std::uint64_t bit, const Row* targets, index_t n, const Rows& rows,
                        BinarySums* sums, BinaryTotal& total) {
    count_binary_any(words, bit, targets, n, rows, sums, total);
}

// The sums of the columns of a word in all their bins.
class BinaryCounts {
public:
    template <class Row, class Rows>
    BinaryCounts(const CodeWord& words, const Row* targets, index_t n, const Rows& rows)
        : n_(static_cast<std::uint64_t>(n)) {
        count(words, 0, targets, n, rows, second_);
        if (total_.has_missing()) count(words, 1, targets, n, rows, missing_);
    }

    // OUT cells (3, 3): both bins of the column at a place in the word, then missing values.
    void store(index_t place, std::int64_t* cells) const {
        constexpr index_t kWidth = 3;
        const index_t vector = place / kBinaryLanes;
        const auto lane = static_cast<int>(place % kBinaryLanes);
        const BinarySums& in = second_[vector];
        const BinarySums& no = missing_[vector];
        const std::uint64_t sums[3][kWidth] = {
            {total_.gradients, total_.hessians, n_},
            {in.gradients[lane], in.hessians[lane], in.rows[lane]},
            {no.gradients[lane], no.hessians[lane], no.rows[lane]},
        };
        for (index_t w = 0; w < kWidth; ++w) {
            cells[w] = static_cast<std::int64_t>(sums[0][w] - sums[1][w] - sums[2][w]);
            cells[kWidth + w] = static_cast<std::int64_t>(sums[1][w]);
            cells[2 * kWidth + w] = static_cast<std::int64_t>(sums[2][w]);
        }
    }

private:
    BinarySums second_[kColumnsPerWord / kBinaryLanes];
    BinarySums missing_[kColumnsPerWord / kBinaryLanes];
    BinaryTotal total_;
    std::uint64_t n_;

    template <class Row, class Rows>
    void count(const CodeWord& words, std::uint64_t bit, const Row* targets, index_t n, const Rows& rows,
               BinarySums* sums) {
        if (has_avx2()) {
            count_binary_avx2(words, bit, targets, n, rows, sums, total_);
        } else {
            count_binary_plain(words, bit, targets, n, rows, sums, total_);
        }
    }
};

}  // namespace farthing
