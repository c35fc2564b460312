// Tests of predict/predict.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/bitset.hpp"
#include "common/views.hpp"
#include "grow/gradient_target.hpp"
#include "grow/grow_options.hpp"
#include "grow/workspace.hpp"
#include "predict/block_predictor.hpp"
#include "predict/forest_view.hpp"
#include "predict/predict.hpp"
#include "predict/refused_ways.hpp"
#include "predict/threshold_ranks.hpp"
#include "table/binned_table.hpp"
#include "tests/check.hpp"
#include "tests/grow/test_grower.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

// Trees of random shapes and tests; every third feature has 70 categories.
struct RandomTrees {
    index_t n_features;
    std::vector<index_t> offsets{0};
    std::vector<index_t> target;
    std::vector<std::int32_t> feature;
    std::vector<double> threshold;
    std::vector<index_t> left;
    std::vector<index_t> right;
    std::vector<std::uint8_t> missing;
    std::vector<index_t> category;
    std::vector<std::uint64_t> words;
    std::vector<index_t> widths;
    std::vector<double> scores;

    RandomTrees(index_t features, index_t n_trees, std::uint64_t key) : n_features(features) {
        Random random(key);
        for (index_t j = 0; j < features; ++j) widths.push_back(j % 3 == 2 ? 2 : 0);
        for (index_t t = 0; t < n_trees; ++t) add_tree(random);
    }

    ForestView view_of(bool strict = false, bool single = false) const {
        ForestView forest;
        forest.n_features = n_features;
        forest.n_outputs = 3;
        forest.width = 2;
        forest.offsets = view(offsets);
        forest.target = view(target);
        forest.feature = view(feature);
        forest.threshold = view(threshold);
        forest.left = view(left);
        forest.right = view(right);
        forest.missing = view(missing);
        forest.category = view(category);
        forest.category_words = view(words);
        forest.category_widths = view(widths);
        forest.scores = view(scores);
        forest.strict = strict;
        forest.single = single;
        return forest;
    }

private:
    void add_leaf(Random& random) {
        feature.push_back(-1);
        threshold.push_back(0);
        left.push_back(-1);
        right.push_back(-1);
        missing.push_back(2);
        category.push_back(-1);
        for (int w = 0; w < 2; ++w) scores.push_back(random.uniform() - 0.5);
    }

    void add_tree(Random& random) {
        const index_t first = offsets.back();
        add_leaf(random);
        for (index_t splits = random.below(12); splits > 0; --splits) {
            index_t node = first + random.below(static_cast<index_t>(feature.size()) - first);
            while (feature[node] >= 0) node = first + (random.chance(0.5) ? left[node] : right[node]);
            const index_t column = random.below(n_features);
            feature[node] = static_cast<std::int32_t>(column);
            threshold[node] = random.chance(0.1) ? -kInfinity : random.chance(0.1) ? kInfinity : threshold_of(random);
            missing[node] = static_cast<std::uint8_t>(random.below(3));
            if (widths[column] > 0) {
                category[node] = static_cast<index_t>(words.size());
                for (index_t w = 0; w < 2 * widths[column]; ++w) words.push_back(random.bits());
            }
            left[node] = static_cast<index_t>(feature.size()) - first;
            right[node] = left[node] + 1;
            add_leaf(random);
            add_leaf(random);
        }
        offsets.push_back(static_cast<index_t>(feature.size()));
        target.push_back(random.below(2));
    }

    static double threshold_of(Random& random) { return static_cast<double>(random.below(9)) / 10 - 0.4; }
};

inline std::vector<double> make_rows(index_t n_rows, index_t n_features, std::uint64_t key) {
    Random random(key);
    std::vector<double> X(static_cast<std::size_t>(n_rows * n_features));
    for (index_t i = 0; i < n_rows * n_features; ++i) {
        const bool categorical = (i % n_features) % 3 == 2;
        const auto whole = static_cast<double>(random.below(categorical ? 140 : 11));
        X[i] = categorical ? whole - 4 : whole / 10 - 0.5;
        if (random.chance(0.1)) X[i] = kNan;
        if (random.chance(0.05)) X[i] = random.chance(0.5) ? kInfinity : -kInfinity;
    }
    return X;
}

