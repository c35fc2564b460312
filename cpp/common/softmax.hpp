// softmax: the log loss of several classes, its gradients, and the same at a temperature. One pass over the rows; the
// classes of a row are added in their order, so that any block of rows gives the same bits.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/views.hpp"

namespace farthing {

// Hessians are at least this multiple of the absolute gradient, so that no Newton step is longer than its inverse.
// Otherwise a single row with a confident wrong prediction would blow up the value of its leaf.
constexpr double kLeastHessianShare = 0.1;

// Negative gradients, y - p, and the diagonal of the hessian, p (1 - p).
// IN  codes (n,): the class of each row; scores (n_classes, n).   OUT gradients, hessians (n_classes, n).
inline void softmax_gradients(Span<const index_t> codes, const double* scores, index_t n_classes, double* gradients,
                              double* hessians) {
    const index_t n = codes.size;
    for (index_t i = 0; i < n; ++i) {
        double largest = scores[i];
        for (index_t c = 1; c < n_classes; ++c) largest = std::max(largest, scores[c * n + i]);
        double sum = 0;
        for (index_t c = 0; c < n_classes; ++c) {
            const double e = std::exp(scores[c * n + i] - largest);
            gradients[c * n + i] = e;
            sum += e;
        }
        for (index_t c = 0; c < n_classes; ++c) {
            const double p = gradients[c * n + i] / sum;
            const double gradient = codes[i] == c ? 1 - p : -p;
            gradients[c * n + i] = gradient;
            hessians[c * n + i] = std::max(p * (1 - p), kLeastHessianShare * std::fabs(gradient));
        }
    }
}

// The log loss of each row, in nats. The largest term of the sum is taken out, so that small losses keep their digits.
// IN  as softmax_gradients.   OUT losses (n,).
inline void softmax_losses(Span<const index_t> codes, const double* scores, index_t n_classes, double* losses) {
    const index_t n = codes.size;
    for (index_t i = 0; i < n; ++i) {
        double largest = scores[i];
        for (index_t c = 1; c < n_classes; ++c) largest = std::max(largest, scores[c * n + i]);
        double n_largest = 0;
        double others = 0;
        for (index_t c = 0; c < n_classes; ++c) {
            const double score = scores[c * n + i];
            if (score == largest) {
                n_largest += 1;
            } else {
                others += std::exp(score - largest);
            }
        }
        const double log_sum = std::log1p(others / n_largest) + std::log(n_largest) + largest;
        losses[i] = log_sum - scores[codes[i] * n + i];
    }
}

// The weighted sum of the log losses of rows, from scores divided by a temperature.
// IN  margins (n, m): the score of each other class less that of the true class; weights (n,), or empty for 1 each;
//     least: no probability of a true class counts as less.
inline double tempered_log_loss(Matrix<double> margins, Span<const double> weights, double temperature, double least) {
    const double steepness = 1 / temperature;
    const double most = 1 / least;
    // log(a) + log(b) = log(ab): rows of weight 1 are multiplied until they could overflow.
    constexpr double kLarge = 1e250;
    double product = 1;
    double total = 0;
    for (index_t i = 0; i < margins.n_rows; ++i) {
        double odds = 1;  // one over the probability of the true class
        for (index_t c = 0; c < margins.n_columns; ++c) odds += std::exp(margins(i, c) * steepness);
        odds = std::min(odds, most);
        if (weights.size > 0) {
            total += weights[i] * std::log(odds);
            continue;
        }
        product *= odds;
        if (product > kLarge) {
            total += std::log(product);
            product = 1;
        }
    }
    return total + std::log(product);
}

}  // namespace farthing
