// vote_plan
#pragma once

#include <cmath>

#include "common/keyed_sampling.hpp"
#include "common/views.hpp"

namespace farthing {

// Who votes, with what weight, in which order; see farthing.boosting.plan, which makes it.
struct VotePlan {
    Span<const double> alphas;             // (learners,): weights of the full vote
    Span<const index_t> set_offsets;       // (learners + 1,)
    Span<const index_t> set_features;      // features of each learner, rising
    Span<const index_t> all_features;      // of all learners, rising
    double steps = 1;                      // the grid of weighted votes: 1 over a power of two

    // Draws.
    DiscreteDistribution distribution;                               // (learners,)
    Span<const double> weights;            // (learners,): what the vote of a draw is multiplied by
    Span<const index_t> exact;             // learners that are not drawn but vote with their alpha
    double scale = 1;                      // from the mean of the draws to the full vote
    Span<const index_t> by_price;              // learners of different sets, by falling price
    Span<const double> descending_prices;        // their prices
    bool full_vote = true;                 // if all that is left is affordable, everybody votes
    index_t max_samples = 0;

    // The top of a list.
    bool top = false;
    Span<const index_t> order;             // (learners,)
    Span<const double> reach;              // (learners + 1,): how far the votes from this place on can move the sum
    bool curtail = false;                  // end when the votes still out cannot change the label

    index_t n_learners() const { return alphas.size; }
    Span<const index_t> features(index_t learner) const {
        const index_t first = set_offsets[learner];
        return {set_features.data + first, set_offsets[learner + 1] - first};
    }
    // A weighted vote on the grid, so that sums are exact in whatever order.
    double grid_vote(index_t learner, double vote) const {
        return std::nearbyint(alphas[learner] * vote * steps) / steps;
    }
};

}  // namespace farthing
