// bit_planes: columns with very few bins as bitmaps, to sum targets per bin without visiting every row.
//
// A plane has one bit per row: is the row in this bin? For every four rows, the sums of all 16 subsets of their
// targets are tabulated once (15 additions), and each plane looks up its four bits: a quarter of an addition per row
// and plane, where a histogram needs one addition and one address computation. The sums are the same integers.
//
//     targets of rows 4g .. 4g+3 -> table g: [0, t0, t1, t0+t1, t2, ...]
//     plane bits 4g .. 4g+3      -> index into table g
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/threads.hpp"
#include "common/views.hpp"
#include "table/binned_table.hpp"

namespace farthing {

class BitPlanes {
public:
    // A column is stored as planes if at most this many bins (missing included), besides one more, hold any rows.
    static constexpr index_t kMaxPlanes = 2;

    // IN counts (all bins,): rows per bin. Empty bins need no plane.
    BitPlanes(const BinnedTable& table, const std::int64_t* counts)
        : table_(table), n_words_((table.n_rows + 63) / 64), is_kept_(static_cast<std::size_t>(table.n_columns()), 0) {
        for (index_t j = 0; j < table.n_columns(); ++j) add_column(j, counts + table.first_bin[j]);
    }

    bool has(index_t column) const { return is_kept_[static_cast<std::size_t>(column)] != 0; }
    index_t n_columns() const { return static_cast<index_t>(columns_.size()); }

    // IN  targets (n,); total: their sum.   OUT sums (all bins,): filled for the stored columns.
    void fill(const std::int64_t* targets, std::int64_t total, std::int64_t* sums, int n_threads) const {
        // Each thread builds the tables for itself, which pays only if it looks up many planes in them.
        constexpr index_t kPlanesInTask = 64;
        const auto n_planes = static_cast<index_t>(bins_.size());
        const bool worth_threads = n_planes * n_words_ > (index_t{1} << 15);
        const int threads = worth_threads ? threads_for(n_threads, (n_planes + kPlanesInTask - 1) / kPlanesInTask) : 1;
        const index_t share = (n_planes + threads - 1) / threads;
        on_threads(threads, [&](int thread) {
            const index_t begin = thread * share;
            const index_t end = std::min(begin + share, n_planes);
            for (index_t p = begin; p < end; ++p) sums[bins_[p]] = 0;
            std::vector<std::int64_t> tables(kGroupsInWord * kWordsInBlock * 16);
            for (index_t block = 0; block < n_words_; block += kWordsInBlock) {
                const index_t n = std::min(kWordsInBlock, n_words_ - block);
                make_tables(targets, block, n, tables.data());
                for (index_t p = begin; p < end; ++p) {
                    sums[bins_[p]] += sum_plane(words_.data() + p * n_words_ + block, n, tables.data());
                }
            }
        });
        for (const KeptColumn& column : columns_) {
            const index_t first = table_.first_bin[column.column];
            const index_t last = table_.first_bin[column.column + 1];
            std::int64_t rest_bin = total;
            for (index_t bin = first; bin < last; ++bin) {
                if (!is_plane_[bin]) sums[bin] = 0;
                rest_bin -= sums[bin];
            }
            sums[column.rest_bin] = rest_bin;
        }
    }

private:
    static constexpr index_t kWordsInBlock = 8;   // 512 rows, whose tables take 16 KiB
    static constexpr index_t kGroupsInWord = 16;  // of four rows each, with a table each

    struct KeptColumn {
        index_t column;
        index_t rest_bin;  // the bin without a plane, as an index among all bins: total minus the other bins
    };

    const BinnedTable& table_;
    index_t n_words_;
    std::vector<std::uint8_t> is_kept_;   // (columns,)
    std::vector<std::uint8_t> is_plane_;  // (all bins,)
    std::vector<KeptColumn> columns_;
    std::vector<index_t> bins_;           // (planes,): the bin of each, as an index among all bins
    std::vector<std::uint64_t> words_;    // (planes, n_words): bit i of word w is row 64 w + i

    void add_column(index_t column, const std::int64_t* counts) {
        const index_t n_bins = table_.columns[column].n_bins + 1;
        const index_t first = table_.first_bin[column];
        is_plane_.resize(static_cast<std::size_t>(table_.n_all_bins()), 0);
        std::vector<index_t> filled;
        for (index_t bin = 0; bin < n_bins; ++bin) {
            if (counts[bin] > 0) filled.push_back(bin);
        }
        if (filled.empty() || static_cast<index_t>(filled.size()) > kMaxPlanes + 1) return;
        is_kept_[static_cast<std::size_t>(column)] = 1;
        columns_.push_back({column, first + filled[0]});
        const auto codes = table_.column(column);
        for (std::size_t i = 1; i < filled.size(); ++i) {
            is_plane_[first + filled[i]] = 1;
            bins_.push_back(first + filled[i]);
            const std::size_t start = words_.size();
            words_.resize(start + static_cast<std::size_t>(n_words_), 0);
            for (index_t row = 0; row < table_.n_rows; ++row) {
                if (codes[row] == filled[i]) words_[start + (row >> 6)] |= std::uint64_t{1} << (row & 63);
            }
        }
    }

    // Entry s of table g is the sum of the targets of those rows 4 g + i for which s has bit i.
    void make_tables(const std::int64_t* targets, index_t block, index_t n, std::int64_t* tables) const {
        for (index_t group = 0; group < kGroupsInWord * n; ++group) {
            std::int64_t* table = tables + group * 16;
            table[0] = 0;
            for (index_t i = 0; i < 4; ++i) {
                const index_t row = block * 64 + group * 4 + i;
                const std::int64_t target = row < table_.n_rows ? targets[row] : 0;
                for (index_t s = 0; s < (index_t{1} << i); ++s) table[s + (index_t{1} << i)] = table[s] + target;
            }
        }
    }

    static std::int64_t sum_plane(const std::uint64_t* words, index_t n, const std::int64_t* tables) {
        std::int64_t even = 0;
        std::int64_t odd = 0;
        for (index_t w = 0; w < n; ++w) {
            const std::int64_t* table = tables + kGroupsInWord * 16 * w;
            for (int group = 0; group < kGroupsInWord; group += 2) {
                even += table[16 * group + ((words[w] >> (4 * group)) & 15)];
                odd += table[16 * group + 16 + ((words[w] >> (4 * group + 4)) & 15)];
            }
        }
        return even + odd;
    }
};

}  // namespace farthing
