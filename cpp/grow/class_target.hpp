// class_target: class counts as a target (see target.hpp), for trees that minimise an impurity.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "common/fixed_point.hpp"
#include "common/peers.hpp"
#include "common/views.hpp"
#include "grow/impurity.hpp"
#include "grow/monotonic.hpp"
#include "grow/target.hpp"

namespace farthing {

struct ClassRow {
    std::int64_t weight;
    index_t label;
};

// A cell is the weight of each class, then the number of rows:   [ class 0 | class 1 | ... | rows ].
class ClassTarget {
public:
    using Row = ClassRow;
    static constexpr bool kUpdatesRoot = false;
    static constexpr bool kAddsRows = false;
    static constexpr bool kMonotonic = true;  // the share of the second of two classes
    static constexpr bool kSparseValues = true;  // deep nodes hold few of many classes
    static constexpr bool kCentersCuts = true;  // trees grow until nodes are pure, and small nodes have empty bins

    ClassTarget(Span<const index_t> labels, Span<const double> weights, index_t n_classes, ImpurityFunction impurity,
                double min_impurity = 0, Peers* peers = nullptr)
        : labels_(labels), weights_(to_fixed_point(weights, all_rows(peers, weights.size), peers)), n_classes_(n_classes), impurity_(impurity),
          min_impurity_(min_impurity) {
        if (labels.size != weights.size) throw std::invalid_argument("labels and weights differ in length");
        for (const index_t label : labels) {
            if (label < 0 || label >= n_classes) throw std::invalid_argument("a label is not a class");
        }
    }

    index_t width() const { return n_classes_ + 1; }
    index_t n_values() const { return n_classes_; }
    // With two classes, one order of the categories finds the best subset; with more, one order per class is tried.
    index_t n_orders() const { return n_classes_ <= 2 ? 1 : n_classes_; }

    Row row(index_t i) const { return {weights_.values[i], labels_[i]}; }
    void add(std::int64_t* cell, const Row& row) const {
        cell[row.label] += row.weight;
        cell[n_classes_] += 1;
    }

    index_t n_rows(const std::int64_t* sums) const { return sums[n_classes_]; }
    double cover(const std::int64_t* sums) const { return weights_.to_double(weight(sums)); }
    double population(const std::int64_t* sums) const { return cover(sums); }
    void values(const std::int64_t* sums, double* out) const {
        for (index_t c = 0; c < n_classes_; ++c) out[c] = weights_.to_double(sums[c]);
    }
    // Class weights are kept as they are: splits whose sides leave the bounds are not made, as in scikit-learn's trees.
    void values(const std::int64_t* sums, const ValueBounds&, double* out) const { values(sums, out); }
    double level(const std::int64_t* sums, const ValueBounds&) const { return order_key(sums, 0); }

    // Line 10 of GreedyTree, where min_impurity is 0.
    bool pure(const std::int64_t* sums) const { return node_score(sums) <= min_impurity_; }

    // Additive impurities: F - F_left - F_right. Minimax ones (line 12 of GreedyTree): F - max(F_left, F_right).
    double gain(const std::int64_t* left, const std::int64_t* right, double node_score) const {
        const double a = this->node_score(left);
        const double b = this->node_score(right);
        const double decrease = node_score - (impurity_.minimax() ? std::fmax(a, b) : a + b);
        return decrease > kMinRelativeGain * node_score ? decrease : 0.0;
    }
    double gain(const std::int64_t* left, const std::int64_t* right, double node_score,
                const SplitConstraint& constraint) const {
        const double a = order_key(left, 0);
        const double b = order_key(right, 0);
        const bool kept = constraint.bounds.contain(a) && constraint.bounds.contain(b) && constraint.ordered(a, b);
        return kept ? gain(left, right, node_score) : 0.0;
    }
    // Impurities are not negative, so no split gains more than the impurity of the node; the slack covers rounding.
    bool can_gain(double node_score, double gain) const { return gain * (1 - 1e-6) <= node_score; }
    // Whether a split certainly gains less than `gain`; cheaper than the gain itself, as it needs no logarithm. The
    // decrease of the entropy is a weighted sum of Kullback-Leibler divergences of the children from the node, and a
    // divergence is at most the chi-square distance. Over two children the distances add up to
    //     n^2 / (n_left n_right) * sum over classes c of (left_c - node_c n_left / n)^2 / node_c.
    // The slack covers the rounding of both sides, so that the search finds the same split with and without this.
    bool gains_less(const std::int64_t* left, const std::int64_t* right, double, double gain) const {
        if (impurity_.kind != Impurity::entropy || gain == 0) return false;
        const auto n_left = static_cast<double>(weight(left));
        const auto n_right = static_cast<double>(weight(right));
        const double n = n_left + n_right;
        const double needed = (gain * (1 - 1e-6) - 1e-12 * weights_.unit * n) * n_left * n_right;
        if (n_classes_ == 2) {  // without divisions
            const auto a = static_cast<double>(left[0] + right[0]);
            const auto b = static_cast<double>(left[1] + right[1]);
            const double cross = static_cast<double>(left[0]) * b - static_cast<double>(left[1]) * a;
            return weights_.unit * cross * cross * n < needed * a * b;
        }
        const double share = n_left / n;
        double distance = 0;
        for (index_t c = 0; c < n_classes_; ++c) {
            const auto whole = static_cast<double>(left[c] + right[c]);
            const double excess = static_cast<double>(left[c]) - share * whole;
            distance += whole > 0 ? excess * excess / whole : 0.0;
        }
        return weights_.unit * distance * n * n < needed;
    }
    double node_score(const std::int64_t* sums) const {
        // On the stack for the usual numbers of classes: this is called for every candidate split.
        constexpr index_t kMaxStackClasses = 64;
        double stack_counts[kMaxStackClasses];
        if (n_classes_ <= kMaxStackClasses) {
            values(sums, stack_counts);
            return impurity_(stack_counts, n_classes_);
        }
        std::vector<double> counts(static_cast<std::size_t>(n_classes_));
        values(sums, counts.data());
        return impurity_(counts.data(), n_classes_);
    }

    double node_score(const std::int64_t* sums, const ValueBounds&) const { return node_score(sums); }

    // The share of one class among a category's rows.
    double order_key(const std::int64_t* sums, index_t order) const {
        const index_t c = n_classes_ <= 2 ? n_classes_ - 1 : order;
        const std::int64_t all = weight(sums);  // 0 if the rows' weights are too small for the grid
        return all > 0 ? static_cast<double>(sums[c]) / static_cast<double>(all) : 0.0;
    }

private:
    Span<const index_t> labels_;
    FixedPoint weights_;
    index_t n_classes_;
    ImpurityFunction impurity_;
    double min_impurity_;

    std::int64_t weight(const std::int64_t* sums) const {
        std::int64_t sum = 0;
        for (index_t c = 0; c < n_classes_; ++c) sum += sums[c];
        return sum;
    }
};

}  // namespace farthing
