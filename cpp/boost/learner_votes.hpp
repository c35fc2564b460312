// learner_votes: what a learner votes for a row. Learners read features through a callback, which may buy or refuse
// them.
#pragma once

#include <cmath>

#include "common/views.hpp"
#include "predict/forest_view.hpp"

namespace farthing {

// Learners that are trees; the vote of a tree is the score of the node where the row ends.
struct TreeVotes {
    const ForestView& forest;

    template <class Read>
    double vote(index_t learner, Read&& read) const {
        return forest.scores[last_node(learner, read)];
    }

    // The node where the row ends.
    template <class Read>
    index_t last_node(index_t learner, Read&& read) const {
        const index_t first = forest.offsets[learner];
        index_t node = first;
        while (forest.feature[node] >= 0) {
            const index_t next = next_node(forest, first, node, read(forest.feature[node]));
            if (next == node) break;
            node = next;
        }
        return node;
    }
};

// Learners that are the features of a linear model; a feature votes its value times a factor.
struct LinearVotes {
    Span<const index_t> feature;  // (learners,), -1: a constant vote, the factor itself
    Span<const double> factor;    // (learners,)
    Span<const double> missing;   // (learners,): the vote for a missing value

    template <class Read>
    double vote(index_t learner, Read&& read) const {
        if (feature[learner] < 0) return factor[learner];
        const double x = read(feature[learner]);
        return std::isnan(x) ? missing[learner] : factor[learner] * x;
    }
};

}  // namespace farthing
