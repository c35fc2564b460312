// row_offsets: some entries of some rows less a centre, copied side by side for products.
#pragma once

#include <algorithm>

#include "common/views.hpp"

namespace farthing {

// Whether rows are one run: each follows the one before it.
inline bool is_run(Span<const index_t> rows) {
    index_t apart = 0;  // without a branch, so that the loop is vectorised
    for (index_t i = 0; i < rows.size; ++i) apart |= rows[i] - rows[0] - i;
    return apart == 0;
}

// IN  table (n_entries, n_rows): the rows of the data are its columns; kept (k,): the entries used; rows (m,);
//     centre (k,).   OUT offsets (k, m).
inline void row_offsets(Matrix<double> table, Span<const index_t> kept, Span<const index_t> rows,
                        Span<const double> centre, double* offsets) {
    const bool run = is_run(rows);
    for (index_t k = 0; k < kept.size; ++k) {
        const double* from = table.data + kept[k] * table.row_stride;
        double* to = offsets + k * rows.size;
        if (run && rows.size > 0) {
            from += rows[0];
            for (index_t i = 0; i < rows.size; ++i) to[i] = from[i] - centre[k];
        } else {
            for (index_t i = 0; i < rows.size; ++i) to[i] = from[rows[i]] - centre[k];
        }
    }
}

// The same with a further entry of 1, and all of them times the weights of the rows: the product of both holds the
// sums of the offsets and of the weights, too.
// IN  weights (m,), or empty for 1 each.   OUT offsets (k + 1, m); weighed (k + 1, m), unused without weights.
inline void weighed_offsets(Matrix<double> table, Span<const index_t> kept, Span<const index_t> rows,
                            Span<const double> centre, Span<const double> weights, double* offsets, double* weighed) {
    row_offsets(table, kept, rows, centre, offsets);
    std::fill_n(offsets + kept.size * rows.size, rows.size, 1.0);
    if (weights.size == 0) return;
    for (index_t k = 0; k <= kept.size; ++k) {
        const double* from = offsets + k * rows.size;
        double* to = weighed + k * rows.size;
        for (index_t i = 0; i < rows.size; ++i) to[i] = from[i] * weights[i];
    }
}

}  // namespace farthing
