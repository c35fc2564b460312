// histogram: the sums of a target over the rows of a node, per column and bin.
//
// A histogram of all columns is one array of 64-bit integers; the cells of column j begin at first_bin[j] * width:
//
//     column 0: bin 0 [width sums], bin 1, ..., missing | column 1: bin 0, ..., missing | ...
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bits.hpp"
#include "common/views.hpp"
#include "grow/binary_columns.hpp"
#include "grow/split.hpp"
#include "table/bin_codes.hpp"
#include "table/binned_table.hpp"
#include "table/column_bins.hpp"
#include "table/sparse_entries.hpp"

namespace farthing {

// Columns filled in one pass over the rows: their histograms fit the L1 cache together, and a row's index and target
// are loaded once for all of them. A word's eight columns are filled together only if a cell is a single integer;
// with wider cells that was slower.
constexpr index_t kColumnsPerPass = 4;

// Row indices: a list, or a consecutive range (as at the root), which needs no loads.
struct ListedRows {
    const index_t* rows;

    index_t operator[](index_t i) const { return rows[i]; }
};
struct ConsecutiveRows {
    index_t first;

    index_t operator[](index_t i) const { return first + i; }
};

inline bool are_consecutive(const index_t* rows, index_t n) { return n > 0 && rows[n - 1] - rows[0] == n - 1; }

// The inner loops of tree growing. For columns anywhere:
template <index_t kColumns, class Target, class Rows>
inline void add_columns(const Target& target, index_t width, const CodeColumn* codes, std::int64_t* const* cells,
                        const typename Target::Row* targets, index_t n, Rows rows) {
    for (index_t i = 0; i < n; ++i) {
        const index_t row = rows[i];
        const typename Target::Row value = targets[i];
        for (index_t c = 0; c < kColumns; ++c) target.add(cells[c] + codes[c][row] * width, value);
    }
}

// And for columns of one word, starting at bit `shift`:
template <index_t kColumns, class Target, class Rows>
inline void add_word(const Target& target, index_t width, const CodeWord& words, int shift, std::int64_t* const* cells,
                     const typename Target::Row* targets, index_t n, Rows rows) {
    constexpr index_t kAhead = 32;  // prefetch distance in rows: the rows of a small node are scattered
    std::int64_t* own[kColumns];
    std::copy(cells, cells + kColumns, own);
    const auto add = [&](index_t i) {
        const std::uint64_t word = words[rows[i]] >> shift;
        const typename Target::Row value = targets[i];
        for (index_t c = 0; c < kColumns; ++c) target.add(own[c] + ((word >> (8 * c)) & 255) * width, value);
    };
    index_t i = 0;
    for (; i + kAhead < n; ++i) {
        prefetch(words.data + rows[i + kAhead] * kColumnsPerWord);
        add(i);
    }
    for (; i < n; ++i) add(i);
}

// Calls add(rows) with the cheaper kind of row indices that fits.
template <class Add>
inline void dispatch_rows(const index_t* rows, index_t n, Add&& add) {
    if (are_consecutive(rows, n)) {
        add(ConsecutiveRows{rows[0]});
    } else {
        add(ListedRows{rows});
    }
}

// The histograms of the columns of one word that are wanted, all of which have two bins. Parameters as of fill_word.
template <class Target>
void fill_binary_word(const BinnedTable& table, const Target& target, index_t word, const bool* live,
                      const index_t* rows, const typename Target::Row* targets, index_t n, std::int64_t* histogram) {
    dispatch_rows(rows, n, [&](auto row_ids) {
        const BinaryCounts counts(table.codes.word(word), targets, n, row_ids);
        for (index_t c = 0; c < kColumnsPerWord; ++c) {
            const index_t j = word * kColumnsPerWord + c;
            if (live[c]) counts.store(c, histogram + table.first_bin[j] * target.width());
        }
    });
}

// The histograms of some columns of one word.
// IN  live (8,): which columns of the word are wanted; rows (n,), ascending; targets (n,): theirs.
// OUT histogram: the cells of those columns, cleared and filled.
template <class Target>
void fill_word(const BinnedTable& table, const Target& target, index_t word, const bool* live, const index_t* rows,
               const typename Target::Row* targets, index_t n, std::int64_t* histogram) {
    if constexpr (CountsBinary<Target>::value) {
        bool binary = true;
        for (index_t c = 0; c < kColumnsPerWord; ++c) {
            binary = binary && (!live[c] || table.columns[word * kColumnsPerWord + c].n_bins == 2);
        }
        if (binary) return fill_binary_word(table, target, word, live, rows, targets, n, histogram);
    }
    const index_t width = target.width();
    const bool all = std::all_of(live, live + kColumnsPerWord, [](bool is) { return is; });
    // Unwanted columns are counted into this: cheaper than a branch per column.
    std::vector<std::int64_t> discarded(static_cast<std::size_t>(all ? 0 : (kMaxBins + 1) * width));
    std::int64_t* cells[kColumnsPerWord];
    for (index_t c = 0; c < kColumnsPerWord; ++c) {
        const index_t j = word * kColumnsPerWord + c;
        cells[c] = live[c] ? histogram + table.first_bin[j] * width : discarded.data();
        if (live[c]) std::fill(cells[c], histogram + table.first_bin[j + 1] * width, 0);
    }
    const CodeWord words = table.codes.word(word);
    dispatch_rows(rows, n, [&](auto row_ids) {
        if (width == 1) {
            add_word<kColumnsPerWord>(target, width, words, 0, cells, targets, n, row_ids);
            return;
        }
        for (index_t c = 0; c < kColumnsPerWord; c += kColumnsPerPass) {
            add_word<kColumnsPerPass>(target, width, words, static_cast<int>(8 * c), cells + c, targets, n, row_ids);
        }
    });
}

// The same for columns[0 .. n_columns), at most kColumnsPerPass.
template <class Target>
void fill_histograms(const BinnedTable& table, const Target& target, const index_t* columns, index_t n_columns,
                     const index_t* rows, const typename Target::Row* targets, index_t n, std::int64_t* histogram) {
    const index_t width = target.width();
    CodeColumn codes[kColumnsPerPass];
    std::int64_t* cells[kColumnsPerPass];
    for (index_t c = 0; c < n_columns; ++c) {
        const index_t j = columns[c];
        codes[c] = table.column(j);
        cells[c] = histogram + table.first_bin[j] * width;
        std::fill(cells[c], histogram + table.first_bin[j + 1] * width, 0);
    }
    dispatch_rows(rows, n, [&](auto row_ids) {
        if (n_columns == kColumnsPerPass) {
            add_columns<kColumnsPerPass>(target, width, codes, cells, targets, n, row_ids);
        } else {
            for (index_t c = 0; c < n_columns; ++c)
                add_columns<1>(target, width, codes + c, cells + c, targets, n, row_ids);
        }
    });
}

// The histograms of the sparse columns. The non-default bins of all of them are counted from their entries; the
// default bins only of columns[0 .. n_columns), as the total minus the other bins.
// IN  sums (width,): the total over all rows.
template <class Target>
void fill_sparse(const BinnedTable& table, const Target& target, const index_t* columns, index_t n_columns,
                 const index_t* rows, const typename Target::Row* targets, index_t n, const std::int64_t* sums,
                 std::int64_t* histogram) {
    const index_t width = target.width();
    const SparseEntries& sparse = table.sparse;
    for (const index_t j : sparse.columns) {
        std::fill(histogram + table.first_bin[j] * width, histogram + table.first_bin[j + 1] * width, 0);
    }
    for (index_t i = 0; i < n; ++i) {
        const index_t end = sparse.offsets[rows[i] + 1];
        for (index_t e = sparse.offsets[rows[i]]; e < end; ++e)
            target.add(histogram + sparse.bins[e] * width, targets[i]);
    }
    for (index_t c = 0; c < n_columns; ++c) {
        const index_t j = columns[c];
        std::int64_t* default_cell = histogram + (table.first_bin[j] + sparse.default_bin[j]) * width;
        std::copy(sums, sums + width, default_cell);
        for (std::int64_t* cell = histogram + table.first_bin[j] * width;
             cell < histogram + table.first_bin[j + 1] * width; cell += width) {
            for (index_t w = 0; cell != default_cell && w < width; ++w) default_cell[w] -= cell[w];
        }
    }
}

// The bins of a column that the rows fall into.
// IN  rows (n,).   OUT bins (n,): the bin of each row.
inline BinSet bins_present(const CodeColumn& codes, const index_t* rows, index_t n, std::uint8_t* bins) {
    BinSet present{};
    for (index_t i = 0; i < n; ++i) {
        bins[i] = codes[rows[i]];
        insert_bin(present, bins[i]);
    }
    return present;
}

// The same from the histogram of the column.
template <class Target>
BinSet bins_present(const Target& target, const std::int64_t* cells, index_t n_bins) {
    BinSet present{};
    for (index_t bin = 0; bin <= n_bins; ++bin) {
        if (target.n_rows(cells + bin * target.width()) > 0) insert_bin(present, bin);
    }
    return present;
}

inline bool is_single_bin(const BinSet& present) {
    int count = 0;
    for (const std::uint64_t word : present) count += count_ones(word);
    return count <= 1;
}

// The histogram of one column from the bins of few rows. Only the cells of present bins and the cell of missing
// values are cleared and filled; the others hold garbage.
template <class Target>
void fill_present_bins(const Target& target, const BinSet& present, const std::uint8_t* bins,
                       const typename Target::Row* targets, index_t n, index_t n_bins, std::int64_t* cells) {
    const index_t width = target.width();
    std::fill(cells + n_bins * width, cells + (n_bins + 1) * width, 0);
    for (index_t word = 0; word < static_cast<index_t>(present.size()); ++word) {
        for (std::uint64_t bits = present[word]; bits != 0; bits &= bits - 1) {
            std::int64_t* cell = cells + (word * 64 + count_trailing_zeros(bits)) * width;
            std::fill(cell, cell + width, 0);
        }
    }
    for (index_t i = 0; i < n; ++i) target.add(cells + bins[i] * width, targets[i]);
}

// sibling = parent - child, in place of the parent. Exact, because the sums are integers.
inline void subtract_histogram(const BinnedTable& table, index_t width, index_t column, const std::int64_t* child,
                               std::int64_t* parent) {
    const index_t end = table.first_bin[column + 1] * width;
    for (index_t i = table.first_bin[column] * width; i < end; ++i) parent[i] -= child[i];
}

}  // namespace farthing
