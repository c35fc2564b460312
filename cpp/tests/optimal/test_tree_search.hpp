// Tests of optimal/tree_search.hpp: against all trees of random tables.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bits.hpp"
#include "account/cost_sheet.hpp"
#include "common/views.hpp"
#include "optimal/owned_prices.hpp"
#include "optimal/priced_rows.hpp"
#include "optimal/tree_search.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

// A table with columns of all kinds, with a group.
struct SearchTable {
    index_t n = 14;
    index_t n_labels = 3;
    std::vector<std::uint8_t> codes;
    std::vector<std::uint8_t> kinds{0, 1, 2, 0, 0};
    std::vector<index_t> n_codes{4, 4, 4, 2, 3};
    std::vector<index_t> missing{3, -1, -1, -1, -1};
    std::vector<double> labels;
    std::vector<double> weights;
    std::vector<double> own{0.5, 0.0, 1.5, 0.25, 2.0};
    std::vector<double> shared{0.75};
    std::vector<index_t> group_of{0, -1, 0, -1, 0};

    explicit SearchTable(std::uint64_t seed, index_t n_rows = 14) : n(n_rows) {
        Random random(seed);
        for (const index_t count : n_codes)
            for (index_t row = 0; row < n; ++row) codes.push_back(static_cast<std::uint8_t>(random.below(count)));
        for (index_t row = 0; row < n; ++row) {
            weights.push_back(random.chance(0.3) ? 0.7 : 1.0);
            const index_t right = random.below(n_labels);
            for (index_t label = 0; label < n_labels; ++label)
                labels.push_back(label == right ? 0.0 : weights.back() * (1.0 + 4.0 * random.uniform()));
        }
    }

    // The same with tests of intervals, of columns of 4 numbers, of 4 and missing values, and others.
    static SearchTable with_intervals(std::uint64_t seed, index_t n_rows = 14) {
        SearchTable table(seed, n_rows);
        table.kinds = {3, 1, 3, 0, 3};
        table.n_codes = {5, 4, 4, 2, 4};
        table.missing = {4, -1, -1, -1, 3};
        table.codes.clear();
        Random random(seed + 1000);
        for (const index_t count : table.n_codes)
            for (index_t row = 0; row < table.n; ++row)
                table.codes.push_back(static_cast<std::uint8_t>(random.below(count)));
        return table;
    }

    CostSheet sheet() const { return {view(own), view(shared), view(group_of)}; }
    SearchColumns columns() const { return {view(codes), view(kinds), view(n_codes), view(missing)}; }
    SearchCosts costs(double factor, double budget) const {
        return {view(labels), view(weights), n_labels, sheet(), factor, budget, 0.1, {}};
    }
};

// The least cost of some rows over all trees, by trying them.
inline double least_cost(const SearchTable& table, const std::vector<index_t>& rows, const OwnedFeatures& owned,
                         int depth, double factor, double budget) {
    double best = std::numeric_limits<double>::infinity();
    double weight = 0;
    for (const index_t row : rows) weight += table.weights[row];
    for (index_t label = 0; label < table.n_labels; ++label) {
        double cost = 0;
        for (const index_t row : rows) cost += table.labels[row * table.n_labels + label];
        best = std::min(best, cost);
    }
    if (depth == 0) return best;
    const CostSheet sheet = table.sheet();
    for (index_t column = 0; column < sheet.n_features(); ++column) {
        if (!affords(sheet, owned, column, budget)) continue;
        OwnedFeatures more = owned;
        more.add(sheet, column);
        const index_t count = table.n_codes[column];
        for (unsigned left = 1; left + 1 < (1u << count); ++left) {
            const auto kind = static_cast<TestKind>(table.kinds[column]);
            if (kind == TestKind::singles && count_ones(static_cast<std::uint64_t>(left)) != 1) continue;
            // Ordered: the numbers on the left are the lowest ones; missing values are on either side.
            const unsigned numbers = table.missing[column] >= 0 ? left & ~(1u << table.missing[column]) : left;
            if (kind == TestKind::ordered && (numbers & (numbers + 1)) != 0) continue;
            const unsigned lowest = numbers & (~numbers + 1);
            if (kind == TestKind::intervals && (numbers & (numbers + lowest)) != 0) continue;
            std::vector<index_t> sides[2];
            for (const index_t row : rows) sides[left >> table.codes[column * table.n + row] & 1].push_back(row);
            if (sides[0].empty() || sides[1].empty()) continue;
            double cost = weight * price(sheet, column, owned) * factor + 0.1;
            for (const auto& side : sides) cost += least_cost(table, side, more, depth - 1, factor, budget);
            best = std::min(best, cost);
        }
    }
    return best;
}

