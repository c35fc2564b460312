// Tests of boost/vote_sampler.hpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "account/cost_sheet.hpp"
#include "boost/learner_votes.hpp"
#include "boost/vote_plan.hpp"
#include "boost/vote_sampler.hpp"
#include "common/views.hpp"
#include "tests/check.hpp"

namespace farthing::tests {

// Three features that vote with their values; alphas 1, 2, 4; prices 1, 2, 3.
struct SmallPlan {
    std::vector<double> alphas{1, 2, 4}, weights{1, 1, 1}, descending_prices{3, 2, 1}, reach{0};
    std::vector<double> own{1, 2, 3}, shared, factor{1, -1, 1}, missing{0, 0, 0};
    std::vector<index_t> set_offsets{0, 1, 2, 3}, set_features{0, 1, 2}, all{0, 1, 2};
    std::vector<index_t> by_price{2, 1, 0}, group_of{-1, -1, -1};
    std::vector<index_t> order, none;
    std::vector<std::uint64_t> cumulative{1, 3, 7};

    VotePlan plan() const {
        VotePlan p;
        p.alphas = view(alphas);
        p.set_offsets = view(set_offsets);
        p.set_features = view(set_features);
        p.all_features = view(all);
        p.distribution = {view(cumulative)};
        p.weights = view(weights);
        p.scale = 7;
        p.by_price = view(by_price);
        p.descending_prices = view(descending_prices);
        p.max_samples = 50;
        p.order = view(order);
        p.reach = view(reach);
        return p;
    }
    CostSheet sheet() const { return {view(own), view(shared), view(group_of)}; }
    LinearVotes votes() const { return {view(all), view(factor), view(missing)}; }
};

inline void a_row_draws_within_its_budget_or_takes_the_full_vote() {
    const SmallPlan small;
    const std::vector<double> X{1, 1, 1, 1, 1, 1, 1, 1, 1};
    const std::vector<double> budgets{6, 2.5, 4};
    const std::vector<std::int64_t> seeds{1, 2, 3};
    std::vector<double> outputs(3);
    std::vector<std::uint64_t> bought(3);
    std::vector<index_t> samples(3);
    predict_sampled(small.plan(), small.votes(), small.sheet(), Matrix<double>{X.data(), 3, 3, 3, 1}, view(budgets),
                    view(seeds), outputs.data(), bought.data(), samples.data(), 2);
    CHECK(outputs[0] == 3 && samples[0] == 0 && bought[0] == 7);  // 1 - 2 + 4
    CHECK(outputs[1] == 0 && samples[1] == 0 && bought[1] == 0);  // the most expensive learner exceeds the budget
    CHECK(samples[2] >= 1);
    const double spent = (bought[2] & 1) * 1.0 + (bought[2] >> 1 & 1) * 2.0 + (bought[2] >> 2 & 1) * 3.0;
    CHECK(spent > 0 && spent <= 4);
}

inline void the_top_of_a_list_is_cut_short_when_the_label_is_certain() {
    SmallPlan small;
    small.order = {2, 0, 1};
    small.reach = {7, 3, 2, 0};
    VotePlan plan = small.plan();
    plan.top = true;
    const std::vector<double> X{1, 1, 1};
    const std::vector<double> budgets{std::numeric_limits<double>::infinity()};
    const std::vector<std::int64_t> seeds{0};
    std::vector<double> outputs(1);
    std::vector<std::uint64_t> bought(1);
    std::vector<index_t> samples(1);
    const Matrix<double> row{X.data(), 1, 3, 3, 1};
    predict_sampled(plan, small.votes(), small.sheet(), row, view(budgets), view(seeds), outputs.data(), bought.data(),
                    samples.data(), 1);
    CHECK(outputs[0] == 3 && samples[0] == 3 && bought[0] == 7);
    plan.curtail = true;
    predict_sampled(plan, small.votes(), small.sheet(), row, view(budgets), view(seeds), outputs.data(), bought.data(),
                    samples.data(), 1);
    CHECK(outputs[0] == 4 && samples[0] == 1 && bought[0] == 4);
}

inline void a_certain_label_ends_nothing_before_the_first_purchase() {
    SmallPlan small;
    small.set_offsets = {0, 0, 1, 2};  // the first learner needs no feature
    small.set_features = {1, 2};
    small.all = {-1, 1, 2};
    small.order = {0, 2, 1};
    small.reach = {7, 0.5, 0.25, 0};
    VotePlan plan = small.plan();
    plan.top = true;
    plan.curtail = true;
    const std::vector<double> X{1, 1, 1};
    const std::vector<double> budgets{std::numeric_limits<double>::infinity()};
    const std::vector<std::int64_t> seeds{0};
    std::vector<double> outputs(1);
    std::vector<std::uint64_t> bought(1);
    std::vector<index_t> samples(1);
    predict_sampled(plan, small.votes(), small.sheet(), Matrix<double>{X.data(), 1, 3, 3, 1}, view(budgets),
                    view(seeds), outputs.data(), bought.data(), samples.data(), 1);
    CHECK(outputs[0] == 5 && samples[0] == 2 && bought[0] == 4);
}

inline void free_riders_vote_with_the_weights_of_a_random_sample() {
    SmallPlan small;
    small.own = {1, 1, 1};
    const std::vector<index_t> offsets{0, 1, 2, 3}, none;
    const std::vector<double> spreads{1, 1, 1}, means{0, 0, 0};
    VotePlan plan = small.plan();
    plan.free_rider = true;
    plan.units.offsets = view(offsets);
    plan.units.members = view(small.all);
    plan.units.constants = view(none);
    plan.units.spreads = view(spreads);
    plan.units.means = view(means);
    const std::vector<double> X(12, 1.0);
    const std::vector<double> budgets{1, 2, 3, 0.5};
    const std::vector<std::int64_t> seeds{1, 2, 3, 4};
    std::vector<double> expected;
    for (const bool additive : {false, true}) {
        plan.units.single = plan.units.additive = additive;
        std::vector<double> outputs(4);
        std::vector<std::uint64_t> bought(4);
        std::vector<index_t> samples(4);
        predict_sampled(plan, small.votes(), small.sheet(), Matrix<double>{X.data(), 4, 3, 3, 1}, view(budgets),
                        view(seeds), outputs.data(), bought.data(), samples.data(), 1);
        const auto sum = [&](index_t row) {  // of the votes 1, -2 and 4 that were bought
            return (bought[row] & 1) * 1.0 - (bought[row] >> 1 & 1) * 2.0 + (bought[row] >> 2 & 1) * 4.0;
        };
        CHECK(samples[0] == 1 && std::abs(outputs[0] - 3.0 * sum(0)) < 1e-12);
        CHECK(samples[1] == 2 && std::abs(outputs[1] - 1.5 * sum(1)) < 1e-12);
        CHECK(samples[2] == 0 && outputs[2] == 3 && bought[2] == 7);
        CHECK(samples[3] == 0 && outputs[3] == 0 && bought[3] == 0);
        if (additive) CHECK(outputs == expected);
        expected = outputs;
    }
}

inline void test_vote_sampler() {
    RUN(free_riders_vote_with_the_weights_of_a_random_sample);
    RUN(a_row_draws_within_its_budget_or_takes_the_full_vote);
    RUN(the_top_of_a_list_is_cut_short_when_the_label_is_certain);
    RUN(a_certain_label_ends_nothing_before_the_first_purchase);
}

}  // namespace farthing::tests