struct Predictions {
    std::vector<double> outputs;
    std::vector<std::uint64_t> touched;

    Predictions(index_t n_rows, index_t n_features)
        : outputs(static_cast<std::size_t>(n_rows * 3), 99),
          touched(static_cast<std::size_t>(n_rows * Bitset::n_words(n_features)), 99) {}
    bool operator==(const Predictions& other) const { return outputs == other.outputs && touched == other.touched; }
};

// One row, node by node; a feature is bought if the total stays within the budget.
inline void walk(const ForestView& forest, const CostSheet& sheet, const double* row, double budget, double* outputs,
                 std::uint64_t* touched) {
    std::fill(outputs, outputs + 3, 0.0);
    std::fill(touched, touched + Bitset::n_words(forest.n_features), 0);
    OwnedFeatures owned(sheet);
    std::vector<bool> asked(static_cast<std::size_t>(forest.n_features), false);
    for (index_t t = 0; t < forest.n_trees(); ++t) {
        index_t node = forest.offsets[t];
        while (forest.feature[node] >= 0) {
            const index_t feature = forest.feature[node];
            if (!asked[feature] && affords(sheet, owned, feature, budget)) {
                owned.add(sheet, feature);
                touched[feature / 64] |= std::uint64_t{1} << (feature % 64);
            }
            asked[feature] = true;
            const index_t next = next_node(forest, forest.offsets[t], node, owned.has(feature) ? row[feature] : kNan);
            if (next == node) break;
            node = next;
        }
        for (index_t w = 0; w < 2; ++w) outputs[forest.target[t] + w] += forest.scores[node * 2 + w];
    }
}

inline void predictions_are_those_of_a_walk(index_t n_trees) {
    for (const index_t n_features : {1, 2, 7, 64, 65, 300}) {
        const RandomTrees random_trees(n_features, n_trees, 31);
        const Prices prices(n_features);
        for (const index_t n_rows : {1, 7, 8, 9, 127, 129, 600}) {
            const auto X = make_rows(n_rows, n_features, 32);
            const Matrix<double> matrix{X.data(), n_rows, n_features, n_features, 1};
            for (const bool strict : {false, true}) {
                for (const bool single : {false, true}) {
                    const ForestView forest = random_trees.view_of(strict, single);
                    Predictions expected(n_rows, n_features);
                    for (index_t i = 0; i < n_rows; ++i) {
                        walk(forest, prices.sheet(), X.data() + i * n_features, kInfinity,
                             expected.outputs.data() + i * 3,
                             expected.touched.data() + i * Bitset::n_words(n_features));
                    }
                    const PreparedForest compiled(forest);
                    for (const int n_threads : {1, 2}) {
                        Predictions found(n_rows, n_features);
                        predict(compiled, matrix, found.outputs.data(), found.touched.data(), n_threads);
                        CHECK(found == expected);
                        predict(compiled, matrix, found.outputs.data(), nullptr, n_threads);
                        CHECK(found == expected);
                    }
                }
            }
        }
    }
}

inline void predictions_of_few_trees_are_those_of_a_walk() { predictions_are_those_of_a_walk(7); }

// Enough trees that the small ones are evaluated by ranks, though not for a single one.
inline void predictions_of_many_trees_are_those_of_a_walk() {
    predictions_are_those_of_a_walk(150);
    CHECK(PreparedForest(RandomTrees(7, 150, 31).view_of()).small.front().worth_ranking(0, 150));
    CHECK(!PreparedForest(RandomTrees(300, 150, 31).view_of()).small.front().worth_ranking(0, 1));
}