inline FoundTree search_tree(const SearchTable& table, double factor, double budget, SearchOptions options,
                             double& cost, double& lower, const std::vector<double>& guesses = {}) {
    const CostSheet sheet = table.sheet();
    SearchCosts costs = table.costs(factor, budget);
    costs.guesses = view(guesses);
    const PricedRows rows(table.columns(), costs);
    OwnedSets sets(rows, sheet, budget);
    TreeSearch search(rows, sets, options);
    search.run();
    cost = search.cost();
    lower = search.lower_bound();
    return search.tree();
}

inline void no_tree_costs_less() {
    for (std::uint64_t seed = 0; seed < 48; ++seed) {
        const SearchTable table = seed < 24 ? SearchTable(seed) : SearchTable::with_intervals(seed, 12);
        std::vector<index_t> all(static_cast<std::size_t>(table.n));
        std::iota(all.begin(), all.end(), index_t{0});
        const int depth = static_cast<int>(seed % 4);
        const double factor = seed % 3 == 0 ? 0.0 : 0.3;
        const double budget = seed % 2 == 0 ? kInfinity : 1.6;
        double cost = 0;
        double lower = 0;
        search_tree(table, factor, budget, {depth, kInfinity, 1 << 20, 2}, cost, lower);
        const double least = least_cost(table, all, OwnedFeatures(table.sheet()), depth, factor, budget);
        CHECK(std::fabs(cost - least) <= 1e-9 * (1 + least));
        CHECK(cost == lower);
    }
}

inline void threads_and_memory_change_nothing() {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        SearchTable table = seed % 2 == 0 ? SearchTable(seed) : SearchTable::with_intervals(seed);
        table.labels.assign(table.labels.size(), 0.0);
        Random random(seed + 100);
        // Equal costs: many trees are as good as the best.
        for (index_t row = 0; row < table.n; ++row) table.labels[row * table.n_labels + random.below(3)] = 1.0;
        double cost[3];
        double lower = 0;
        const FoundTree one = search_tree(table, 0.01, kInfinity, {4, kInfinity, 1 << 20, 1}, cost[0], lower);
        const FoundTree four = search_tree(table, 0.01, kInfinity, {4, kInfinity, 1 << 20, 4}, cost[1], lower);
        const FoundTree none = search_tree(table, 0.01, kInfinity, {4, kInfinity, 0, 2}, cost[2], lower);
        CHECK(one.feature == four.feature && one.side == four.side && one.left == four.left);
        CHECK(one.feature == none.feature && one.side == none.side && one.left == none.left);
        CHECK(cost[0] == cost[1] && cost[0] == cost[2]);
    }
}

// What is remembered of a sub-table that was cut off must be a bound, since a later search may allow it to cost more.
inline void remembered_bounds_cut_off_no_best_tree() {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const SearchTable table = seed % 4 < 2 ? SearchTable(seed, 60) : SearchTable::with_intervals(seed, 60);
        const double factor = seed % 2 == 0 ? 0.02 : 0.1;
        double cost[2];
        double lower[2];
        search_tree(table, factor, kInfinity, {4, kInfinity, 1 << 24, 1}, cost[0], lower[0]);
        search_tree(table, factor, kInfinity, {4, kInfinity, 0, 1}, cost[1], lower[1]);
        CHECK(cost[0] == cost[1] && lower[0] == lower[1]);
    }
}

inline void a_search_out_of_time_has_a_valid_bound() {
    const SearchTable table(3);
    double best = 0;
    double best_lower = 0;
    double hurried = 0;
    double lower = 0;
    search_tree(table, 0.1, kInfinity, {4, kInfinity, 1 << 20, 1}, best, best_lower);
    const FoundTree tree = search_tree(table, 0.1, kInfinity, {4, 0.0, 1 << 20, 1}, hurried, lower);
    CHECK(lower <= best && best <= hurried);
    CHECK(!tree.feature.empty());
}

