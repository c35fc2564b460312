// impurity: impurity functions of class counts.
#pragma once

#include <cmath>
#include <functional>

#include "common/views.hpp"

namespace farthing {

enum class Impurity { entropy, gini, pairs, powers, custom };

// The impurity F of a node from its weighted class counts. Entropy (in nats) and Gini are multiplied by the weight of
// the node, so that they add up over nodes. Threshold-Pairs is equation 3.10 of Nan's thesis, Powers is equation
// 3.13.
struct ImpurityFunction {
    Impurity kind = Impurity::entropy;
    double alpha = 0;  // threshold of Pairs
    double power = 2;  // exponent of Powers
    // The user's function, if kind is custom; must not throw.
    std::function<double(const double*, index_t)> custom = nullptr;

    bool minimax() const { return kind != Impurity::entropy && kind != Impurity::gini; }

    double operator()(const double* counts, index_t n_classes) const {
        double n = 0;
        for (index_t c = 0; c < n_classes; ++c) n += counts[c];
        if (n <= 0) return 0;
        switch (kind) {
            case Impurity::entropy: {
                double sum = 0;
                for (index_t c = 0; c < n_classes; ++c) {
                    if (counts[c] > 0 && counts[c] < n) sum -= counts[c] * std::log(counts[c] / n);
                }
                return sum;
            }
            case Impurity::gini: {
                double sum = 0;  // over ordered pairs of classes, so that a pure node gives exactly 0
                for (index_t c = 0; c < n_classes; ++c) sum += counts[c] * (n - counts[c]);
                return sum / n;
            }
            case Impurity::pairs:
                return pairs(counts, n_classes, n);
            case Impurity::powers: {
                double sum = std::pow(n, power);
                for (index_t c = 0; c < n_classes; ++c) sum -= std::pow(counts[c], power);
                return std::fmax(sum, 0.0);
            }
            case Impurity::custom:
                return custom(counts, n_classes);
        }
        return 0;
    }

private:
    double pairs(const double* counts, index_t n_classes, double n) const {
        if (alpha == 0) {  // the sum over i != j of n_i n_j
            double squares = 0;
            for (index_t c = 0; c < n_classes; ++c) squares += counts[c] * counts[c];
            return n * n - squares;
        }
        double sum = 0;
        for (index_t i = 0; i < n_classes; ++i) {
            const double a = std::fmax(counts[i] - alpha, 0.0);
            if (a == 0) continue;
            for (index_t j = i + 1; j < n_classes; ++j) {
                const double b = std::fmax(counts[j] - alpha, 0.0);
                sum += 2 * std::fmax(a * b - alpha * alpha, 0.0);  // (i, j) and (j, i)
            }
        }
        return sum;
    }
};

}  // namespace farthing
