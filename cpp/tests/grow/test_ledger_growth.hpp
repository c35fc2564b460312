// Tests of grow/grower.hpp on a row ledger.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "account/cost_sheet.hpp"
#include "account/row_ledger.hpp"
#include "common/views.hpp"
#include "grow/gradient_target.hpp"
#include "grow/grow_options.hpp"
#include "grow/grower.hpp"
#include "grow/tree.hpp"
#include "grow/workspace.hpp"
#include "table/binned_table.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

// Any number of threads gives the same tree, leaves and accounts; rows that were not trained on pay as well.
inline void growing_on_a_ledger_is_repeatable() {
    const Values values = make_values(9000, 9, 21);
    const BinnedTable table = values.bin();
    const Prices prices(9);
    const CostSheet sheet = prices.sheet();
    const auto numbers = make_numbers(9000, 4);
    std::vector<double> gradients;
    for (index_t i = 0; i < 9000; ++i) {
        const double x = values.at(i, 1);
        gradients.push_back(numbers[i] + (std::isnan(x) ? 0 : 2 * x) + (values.at(i, 0) > 0 ? 1 : 0));
    }
    std::vector<index_t> leaves[2];
    std::vector<std::uint64_t> owned[2];
    for (const int threads : {1, 3}) {
        RowLedger ledger(table, sheet, 6.0, {}, {}, threads);
        GrowOptions options;
        options.max_depth = 4;
        options.ranking.tradeoff = 20;
        options.n_threads = threads;
        Workspace workspace;
        const GradientTarget<GradientSums::packed> target(view(gradients), {}, 0);
        auto& leaf_of_row = leaves[threads > 1];
        for (index_t tree = 0; tree < 3; ++tree) {
            workspace.rows.clear();
            for (index_t row = tree; row < table.n_rows; row += 2) workspace.rows.push_back(row);
            Grower<GradientTarget<GradientSums::packed>> grower(ledger.table(), target, sheet, options, count_up(9),
                                                                OwnedFeatures(sheet), workspace, &ledger);
            const Tree grown = grower.grow();
            std::vector<index_t> now(static_cast<std::size_t>(table.n_rows), -1);
            grower.leaves_of_rows({now.data(), table.n_rows});
            grower.route_other_rows(grown, {now.data(), table.n_rows});
            CHECK(std::count(now.begin(), now.end(), index_t{-1}) == 0);
            leaf_of_row.insert(leaf_of_row.end(), now.begin(), now.end());
        }
        for (index_t row = 0; row < table.n_rows; ++row) {
            owned[threads > 1].push_back(ledger.owned(row)[0]);
            OwnedFeatures mine(sheet);
            for (index_t j = 0; j < 9; ++j) {
                if ((ledger.owned(row)[0] >> j) & 1u) mine.add(sheet, j);
            }
            CHECK(within_budget(total(sheet, mine), 6.0));
        }
    }
    CHECK(leaves[0] == leaves[1]);
    CHECK(owned[0] == owned[1]);
}

inline void test_ledger_growth() { RUN(growing_on_a_ledger_is_repeatable); }

}  // namespace farthing::tests
