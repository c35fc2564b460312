// Tests of deep/.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/views.hpp"
#include "deep/greedy_row.hpp"
#include "deep/masked_network.hpp"
#include "tests/check.hpp"

namespace farthing::tests {

// Two numeric columns and one hidden unit: the predictor is the first column, if it is bought; the selector prefers the
// second column until it is known to be positive.
struct TinyNetworks {
    std::vector<index_t> first{0, 3, 6};
    std::vector<std::uint8_t> categorical{0, 0};
    std::vector<double> mean{0, 0}, scale{1, 1};
    std::vector<index_t> predictor_widths{6, 1, 1}, selector_widths{6, 1, 2};
    std::vector<float> predictor_weights{0, 1, 0, 0, 0, 0, 0, /**/ 1, 0};
    std::vector<float> selector_weights{0, 0, 0, 0, 1, 0, 0, /**/ 1, 0, 0.5f, 1};
    std::vector<double> own{1, 1}, shared;
    std::vector<index_t> group_of{-1, -1};
    GreedyNetworks model;

    TinyNetworks() {
        model.inputs = {view(first), view(categorical), view(mean), view(scale)};
        model.predictor = {view(predictor_widths), view(predictor_weights)};
        model.selector = {view(selector_widths), view(selector_weights)};
        model.n_classes = 2;
        model.begins = {0, 1, 2};
        model.columns = {0, 1};
        model.unit_of = {0, 1};
    }
    CostSheet sheet() const { return {view(own), view(shared), view(group_of)}; }
};

inline void a_row_buys_the_highest_score_that_it_can_afford() {
    TinyNetworks tiny;
    const CostSheet sheet = tiny.sheet();
    GreedyWalker walker(tiny.model, sheet);
    const std::vector<double> row{3, 2};
    for (const double budget : {0.0, 1.0, std::numeric_limits<double>::infinity()}) {
        double output = -1;
        bool acquired[2] = {false, false};
        walker.walk({row.data(), 1, 2, 2, 1}, 0, budget, &output, acquired);
        CHECK(acquired[1] == (budget > 0));
        CHECK(acquired[0] == std::isinf(budget));
        CHECK(output == (acquired[0] ? 3 : 0));
    }
}

inline void an_overflow_is_never_bought() {
    TinyNetworks tiny;
    tiny.selector_weights[9] = std::numeric_limits<float>::max();
    tiny.selector_weights[4] = std::numeric_limits<float>::max();
    GreedyRow row(tiny.model);
    row.hear(1, 10);  // inf, and inf times 0 is not a number
    const auto price = [](index_t) { return 1.0; };
    const auto affords_all = [](index_t) { return true; };
    CHECK(row.next(price, affords_all) == 0);
    row.hear(0, 1);
    CHECK(row.next(price, affords_all) == -1);
}

inline void the_entropy_is_that_of_the_probabilities() {
    CHECK(std::fabs(entropy_of({0.0f}, 2) - std::log(2.0)) < 1e-15);
    CHECK(std::fabs(entropy_of({1.0f, 1.0f, 1.0f}, 3) - std::log(3.0)) < 1e-15);
    CHECK(entropy_of({5.0f}, 1) == 0);
    CHECK(std::fabs(entropy_of({0.7f}, 2) - entropy_of({-0.7f}, 2)) < 1e-15);
}

inline void test_greedy_row() {
    RUN(a_row_buys_the_highest_score_that_it_can_afford);
    RUN(an_overflow_is_never_bought);
    RUN(the_entropy_is_that_of_the_probabilities);
}

}  // namespace farthing::tests
