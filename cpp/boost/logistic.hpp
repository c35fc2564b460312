// logistic: the log loss of two classes, by the log-odds of class 1, and its gradients.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/softmax.hpp"
#include "common/views.hpp"

namespace farthing {

// Negative gradients, y - p, and the hessians, p (1 - p).
// IN  y (n,): the class, 0 or 1; scores (n,).   OUT gradients, hessians (n,).
inline void logistic_gradients(Span<const double> y, const double* scores, double* gradients, double* hessians) {
    for (index_t i = 0; i < y.size; ++i) {
        const double p = 1 / (1 + std::exp(-scores[i]));
        gradients[i] = y[i] - p;
        hessians[i] = std::max(p * (1 - p), kLeastHessianShare * std::fabs(gradients[i]));
    }
}

// The log loss of one row, in nats: log(1 + exp(z)), where z is the score of the other class.
inline double logistic_loss(double y, double score) {
    const double z = y == 1 ? -score : score;
    if (z == 0) return std::log(2.0);
    return z < 0 ? std::log1p(std::exp(z)) : z + std::log1p(std::exp(-z));
}

}  // namespace farthing
