// binned_table: a table of numbers as a table of bytes, see column_bins.hpp and bin_codes.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "common/counter_rng.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "table/bin_codes.hpp"
#include "table/column_bins.hpp"
#include "table/sparse_entries.hpp"

namespace farthing {

// A sample of rows to find the bins from: one random row from each of `n_sample` equal stretches of the table,
// ascending. It depends on nothing but the two sizes.
inline std::vector<index_t> sample_rows(index_t n_rows, index_t n_sample) {
    std::vector<index_t> rows(static_cast<std::size_t>(std::min(n_rows, n_sample)));
    if (n_rows <= n_sample) {
        std::iota(rows.begin(), rows.end(), index_t{0});
        return rows;
    }
    // i * n_rows / n_sample, rounded down; the product itself could overflow.
    const auto begin = [&](index_t i) {
        return i * (n_rows / n_sample) + i * (n_rows % n_sample) / n_sample;
    };
    for (index_t i = 0; i < n_sample; ++i) {
        const index_t low = begin(i);
        const index_t high = begin(i + 1);
        rows[i] = low + static_cast<index_t>(random_bits(0, static_cast<std::uint64_t>(i)) %
                                             static_cast<std::uint64_t>(high - low));
    }
    return rows;
}

class BinnedTable {
public:
    index_t n_rows = 0;
    std::vector<ColumnBins> columns;
    BinCodes codes;
    std::vector<index_t> first_bin;  // (k + 1,): where a column's bins begin in a histogram of all columns
    SparseEntries sparse;            // entries of columns that nearly always hold the same bin

    index_t n_columns() const { return static_cast<index_t>(columns.size()); }
    CodeColumn column(index_t j) const { return codes.column(j); }
    index_t n_all_bins() const { return first_bin.back(); }

    // IN  n_categories (k,): 0 for a numeric column; n_sample: rows that bins are found from.
    template <class T>
    static BinnedTable make(const Matrix<T>& X, Span<const index_t> n_categories, index_t max_bins, index_t n_sample,
                            int n_threads) {
        BinnedTable table;
        table.columns.resize(static_cast<std::size_t>(X.n_columns));
        table.fit_bins(X, n_categories, max_bins, n_sample, n_threads);
        table.make_room(X.n_rows);
        table.encode(X, n_threads);
        table.sparse = SparseEntries::of(table.codes, table.first_bin);
        return table;
    }

    // A part of a larger table, under the bins of the whole.
    template <class T>
    static BinnedTable make_part(const Matrix<T>& X, std::vector<ColumnBins> columns, int n_threads) {
        BinnedTable table;
        table.columns = std::move(columns);
        table.make_room(X.n_rows);
        table.encode(X, n_threads);
        return table;
    }

    // Room for rows that `set_rows` fills, part by part. Sparse columns stay dense: their default bins are found as
    // totals minus the rest, and the totals of a part are not those of the whole.
    static BinnedTable empty(index_t n_rows, std::vector<ColumnBins> columns) {
        BinnedTable table;
        table.columns = std::move(columns);
        table.make_room(n_rows);
        return table;
    }
    // IN  part: the codes of the rows from `first` on.
    void set_rows(index_t first, const Matrix<std::uint8_t>& part) {
        for (index_t i = 0; i < part.n_rows; ++i) {
            for (index_t j = 0; j < n_columns(); ++j) codes.set(first + i, j, part(i, j));
        }
    }

private:
    void make_room(index_t rows) {
        n_rows = rows;
        codes = BinCodes(n_columns(), rows);
        first_bin.assign(columns.size() + 1, 0);
        for (index_t j = 0; j < n_columns(); ++j) first_bin[j + 1] = first_bin[j] + columns[j].n_bins + 1;
    }

