// Tests of grow/grower.hpp, grow/row_partition.hpp and grow/root_histogram_update.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "account/candidate_ranking.hpp"
#include "account/cost_sheet.hpp"
#include "common/views.hpp"
#include "grow/class_target.hpp"
#include "grow/gradient_target.hpp"
#include "grow/grow_options.hpp"
#include "grow/grower.hpp"
#include "grow/impurity.hpp"
#include "grow/root_histogram_update.hpp"
#include "grow/row_partition.hpp"
#include "grow/split.hpp"
#include "grow/split_search.hpp"
#include "grow/tree.hpp"
#include "grow/workspace.hpp"
#include "table/binned_table.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

struct Grown {
    Tree tree;
    std::vector<index_t> leaf_of_row;
    std::vector<std::uint8_t> owned;
};

template <class Target>
Grown grow(const BinnedTable& table, const Target& target, const CostSheet& sheet, const GrowOptions& options,
           Workspace& workspace, RootHistogramUpdate* root_update = nullptr) {
    workspace.rows = count_up(table.n_rows);
    Grower<Target> grower(table, target, sheet, options, count_up(table.n_columns()), OwnedFeatures(sheet), workspace,
                          nullptr, root_update);
    Grown grown;
    grown.tree = grower.grow();
    grown.leaf_of_row.assign(static_cast<std::size_t>(table.n_rows), -1);
    grower.leaves_of_rows({grown.leaf_of_row.data(), table.n_rows});
    for (index_t j = 0; j < table.n_columns(); ++j) grown.owned.push_back(grower.owned().has(j));
    return grown;
}

inline bool same(const Grown& a, const Grown& b) {
    const Tree& x = a.tree;
    const Tree& y = b.tree;
    return x.feature == y.feature && x.threshold == y.threshold && x.left == y.left && x.right == y.right &&
           x.missing == y.missing && x.category == y.category && x.category_words == y.category_words &&
           x.value == y.value && x.sparse_value.starts == y.sparse_value.starts &&
           x.sparse_value.columns == y.sparse_value.columns && x.sparse_value.entries == y.sparse_value.entries &&
           x.cover == y.cover && a.leaf_of_row == b.leaf_of_row && a.owned == b.owned;
}

// Whether the row goes left at the node.
inline bool goes_left_at(const Tree& tree, const Values& values, index_t node, index_t row) {
    const index_t feature = tree.feature[node];
    const double x = values.at(row, feature);
    if (std::isnan(x)) return tree.missing[node] == static_cast<std::uint8_t>(Missing::left);
    if (tree.category[node] < 0) return x <= tree.threshold[node];
    const auto code = static_cast<index_t>(x);
    return (tree.category_words[tree.category[node] + (code >> 6)] >> (code & 63)) & 1u;
}

// The values of a node, whether the tree stores their zeros or not.
inline std::vector<double> values_of(const Tree& tree, index_t node) {
    std::vector<double> found(static_cast<std::size_t>(tree.n_values), 0.0);
    if (tree.sparse) {
        const SparseValues& stored = tree.sparse_value;
        for (index_t i = stored.starts[node]; i < stored.starts[node + 1]; ++i) {
            found[stored.columns[i]] = stored.entries[i];
        }
    } else {
        std::copy_n(tree.value.begin() + node * tree.n_values, tree.n_values, found.begin());
    }
    return found;
}

