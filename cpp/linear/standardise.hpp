// standardise: the columns of a table as terms of mean 0 and variance 1, each one contiguous.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/pairwise_sum.hpp"
#include "common/views.hpp"

namespace farthing {

struct MeanAndScale {
    double mean = 0;
    double scale = 1;
};

// IN  weights (n,), of the sum total.   INOUT term (n,): becomes (term - mean) / scale.
inline MeanAndScale standardise(double* term, Span<const double> weights, double total) {
    const index_t n = weights.size;
    const double* weight = weights.data;
    const double mean = pairwise_sum_of([=](index_t i) { return term[i] * weight[i]; }, 0, n) / total;
    const auto weighed_square = [=](index_t i) {
        const double apart = term[i] - mean;
        return apart * apart * weight[i];
    };
    const double square = pairwise_sum_of(weighed_square, 0, n);
    if (!std::isfinite(square)) {
        // Squares overflow. Divided by a power of two first, which changes no bit of the result.
        double largest = 0;
        for (index_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(term[i]));
        int power = 0;
        std::frexp(largest, &power);
        for (index_t i = 0; i < n; ++i) term[i] = std::ldexp(term[i], -power);
        const MeanAndScale made = standardise(term, weights, total);
        return {std::ldexp(made.mean, power), std::ldexp(made.scale, power)};
    }
    const double spread = std::sqrt(square / total);
    // The spread of a constant column is rounding error; dividing by it would amplify noise.
    const double scale = spread > 1e-12 * std::max(1.0, std::fabs(mean)) ? spread : 1.0;
    for (index_t i = 0; i < n; ++i) term[i] = (term[i] - mean) / scale;
    return {mean, scale};
}

// Standardises a term over the rows that have a finite value; the others get 0.
// IN  seen (n,), weights (n,).   INOUT term (n,).
inline MeanAndScale standardise_seen(double* term, const std::vector<char>& seen, Span<const double> weights) {
    std::vector<double> found;
    std::vector<double> known;
    for (index_t i = 0; i < weights.size; ++i) {
        if (!seen[i]) continue;
        found.push_back(term[i]);
        known.push_back(weights[i]);
    }
    MeanAndScale made;
    if (!found.empty()) {
        const double total = pairwise_sum(known.data(), static_cast<index_t>(known.size()));
        made = standardise(found.data(), view(known), total);
    }
    const double* next = found.data();
    for (index_t i = 0; i < weights.size; ++i) term[i] = seen[i] ? *next++ : 0.0;
    return made;
}

inline bool all_finite(const double* values, index_t n) {
    double sum = 0;  // of zeros; NaN times 0 and infinity times 0 are NaN
#pragma omp simd reduction(+ : sum)
    for (index_t i = 0; i < n; ++i) sum += values[i] * 0.0;
    return sum == 0;
}

// IN  values (n, d); columns (t,): the column of each term; category (t,): the code that the term indicates, NaN for
//     a number; weights (n,).
// OUT mean (t,), scale (t,), terms (t, n).
template <class T>
void standardise_terms(Matrix<T> values, Span<const index_t> columns, Span<const double> category,
                       Span<const double> weights, double* mean, double* scale, double* terms) {
    // Some rows at a time, which stay in the cache while their columns are copied.
    constexpr index_t kRows = 64;
    const index_t n = values.n_rows;
    for (index_t begin = 0; begin < n; begin += kRows) {
        const index_t end = std::min(n, begin + kRows);
        for (index_t t = 0; t < columns.size; ++t) {
            const T* from = values.data + columns[t] * values.column_stride;
            for (index_t i = begin; i < end; ++i) terms[t * n + i] = static_cast<double>(from[i * values.row_stride]);
        }
    }
    const double total = pairwise_sum(weights.data, n);
    std::vector<char> seen(static_cast<std::size_t>(n));
    for (index_t t = 0; t < columns.size; ++t) {
        double* term = terms + t * n;
        const bool all_seen = all_finite(term, n);
        if (!all_seen) {
            for (index_t i = 0; i < n; ++i) seen[i] = std::isfinite(term[i]);
        }
        if (!std::isnan(category[t])) {
            for (index_t i = 0; i < n; ++i) term[i] = term[i] == category[t];
        }
        const MeanAndScale made = all_seen ? standardise(term, weights, total)
                                           : standardise_seen(term, seen, weights);
        mean[t] = made.mean;
        scale[t] = made.scale;
    }
}

}  // namespace farthing
