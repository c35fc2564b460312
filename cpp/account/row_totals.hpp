// row_totals: what each row of a table has spent, from the features it acquired.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/views.hpp"

namespace farthing {

// The same sums as `total`, in the same order.
// IN  acquired (n, k).   OUT totals (n,).
inline void row_totals(const CostSheet& sheet, Matrix<bool> acquired, double* totals) {
    const index_t n_groups = sheet.shared.size;
    std::vector<std::uint8_t> is_paid(static_cast<std::size_t>(n_groups));
    for (index_t i = 0; i < acquired.n_rows; ++i) {
        double sum = 0.0;
        // A feature that was not acquired adds 0.0, which changes no sum and is cheaper than a branch.
        for (index_t j = 0; j < sheet.n_features(); ++j) sum += acquired(i, j) ? sheet.own[j] : 0.0;
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
