// adaboost: the rounds of AdaBoost. Holds the distribution over the training rows and the trees so far; the caller
// chooses the learner of each round from the edges.
//
// With several outputs, this is AdaBoost.MH (Schapire and Singer 1999): the distribution is over pairs of a row and a
// class, labels say whether the row is of that class, and a learner votes on all classes at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "boost/stump_learner.hpp"
#include "common/fixed_point.hpp"
#include "common/interrupt.hpp"
#include "common/views.hpp"
#include "grow/tree.hpp"
#include "table/binned_table.hpp"

namespace farthing {

// Voting weights are multiples of this, so their sums are exact in any order.
constexpr double kVoteGrid = 1.0 / 4294967296.0;

struct BoostingRound {
    double edge = 0;
    double alpha = 0;
    bool perfect = false;  // no error on any row of positive weight
};

template <class Search>
class AdaBoost {
public:
    // IN  labels (n, width): -1 or +1; weights (n, width): positive; covers (n,): of the rows in the trees.
    AdaBoost(const BinnedTable& table, Span<const std::int8_t> labels, Span<const double> weights,
             Span<const double> covers, int n_threads, index_t width = 1)
        : learner_(table, covers, n_threads, width), labels_(labels.begin(), labels.end()),
          signed_(static_cast<std::size_t>(labels.size)), votes_(labels_.size()),
          sums_(static_cast<std::size_t>(width)) {
        double largest = 0;
        for (const double weight : weights) largest = std::fmax(largest, weight);
        double sum = 0;
        double least = std::numeric_limits<double>::infinity();
        for (index_t i = 0; i < labels.size; ++i) {
            signed_[i] = weights[i] / largest;
            sum += signed_[i];
            least = std::fmin(least, signed_[i]);
        }
        for (index_t i = 0; i < labels.size; ++i) signed_[i] *= labels[i] / sum;
        // The margin y f(x) is at least ln(weight share of x), so a vote of this weight makes every row correct.
        max_alpha_ = std::log(2 * sum / std::fmax(least, std::ldexp(1.0, -1000)));
        update_fixed_point();
    }

    index_t n_columns() const { return learner_.n_columns(); }
    index_t n_rows() const { return learner_.n_rows(); }
    index_t width() const { return learner_.width(); }
    index_t n_trees() const { return static_cast<index_t>(trees_.size()); }
    const std::vector<Tree>& trees() const { return trees_; }
    double max_alpha() const { return max_alpha_; }

    // OUT edges (k + 1,): of the constant vote, then of the best stump of each column.
    void edges(double* out) const {
        std::vector<std::int64_t> found(static_cast<std::size_t>(n_columns()));
        learner_.edges(fixed_, found.data());
        std::int64_t constant = 0;
        for (const std::int64_t sum : sums_) constant += std::abs(sum);
        out[0] = normalized(constant);
        for (index_t j = 0; j < n_columns(); ++j) out[j + 1] = normalized(found[j]);
    }

    // The distribution times the labels, (n, width).
    const std::vector<double>& signed_distribution() const { return signed_; }

    // The constant vote (column -1), or a tree whose root is the best stump of a column.
    // OUT votes (n, width).
    Tree learner(index_t column, index_t max_depth, std::int8_t* votes) const {
        if (column >= 0) return learner_.tree(fixed_, column, max_depth, votes);
        std::vector<std::int8_t> leaf;
        for (const std::int64_t sum : sums_) leaf.push_back(sum > 0 ? 1 : -1);
        return learner_.constant(leaf.data(), votes);
    }

    // The edge of a learner with these votes (n, width).
    double edge(const std::int8_t* votes) const {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < labels_.size(); ++i) sum += votes[i] * fixed_.values[i];
        return normalized(sum);
    }

    // Adds such a learner.
    BoostingRound add_round(index_t column, index_t max_depth) {
        trees_.push_back(learner(column, max_depth, votes_.data()));
        return update();
    }

    // Adds the learner of the largest edge, round by round, until there are enough rounds, one makes no error, none has
    // an edge above the least one, or their voting weights have used up the room. Returns the rounds.
    // IN  intercept: whether the constant vote is a candidate; of equal edges it comes first, then the earlier column.
    std::vector<BoostingRound> boost(index_t n_rounds, double room, double least_edge, bool intercept,
                                     index_t max_depth) {
        std::vector<BoostingRound> rounds;
        std::vector<double> found(static_cast<std::size_t>(n_columns() + 1));
        while (static_cast<index_t>(rounds.size()) < n_rounds && room > 0) {
            edges(found.data());
            const auto best = std::max_element(found.begin() + (intercept ? 0 : 1), found.end());
            if (best == found.end() || !(*best > least_edge)) break;
            rounds.push_back(add_round(best - found.begin() - 1, max_depth));
            if (rounds.back().perfect) break;
            room -= rounds.back().alpha;
            check_interrupt();
        }
        return rounds;
    }

    // Adds a learner of the caller's, which keeps the tree itself.
    BoostingRound add_votes(const std::int8_t* votes) {
        std::copy(votes, votes + votes_.size(), votes_.begin());
        return update();
    }

private:
    StumpLearner<Search> learner_;
    std::vector<std::int8_t> labels_;
    std::vector<double> signed_;      // distribution times labels
    std::vector<std::int8_t> votes_;
    std::vector<Tree> trees_;
    double max_alpha_ = 0;
    FixedPoint fixed_;                // signed_ on a grid
    std::int64_t abs_sum_ = 0;        // the largest possible edge
    std::vector<std::int64_t> sums_;  // (width,): the sums of all rows

    // Gives the learner of `votes_` the voting weight alpha = 1/2 ln((1 + edge) / (1 - edge)), and updates the
    // distribution to D exp(-alpha y h) / Z.
    BoostingRound update() {
        std::int64_t wrong = 0;
        double exact_wrong = 0;
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            if (labels_[i] == votes_[i]) continue;
            wrong += std::abs(fixed_.values[i]);
            exact_wrong += std::fabs(signed_[i]);
        }
        BoostingRound round;
        // On the grid the weight of a row may be zero, and the edge 1; the floats still tell that it is wrong.
        round.perfect = exact_wrong == 0;
        round.edge = normalized(abs_sum_ - 2 * wrong);
        const double alpha = wrong > 0 ? std::atanh(round.edge) : 0.5 * std::log((1 - exact_wrong) / exact_wrong);
        round.alpha = std::nearbyint(std::fmin(alpha, max_alpha_) / kVoteGrid) * kVoteGrid;
        // Weight of a wrong row relative to a correct one; capped to stay finite.
        const double factor = std::exp(std::fmin(2 * round.alpha, 700.0));
        double sum = 0;
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            if (labels_[i] != votes_[i]) signed_[i] *= factor;
            sum += std::fabs(signed_[i]);
        }
        for (double& value : signed_) value /= sum;
        update_fixed_point();
        return round;
    }

    void update_fixed_point() {
        fixed_ = to_fixed_point(view(signed_));
        abs_sum_ = 0;
        std::fill(sums_.begin(), sums_.end(), 0);
        for (std::size_t i = 0; i < fixed_.values.size(); ++i) {
            abs_sum_ += std::abs(fixed_.values[i]);
            sums_[i % sums_.size()] += fixed_.values[i];
        }
    }

    double normalized(std::int64_t edge) const { return static_cast<double>(edge) / static_cast<double>(abs_sum_); }
};

}  // namespace farthing
