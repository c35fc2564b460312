// tree_account: what the rows that a tree was searched for spend and lose in it, and the class weights of its nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/views.hpp"
#include "optimal/priced_rows.hpp"
#include "optimal/threshold_tree.hpp"
#include "optimal/tree_search.hpp"

namespace farthing {

struct TreeAccount {
    std::vector<double> value;  // (nodes, n_labels), the weight of the rows of each class, of all copies of the node
    std::vector<double> cover;  // (nodes,), the weight of the rows of the node
    double spend = 0;           // price of all tests, times the weights of the rows
    double risk = 0;            // the least cost of one label for each leaf
};

// Gives all copies of a node the sum of their values.   INOUT values: (nodes, width).
inline void share_values(const std::vector<index_t>& origin, index_t width, std::vector<double>& values) {
    const auto n_nodes = static_cast<index_t>(origin.size());
    for (index_t node = 0; node < n_nodes; ++node) {
        if (origin[node] == node) continue;
        for (index_t k = 0; k < width; ++k) values[origin[node] * width + k] += values[node * width + k];
    }
    for (index_t node = 0; node < n_nodes; ++node)
        if (origin[node] != node) std::copy_n(values.begin() + origin[node] * width, width, values.begin() + node * width);
}

// IN target (n,): the class of each row.   Sums are taken in the order of the rows.
inline TreeAccount account_of(const ThresholdTree& thresholds, const SearchColumns& columns, const SearchCosts& costs,
                              Span<const index_t> target) {
    const FoundTree& tree = thresholds.tree;
    const std::vector<index_t>& origin = thresholds.origin;
    const index_t n = costs.weights.size;
    const index_t width = costs.n_labels;
    const std::size_t n_nodes = tree.feature.size();
    TreeAccount account;
    account.value.assign(n_nodes * static_cast<std::size_t>(width), 0.0);
    std::vector<double> losses(account.value.size(), 0.0);  // (nodes, n_labels), costs of labels
    std::vector<double> weights(n_nodes, 0.0);
    for (index_t row = 0; row < n; ++row) {
        index_t node = 0;
        for (;;) {
            account.value[node * width + target[row]] += costs.weights[row];
            const index_t column = tree.feature[node];
            if (column < 0) break;
            const std::uint8_t code = columns.codes[column * n + row];
            node = tree.side[node * 256 + code] == 1 ? tree.left[node] : tree.right[node];
        }
        weights[node] += costs.weights[row];
        double* loss = losses.data() + origin[node] * width;
        for (index_t label = 0; label < width; ++label) loss[label] += costs.labels[row * width + label];
    }
    account.cover.assign(n_nodes, 0.0);
    for (std::size_t node = 0; node < n_nodes; ++node)
        for (index_t label = 0; label < width; ++label) account.cover[node] += account.value[node * width + label];
    share_values(origin, width, account.value);
    // Parents come before their children.
    std::vector<OwnedFeatures> owned(n_nodes, OwnedFeatures(costs.sheet));
    for (std::size_t node = 0; node < n_nodes; ++node) {
        if (tree.feature[node] < 0) {
            account.spend += weights[node] * total(costs.sheet, owned[node]);
            account.risk += *std::min_element(losses.begin() + node * width, losses.begin() + (node + 1) * width);
            continue;
        }
        OwnedFeatures more = owned[node];
        more.add(costs.sheet, tree.feature[node]);
        owned[tree.left[node]] = owned[tree.right[node]] = more;
    }
    return account;
}

}  // namespace farthing