// Sends all rows down the tree again from the raw values. Each must end in its leaf, each node must have the value of
// its rows and, if prices do not matter, no column may split a node better than the chosen one.
template <class Target>
void retrace(const Values& values, const BinnedTable& table, const Target& target, const Grown& grown, bool blind) {
    const Tree& tree = grown.tree;
    const index_t width = target.width();
    std::vector<std::vector<index_t>> rows_at(static_cast<std::size_t>(tree.n_nodes()));
    rows_at[0] = count_up(table.n_rows);
    std::vector<std::int64_t> cells(static_cast<std::size_t>(table.n_all_bins() * width));
    std::vector<std::int64_t> scratch(static_cast<std::size_t>(4 * width));
    std::vector<double> value(static_cast<std::size_t>(tree.n_values));
    for (index_t node = 0; node < tree.n_nodes(); ++node) {
        const auto& rows = rows_at[node];
        std::vector<std::int64_t> sums(static_cast<std::size_t>(width), 0);
        for (const index_t row : rows) target.add(sums.data(), target.row(row));
        target.values(sums.data(), value.data());
        CHECK(value == values_of(tree, node));
        CHECK(target.cover(sums.data()) == tree.cover[node]);
        if (tree.feature[node] < 0) {
            for (const index_t row : rows) CHECK(grown.leaf_of_row[row] == node);
            continue;
        }
        CHECK(tree.left[node] > node && tree.right[node] > node);
        std::vector<std::int64_t> left(static_cast<std::size_t>(width), 0);
        std::vector<std::int64_t> right(static_cast<std::size_t>(width), 0);
        for (const index_t row : rows) {
            const bool go = goes_left_at(tree, values, node, row);
            rows_at[go ? tree.left[node] : tree.right[node]].push_back(row);
            target.add(go ? left.data() : right.data(), target.row(row));
        }
        const double node_score = target.node_score(sums.data());
        const double gain = target.gain(left.data(), right.data(), node_score);
        CHECK(gain > 0);
        if (!blind) continue;
        fill_all(table, target, rows, cells.data());
        for (index_t j = 0; j < table.n_columns(); ++j) {
            SplitSearch<Target> search(target, sums.data(), node_score, 1, scratch.data());
            const std::int64_t* first = cells.data() + table.first_bin[j] * width;
            const Split split = table.columns[j].categorical ? search.categorical(first, table.columns[j].n_bins)
                                                             : search.numeric(first, table.columns[j].n_bins);
            CHECK(split.gain <= gain);
        }
    }
}

// Grows and retraces with one target, under both ledgers and both rules, with 1 and 2 threads in one workspace.
template <class Target>
void grow_all_ways(const Values& values, const BinnedTable& table, const Target& target, Workspace& workspace) {
    const Prices prices(table.n_columns());
    const std::vector<double> zeros(prices.own.size(), 0.0);
    const std::vector<index_t> alone(prices.own.size(), -1);
    const CostSheet free{view(zeros), {}, view(alone)};
    GrowOptions options;
    options.n_threads = 1;
    const Grown blind = grow(table, target, free, options, workspace);
    retrace(values, table, target, blind, true);
    options.n_threads = 2;
    CHECK(same(blind, grow(table, target, free, options, workspace)));
    options.ranking.rule = CostRule::ratio;
    CHECK(same(blind, grow(table, target, free, options, workspace)));
    for (const LedgerKind ledger : {LedgerKind::row, LedgerKind::model}) {
        for (const CostRule rule : {CostRule::penalty, CostRule::ratio}) {
            options = {};
            options.ledger = ledger;
            options.ranking = {rule, 0.125};
            options.budget = 9.5;
            options.max_leaves = 30;
            options.min_rows_leaf = 2;
            options.n_threads = 1;
            const Grown one = grow(table, target, prices.sheet(), options, workspace);
            retrace(values, table, target, one, false);
            options.n_threads = 2;
            CHECK(same(one, grow(table, target, prices.sheet(), options, workspace)));
            OwnedFeatures bought(prices.sheet());
            for (index_t j = 0; j < table.n_columns(); ++j) {
                if (one.owned[j]) bought.add(prices.sheet(), j);
            }
            CHECK(within_budget(total(prices.sheet(), bought), options.budget));
        }
    }
}

template <class Target>
void grow_on(index_t n_rows, const Target& target, const Values& values, Workspace& workspace) {
    CHECK(values.n_rows == n_rows);
    const BinnedTable table = values.bin(2);
    grow_all_ways(values, table, target, workspace);
}

