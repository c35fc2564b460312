// Tests of boost/gradient_booster.hpp, boost/fold_boosters.hpp and boost/out_of_fold.hpp.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "account/cost_sheet.hpp"
#include "boost/boost_loss.hpp"
#include "boost/fold_boosters.hpp"
#include "boost/gradient_booster.hpp"
#include "boost/out_of_fold.hpp"
#include "common/pairwise_sum.hpp"
#include "common/views.hpp"
#include "table/binned_table.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

// A small table with a target of three classes, which depends on its first column, and three folds.
struct BoostData {
    Values values = make_values(60, 5, 1);
    BinnedTable table = values.bin();
    std::vector<double> own{1, 2, 3, 4, 5};
    std::vector<double> shared;
    std::vector<index_t> group_of{-1, -1, -1, -1, -1};
    std::vector<double> weights;
    std::vector<double> numbers;
    std::vector<index_t> codes;
    std::vector<BoostFold> folds{3};

    BoostData() {
        Random random(7);
        for (index_t row = 0; row < 60; ++row) {
            const double x = values.at(row, 0);
            codes.push_back((std::isnan(x) || x < 1 ? 0 : 1) + (random.chance(0.3) ? 1 : 0));
            numbers.push_back(static_cast<double>(codes.back()) + random.uniform());
            weights.push_back(1 + static_cast<double>(random.below(3)));
            for (index_t f = 0; f < 3; ++f) {
                (row % 3 == f ? folds[f].held_out : folds[f].learned.rows).push_back(row);
            }
        }
    }

    BoostProblem problem(LossKind kind, bool weighted, int n_threads = 1) {
        BoostProblem made{table, {view(own), view(shared), view(group_of)}, {}, {}, view(weights), weighted, 0.3, 1.0};
        made.options.max_depth = 2;
        made.options.n_threads = n_threads;
        made.loss.kind = kind;
        made.loss.n_outputs = kind == LossKind::softmax ? 3 : 1;
        if (kind == LossKind::softmax) {
            made.loss.codes = view(codes);
        } else {
            made.loss.numbers = view(numbers);
        }
        for (BoostFold& fold : folds) fold.learned.start.assign(static_cast<std::size_t>(made.loss.n_outputs), 0.25);
        return made;
    }
};

inline RoundRules all_columns() {
    RoundRules rules;
    rules.columns = count_up(5);
    return rules;
}

inline bool same_boosters(const std::vector<OutOfFoldBooster>& a, const std::vector<OutOfFoldBooster>& b) {
    bool same = a.size() == b.size();
    for (std::size_t i = 0; same && i < a.size(); ++i) {
        same = a[i].n_rounds == b[i].n_rounds && a[i].held_out == b[i].held_out && a[i].trees.size() == b[i].trees.size();
        for (std::size_t t = 0; same && t < a[i].trees.size(); ++t) same = a[i].trees[t].value == b[i].trees[t].value;
    }
    return same;
}

inline void rounds_lower_the_loss_of_the_rows_they_learn_from() {
    BoostData data;
    for (const LossKind kind : {LossKind::squared, LossKind::softmax}) {
        const BoostProblem problem = data.problem(kind, true);
        const LearnedRows& learned = data.folds[0].learned;
        GradientBooster booster(problem, learned);
        BoostWorkspace space;
        double before = kInfinity;
        for (int round = 0; round < 5; ++round) {
            std::vector<double> losses(learned.rows.size());
            problem.loss.values(learned.rows, scores_of(booster, problem, learned.rows).data(), losses.data());
            for (std::size_t i = 0; i < losses.size(); ++i) losses[i] *= data.weights[learned.rows[i]];
            const double loss = pairwise_sum(losses.data(), static_cast<index_t>(losses.size()));
            CHECK(loss < before);
            before = loss;
            CHECK(booster.round(all_columns(), space));
        }
        CHECK(booster.n_rounds() == 5);
    }
}

inline void a_purchase_that_buys_nothing_leaves_no_trace() {
    BoostData data;
    const BoostProblem problem = data.problem(LossKind::squared, false);
    GradientBooster booster(problem, data.folds[0].learned);
    BoostWorkspace space;
    RoundRules rules = all_columns();
    rules.must_split = false;
    OwnedFeatures owned(problem.sheet);
    rules.tradeoff = 1e9;
    const std::vector<double> start = booster.scores();
    CHECK(!booster.buy(rules, owned, space));
    CHECK(booster.scores() == start && booster.trees().empty() && owned == OwnedFeatures(problem.sheet));
    rules.tradeoff = 1e-9;
    rules.budget = 1;  // pays for the first column alone
    CHECK(booster.buy(rules, owned, space));
    CHECK(booster.scores() != start && owned.has(0) && !owned.has(1));
}

inline void trials_are_undone_and_say_what_rounds_do() {
    BoostData data;
    const BoostProblem problem = data.problem(LossKind::softmax, true, 3);
    FoldBoosters boosters(problem, data.folds);
    RoundRules one;
    one.columns = {1};
    const double start = boosters.loss();
    const std::vector<double> after = boosters.losses_after({one, all_columns(), RoundRules{}}, 2);
    CHECK(boosters.loss() == start && after[2] == start);
    boosters.boost(all_columns(), 2);
    CHECK(boosters.loss() == after[1] && after[1] != after[0]);
}

inline void folds_and_sets_are_the_same_on_any_number_of_threads() {
    BoostData data;
    for (const LossKind kind : {LossKind::squared, LossKind::softmax}) {
        RoundRules one;
        one.columns = {0};
        const std::vector<RoundRules> sets{all_columns(), one, RoundRules{}};
        LearnedRows last = data.folds[0].learned;
        last.rows = count_up(60);
        std::vector<std::vector<OutOfFoldBooster>> found;
        for (const int n_threads : {1, 2, 8}) {
            const BoostProblem problem = data.problem(kind, true, n_threads);
            last.start = data.folds[0].learned.start;
            found.push_back(grow_out_of_fold(problem, data.folds, &last, sets, {15, index_t{3}, kInfinity}));
        }
        CHECK(same_boosters(found[0], found[1]) && same_boosters(found[0], found[2]));
        CHECK(found[0][0].n_rounds > 0 && found[0][2].n_rounds == 0 && found[0][2].trees.empty());
    }
}

inline void the_end_of_the_time_is_an_exception() {
    BoostData data;
    const BoostProblem problem = data.problem(LossKind::squared, false, 2);
    bool thrown = false;
    try {
        grow_out_of_fold(problem, data.folds, nullptr, {all_columns()}, {15, std::nullopt, 0.0});
    } catch (const EndReached&) {
        thrown = true;
    }
    CHECK(thrown);
}

inline void pairwise_sums_are_sums() {
    for (const index_t n : {0, 1, 7, 8, 100, 129, 1000}) {
        std::vector<double> x;
        for (index_t i = 0; i < n; ++i) x.push_back(static_cast<double>(i % 17));
        double sum = 0;
        for (const double each : x) sum += each;
        CHECK(pairwise_sum(x.data(), n) == sum);  // whole numbers: exact in any order
    }
}

inline void test_boosters() {
    RUN(pairwise_sums_are_sums);
    RUN(rounds_lower_the_loss_of_the_rows_they_learn_from);
    RUN(a_purchase_that_buys_nothing_leaves_no_trace);
    RUN(trials_are_undone_and_say_what_rounds_do);
    RUN(folds_and_sets_are_the_same_on_any_number_of_threads);
    RUN(the_end_of_the_time_is_an_exception);
}

}  // namespace farthing::tests
