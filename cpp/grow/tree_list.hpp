// tree_list: trees one after another in one structure of arrays, the format of forests in Python.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/views.hpp"
#include "grow/tree.hpp"

namespace farthing {

struct TreeList {
    std::vector<index_t> offsets{0};  // (n_trees + 1,): the first node of each tree
    std::vector<index_t> target;      // (n_trees,): the first output that each adds to
    Tree nodes;                       // of all trees; children are numbered within their tree

    void add(const Tree& tree, index_t output) {
        const auto words = static_cast<index_t>(nodes.category_words.size());
        nodes.n_values = tree.n_values;
        append(nodes.feature, tree.feature);
        append(nodes.threshold, tree.threshold);
        append(nodes.left, tree.left);
        append(nodes.right, tree.right);
        append(nodes.missing, tree.missing);
        for (const index_t first : tree.category) nodes.category.push_back(first < 0 ? first : first + words);
        append(nodes.category_words, tree.category_words);
        append(nodes.value, tree.value);
        append(nodes.cover, tree.cover);
        offsets.push_back(nodes.n_nodes());
        target.push_back(output);
    }

    // Adds a tree of one node.
    void add_constant(Span<const double> values, index_t output) {
        Tree leaf;
        leaf.n_values = values.size;
        std::copy(values.begin(), values.end(), leaf.add_leaf(0.0));
        add(leaf, output);
    }

private:
    template <class T>
    static void append(std::vector<T>& to, const std::vector<T>& from) {
        to.insert(to.end(), from.begin(), from.end());
    }
};

}  // namespace farthing