inline void a_search_that_ends_anywhere_has_a_valid_bound() {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        const SearchTable table(seed);
        double best = 0;
        double best_lower = 0;
        search_tree(table, 0.05, kInfinity, {4, kInfinity, 1 << 20, 1}, best, best_lower);
        CHECK(best == best_lower);
        double last = kInfinity;
        for (index_t most = 0; most < 400; most += 7) {
            double cost = 0;
            double lower = 0;
            search_tree(table, 0.05, kInfinity, {4, kInfinity, 1 << 20, 1, most}, cost, lower);
            CHECK(lower <= best);
            CHECK(best <= cost && cost <= last);
            last = cost;
        }
    }
}

// The cost of a found tree on the rows that reach a node.
inline double cost_of_tree(const SearchTable& table, const FoundTree& tree, index_t node,
                           const std::vector<index_t>& rows, const OwnedFeatures& owned, double factor) {
    const index_t column = tree.feature[node];
    if (column < 0) return least_cost(table, rows, owned, 0, factor, kInfinity);
    double weight = 0;
    std::vector<index_t> sides[2];
    for (const index_t row : rows) {
        weight += table.weights[row];
        sides[tree.side[node * 256 + table.codes[column * table.n + row]] - 1].push_back(row);
    }
    OwnedFeatures more = owned;
    more.add(table.sheet(), column);
    return weight * price(table.sheet(), column, owned) * factor + 0.1 +
           cost_of_tree(table, tree, tree.left[node], sides[0], more, factor) +
           cost_of_tree(table, tree, tree.right[node], sides[1], more, factor);
}

inline void guesses_cost_no_more_than_their_sum() {
    bool differs = false;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const SearchTable table(seed);
        const OwnedFeatures none(table.sheet());
        std::vector<index_t> all(static_cast<std::size_t>(table.n));
        std::iota(all.begin(), all.end(), index_t{0});
        Random random(seed + 7);
        std::vector<double> guesses;
        double sum = 0;
        for (index_t row = 0; row < table.n; ++row) {
            const double guess = table.labels[row * table.n_labels + random.below(table.n_labels)];
            guesses.push_back(random.chance(0.6) ? 0.0 : guess);
            sum += guesses.back();
        }
        const int depth = 3 + static_cast<int>(seed % 2);
        double least = 0;
        double cost[2];
        double lower[2];
        search_tree(table, 0.1, kInfinity, {depth, kInfinity, 1 << 20, 1}, least, lower[0]);
        const FoundTree one = search_tree(table, 0.1, kInfinity, {depth, kInfinity, 1 << 20, 1}, cost[0], lower[0], guesses);
        const FoundTree two = search_tree(table, 0.1, kInfinity, {depth, kInfinity, 0, 3}, cost[1], lower[1], guesses);
        CHECK(one.feature == two.feature && one.side == two.side && lower[0] == lower[1]);
        const double paid = cost_of_tree(table, one, 0, all, none, 0.1);
        const double slack = 1e-9 * (1 + least);
        CHECK(least <= paid + slack && paid <= cost[0] + slack && cost[0] <= least + sum + slack);
        CHECK(lower[0] <= least + slack);
        differs = differs || paid > least + slack;
        // Guesses of nothing change nothing.
        std::fill(guesses.begin(), guesses.end(), 0.0);
        search_tree(table, 0.1, kInfinity, {depth, kInfinity, 1 << 20, 1}, cost[0], lower[0], guesses);
        CHECK(cost[0] == lower[0] && cost[0] == least);
    }
    CHECK(differs);  // some guesses were too high
}

inline void test_tree_search() {
    RUN(a_search_that_ends_anywhere_has_a_valid_bound);
    RUN(guesses_cost_no_more_than_their_sum);
    RUN(no_tree_costs_less);
    RUN(threads_and_memory_change_nothing);
    RUN(remembered_bounds_cut_off_no_best_tree);
    RUN(a_search_out_of_time_has_a_valid_bound);
}

}  // namespace farthing::tests
