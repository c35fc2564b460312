// single_row: the prediction of one row, several trees of which descend in lockstep.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/views.hpp"
#include "predict/compiled_forest.hpp"
#include "predict/forest_view.hpp"

namespace farthing {

// Trees that a single row descends at once: each step waits for a load, and these waits overlap.
constexpr index_t kTreesInStep = 8;

// The places where a row ends in trees [begin, begin + n), n <= kTreesInStep, none of them categorical.
template <class T, bool kSingle>
void descend_trees_in_step(const CompiledForest& forest, index_t begin, index_t n, const T* row, index_t column_stride,
                           std::int32_t* place) {
    const CompiledForest::Node* nodes[kTreesInStep];
    index_t depth = 0;
    for (index_t i = 0; i < kTreesInStep; ++i) {
        // Trees past the end repeat the last one, so that the loop needs no bounds.
        const auto& tree = forest.tree(begin + std::min(i, n - 1));
        nodes[i] = forest.nodes(tree);
        depth = std::max(depth, tree.depth);
        place[i] = 0;
    }
    for (index_t level = 0; level < depth; ++level) {
        std::int32_t moved = 0;
        for (index_t i = 0; i < kTreesInStep; ++i) {
            const CompiledForest::Node& node = nodes[i][place[i]];
            const T raw = row[node.feature * column_stride];
            const double x = kSingle ? static_cast<double>(static_cast<float>(raw)) : static_cast<double>(raw);
            const std::int32_t next = node.next[static_cast<int>(!(x <= node.threshold)) + static_cast<int>(x != x)];
            moved |= next ^ place[i];
            place[i] = next;
        }
        if (moved == 0) break;
    }
}

// Adds the scores of trees [begin, end) to the outputs of a row, and the features on its paths to its set (or null).
template <class T>
void predict_row(const CompiledForest& forest, index_t begin, index_t end, const T* row, index_t column_stride,
                 double* outputs, std::uint64_t* touched) {
    const ForestView& view = forest.forest();
    while (begin < end) {
        std::int32_t place[kTreesInStep];
        index_t n = 0;
        while (n < kTreesInStep && begin + n < end && !forest.tree(begin + n).categorical) ++n;
        if (n == 0) {
            n = 1;
            descend_categorical<T, 1>(forest, forest.tree(begin), &row, column_stride, place);
        } else if (view.single) {
            descend_trees_in_step<T, true>(forest, begin, n, row, column_stride, place);
        } else {
            descend_trees_in_step<T, false>(forest, begin, n, row, column_stride, place);
        }
        for (index_t i = 0; i < n; ++i) {
            const auto& tree = forest.tree(begin + i);
            view.add_node(begin + i, forest.source(tree, place[i]), outputs);
            if (touched && forest.may_touch_more(begin + i, touched)) forest.add_path_features(tree, place[i], touched);
        }
        begin += n;
    }
}

}  // namespace farthing