    template <class T>
    void fit_bins(const Matrix<T>& X, Span<const index_t> n_categories, index_t max_bins, index_t n_sample,
                  int n_threads) {
        const auto rows = sample_rows(X.n_rows, n_sample);
        // Tasks of eight columns: eight consecutive doubles of a row share a cache line.
        constexpr index_t kColumnsInLine = 8;
        const index_t n_tasks = (X.n_columns + kColumnsInLine - 1) / kColumnsInLine;
        parallel_for(n_tasks, threads_for(n_threads, n_tasks), 1, [&](index_t task) {
            const index_t begin = task * kColumnsInLine;
            const index_t end = std::min(begin + kColumnsInLine, X.n_columns);
            std::vector<std::vector<double>> values(static_cast<std::size_t>(end - begin));
            for (auto& column : values) column.reserve(rows.size());
            for (const index_t row : rows) {
                for (index_t j = begin; j < end; ++j) {
                    const auto x = static_cast<double>(X(row, j));
                    if (!std::isnan(x)) values[j - begin].push_back(x);
                }
            }
            for (index_t j = begin; j < end; ++j) {
                columns[j] = n_categories[j] > 0 ? by_frequency(values[j - begin], n_categories[j], max_bins)
                                                 : by_value(values[j - begin], max_bins);
            }
        });
    }

    static ColumnBins by_value(std::vector<double>& values, index_t max_bins) {
        ColumnBins bins;
        bins.edges = quantile_edges(values, max_bins);
        bins.n_bins = static_cast<index_t>(bins.edges.size()) + 1;
        return bins;
    }

    static ColumnBins by_frequency(const std::vector<double>& values, index_t n_codes, index_t max_bins) {
        ColumnBins bins;
        bins.categorical = true;
        bins.bin_of_code.assign(static_cast<std::size_t>(n_codes), 0);
        bins.n_bins = std::min(n_codes, max_bins);
        if (n_codes <= max_bins) {
            std::iota(bins.bin_of_code.begin(), bins.bin_of_code.end(), std::uint8_t{0});
            return bins;
        }
        std::vector<index_t> count(static_cast<std::size_t>(n_codes), 0);
        for (const double x : values) {
            if (x >= 0 && x < static_cast<double>(n_codes)) ++count[static_cast<std::size_t>(x)];
        }
        std::vector<index_t> order(static_cast<std::size_t>(n_codes));
        std::iota(order.begin(), order.end(), index_t{0});
        std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return count[a] > count[b]; });
        std::sort(order.begin(), order.begin() + (max_bins - 1));  // frequent categories keep the order of their codes
        for (index_t rank = 0; rank < n_codes; ++rank) {
            bins.bin_of_code[order[rank]] = static_cast<std::uint8_t>(std::min(rank, max_bins - 1));
        }
        return bins;
    }

    template <class T>
    void encode(const Matrix<T>& X, int n_threads) {
        const index_t k = n_columns();
        std::vector<double> padded(static_cast<std::size_t>(k * 256), std::numeric_limits<double>::infinity());
        for (index_t j = 0; j < k; ++j) {
            std::copy(columns[j].edges.begin(), columns[j].edges.end(), padded.begin() + j * 256);
        }
        constexpr index_t kBlock = 512;  // rows whose values stay in the cache while all columns read them
        const index_t n_blocks = (n_rows + kBlock - 1) / kBlock;
        parallel_for(n_blocks, threads_for(n_threads, n_blocks), 1, [&](index_t block) {
            const index_t begin = block * kBlock;
            const index_t end = std::min(begin + kBlock, n_rows);
            for (index_t j = 0; j < k; ++j) {
                if (columns[j].categorical) {
                    encode_categories(X, j, begin, end);
                } else {
                    encode_numbers(X, j, begin, end, padded.data() + j * 256);
                }
            }
        });
    }

    template <class T>
    void encode_numbers(const Matrix<T>& X, index_t j, index_t begin, index_t end, const double* edges) {
        const auto missing = static_cast<std::uint8_t>(columns[j].n_bins);
        for (index_t row = begin; row < end; ++row) {
            const auto x = static_cast<double>(X(row, j));
            const std::uint8_t bin = bin_of(edges, x);  // no padding edge is below x, not even if x is infinite
            codes.set(row, j, std::isnan(x) ? missing : bin);
        }
    }

    template <class T>
    void encode_categories(const Matrix<T>& X, index_t j, index_t begin, index_t end) {
        const auto missing = static_cast<std::uint8_t>(columns[j].n_bins);
        const auto n_codes = static_cast<double>(columns[j].bin_of_code.size());
        for (index_t row = begin; row < end; ++row) {
            const auto x = static_cast<double>(X(row, j));
            const bool is_category = x >= 0 && x < n_codes;  // false for NaN
            codes.set(row, j, is_category ? columns[j].bin_of_code[static_cast<std::size_t>(x)] : missing);
        }
    }
};

}  // namespace farthing