inline void trees_of_every_target_are_retraced() {
    Workspace workspace;  // shared, as in boosting
    for (const index_t n_rows : {1, 2, 40, 700}) {
        const Values values = make_values(n_rows, 6, 13);
        const auto gradients = make_numbers(n_rows, 14);
        const auto weights = make_weights(n_rows, 15);
        grow_on(n_rows, GradientTarget<GradientSums::packed>(view(gradients), {}, 0.0), values, workspace);
        grow_on(n_rows, GradientTarget<GradientSums::unit>(view(gradients), {}, 1.0), values, workspace);
        grow_on(n_rows, GradientTarget<GradientSums::full>(view(gradients), view(weights), 0.5), values, workspace);
        for (const index_t n_classes : {1, 2, 3, 70}) {
            const auto labels = make_labels(n_rows, n_classes, 16);
            for (const auto kind : {Impurity::entropy, Impurity::gini, Impurity::pairs, Impurity::powers}) {
                if (n_classes == 70 && (n_rows > 40 || kind != Impurity::gini)) continue;  // slow and not different
                const ClassTarget target(view(labels), view(weights), n_classes, {kind, 0, 2});
                grow_on(n_rows, target, values, workspace);
            }
        }
    }
}

// Four histograms for hundreds of open leaves: most are counted from their rows.
inline void a_tree_of_more_leaves_than_histograms_is_retraced() {
    const index_t n = 3000;
    const Values values = make_values(n, 7, 17);
    const BinnedTable table = values.bin();
    const auto gradients = make_numbers(n, 18);
    const GradientTarget<GradientSums::packed> target(view(gradients), {}, 0.0);
    const Prices prices(7);
    Workspace workspace;
    for (const LedgerKind ledger : {LedgerKind::row, LedgerKind::model}) {
        GrowOptions options;
        options.ledger = ledger;
        options.n_threads = 2;
        const Grown grown = grow(table, target, prices.sheet(), options, workspace);
        CHECK(grown.tree.n_nodes() > 2000);
        retrace(values, table, target, grown, true);
    }
}

inline void large_tables_are_grown_alike_by_any_number_of_threads() {
    const index_t n = 70000;
    const Values values = make_values(n, 9, 19);
    const BinnedTable table = values.bin(2);
    const auto gradients = make_numbers(n, 20);
    const auto weights = make_weights(n, 21);
    const auto labels = make_labels(n, 3, 22);
    const Prices prices(9);
    Workspace workspace;
    GrowOptions options;
    options.max_leaves = 12;
    const auto alike = [&](const auto& target) {
        options.n_threads = 1;
        const Grown one = grow(table, target, prices.sheet(), options, workspace);
        for (const int n_threads : {2, 3}) {
            options.n_threads = n_threads;
            CHECK(same(one, grow(table, target, prices.sheet(), options, workspace)));
        }
        CHECK(one.tree.n_nodes() == 23);
    };
    alike(GradientTarget<GradientSums::packed>(view(gradients), {}, 0.0));
    alike(GradientTarget<GradientSums::unit>(view(gradients), {}, 0.0));
    alike(GradientTarget<GradientSums::full>(view(gradients), view(weights), 0.0));
    alike(ClassTarget(view(labels), view(weights), 3, {Impurity::entropy, 0, 2}));
}

inline void chosen_rows_and_columns_are_the_only_ones_used() {
    const index_t n = 300;
    const Values values = make_values(n, 11, 23);
    const BinnedTable table = values.bin();
    const auto gradients = make_numbers(n, 24);
    const GradientTarget<GradientSums::packed> target(view(gradients), {}, 0.0);
    const Prices prices(11);
    const CostSheet sheet = prices.sheet();
    Workspace workspace;
    for (const std::vector<index_t>& columns : {std::vector<index_t>{}, {1}, {2, 7}, {0, 5, 6, 10}}) {
        workspace.rows.clear();
        for (index_t i = 5; i < n; i += 3) workspace.rows.push_back(i);
        GrowOptions options;
        Grower<GradientTarget<GradientSums::packed>> grower(table, target, sheet, options, columns,
                                                            OwnedFeatures(sheet), workspace);
        const Tree tree = grower.grow();
        CHECK(columns.empty() == (tree.n_nodes() == 1));
        for (const index_t feature : tree.feature) {
            CHECK(feature < 0 || std::find(columns.begin(), columns.end(), feature) != columns.end());
        }
        std::vector<index_t> leaf_of_row(static_cast<std::size_t>(n), -1);
        grower.leaves_of_rows({leaf_of_row.data(), n});
        for (index_t i = 0; i < n; ++i) CHECK((leaf_of_row[i] >= 0) == (i >= 5 && i % 3 == 2));
    }
}

