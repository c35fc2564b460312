// sparse_entries: columns in which nearly all rows fall into one default bin, such as one-hot indicators, stored row
// by row (CSR) by their other entries.
//
// The histogram of such a column is counted from these entries alone; the default bin gets the total of all rows
// minus the other bins.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/bitset.hpp"
#include "common/views.hpp"
#include "table/bin_codes.hpp"

namespace farthing {

struct SparseEntries {
    std::vector<index_t> columns;           // the sparse columns, ascending
    Bitset is_sparse;                       // the same columns as a set
    std::vector<std::uint8_t> default_bin;  // (k,): the default bin of each sparse column
    std::vector<index_t> offsets;           // (n + 1,): where a row's entries begin
    // One per entry, by row and then column: its cell in a histogram of all columns.
    std::vector<std::int32_t> bins;

    // IN  first_bin (k + 1,): where a column's bins begin in a histogram of all columns.
    static SparseEntries of(const BinCodes& codes, const std::vector<index_t>& first_bin) {
        const index_t n_rows = codes.n_rows();
        const auto k = static_cast<index_t>(first_bin.size()) - 1;
        SparseEntries sparse;
        sparse.is_sparse = Bitset(k);
        sparse.default_bin.assign(static_cast<std::size_t>(k), 0);
        sparse.offsets.assign(static_cast<std::size_t>(n_rows + 1), 0);
        if (first_bin.back() > std::numeric_limits<std::int32_t>::max()) return sparse;
        for (index_t j = 0; j < k; ++j) {
            const CodeColumn column = codes.column(j);
            if (!is_dominant(most_frequent(column, n_rows, stride(n_rows)))) continue;
            const BinCount found = most_frequent(column, n_rows, 1);
            if (!is_dominant(found)) continue;
            sparse.columns.push_back(j);
            sparse.is_sparse.add(j);
            sparse.default_bin[j] = found.bin;
            for (index_t row = 0; row < n_rows; ++row) sparse.offsets[row + 1] += column[row] != found.bin;
        }
        for (index_t row = 0; row < n_rows; ++row) sparse.offsets[row + 1] += sparse.offsets[row];
        sparse.bins.resize(static_cast<std::size_t>(sparse.offsets.back()));
        std::vector<index_t> next(sparse.offsets.begin(), sparse.offsets.end() - 1);
        for (const index_t j : sparse.columns) {
            const CodeColumn column = codes.column(j);
            for (index_t row = 0; row < n_rows; ++row) {
                if (column[row] == sparse.default_bin[j]) continue;
                sparse.bins[next[row]++] = static_cast<std::int32_t>(first_bin[j] + column[row]);
            }
        }
        return sparse;
    }

private:
    struct BinCount {
        std::uint8_t bin = 0;
        index_t count = 0;
        index_t of = 0;
    };

    // Seven eighths or more: reading an entry costs more than reading a code of a column from end to end.
    static bool is_dominant(const BinCount& found) { return found.of > 0 && 8 * found.count >= 7 * found.of; }

    // Step of a first look at about 64 rows, which rules out most columns.
    static index_t stride(index_t n_rows) { return std::max<index_t>(1, n_rows / 64); }

    static BinCount most_frequent(const CodeColumn& column, index_t n_rows, index_t step) {
        std::array<index_t, 256> counts{};
        BinCount found;
        for (index_t row = 0; row < n_rows; row += step) {
            ++counts[column[row]];
            ++found.of;
        }
        const auto top = std::max_element(counts.begin(), counts.end());
        found.bin = static_cast<std::uint8_t>(top - counts.begin());
        found.count = *top;
        return found;
    }
};

}  // namespace farthing
