// row_offsets: some entries of some rows less a centre, copied side by side for products.
#pragma once

#include "common/views.hpp"

namespace farthing {

// IN  table (n_entries, n_rows): the rows of the data are its columns; kept (k,): the entries used; rows (m,);
//     centre (k,).   OUT offsets (k, m).
inline void row_offsets(Matrix<double> table, Span<const index_t> kept, Span<const index_t> rows,
                        Span<const double> centre, double* offsets) {
    for (index_t k = 0; k < kept.size; ++k) {
        const double* from = table.data + kept[k] * table.row_stride;
        for (index_t i = 0; i < rows.size; ++i) *offsets++ = from[rows[i]] - centre[k];
    }
}

}  // namespace farthing
