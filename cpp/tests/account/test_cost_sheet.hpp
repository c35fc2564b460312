// Tests of account/cost_sheet.hpp and account/candidate_ranking.hpp.
#pragma once

#include <vector>

#include "account/candidate_ranking.hpp"
#include "account/cost_sheet.hpp"
#include "common/views.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

inline void a_group_is_paid_once() {
    const Prices prices(6);
    const CostSheet sheet = prices.sheet();
    OwnedFeatures owned(sheet);
    CHECK(price(sheet, 1, owned) == 2.5 && list_price(sheet, 1) == 2.5);
    owned.add(sheet, 1);
    CHECK(price(sheet, 1, owned) == 0 && price(sheet, 2, owned) == 2 && list_price(sheet, 2) == 3.5);
    owned.add(sheet, 2);
    owned.add(sheet, 3);
    CHECK(total(sheet, owned) == 1 + 2 + 3 + 1.5);
    owned.clear();
    CHECK(total(sheet, owned) == 0 && !owned.has(1) && !owned.has_group(0));
}

inline void sets_wider_than_a_word_are_summed_in_order() {
    const Prices prices(200);
    const CostSheet sheet = prices.sheet();
    OwnedFeatures owned(sheet);
    double expected = 0;
    for (const index_t feature : {63, 64, 127, 128, 199}) {
        owned.add(sheet, feature);
        expected += prices.own[feature];
        CHECK(owned.has(feature) && !owned.has(feature - 2));
    }
    CHECK(total(sheet, owned) == expected);
}

inline void a_budget_is_met_up_to_rounding() {
    const Prices prices(6);
    const CostSheet sheet = prices.sheet();
    OwnedFeatures owned(sheet);
    owned.add(sheet, 3);
    CHECK(affords(sheet, owned, 2, 6.5) && !affords(sheet, owned, 2, 6.4));
    CHECK(affords(sheet, owned, 3, 3.0) && affords(sheet, owned, 0, 3.0));
    CHECK(within_budget(0.1 + 0.2, 0.3) && !within_budget(0.31, 0.3));
    CHECK(within_budget(0, 0) && within_budget(1e300, kInfinity));
}

// Of two different candidates exactly one is better, for both rules, with prices of zero among them.
inline void candidates_are_in_a_strict_order() {
    Random random(12);
    std::vector<Candidate> candidates;
    for (index_t i = 0; i < 60; ++i) {
        const auto cost = static_cast<double>(random.below(3));
        candidates.push_back({static_cast<double>(1 + random.below(3)), cost, cost, i});
    }
    for (const auto& ranking : {CandidateRanking{CostRule::ratio, 0}, CandidateRanking{CostRule::penalty, 0.5},
                                CandidateRanking{CostRule::penalty, 0}}) {
        for (const Candidate& a : candidates) {
            CHECK(ranking.better(a, Candidate{}) && !ranking.better(Candidate{}, a) && !ranking.better(a, a));
            for (const Candidate& b : candidates) {
                if (a.feature != b.feature) CHECK(ranking.better(a, b) != ranking.better(b, a));
                for (const Candidate& c : candidates) {
                    if (ranking.better(a, b) && ranking.better(b, c)) CHECK(ranking.better(a, c));
                }
            }
        }
    }
}

inline void free_candidates_go_by_their_gain() {
    const Candidate small{1.0, 0.0, 0.0, 0};
    const Candidate large{2.0, 0.0, 0.0, 1};
    CHECK((CandidateRanking{CostRule::ratio, 0}.better(large, small)));
    CHECK((CandidateRanking{CostRule::penalty, 3}.better(large, small)));
    CHECK((!CandidateRanking{CostRule::penalty, 1}.acceptable({1.0, 1.0, 1.0, 0})));
    CHECK((!CandidateRanking{CostRule::ratio, 1}.acceptable(Candidate{})));
}

inline void test_cost_sheet() {
    RUN(a_group_is_paid_once);
    RUN(sets_wider_than_a_word_are_summed_in_order);
    RUN(a_budget_is_met_up_to_rounding);
    RUN(candidates_are_in_a_strict_order);
    RUN(free_candidates_go_by_their_gain);
}

}  // namespace farthing::tests
