// Tests of boost/bit_planes.hpp, boost/stump_search.hpp, boost/stump_learner.hpp and boost/adaboost.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "boost/adaboost.hpp"
#include "boost/class_stump_search.hpp"
#include "boost/stump_learner.hpp"
#include "boost/stump_search.hpp"
#include "common/fixed_point.hpp"
#include "common/views.hpp"
#include "table/binned_table.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

inline std::vector<std::int8_t> make_signs(index_t n, std::uint64_t key) {
    Random random(key);
    std::vector<std::int8_t> signs(static_cast<std::size_t>(n));
    for (auto& sign : signs) sign = random.chance(0.4) ? 1 : -1;
    return signs;
}

inline void bit_planes_sum_what_histograms_sum() {
    for (const index_t n_rows : {index_t{1}, index_t{8}, index_t{9}, index_t{511}, index_t{513}, index_t{1300}}) {
        Random random(static_cast<std::uint64_t>(n_rows));
        Values values{n_rows, 90, {}, std::vector<index_t>(90, 0)};
        for (index_t i = 0; i < n_rows * 90; ++i) {
            values.data.push_back(random.chance(0.1) ? kNan : static_cast<double>(random.below(1 + i % 4)));
        }
        const BinnedTable table = values.bin();
        const StumpLearner<StumpSearch> learner(table, view(std::vector<double>(static_cast<std::size_t>(n_rows), 1.0)), 1);
        const FixedPoint fixed = to_fixed_point(view(make_numbers(n_rows, 3)));
        std::vector<std::int64_t> edges(90);
        learner.edges(fixed, edges.data());
        for (index_t j = 0; j < 90; ++j) {
            const index_t n_bins = table.columns[j].n_bins;
            std::vector<std::int64_t> sums(static_cast<std::size_t>(n_bins + 1), 0);
            std::vector<std::int64_t> counts(sums.size(), 0);
            for (index_t i = 0; i < n_rows; ++i) {
                sums[bin_at(table, i, j)] += fixed.values[i];
                ++counts[bin_at(table, i, j)];
            }
            CHECK(edges[j] == StumpSearch(table.columns[j], sums.data(), counts.data()).best().edge);
        }
    }
}

inline void a_tree_votes_with_the_edge_it_claims() {
    const Values values = make_values(300, 10, 4);
    const BinnedTable table = values.bin();
    const auto labels = make_signs(300, 5);
    const auto weights = make_weights(300, 6);
    for (const index_t depth : {1, 2, 3}) {
        AdaBoost<StumpSearch> booster(table, view(labels), view(weights), view(weights), 2);
        double sum_of_alphas = 0;
        for (int i = 0; i < 12; ++i) {
            std::vector<double> edges(11);
            booster.edges(edges.data());
            const auto best = std::max_element(edges.begin(), edges.end());
            const BoostingRound round = booster.add_round(best - edges.begin() - 1, depth);
            CHECK(depth == 1 ? round.edge == *best : round.edge >= *best);
            CHECK(std::fabs(std::tanh(round.alpha) - round.edge) < 1e-9 || round.perfect);
            CHECK(round.alpha / kVoteGrid == std::nearbyint(round.alpha / kVoteGrid));
            sum_of_alphas += round.alpha;
        }
        CHECK(booster.n_trees() == 12 && sum_of_alphas > 0);
    }
}

inline void a_tree_of_class_votes_has_the_edge_it_claims() {
    const index_t n = 200;
    const index_t k = 3;
    const BinnedTable table = make_values(n, 8, 7).bin();
    const auto covers = make_weights(n, 8);
    Random random(9);
    std::vector<std::int8_t> labels;
    std::vector<double> weights;
    for (index_t i = 0; i < n; ++i) {
        const auto own = static_cast<index_t>(random.below(k));
        for (index_t c = 0; c < k; ++c) {
            labels.push_back(c == own ? 1 : -1);
            weights.push_back(covers[i] * (c == own ? 0.5 : 0.25));
        }
    }
    for (const index_t depth : {1, 2, 3}) {
        AdaBoost<ClassStumpSearch> booster(table, view(labels), view(weights), view(covers), 2, k);
        for (int i = 0; i < 8; ++i) {
            std::vector<double> edges(9);
            booster.edges(edges.data());
            const auto best = std::max_element(edges.begin(), edges.end());
            std::vector<std::int8_t> votes(static_cast<std::size_t>(n * k));
            const Tree tree = booster.learner(best - edges.begin() - 1, depth, votes.data());
            CHECK(static_cast<index_t>(tree.value.size()) == tree.n_nodes() * k);
            const double edge = booster.edge(votes.data());
            CHECK(depth == 1 ? edge == *best : edge >= *best);
            CHECK(booster.add_votes(votes.data()).edge == edge);
        }
    }
}

inline void a_learner_without_error_is_known() {
    const std::vector<double> x{0, 1, 2, 3};
    const Values values{4, 1, x, {0}};
    const BinnedTable table = values.bin();
    const std::vector<std::int8_t> labels{-1, -1, 1, 1};
    const std::vector<double> weights{1, 1, 1, 1};
    AdaBoost<StumpSearch> booster(table, view(labels), view(weights), view(weights), 1);
    const BoostingRound round = booster.add_round(0, 1);
    CHECK(round.perfect && round.edge == 1.0 && std::fabs(round.alpha - std::log(8.0)) < 1e-9);
}

inline void a_learner_that_misses_a_row_of_hardly_any_weight_is_not_perfect() {
    const std::vector<double> x{0, 1, 2, 3, 0};
    const Values values{5, 1, x, {0}};
    const BinnedTable table = values.bin();
    const std::vector<std::int8_t> labels{-1, -1, 1, 1, 1};
    const std::vector<double> weights{1, 1, 1, 1, 1e-30};
    AdaBoost<StumpSearch> booster(table, view(labels), view(weights), view(weights), 1);
    const BoostingRound round = booster.add_round(0, 1);
    CHECK(!round.perfect && round.edge == 1.0);
    CHECK(std::fabs(round.alpha - 0.5 * std::log(4e30)) < 1e-9);
    // Half of the weight is on that row now, so that three quarters are positive.
    std::vector<double> edges(2);
    booster.edges(edges.data());
    CHECK(std::fabs(edges[0] - 0.5) < 1e-9);
}

inline void test_adaboost() {
    RUN(bit_planes_sum_what_histograms_sum);
    RUN(a_tree_votes_with_the_edge_it_claims);
    RUN(a_tree_of_class_votes_has_the_edge_it_claims);
    RUN(a_learner_without_error_is_known);
    RUN(a_learner_that_misses_a_row_of_hardly_any_weight_is_not_perfect);
}

}  // namespace farthing::tests
