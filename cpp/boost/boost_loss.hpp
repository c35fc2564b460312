// boost_loss: the losses that boosting in the core knows. The classes and numbers of rows are views.
#pragma once

#include <cmath>
#include <vector>

#include "boost/logistic.hpp"
#include "common/softmax.hpp"
#include "common/views.hpp"

namespace farthing {

enum class LossKind { squared, logistic, softmax };

struct BoostLoss {
    LossKind kind = LossKind::squared;
    Span<const double> numbers;   // (n,): the target; of the logistic loss 0 or 1; empty for softmax
    Span<const index_t> codes;    // (n,): the classes; softmax only
    index_t n_outputs = 1;        // the number of classes for softmax, else 1

    index_t n_rows() const { return kind == LossKind::softmax ? codes.size : numbers.size; }
    // The hessians of the squared loss are 1.
    bool has_hessians() const { return kind != LossKind::squared; }

    // Negative gradients and hessians at some scores.
    // IN  scores (n_outputs, n).   OUT gradients, hessians (n_outputs, n); hessians only if there are any.
    void steps(const double* scores, double* gradients, double* hessians) const {
        switch (kind) {
            case LossKind::squared:
                for (index_t i = 0; i < numbers.size; ++i) gradients[i] = numbers[i] - scores[i];
                break;
            case LossKind::logistic:
                logistic_gradients(numbers, scores, gradients, hessians);
                break;
            case LossKind::softmax:
                softmax_gradients(codes, scores, n_outputs, gradients, hessians);
                break;
        }
    }

    // The loss of some rows.
    // IN  rows (m,); scores (n_outputs, m): theirs.   OUT losses (m,).
    void values(const std::vector<index_t>& rows, const double* scores, double* losses) const {
        const auto m = static_cast<index_t>(rows.size());
        if (kind == LossKind::softmax) {
            std::vector<index_t> own(rows.size());
            for (index_t i = 0; i < m; ++i) own[i] = codes[rows[i]];
            softmax_losses(view(own), scores, n_outputs, losses);
            return;
        }
        for (index_t i = 0; i < m; ++i) {
            const double y = numbers[rows[i]];
            const double error = y - scores[i];
            losses[i] = kind == LossKind::logistic ? logistic_loss(y, scores[i]) : error * error / 2;
        }
    }
};

}  // namespace farthing
