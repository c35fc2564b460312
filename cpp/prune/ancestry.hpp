// ancestry: the parents of the nodes of a forest, and the path of a row through a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "common/views.hpp"
#include "predict/forest_view.hpp"

namespace farthing {

// The parent of each node, and whether no ancestor tests the same feature.
struct Ancestry {
    std::vector<std::int32_t> parent;      // (nodes,): index within the forest; -1: a root
    std::vector<std::uint8_t> first_test;  // (nodes,): whether this is the first test of its feature on the path

    explicit Ancestry(const ForestView& forest)
        : parent(static_cast<std::size_t>(forest.feature.size), -1),
          first_test(static_cast<std::size_t>(forest.feature.size), 0) {
        if (forest.feature.size > std::numeric_limits<std::int32_t>::max())
            throw std::overflow_error("a forest to prune may have 2^31 nodes at most");
        for (index_t t = 0; t < forest.n_trees(); ++t) {
            const index_t begin = forest.offsets[t];
            for (index_t h = begin; h < forest.offsets[t + 1]; ++h) {
                if (forest.feature[h] < 0) continue;
                parent[begin + forest.left[h]] = static_cast<std::int32_t>(h);
                parent[begin + forest.right[h]] = static_cast<std::int32_t>(h);
                std::int32_t up = parent[h];
                while (up >= 0 && forest.feature[up] != forest.feature[h]) up = parent[up];
                first_test[h] = up < 0;
            }
        }
    }
};

// Calls visit(node) for each inner node that a row is tested at in a tree, from the root; returns the node where it
// ends.
template <class T, class Visit>
index_t visit_path(const ForestView& forest, const Matrix<T>& X, index_t row, index_t tree, Visit visit) {
    const index_t begin = forest.offsets[tree];
    index_t node = begin;
    while (forest.feature[node] >= 0) {
        visit(node);
        const index_t next = next_node(forest, begin, node, static_cast<double>(X(row, forest.feature[node])));
        if (next == node) break;
        node = next;
    }
    return node;
}

}  // namespace farthing