inline void stages_add_up_to_one_pass() {
    const index_t n_rows = 333;
    const index_t n_features = 7;
    const RandomTrees random_trees(n_features, 150, 40);
    const PreparedForest forest(random_trees.view_of());
    const auto X = make_rows(n_rows, n_features, 41);
    const Matrix<double> matrix{X.data(), n_rows, n_features, n_features, 1};
    Predictions whole(n_rows, n_features);
    predict(forest, matrix, whole.outputs.data(), whole.touched.data(), 1);
    Predictions parts(n_rows, n_features);
    std::fill(parts.outputs.begin(), parts.outputs.end(), 0.0);
    std::fill(parts.touched.begin(), parts.touched.end(), 0);
    std::vector<index_t> even;
    std::vector<index_t> odd;
    for (index_t i = 0; i < n_rows; ++i) (i % 2 ? odd : even).push_back(i);
    for (const auto& [begin, end] : {std::pair<index_t, index_t>{0, 3}, {3, 70}, {70, 150}}) {
        for (const auto* rows : {&even, &odd}) {
            predict(forest, matrix, Stage{begin, end, view(*rows)}, parts.outputs.data(), parts.touched.data(), 2);
        }
    }
    CHECK(parts == whole);
}

// A feature has more thresholds than a byte can count: values are ranked anew for each run of trees.
inline void thresholds_that_are_too_many_begin_a_new_run_of_trees() {
    RandomTrees random_trees(1, 200, 42);
    Random random(43);
    for (double& threshold : random_trees.threshold) threshold = random.uniform() - 0.5;
    const ForestView forest = random_trees.view_of();
    const PreparedForest ready(forest);
    CHECK(ready.small.size() > 2);
    CHECK(ready.small.back().end() == forest.n_trees());
    for (std::size_t i = 0; i + 1 < ready.small.size(); ++i) {
        CHECK(ready.small[i].end() == ready.small[i + 1].begin());
        CHECK(ready.small[i].ranks().n_thresholds(0) > ThresholdRanks::kMaxThresholds - 12);
        CHECK(ready.small[i].worth_ranking(0, forest.n_trees()));
    }
    const index_t n_rows = 500;
    const auto X = make_numbers(n_rows, 44);
    Predictions found(n_rows, 1);
    predict(ready, Matrix<double>{X.data(), n_rows, 1, 1, 1}, found.outputs.data(), found.touched.data(), 1);
    const Prices prices(1);
    Predictions expected(n_rows, 1);
    for (index_t i = 0; i < n_rows; ++i) {
        walk(forest, prices.sheet(), X.data() + i, kInfinity, expected.outputs.data() + i * 3,
             expected.touched.data() + i);
    }
    CHECK(found == expected);
}

// The rank is a count, whatever the thresholds: spread evenly, on several scales, or infinite.
inline void ranks_are_counts_of_thresholds() {
    Random random(45);
    for (int kind = 0; kind < 4; ++kind) {
        for (const index_t n : {1, 2, 3, 7, 8, 40, 200, 254}) {
            std::vector<double> sorted;
            for (index_t i = 0; i < n; ++i) {
                const double x = random.uniform() - 0.5;
                sorted.push_back(kind == 0 ? x : kind == 1 ? x * 1e308 * 3 : kind == 2 ? std::exp(300 * x) : x * 1e-310);
            }
            if (kind == 1) sorted.push_back(kInfinity);
            if (kind == 3) sorted.push_back(-kInfinity);
            ThresholdRanks ranks(1);
            std::vector<ThresholdRanks::Threshold> thresholds;
            for (const double t : sorted) thresholds.emplace_back(0, t);
            const bool admitted = ranks.admit(thresholds);
            if (!admitted) continue;
            ranks.seal();
            constexpr index_t kRows = 1024;
            std::vector<double> x{kInfinity, -kInfinity, std::nan(""), 0.0, -0.0, 1e308, -1e308, 5e-324};
            for (const double t : sorted) {
                x.insert(x.end(), {t, std::nextafter(t, kInfinity), std::nextafter(t, -kInfinity)});
            }
            while (static_cast<index_t>(x.size()) < kRows) x.push_back(sorted[random.below(n)] * random.uniform() * 2);
            std::uint8_t found[kRows];
            CHECK(ranks.rank<kRows>(0, x.data(), found));
            for (index_t r = 0; r < kRows; ++r) {
                const auto below = [&](double t) { return t < x[r]; };
                std::vector<double> once(sorted);
                std::sort(once.begin(), once.end());
                once.erase(std::unique(once.begin(), once.end()), once.end());
                const auto count = std::count_if(once.begin(), once.end(), below);
                CHECK(found[r] == (std::isnan(x[r]) ? ThresholdRanks::kMissing : count));
            }
        }
    }
}

