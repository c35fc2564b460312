// row_totals: what each row of a table has spent, from the features it acquired.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/views.hpp"

namespace farthing {

// The own costs of kRows rows from the first one. Their sums advance together, since each addition waits for the one
// before it. A feature that was not acquired adds 0.0, which changes no sum and is cheaper than a branch.
template <int kRows>
void own_totals(const CostSheet& sheet, Matrix<bool> acquired, index_t first, double* totals) {
    double sums[kRows] = {};
    for (index_t j = 0; j < sheet.n_features(); ++j) {
        const double own = sheet.own[j];
        for (int r = 0; r < kRows; ++r) sums[r] += acquired(first + r, j) ? own : 0.0;
    }
    std::copy(sums, sums + kRows, totals + first);
}

// The same sums as `total`, in the same order.
// IN  acquired (n, k).   OUT totals (n,).
inline void row_totals(const CostSheet& sheet, Matrix<bool> acquired, double* totals) {
    constexpr int kTogether = 8;
    index_t done = 0;
    for (; done + kTogether <= acquired.n_rows; done += kTogether) own_totals<kTogether>(sheet, acquired, done, totals);
    for (; done < acquired.n_rows; ++done) own_totals<1>(sheet, acquired, done, totals);
    const index_t n_groups = sheet.shared.size;
    if (n_groups == 0) return;
    std::vector<std::uint8_t> is_paid(static_cast<std::size_t>(n_groups));
    for (index_t i = 0; i < acquired.n_rows; ++i) {
        std::fill(is_paid.begin(), is_paid.end(), std::uint8_t{0});
        for (index_t j = 0; j < sheet.n_features(); ++j) {
            if (acquired(i, j) && sheet.group_of[j] >= 0) is_paid[sheet.group_of[j]] = 1;
        }
        for (index_t group = 0; group < n_groups; ++group) {
            if (is_paid[group]) totals[i] += sheet.shared[group];
        }
    }
}

}  // namespace farthing
