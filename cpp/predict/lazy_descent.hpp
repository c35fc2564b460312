// descent: one row's walk through a forest, as far as the answers so far lead.
#pragma once

#include <cstdint>

#include "common/views.hpp"
#include "predict/forest_view.hpp"

namespace farthing {

// What is known of a feature: nothing, its value, or its value once it is asked for.
enum FeatureState : std::uint8_t { unknown = 0, known = 1, on_hand = 2 };

// Goes down the trees from `tree` up to `end` until one tests a feature that is unheard of, and returns that
// feature, or -1 after the last tree. A feature at hand is asked for when a tree first tests it, and is heard of from
// then on. A tree that a missing value stops is left at its node.
template <class Ask>
std::int32_t descend_known(const ForestView& forest,
                           const double* values,         // IN (n_features,), where heard of or at hand
                           std::uint8_t* states,        // IN, OUT (n_features,)
                           index_t* nodes,               // IN, OUT (trees,): where each tree stands
                           index_t& tree,                // IN, OUT: the first unfinished tree
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

// The sum over the first `end` trees of their current nodes' scores, one by one in this order.
inline void add_scores(const ForestView& forest,
                       const index_t* nodes,     // IN (trees,)
                       index_t end,
                       double* outputs) {        // IN, OUT (n_outputs,)
    for (index_t tree = 0; tree < end; ++tree) forest.add(tree, forest.scores.data + nodes[tree] * forest.width,
                                                          outputs);
}

}  // namespace farthing
