// row_totals: what each row of a table has spent, from the features it acquired.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/views.hpp"

namespace farthing {

// The own costs of the features of one row.
inline double own_total(const CostSheet& sheet, Matrix<bool> acquired, index_t row) {
    double sum = 0.0;
    index_t j = 0;
    if (acquired.column_stride == 1) {
        // Most rows acquired few features: eight flags are looked at together, and what was not acquired is skipped,
        // which changes no sum.
        const bool* flags = &acquired(row, 0);
        for (; j + 8 <= sheet.n_features(); j += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, flags + j, sizeof eight);
            if (eight == 0) continue;
            for (index_t k = j; k < j + 8; ++k) sum += flags[k] ? sheet.own[k] : 0.0;
        }
    }
    for (; j < sheet.n_features(); ++j) sum += acquired(row, j) ? sheet.own[j] : 0.0;
    return sum;
}

// The same sums as `total`, in the same order.
// IN  acquired (n, k).   OUT totals (n,).
inline void row_totals(const CostSheet& sheet, Matrix<bool> acquired, double* totals) {
    const index_t n_groups = sheet.shared.size;
    std::vector<std::uint8_t> is_paid(static_cast<std::size_t>(n_groups));
    for (index_t i = 0; i < acquired.n_rows; ++i) {
        double sum = own_total(sheet, acquired, i);
        if (n_groups > 0) {
            std::fill(is_paid.begin(), is_paid.end(), std::uint8_t{0});
            for (index_t j = 0; j < sheet.n_features(); ++j) {
                if (acquired(i, j) && sheet.group_of[j] >= 0) is_paid[sheet.group_of[j]] = 1;
            }
            for (index_t group = 0; group < n_groups; ++group) {
                if (is_paid[group]) sum += sheet.shared[group];
            }
        }
        totals[i] = sum;
    }
}

}  // namespace farthing