// With and without the vector instructions of the machine.
inline void blocks_have_the_same_bits_on_every_machine() {
    for (const index_t n_features : {7, 70, 150}) {
        const RandomTrees random_trees(n_features, 300, 46);
        const PreparedForest forest(random_trees.view_of());
        const index_t n_rows = kRowsInBlock;
        const auto X = make_rows(n_rows, n_features, 47);
        const Matrix<double> matrix{X.data(), n_rows, n_features, n_features, 1};
        Predictions plain(n_rows, n_features);
        Predictions found(n_rows, n_features);
        for (Predictions* each : {&plain, &found}) {
            std::fill(each->outputs.begin(), each->outputs.end(), 0.0);
            std::fill(each->touched.begin(), each->touched.end(), 0);
            BlockPredictor<double> pass(forest, matrix, Stage{0, 300, {}}, each->outputs.data(), each->touched.data());
            if (each == &plain) {
                pass.run_block(0, n_rows);
            } else {
                pass.run(0, n_rows);
            }
        }
        CHECK(found == plain);
    }
}

inline void budgets_hold_and_are_those_of_a_walk() {
    for (const index_t n_features : {1, 6, 70}) {
        const RandomTrees random_trees(n_features, 9, 33);
        const Prices prices(n_features);
        const index_t n_rows = 500;
        const auto X = make_rows(n_rows, n_features, 34);
        const Matrix<double> matrix{X.data(), n_rows, n_features, n_features, 1};
        Random random(35);
        std::vector<double> budgets;
        for (index_t i = 0; i < n_rows; ++i) {
            budgets.push_back(i % 9 == 0 ? kInfinity : static_cast<double>(random.below(12)));
        }
        const ForestView forest = random_trees.view_of();
        Predictions expected(n_rows, n_features);
        const index_t n_words = Bitset::n_words(n_features);
        for (index_t i = 0; i < n_rows; ++i) {
            walk(forest, prices.sheet(), X.data() + i * n_features, budgets[i], expected.outputs.data() + i * 3,
                 expected.touched.data() + i * n_words);
            OwnedFeatures bought(prices.sheet());
            for (index_t j = 0; j < n_features; ++j) {
                if ((expected.touched[i * n_words + j / 64] >> (j % 64)) & 1u) bought.add(prices.sheet(), j);
            }
            CHECK(within_budget(total(prices.sheet(), bought), budgets[i]));
        }
        for (const int n_threads : {1, 2}) {
            Predictions found(n_rows, n_features);
            predict_within(forest, prices.sheet(), matrix, view(budgets), found.outputs.data(), found.touched.data(),
                           n_threads);
            CHECK(found == expected);
        }
    }
}

inline void tables_of_floats_and_of_columns_are_read_in_place() {
    const index_t n_rows = 333;
    const index_t n_features = 7;
    const RandomTrees random_trees(n_features, 9, 36);
    const auto rows = make_rows(n_rows, n_features, 37);
    const std::vector<float> single(rows.begin(), rows.end());
    const std::vector<double> widened(single.begin(), single.end());
    std::vector<double> columns(rows.size());
    for (index_t i = 0; i < n_rows; ++i) {
        for (index_t j = 0; j < n_features; ++j) columns[j * n_rows + i] = widened[i * n_features + j];
    }
    const PreparedForest forest(random_trees.view_of());
    Predictions a(n_rows, n_features);
    Predictions b(n_rows, n_features);
    Predictions c(n_rows, n_features);
    const Matrix<float> floats{single.data(), n_rows, n_features, n_features, 1};
    const Matrix<double> doubles{widened.data(), n_rows, n_features, n_features, 1};
    const Matrix<double> by_column{columns.data(), n_rows, n_features, 1, n_rows};
    predict(forest, floats, a.outputs.data(), a.touched.data(), 1);
    predict(forest, doubles, b.outputs.data(), b.touched.data(), 1);
    predict(forest, by_column, c.outputs.data(), c.touched.data(), 1);
    CHECK(a == b && b == c);
}

