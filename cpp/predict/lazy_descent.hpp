// lazy_descent: one row's descent through a forest, as far as the known features lead.
#pragma once

#include <cstdint>

#include "common/views.hpp"
#include "predict/forest_view.hpp"

namespace farthing {

// Whether a feature is unknown, known, or on hand: its value is available but has not been asked for.
enum FeatureState : std::uint8_t { unknown = 0, known = 1, on_hand = 2 };

// Descends the trees from `tree` up to `end` until one tests an unknown feature, and returns that feature, or -1
// after the last tree. A feature on hand is asked for when a tree first tests it and is known from then on. A tree
// that a missing value stops is left at its node.
template <class Ask>
std::int32_t descend_known(const ForestView& forest,
                           const double* values,  // IN (n_features,): where known or on hand
                           std::uint8_t* states,  // IN, OUT (n_features,)
                           index_t* nodes,        // IN, OUT (trees,): current node of each tree
                           index_t& tree,         // IN, OUT: the first unfinished tree
                           index_t end, Ask ask) {
    for (; tree < end; ++tree) {
        index_t& node = nodes[tree];
        for (index_t last = -1; node != last && forest.feature[node] >= 0;) {
            const std::int32_t feature = forest.feature[node];
            if (states[feature] == unknown) return feature;
            if (states[feature] == on_hand) {
                states[feature] = known;
                ask(feature);
            }
            last = node;
            node = next_node(forest, forest.offsets[tree], node, values[feature]);
        }
    }
    return -1;
}

// Adds up the scores of the current nodes of the first `end` trees, in this order.
inline void add_scores(const ForestView& forest,
                       const index_t* nodes,  // IN (trees,)
                       index_t end,
                       double* outputs) {        // IN, OUT (n_outputs,)
    for (index_t tree = 0; tree < end; ++tree) forest.add_node(tree, nodes[tree], outputs);
}

}  // namespace farthing
