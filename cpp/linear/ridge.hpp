// ridge: slopes of least squares with a penalty, from products of terms and outputs.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "common/views.hpp"

namespace farthing {

inline double dot(const double* a, const double* b, index_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

// Solves (T + penalty I) S = A by a Cholesky factorisation L L', where T are the products of the terms with each other
// and A those with the outputs.
// IN  products (t + q, t + q): of the terms, then the outputs.
// OUT slopes (t, q).   Returns false if the system is not positive definite.
inline bool ridge_slopes(const double* products, index_t n_terms, index_t n_outputs, double penalty, double* slopes) {
    const index_t t = n_terms;
    const index_t width = n_terms + n_outputs;
    // Row i of the factor; then row o of the solutions, so that all sums are over contiguous numbers.
    std::vector<double> factor(static_cast<std::size_t>(t * t));
    std::vector<double> solved(static_cast<std::size_t>(n_outputs * t));
    for (index_t i = 0; i < t; ++i) {
        double* own = factor.data() + i * t;
        for (index_t j = 0; j < i; ++j) {
            const double* other = factor.data() + j * t;
            own[j] = (products[i * width + j] - dot(own, other, j)) / other[j];
        }
        const double square = products[i * width + i] + penalty - dot(own, own, i);
        if (!(square > 0)) return false;
        own[i] = std::sqrt(square);
    }
    for (index_t o = 0; o < n_outputs; ++o) {
        double* solution = solved.data() + o * t;
        for (index_t i = 0; i < t; ++i) {
            const double* row = factor.data() + i * t;
            solution[i] = (products[i * width + t + o] - dot(row, solution, i)) / row[i];
        }
        for (index_t i = t - 1; i >= 0; --i) {
            const double* row = factor.data() + i * t;
            solution[i] /= row[i];
            for (index_t j = 0; j < i; ++j) solution[j] -= row[j] * solution[i];
        }
        for (index_t i = 0; i < t; ++i) slopes[i * n_outputs + o] = solution[i];
    }
    return true;
}

}  // namespace farthing