inline void grown_trees_send_their_rows_to_their_leaves() {
    const index_t n = 2000;
    const Values values = make_values(n, 8, 38, 0.1, 300);
    const BinnedTable table = values.bin();
    const auto gradients = make_numbers(n, 39);
    const GradientTarget<GradientSums::packed> target(view(gradients), {}, 0.0);
    const Prices prices(8);
    Workspace workspace;
    GrowOptions options;
    options.max_leaves = 200;
    const Grown grown = grow(table, target, prices.sheet(), options, workspace);
    const std::vector<index_t> offsets{0, grown.tree.n_nodes()};
    const std::vector<index_t> first_output{0};
    std::vector<index_t> widths;
    for (const index_t n_codes : values.n_categories) widths.push_back(Bitset::n_words(n_codes));
    ForestView forest;
    forest.n_features = 8;
    forest.n_outputs = 1;
    forest.offsets = view(offsets);
    forest.target = view(first_output);
    forest.feature = view(grown.tree.feature);
    forest.threshold = view(grown.tree.threshold);
    forest.left = view(grown.tree.left);
    forest.right = view(grown.tree.right);
    forest.missing = view(grown.tree.missing);
    forest.category = view(grown.tree.category);
    forest.category_words = view(grown.tree.category_words);
    forest.category_widths = view(widths);
    forest.scores = view(grown.tree.value);
    std::vector<double> outputs(static_cast<std::size_t>(n));
    predict(PreparedForest(forest), values.matrix(), outputs.data(), nullptr, 2);
    for (index_t i = 0; i < n; ++i) CHECK(outputs[i] == grown.tree.value[grown.leaf_of_row[i]]);
}

// Stumps of one feature: their sum without it stays near the sum of their means, whatever their scores and rows.
inline void refused_stumps_add_up_to_nearly_their_mean() {
    constexpr index_t kStumps = 200;
    Random random(11);
    std::vector<index_t> offsets{0};
    std::vector<index_t> target(kStumps, 0);
    std::vector<std::int32_t> feature;
    std::vector<index_t> left;
    std::vector<index_t> right;
    std::vector<double> scores;
    std::vector<double> cover;
    for (index_t t = 0; t < kStumps; ++t) {
        feature.insert(feature.end(), {0, -1, -1});
        left.insert(left.end(), {1, -1, -1});
        right.insert(right.end(), {2, -1, -1});
        scores.insert(scores.end(), {0.0, random.uniform() - 0.5, random.uniform() - 0.5});
        cover.insert(cover.end(), {0.0, random.uniform(), random.uniform()});
        offsets.push_back(3 * (t + 1));
    }
    ForestView forest;
    forest.n_features = 1;
    forest.n_outputs = 1;
    forest.offsets = view(offsets);
    forest.target = view(target);
    forest.feature = view(feature);
    forest.left = view(left);
    forest.right = view(right);
    forest.scores = view(scores);
    std::vector<std::uint8_t> ways(feature.size());
    RefusedWays(forest, view(cover)).choose(ways.data());
    double excess = 0;
    for (index_t root = 0; root < 3 * kStumps; root += 3) {
        const double weight = cover[root + 1] + cover[root + 2];
        const double mean = (cover[root + 1] * scores[root + 1] + cover[root + 2] * scores[root + 2]) / weight;
        CHECK(ways[root] <= 1 && ways[root + 1] == 2 && ways[root + 2] == 2);
        excess += scores[root + 1 + ways[root]] - mean;
        CHECK(std::abs(excess) <= 0.5 + 1e-9);
    }
}

inline void test_predict() {
    RUN(refused_stumps_add_up_to_nearly_their_mean);
    RUN(predictions_of_few_trees_are_those_of_a_walk);
    RUN(predictions_of_many_trees_are_those_of_a_walk);
    RUN(stages_add_up_to_one_pass);
    RUN(ranks_are_counts_of_thresholds);
    RUN(blocks_have_the_same_bits_on_every_machine);
    RUN(thresholds_that_are_too_many_begin_a_new_run_of_trees);
    RUN(budgets_hold_and_are_those_of_a_walk);
    RUN(tables_of_floats_and_of_columns_are_read_in_place);
    RUN(grown_trees_send_their_rows_to_their_leaves);
}

}  // namespace farthing::tests