inline void limits_hold_even_the_largest() {
    const index_t n = 400;
    const Values values = make_values(n, 6, 25);
    const BinnedTable table = values.bin();
    const auto gradients = make_numbers(n, 26);
    const GradientTarget<GradientSums::packed> target(view(gradients), {}, 0.0);
    const Prices prices(6);
    const index_t most = std::numeric_limits<index_t>::max();
    Workspace workspace;
    GrowOptions options;
    options.min_rows_leaf = most;
    CHECK(grow(table, target, prices.sheet(), options, workspace).tree.n_nodes() == 1);
    options.min_rows_leaf = 1;
    options.max_depth = 0;
    CHECK(grow(table, target, prices.sheet(), options, workspace).tree.n_nodes() == 1);
    options.max_depth = most;
    options.max_leaves = 1;
    CHECK(grow(table, target, prices.sheet(), options, workspace).tree.n_nodes() == 1);
    options.max_leaves = 7;
    CHECK(grow(table, target, prices.sheet(), options, workspace).tree.n_nodes() == 13);
}

// Categories whose weights are all too small for the grid have no class shares.
inline void categories_without_weight_are_sorted_safely() {
    const index_t n = 2000;
    Values values = make_values(n, 3, 27, 0.0, 200);
    const BinnedTable table = values.bin();
    auto weights = make_weights(n, 28);
    for (index_t i = 0; i < n; ++i) {
        if (static_cast<index_t>(values.at(i, 2)) % 3 != 0) weights[i] = 1e-40;
    }
    const Prices prices(3);
    Workspace workspace;
    for (const index_t n_classes : {2, 4}) {
        const auto labels = make_labels(n, n_classes, 29);
        const ClassTarget target(view(labels), view(weights), n_classes, {Impurity::gini, 0, 2});
        GrowOptions options;
        options.max_leaves = 20;
        retrace(values, table, target, grow(table, target, prices.sheet(), options, workspace), false);
    }
}

inline void drawn_columns_and_cuts_are_retraced_and_repeat() {
    const index_t n = 500;
    const Values values = make_values(n, 11, 41);
    const BinnedTable table = values.bin();
    const auto labels = make_labels(n, 3, 42);
    const auto weights = make_weights(n, 43);
    const ClassTarget target(view(labels), view(weights), 3, {Impurity::pairs, 0, 2});
    const Prices prices(11);
    Workspace workspace;
    std::vector<Grown> grown;
    for (const std::uint64_t key : {1, 1, 2}) {
        GrowOptions options;
        options.ranking.rule = CostRule::ratio;
        options.max_features = 2;
        options.cuts = {{40, 3}, {10, 5}};
        options.key = key;
        options.n_threads = static_cast<int>(grown.size()) + 1;
        grown.push_back(grow(table, target, prices.sheet(), options, workspace));
        retrace(values, table, target, grown.back(), false);
    }
    CHECK(same(grown[0], grown[1]));
    CHECK(!same(grown[0], grown[2]));
}

// Without missing values in training, a single tree sends them to the larger child; an ensemble as many of its trees to
// either child as rows went there, whichever trees of it are counted.
inline void unseen_missing_values_follow_the_rows() {
    for (const double left : {0.0, 1.0, 30.0, 50.0, 80.0, 100.0}) {
        const double right = 100 - left;
        CHECK(unseen_missing(0, left, right) == (left >= right ? Missing::left : Missing::right));
        for (const std::uint64_t begin : {0, 7, 1000}) {
            double n_left = 0;
            for (std::uint64_t t = begin; t < begin + 100; ++t) n_left += unseen_missing(t, left, right) == Missing::left;
            CHECK(std::abs(n_left - left) <= 3);
        }
    }
}

