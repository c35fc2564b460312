// Tests of account/row_account.hpp.
#pragma once

#include <vector>

#include "account/cost_sheet.hpp"
#include "account/row_account.hpp"
#include "common/views.hpp"
#include "tests/check.hpp"

namespace farthing::tests {

inline void a_purse_prices_sets_and_holds_its_budget() {
    const std::vector<double> own{1, 2, 4, 0};
    const std::vector<double> shared{8, 16};
    const std::vector<index_t> group_of{-1, 0, 0, 1};
    const Sheet sheet{view(own), view(shared), view(group_of)};
    Purse purse(sheet);
    purse.open(13);
    const std::vector<index_t> all{0, 1, 2, 3};
    const std::vector<index_t> some{0, 1, 2};
    CHECK(purse.unpaid(view(all)) == 31);
    CHECK(!purse.affords(view(all)) && !purse.affords(view(some)));
    CHECK(purse.take(1) && purse.spent() == 10);
    CHECK(!purse.take(1) && purse.version() == 1);
    CHECK(purse.unpaid(view(some)) == 5);  // the group is paid
    CHECK(!purse.take(2) && !purse.owns(2) && purse.version() == 2);
    CHECK(purse.unpaid(view(some)) == 1);  // what was refused has no price
    CHECK(purse.affords(view(some)) && purse.take(0) && purse.spent() == 11);
    purse.open(0);
    CHECK(!purse.owns(1) && purse.spent() == 0 && purse.unpaid(view(some)) == 15);
    CHECK(!purse.take(0) && purse.refusals() == 1);
    purse.lift();
    CHECK(purse.affords(view(all)) && purse.take(2) && !purse.take(0));
}

inline void test_row_account() {
    RUN(a_purse_prices_sets_and_holds_its_budget);
}

}  // namespace farthing::tests
