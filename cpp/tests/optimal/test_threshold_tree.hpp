// Tests of optimal/threshold_tree.hpp: thresholds send rows where the tests of the found tree do, at the same cost.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/views.hpp"
#include "optimal/threshold_tree.hpp"
#include "optimal/tree_account.hpp"
#include "tests/check.hpp"
#include "tests/optimal/test_tree_search.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

inline index_t leaf_of(const FoundTree& tree, const SearchTable& table, index_t row) {
    index_t node = 0;
    while (tree.feature[node] >= 0) {
        const std::uint8_t code = table.codes[tree.feature[node] * table.n + row];
        const std::uint8_t side = tree.side[node * 256 + code];
        CHECK(side != 0);
        node = side == 1 ? tree.left[node] : tree.right[node];
    }
    return node;
}

// Whether the numbers on the left are all below those on the right.
inline bool is_threshold(const FoundTree& tree, index_t node, index_t n_numbers) {
    const std::uint8_t* side = tree.side.data() + node * 256;
    const std::uint8_t* first_right = std::find(side, side + n_numbers, 2);
    return std::find(first_right, side + n_numbers, 1) == side + n_numbers;
}

inline void thresholds_send_rows_to_the_same_leaves() {
    int n_nested = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const SearchTable table = SearchTable::with_intervals(seed, 40);
        double cost = 0;
        double lower = 0;
        const FoundTree found = search_tree(table, 0.01, kInfinity, {3, kInfinity, 1 << 20, 1}, cost, lower);
        const ThresholdTree made = ThresholdTreeBuilder(found, table.columns()).take();
        const FoundTree& tree = made.tree;
        const auto n_nodes = static_cast<index_t>(tree.feature.size());
        for (index_t node = 0; node < n_nodes; ++node) {
            const std::int32_t feature = tree.feature[node];
            CHECK(made.origin[node] <= node && made.origin[made.origin[node]] == made.origin[node]);
            if (feature < 0) continue;
            CHECK(node < tree.left[node] && node < tree.right[node]);
            if (table.kinds[feature] != 3) continue;
            CHECK(is_threshold(tree, node, table.missing[feature] < 0 ? table.n_codes[feature] : table.missing[feature]));
        }
        CHECK(made.n_tests == static_cast<index_t>(found.feature.size()) / 2);
        n_nested += n_nodes > static_cast<index_t>(found.feature.size());
        // Rows are in the same leaf of the found tree if and only if they are in copies of one leaf.
        std::vector<index_t> first(found.feature.size(), -1);
        for (index_t row = 0; row < table.n; ++row) {
            index_t& leaf = first[leaf_of(found, table, row)];
            const index_t origin = made.origin[leaf_of(tree, table, row)];
            if (leaf < 0) leaf = origin;
            CHECK(leaf == origin);
        }
        std::vector<index_t> target(static_cast<std::size_t>(table.n));
        for (index_t row = 0; row < table.n; ++row) target[row] = row % table.n_labels;
        const SearchCosts costs = table.costs(0.01, kInfinity);
        const TreeAccount account = account_of(made, table.columns(), costs, view(target));
        const double paid = account.risk + 0.01 * account.spend + 0.1 * static_cast<double>(made.n_tests);
        CHECK(std::fabs(paid - cost) <= 1e-9 * (1 + cost));
        for (index_t node = 0; node < n_nodes; ++node) {
            const double* value = account.value.data() + node * table.n_labels;
            CHECK(std::equal(value, value + table.n_labels, account.value.data() + made.origin[node] * table.n_labels));
            if (tree.feature[node] < 0) continue;
            const double below = account.cover[tree.left[node]] + account.cover[tree.right[node]];
            CHECK(std::fabs(account.cover[node] - below) <= 1e-9);
        }
    }
    CHECK(n_nested > 0);
}

inline void test_threshold_tree() { RUN(thresholds_send_rows_to_the_same_leaves); }

}  // namespace farthing::tests
