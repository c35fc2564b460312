// histogram: the sums of a target over the rows of a node, for each bin of each column.
//
// A histogram of all columns is one array of 64-bit integers; column j's bins begin at first_bin[j] * width:
//
//     column 0: bin 0 [width sums], bin 1, ... bin of missing | column 1: bin 0, ...
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "bins.hpp"
#include "common.hpp"
#include "split.hpp"

namespace farthing {

// Columns that are filled in one pass over the rows: their histograms stay in the first-level cache, and a row's number and
// target are loaded once for all of them. More were slower.
constexpr index_t kTogether = 4;

constexpr bool kBigEndian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

// The inner loops of all growing: for rows by number,
template <index_t kColumns, class Target>
inline void add_rows(const Target& target, index_t width, const std::uint8_t* const* codes, std::int64_t* const* cells,
                     const typename Target::Row* targets, index_t n, const index_t* rows) {
    for (index_t i = 0; i < n; ++i) {
        const index_t row = rows[i];
        const typename Target::Row value = targets[i];
        for (index_t c = 0; c < kColumns; ++c) target.add(cells[c] + codes[c][row] * width, value);
    }
}

// and for neighbours, from the first on, where the codes of four rows are one load.
template <index_t kColumns, class Target>
inline void add_neighbours(const Target& target, index_t width, const std::uint8_t* const* codes,
                           std::int64_t* const* cells, const typename Target::Row* targets, index_t n, index_t first) {
    index_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const typename Target::Row values[4] = {targets[i], targets[i + 1], targets[i + 2], targets[i + 3]};
        for (index_t c = 0; c < kColumns; ++c) {
            std::uint32_t four;
            std::memcpy(&four, codes[c] + first + i, 4);
            if constexpr (kBigEndian) four = __builtin_bswap32(four);
            for (index_t r = 0; r < 4; ++r) target.add(cells[c] + ((four >> (8 * r)) & 255) * width, values[r]);
        }
    }
    for (; i < n; ++i) {
        for (index_t c = 0; c < kColumns; ++c) target.add(cells[c] + codes[c][first + i] * width, targets[i]);
    }
}

// For rows by number that lie far apart: columns whose codes share a word, from the lowest byte on.
template <index_t kColumns, class Target>
inline void add_words(const Target& target, index_t width, const std::uint64_t* words, int shift,
                      std::int64_t* const* cells, const typename Target::Row* targets, index_t n, const index_t* rows) {
    constexpr index_t kAhead = 32;  // rows whose words are on their way while one is added
    std::int64_t* own[kColumns];
    std::copy(cells, cells + kColumns, own);
    const auto add = [&](index_t i) {
        const std::uint64_t word = words[rows[i]] >> shift;
        const typename Target::Row value = targets[i];
        for (index_t c = 0; c < kColumns; ++c) target.add(own[c] + ((word >> (8 * c)) & 255) * width, value);
    };
    index_t i = 0;
    for (; i + kAhead < n; ++i) {
        __builtin_prefetch(words + rows[i + kAhead]);
        add(i);
    }
    for (; i < n; ++i) add(i);
}

// The histograms of the live columns of one word.
// IN  live (8,): which columns of the word are wanted.   OUT histogram: their cells zeroed and filled.
template <class Target>
void fill_word(const BinnedTable& table, const Target& target, index_t word, const bool* live, const index_t* rows,
               const typename Target::Row* targets, index_t n, std::int64_t* histogram) {
    const index_t width = target.width();
    const bool all = std::all_of(live, live + Eights::kColumns, [](bool is) { return is; });
    std::vector<std::int64_t> sink(static_cast<std::size_t>(all ? 0 : (kMaxBins + 1) * width));  // for the others
    std::int64_t* cells[Eights::kColumns];
    for (index_t c = 0; c < Eights::kColumns; ++c) {
        const index_t j = table.eights.columns[word * Eights::kColumns + c];
        cells[c] = live[c] ? histogram + table.first_bin[j] * width : sink.data();
        if (live[c]) std::fill(cells[c], histogram + table.first_bin[j + 1] * width, 0);
    }
    const std::uint64_t* words = table.eights.words.data() + word * table.n_rows;
    if (width == 1) {
        add_words<Eights::kColumns>(target, width, words, 0, cells, targets, n, rows);
        return;
    }
    for (index_t c = 0; c < Eights::kColumns; c += kTogether) {
        add_words<kTogether>(target, width, words, static_cast<int>(8 * c), cells + c, targets, n, rows);
    }
}

inline bool are_neighbours(const index_t* rows, index_t n) { return n > 0 && rows[n - 1] - rows[0] == n - 1; }

