// Tests of account/row_account.hpp.
#pragma once

#include <vector>

#include "account/cost_sheet.hpp"
#include "account/row_account.hpp"
#include "common/views.hpp"
#include "tests/check.hpp"

namespace farthing::tests {

inline void an_account_prices_sets_and_holds_its_budget() {
    const std::vector<double> own{1, 2, 4, 0};
    const std::vector<double> shared{8, 16};
    const std::vector<index_t> group_of{-1, 0, 0, 1};
    const CostSheet sheet{view(own), view(shared), view(group_of)};
    RowAccount account(sheet);
    account.open(13);
    const std::vector<index_t> all{0, 1, 2, 3};
    const std::vector<index_t> some{0, 1, 2};
    CHECK(account.unpaid_price(view(all)) == 31);
    CHECK(!account.affords(view(all)) && !account.affords(view(some)));
    CHECK(account.buy(1) && account.spent() == 10);
    CHECK(!account.buy(1) && account.version() == 1);
    CHECK(account.unpaid_price(view(some)) == 5);  // the group is paid
    CHECK(!account.buy(2) && !account.owns(2) && account.version() == 2);
    CHECK(account.unpaid_price(view(some)) == 1);  // refused features have no price
    CHECK(account.affords(view(some)) && account.buy(0) && account.spent() == 11);
    account.open(0);
    CHECK(!account.owns(1) && account.spent() == 0 && account.unpaid_price(view(some)) == 15);
    CHECK(!account.buy(0) && account.refusals() == 1);
    account.lift_budget();
    CHECK(account.affords(view(all)) && account.buy(2) && !account.buy(0));
}

inline void test_row_account() { RUN(an_account_prices_sets_and_holds_its_budget); }

}  // namespace farthing::tests
