// term_scores: linear scores of some rows of a table of terms.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "common/views.hpp"
#include "linear/row_offsets.hpp"

namespace farthing {

// Terms are added one after another to the intercept, as a prediction adds them: a row has the same bits here, in a
// batch and alone.
// IN  by_term (n_terms, n_rows); rows (m,); places (k,): the terms used; coef (k, q); intercept (q,).
// OUT scores (q, m).
inline void term_scores(Matrix<double> by_term, Span<const index_t> rows, Span<const index_t> places, const double* coef,
                        Span<const double> intercept, double* scores) {
    const index_t q = intercept.size;
    const bool run = is_run(rows);
    for (index_t o = 0; o < q; ++o) std::fill_n(scores + o * rows.size, rows.size, intercept[o]);
    // Some terms at a time, so that a score is loaded and stored less often.
    constexpr index_t kAtOnce = 4;
    const auto add = [&](auto n_terms, index_t first, index_t o) {
        std::array<const double*, n_terms> term;
        std::array<double, n_terms> slope;
        for (index_t t = 0; t < n_terms; ++t) {
            term[t] = by_term.data + places[first + t] * by_term.row_stride;
            slope[t] = coef[(first + t) * q + o];
        }
        double* own = scores + o * rows.size;
        const auto add_rows = [&](auto row_of) {
            for (index_t i = 0; i < rows.size; ++i) {
                const index_t row = row_of(i);
                double sum = own[i];
                for (index_t t = 0; t < n_terms; ++t) sum += slope[t] * term[t][row];
                own[i] = sum;
            }
        };
        // A run is read without its numbers, which is vectorised.
        if (run) {
            add_rows([first_row = rows.size > 0 ? rows[0] : 0](index_t i) { return first_row + i; });
        } else {
            add_rows([&](index_t i) { return rows[i]; });
        }
    };
    for (index_t o = 0; o < q; ++o) {
        index_t k = 0;
        for (; k + kAtOnce <= places.size; k += kAtOnce) add(std::integral_constant<index_t, kAtOnce>(), k, o);
        for (; k < places.size; ++k) add(std::integral_constant<index_t, 1>(), k, o);
    }
}

}  // namespace farthing
