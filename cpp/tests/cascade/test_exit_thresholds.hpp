// Tests of cascade/exit_thresholds.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include "cascade/exit_thresholds.hpp"
#include "common/views.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

// With two stages, the threshold of the first is the best of all.
inline void two_stages_have_the_best_threshold() {
    for (std::uint64_t key = 0; key < 50; ++key) {
        Random random(key);
        const index_t n = 1 + random.below(12);
        const std::vector<double> costs{0, 1};
        std::vector<double> risks, errors;
        for (index_t i = 0; i < 2 * n; ++i) {
            risks.push_back(static_cast<double>(random.below(6)) / 6);
            errors.push_back(random.chance(risks.back()) ? 1 : 0);
        }
        const std::vector<double> weights(static_cast<std::size_t>(n), 1.0 / static_cast<double>(n));
        const ExitThresholds exits(view(costs), view(risks), view(errors), view(weights));
        const auto lagrangian = [&](double threshold, double tradeoff) {
            const double thresholds[2] = {threshold, kAlwaysStop};
            double spend = 0;
            double error = 0;
            exits.evaluate(thresholds, spend, error);
            return error + tradeoff * spend;
        };
        for (const double tradeoff : {0.0, 0.1, 0.4}) {
            double found[2];
            exits.solve(tradeoff, found);
            double best = std::min(lagrangian(kNeverStop, tradeoff), lagrangian(kAlwaysStop, tradeoff));
            for (index_t i = 0; i < n; ++i) best = std::min(best, lagrangian(risks[i], tradeoff));
            CHECK(lagrangian(found[0], tradeoff) <= best + 1e-12 && found[1] == kAlwaysStop);
        }
    }
}

inline void between_two_budgets_more_and_more_rows_go_on() {
    const std::vector<double> costs{0, 1};
    const std::vector<double> risks{0.1, 0.2, 0.3, 0.4, 0, 0, 0, 0};
    const std::vector<double> weights(4, 0.25);
    const ExitThresholds exits(view(costs), view(risks), view(risks), view(weights));
    const double low[2] = {kAlwaysStop, kAlwaysStop};
    const double high[2] = {kNeverStop, kAlwaysStop};
    for (index_t step = 0; step <= 4; ++step) {
        double thresholds[2];
        double spend = 0;
        double error = 0;
        exits.between(low, high, static_cast<double>(step) / 4, thresholds);
        exits.evaluate(thresholds, spend, error);
        CHECK(spend == static_cast<double>(step) / 4);
    }
}

inline void test_exit_thresholds() {
    RUN(two_stages_have_the_best_threshold);
    RUN(between_two_budgets_more_and_more_rows_go_on);
}

}  // namespace farthing::tests