// Every inner node of a tree of an ensemble has a way for missing values, on columns with and without any.
inline void no_node_of_an_ensemble_stops_missing_values() {
    const Values values = make_values(300, 3, 8);
    const BinnedTable table = values.bin();
    std::vector<double> gradients(300);
    Random random(3);
    for (double& g : gradients) g = random.uniform() - 0.5;
    const GradientTarget<GradientSums::packed> target({gradients.data(), 300}, {}, 0);
    Prices prices(3);
    Workspace workspace;
    GrowOptions options;
    options.number = 3;
    const Tree tree = grow(table, target, prices.sheet(), options, workspace).tree;
    CHECK(tree.n_nodes() > 10);
    for (index_t node = 0; node < tree.n_nodes(); ++node) {
        CHECK((tree.missing[node] == static_cast<std::uint8_t>(Missing::stay)) == (tree.feature[node] < 0));
    }
}

inline void partitions_are_stable() {
    for (const index_t n : {1, 2, 8191, 8192, 8193, 50000}) {
        const Values values = make_values(n, 2, 30);
        const BinnedTable table = values.bin();
        Split split;
        split.bin = table.columns[1].n_bins / 3;
        for (const Missing missing : {Missing::left, Missing::right}) {
            split.missing = missing;
            const auto left = goes_left(split, table.columns[1].n_bins);
            auto expected = count_up(n);
            const auto middle = std::stable_partition(expected.begin(), expected.end(),
                                                      [&](index_t row) { return left[bin_at(table, row, 1)] != 0; });
            for (const int n_threads : {1, 2, 3}) {
                auto rows = count_up(n);
                std::vector<index_t> scratch(static_cast<std::size_t>(n));
                const index_t n_left = partition_rows(table.column(1), left, rows.data(), n, scratch.data(), n_threads);
                CHECK(rows == expected && n_left == middle - expected.begin());
            }
        }
    }
}

// Forty columns, so that sparse rows read whole words; squared loss, so that root histograms are updated.
template <GradientSums kSums>
void update_roots_and_compare() {
    const Values values = make_values(10000, 40, 23);
    Prices prices(40);
    GrowOptions options;
    options.ledger = LedgerKind::model;
    options.max_depth = 3;
    options.ranking.tradeoff = 0.5;
    for (const int n_threads : {1, 2}) {
        options.n_threads = n_threads;
        const BinnedTable table = values.bin(n_threads);
        CHECK(table.codes.n_words() > 1);
        Random random(5);
        std::vector<double> residuals;
        for (index_t i = 0; i < table.n_rows; ++i) {
            const double few = values.at(i, 0);
            const double many = values.at(i, 6);
            residuals.push_back(random.uniform() + (std::isnan(few) ? 2 : few) * (std::isnan(many) ? 1 : many));
        }
        Workspace workspace;
        RootHistogramUpdate root_update;
        for (int round = 0; round < 6; ++round) {
            const GradientTarget<kSums> target(view(residuals), {}, 0, 0, n_threads, 0.3, true);
            Workspace other;
            const Grown reused = grow(table, target, prices.sheet(), options, workspace, &root_update);
            CHECK(same(reused, grow(table, target, prices.sheet(), options, other)));
            retrace(values, table, target, reused, false);
            for (index_t i = 0; i < table.n_rows; ++i) residuals[i] -= reused.tree.value[reused.leaf_of_row[i]];
        }
        CHECK(root_update.n_reused() >= 3);
    }
}

inline void root_histograms_updated_between_rounds_equal_those_counted_from_rows() {
    update_roots_and_compare<GradientSums::packed>();
    update_roots_and_compare<GradientSums::unit>();
}

inline void test_grower() {
    RUN(root_histograms_updated_between_rounds_equal_those_counted_from_rows);
    RUN(unseen_missing_values_follow_the_rows);
    RUN(no_node_of_an_ensemble_stops_missing_values);
    RUN(partitions_are_stable);
    RUN(trees_of_every_target_are_retraced);
    RUN(a_tree_of_more_leaves_than_histograms_is_retraced);
    RUN(large_tables_are_grown_alike_by_any_number_of_threads);
    RUN(chosen_rows_and_columns_are_the_only_ones_used);
    RUN(drawn_columns_and_cuts_are_retraced_and_repeat);
    RUN(limits_hold_even_the_largest);
    RUN(categories_without_weight_are_sorted_safely);
}

}  // namespace farthing::tests
