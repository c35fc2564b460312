// reasons: what the reasons of a question need of the trees, for a handful of rows at a time. In NumPy each of these
// would be ten to thirty operations on a few numbers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/softmax.hpp"
#include "common/views.hpp"
#include "predict/forest_view.hpp"

namespace farthing {

// Undoes the last round of boosting: what its nodes asked for, of which the learning rate added a part. Of two trees
// that add to the same output the later one is undone.
// IN  nodes, trees: of one row, the trees of the round in order; outputs (n_outputs,), the sums with the round.
// OUT outputs: without it; steps, walked (n_outputs,), zero at first.
inline void undo_round(const ForestView& forest, Span<const index_t> nodes, Span<const index_t> trees,
                       double learning_rate, double* outputs, double* steps, std::uint8_t* walked) {
    for (index_t i = nodes.size; i-- > 0;) {
        const index_t first = forest.target[trees[i]];
        if (walked[first]) continue;
        for (index_t w = 0; w < forest.width; ++w) {
            const double added = forest.scores[nodes[i] * forest.width + w];
            outputs[first + w] -= added;
            steps[first + w] = added / learning_rate;
            walked[first + w] = 1;
        }
    }
}

// The share of a class among rows that had the same probability of it, from the Newton step of their leaf:
// (s - p) / (s a + (1 - s) b) with the hessians a and b of rows of that class and of others.
inline double newton_share(double p, double step) {
    const double own = std::max(p * (1 - p), kLeastHessianShare * (1 - p));
    const double others = std::max(p * (1 - p), kLeastHessianShare * p);
    const double share = (p + step * others) / std::max(1 - step * (own - others), 1e-12);
    return std::min(std::max(share, 0.0), 1.0);
}

// The shares of the classes that a round of boosting was fitted to. Classes without a tree of the round have what the
// others leave.
// IN  before, steps, own (n_classes,): the probabilities before it; whether a class has a tree.   OUT shares.
inline void boosted_shares(index_t n_classes, const double* before, const double* steps, const std::uint8_t* own,
                           double* shares) {
    double taken = 0;
    double rest = 0;
    for (index_t c = 0; c < n_classes; ++c) {
        shares[c] = own[c] ? newton_share(before[c], steps[c]) : 0.0;
        taken += shares[c];
        rest += own[c] ? 0.0 : before[c];
    }
    const double factor = std::max(1.0 - taken, 0.0) / std::max(rest, 1e-300);
    double sum = 0;
    for (index_t c = 0; c < n_classes; ++c) {
        shares[c] += own[c] ? 0.0 : before[c] * factor;
        sum += shares[c];
    }
    for (index_t c = 0; c < n_classes; ++c) shares[c] /= std::max(sum, 1e-300);
}

struct Fall {
    double risk = 0;
    double fall = 0;
};

// The expected Brier score of a belief, and by how much it falls by an answer.
// IN  now (n,); after, labels (n_ways, n): the belief after each answer, the shares of labels; weights (n_ways,).
inline Fall expected_fall(index_t n, const double* now, const double* after, const double* labels,
                          Span<const double> weights) {
    Fall found;
    for (index_t way = 0; way < weights.size; ++way) {
        double before = 1;
        double then = 1;
        for (index_t c = 0; c < n; ++c) {
            const double p = after[way * n + c];
            const double q = labels[way * n + c];
            before += now[c] * (now[c] - 2 * q);
            then += p * (p - 2 * q);
        }
        found.risk += weights[way] * before;
        found.fall += weights[way] * (before - then);
    }
    return found;
}

// Divides the counts of each row by their sum, added from the first column to the last; zeros become uniform.
// IN  counts.   OUT shares (rows, columns).
inline void normalise_rows(const Matrix<double>& counts, double* shares) {
    for (index_t row = 0; row < counts.n_rows; ++row) {
        double* out = shares + row * counts.n_columns;
        bool any = false;
        for (index_t c = 0; c < counts.n_columns; ++c) {
            out[c] = counts(row, c);
            any = any || out[c] != 0;
        }
        double sum = 0;
        for (index_t c = 0; c < counts.n_columns; ++c) {
            if (!any) out[c] = 1;
            sum += out[c];
        }
        for (index_t c = 0; c < counts.n_columns; ++c) out[c] /= sum;
    }
}

// Scores without the largest of their row.   IN scores.   OUT shifted (rows, columns).
inline void shift_rows(const Matrix<double>& scores, double* shifted) {
    for (index_t row = 0; row < scores.n_rows; ++row) {
        double largest = scores(row, 0);
        for (index_t c = 1; c < scores.n_columns; ++c) largest = std::max(largest, scores(row, c));
        for (index_t c = 0; c < scores.n_columns; ++c) shifted[row * scores.n_columns + c] = scores(row, c) - largest;
    }
}

// The mean over some nodes of the shares of their counts.
// IN  counts (n_nodes, width); nodes.   OUT shares (width,), zero at first.
inline void mean_shares(const double* counts, index_t width, Span<const index_t> nodes, double* shares) {
    for (const index_t node : nodes) {
        const double* own = counts + node * width;
        double sum = 0;
        for (index_t w = 0; w < width; ++w) sum += own[w];
        for (index_t w = 0; w < width; ++w)
            shares[w] += sum == 0 ? 1.0 / static_cast<double>(width) : own[w] / sum;
    }
    for (index_t w = 0; w < width; ++w) shares[w] /= static_cast<double>(nodes.size);
}

}  // namespace farthing
