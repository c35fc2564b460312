// vote_target: weighted labels of -1 and +1, one per output, as a target (see target.hpp), for trees that vote.
//
// A row has a signed weight for each output; its weight is the sum of their sizes. A node is scored by
//     sum over outputs of (sum of signed weights)^2 / (sum of weights),
// so that a split lowers the squared error of the mean label of each side. For one output that is the Gini impurity,
// up to a factor. With weights that sum to 1, no gain exceeds 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "common/fixed_point.hpp"
#include "common/views.hpp"
#include "grow/target.hpp"

namespace farthing {

struct VoteRow {
    const std::int64_t* signed_weights;  // (n_outputs,)
    std::int64_t weight;
};

// A cell is the signed weight of each output, then the weight and the number of rows: [ output 0 | ... | weight | rows ].
class VoteTarget {
public:
    using Row = VoteRow;
    static constexpr bool kUpdatesRoot = false;
    static constexpr bool kAddsRows = false;
    static constexpr bool kMonotonic = false;
    static constexpr bool kSparseValues = false;  // every class has a vote
    static constexpr bool kCentersCuts = false;  // the trees are small, so their nodes have few empty bins

    // IN  signed_weights (n, n_outputs), row by row.
    VoteTarget(Span<const double> signed_weights, index_t n_outputs)
        : n_outputs_(n_outputs), fixed_(to_fixed_point(signed_weights)) {
        if (n_outputs < 1 || signed_weights.size % n_outputs != 0) {
            throw std::invalid_argument("signed weights: one for each row and output");
        }
    }

    index_t width() const { return n_outputs_ + 2; }
    index_t n_values() const { return n_outputs_; }
    // With one output, one order of the categories finds the best subset; with more, one order for each is tried.
    index_t n_orders() const { return n_outputs_; }

    Row row(index_t i) const {
        const std::int64_t* first = fixed_.values.data() + i * n_outputs_;
        std::int64_t weight = 0;
        for (index_t k = 0; k < n_outputs_; ++k) weight += std::abs(first[k]);
        return {first, weight};
    }
    void add(std::int64_t* cell, const Row& row) const {
        for (index_t k = 0; k < n_outputs_; ++k) cell[k] += row.signed_weights[k];
        cell[n_outputs_] += row.weight;
        cell[n_outputs_ + 1] += 1;
    }

    index_t n_rows(const std::int64_t* sums) const { return sums[n_outputs_ + 1]; }
    double cover(const std::int64_t* sums) const { return fixed_.to_double(sums[n_outputs_]); }
    double population(const std::int64_t* sums) const { return static_cast<double>(n_rows(sums)); }
    void values(const std::int64_t* sums, double* out) const {
        for (index_t k = 0; k < n_outputs_; ++k) out[k] = order_key(sums, k);
    }

    bool pure(const std::int64_t*) const { return false; }
    double node_score(const std::int64_t* sums) const {
        const auto weight = static_cast<double>(sums[n_outputs_]);
        if (weight == 0) return 0.0;  // the rows' weights are too small for the grid
        double squares = 0;
        for (index_t k = 0; k < n_outputs_; ++k) {
            squares += static_cast<double>(sums[k]) * static_cast<double>(sums[k]);
        }
        return squares / weight * fixed_.unit;
    }
    double gain(const std::int64_t* left, const std::int64_t* right, double node_score) const {
        const double parts = this->node_score(left) + this->node_score(right);
        const double increase = parts - node_score;
        return increase > kMinRelativeGain * parts ? increase : 0.0;
    }
    bool can_gain(double, double) const { return true; }  // the score of a node does not bound the gain
    bool gains_less(const std::int64_t*, const std::int64_t*, double, double) const { return false; }

    // The mean label of an output.
    double order_key(const std::int64_t* sums, index_t order) const {
        const auto weight = static_cast<double>(sums[n_outputs_]);
        return weight > 0 ? static_cast<double>(sums[order]) / weight : 0.0;
    }

private:
    index_t n_outputs_;
    FixedPoint fixed_;
};

}  // namespace farthing
