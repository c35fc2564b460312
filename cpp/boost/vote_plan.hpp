// vote_plan: which learners vote, with what weight and in what order. Built by the Python side.
#pragma once

#include <cmath>

#include "common/keyed_sampling.hpp"
#include "common/views.hpp"

namespace farthing {

// Distinct sets of features that learners read, and what is known of the votes of their learners before any is read.
struct VoteUnits {
    Span<const index_t> offsets;      // (units + 1,)
    Span<const index_t> members;      // learners of each unit, ascending
    Span<const index_t> constants;    // learners that need no feature
    Span<const double> spreads;       // (units,): how far a unit's vote is from its mean, above zero
    Span<const double> means;         // (learners,): mean weighted votes, on the grid
    double mean_total = 0;            // their sum
    int price_exponent = 0;           // prices are weighed in units of this power of two
    bool single = false;              // whether each unit has one feature
    bool additive = false;            // and none of them is in a group

    index_t size() const { return spreads.size; }
    Span<const index_t> learners(index_t unit) const {
        return {members.data + offsets[unit], offsets[unit + 1] - offsets[unit]};
    }
    template <class Plan>
    Span<const index_t> features(const Plan& plan, index_t unit) const {
        return plan.features(members[offsets[unit]]);
    }
};

struct VotePlan {
    Span<const double> alphas;         // (learners,): weights of the full vote
    Span<const index_t> set_offsets;   // (learners + 1,)
    Span<const index_t> set_features;  // features of each learner, ascending
    Span<const index_t> all_features;  // features of all learners, ascending
    double steps = 1;                  // grid steps per unit of weighted votes; a power of two

    // Sampling.
    DiscreteDistribution distribution;     // (learners,)
    Span<const double> weights;            // (learners,): importance weight of a sampled vote
    Span<const index_t> exact;             // learners that are not sampled but always vote with their alpha
    double scale = 1;                      // from the mean of the sampled votes to the full vote
    Span<const index_t> by_price;          // one learner per distinct set of features, by descending price
    Span<const double> descending_prices;  // their prices with nothing owned
    bool full_vote = true;                 // if all remaining features are affordable, all learners vote
    index_t max_samples = 0;

    // Drawing units without replacement.
    bool free_rider = false;
    VoteUnits units;

    // Taking learners from the top of a list.
    bool top = false;
    Span<const index_t> order;  // (learners,)
    Span<const double> reach;   // (learners + 1,): how far the votes from this position on can move the sum
    bool curtail = false;       // stop when the remaining votes cannot change the label,
    Span<const double> stop_low;   // (learners,), or empty: or when they are unlikely to, since the sum before a
    Span<const double> stop_high;  // position is at most the first or above the second

    index_t n_learners() const { return alphas.size; }
    Span<const index_t> features(index_t learner) const {
        const index_t first = set_offsets[learner];
        return {set_features.data + first, set_offsets[learner + 1] - first};
    }
    // A weighted vote, rounded to the grid so that sums are exact in any order.
    double grid_vote(index_t learner, double vote) const {
        return std::nearbyint(alphas[learner] * vote * steps) / steps;
    }
};

}  // namespace farthing
