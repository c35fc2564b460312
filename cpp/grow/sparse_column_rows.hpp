// sparse_column_rows: the rows of a node by their bins in sparse columns (see table/sparse_entries.hpp), without
// those of each column's default bin. One pass over the entries of the rows serves all of these columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/views.hpp"
#include "table/binned_table.hpp"
#include "table/sparse_entries.hpp"

namespace farthing {

class SparseColumnRows {
public:
    // IN  columns: those that will be asked for.
    SparseColumnRows(const BinnedTable& table, const std::vector<index_t>& columns) : table_(table) {
        for (const index_t column : columns) is_needed_ = is_needed_ || lists(column);
        if (!is_needed_) return;
        begins_.resize(static_cast<std::size_t>(table.n_all_bins()));
        ends_.resize(begins_.size());
    }

    // Whether rows of this column are listed: those of its default bin are never needed, see vector_scan.hpp. Missing
    // values and categories are asked for by themselves.
    bool lists(index_t column) const {
        return !table_.sparse.columns.empty() && table_.sparse.is_sparse.has(column) &&
               !table_.columns[column].categorical && default_bin(column) < table_.columns[column].n_bins;
    }
    index_t default_bin(index_t column) const { return table_.sparse.default_bin[column]; }

    // Sorts the rows of a node.
    void sort(const index_t* rows, index_t n) {
        if (!is_needed_) return;
        const SparseEntries& sparse = table_.sparse;
        for (const index_t j : sparse.columns) {
            std::fill(ends_.begin() + table_.first_bin[j], ends_.begin() + table_.first_bin[j + 1], 0);
        }
        const auto each = [&](auto&& take) {
            for (index_t i = 0; i < n; ++i) {
                const index_t end = sparse.offsets[rows[i] + 1];
                for (index_t e = sparse.offsets[rows[i]]; e < end; ++e) take(sparse.bins[e], rows[i]);
            }
        };
        each([&](std::int32_t cell, index_t) { ++ends_[cell]; });
        index_t total = 0;
        for (const index_t j : sparse.columns) {
            for (index_t cell = table_.first_bin[j]; cell < table_.first_bin[j + 1]; ++cell) {
                begins_[cell] = total;
                total += ends_[cell];
                ends_[cell] = begins_[cell];
            }
        }
        sorted_.resize(static_cast<std::size_t>(total));
        each([&](std::int32_t cell, index_t row) { sorted_[ends_[cell]++] = static_cast<std::uint32_t>(row); });
    }

    const std::uint32_t* sorted() const { return sorted_.data(); }
    // Where the rows of a bin lie among them.
    index_t begin(index_t column, index_t bin) const { return begins_[table_.first_bin[column] + bin]; }
    index_t end(index_t column, index_t bin) const { return ends_[table_.first_bin[column] + bin]; }

private:
    const BinnedTable& table_;
    bool is_needed_ = false;
    std::vector<index_t> begins_;  // (n_all_bins,); of sparse columns alone
    std::vector<index_t> ends_;
    std::vector<std::uint32_t> sorted_;
};

}  // namespace farthing