// Adds the rows to the histograms of columns[0 .. n_columns), at most kTogether.
// IN  rows (n,) ascending row numbers; targets (n,) their targets.   OUT histogram: zeroed and filled.
template <class Target>
void fill_histograms(const BinnedTable& table, const Target& target, const index_t* columns, index_t n_columns,
                     const index_t* rows, const typename Target::Row* targets, index_t n,
                     std::int64_t* histogram) {
    const index_t width = target.width();
    const std::uint8_t* codes[kTogether];
    std::int64_t* cells[kTogether];
    for (index_t c = 0; c < n_columns; ++c) {
        const index_t j = columns[c];
        codes[c] = table.column(j);
        cells[c] = histogram + table.first_bin[j] * width;
        std::fill(cells[c], histogram + table.first_bin[j + 1] * width, 0);
    }
    const bool neighbours = are_neighbours(rows, n);  // as at the root: no row numbers to load
    const auto add = [&](auto together, index_t c) {
        constexpr index_t kColumns = decltype(together)::value;
        if (neighbours) {
            add_neighbours<kColumns>(target, width, codes + c, cells + c, targets, n, rows[0]);
        } else {
            add_rows<kColumns>(target, width, codes + c, cells + c, targets, n, rows);
        }
    };
    if (n_columns == kTogether) {
        add(std::integral_constant<index_t, kTogether>{}, 0);
    } else {
        for (index_t c = 0; c < n_columns; ++c) add(std::integral_constant<index_t, 1>{}, c);
    }
}

// The histograms of all columns with rare entries, counted from these; the common bins of columns[0 .. n_columns) alone.
// IN  sums (width,): of all the rows.
template <class Target>
void fill_rare(const BinnedTable& table, const Target& target, const index_t* columns, index_t n_columns,
               const index_t* rows, const typename Target::Row* targets, index_t n, const std::int64_t* sums,
               std::int64_t* histogram) {
    const index_t width = target.width();
    const RareEntries& rare = table.rare;
    for (const index_t j : rare.columns) {
        std::fill(histogram + table.first_bin[j] * width, histogram + table.first_bin[j + 1] * width, 0);
    }
    for (index_t i = 0; i < n; ++i) {
        const index_t end = rare.offsets[rows[i] + 1];
        for (index_t e = rare.offsets[rows[i]]; e < end; ++e) target.add(histogram + rare.bins[e] * width, targets[i]);
    }
    for (index_t c = 0; c < n_columns; ++c) {
        const index_t j = columns[c];
        std::int64_t* common = histogram + (table.first_bin[j] + rare.common[j]) * width;
        std::copy(sums, sums + width, common);
        for (std::int64_t* cell = histogram + table.first_bin[j] * width;
             cell < histogram + table.first_bin[j + 1] * width; cell += width) {
            for (index_t w = 0; cell != common && w < width; ++w) common[w] -= cell[w];
        }
    }
}

// The bins of a column that the rows are in.
// IN  rows (n,).   OUT bins (n,): the bin of each row.
inline BinSet bins_present(const std::uint8_t* codes, const index_t* rows, index_t n, std::uint8_t* bins) {
    BinSet present{};
    for (index_t i = 0; i < n; ++i) {
        bins[i] = codes[rows[i]];
        put_in(present, bins[i]);
    }
    return present;
}

inline bool one_bin(const BinSet& present) {
    int count = 0;
    for (const std::uint64_t word : present) count += __builtin_popcountll(word);
    return count <= 1;
}

// The histogram of one column from the bins of few rows: only the cells of the bins that are there, and that of missing
// values, are cleared and filled; the others keep what they held.
template <class Target>
void fill_present(const Target& target, const BinSet& present, const std::uint8_t* bins,
                  const typename Target::Row* targets, index_t n, index_t n_bins, std::int64_t* cells) {
    const index_t width = target.width();
    std::fill(cells + n_bins * width, cells + (n_bins + 1) * width, 0);
    for (index_t word = 0; word < static_cast<index_t>(present.size()); ++word) {
        for (std::uint64_t bits = present[word]; bits != 0; bits &= bits - 1) {
            std::int64_t* cell = cells + (word * 64 + __builtin_ctzll(bits)) * width;
            std::fill(cell, cell + width, 0);
        }
    }
    for (index_t i = 0; i < n; ++i) target.add(cells + bins[i] * width, targets[i]);
}

// sibling = parent - child, in the parent's place. Exact, since the sums are integers.
inline void subtract_histogram(const BinnedTable& table, index_t width, index_t column, const std::int64_t* child,
                               std::int64_t* parent) {
    const index_t end = table.first_bin[column + 1] * width;
    for (index_t i = table.first_bin[column] * width; i < end; ++i) parent[i] -= child[i];
}

// A bounded number of histograms, so that a tree of many open leaves does not outgrow the table it learns from. A leaf
// that gets none has its children counted from their rows instead of by subtraction: slower, the same sums.
class HistogramPool {
public:
    // Takes all histograms back and sets their length and their greatest number.
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
