// Tests of ledger.hpp and lambdas.hpp.
#pragma once

#include "account/row_ledger.hpp"
#include "boost/lambda_gradients.hpp"
#include "grow/gradient_target.hpp"
#include "grow/grower.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

inline void bits_are_counted_as_one_by_one() {
    Random random(3);
    for (const index_t n : {index_t{0}, index_t{1}, index_t{7}, index_t{8}, index_t{9}, index_t{1000}}) {
        constexpr index_t kWords = 3;
        constexpr index_t kStride = 4;
        std::vector<std::uint64_t> flags(static_cast<std::size_t>(2 * n * kStride + 1));
        for (std::uint64_t& word : flags) word = random.bits() & random.bits();
        std::vector<index_t> rows;
        for (index_t row = 0; row < 2 * n; ++row) {
            if (static_cast<index_t>(rows.size()) < n && random.chance(0.6)) rows.push_back(row);
        }
        std::vector<std::int64_t> counts(kWords * 64, 5);
        std::vector<std::int64_t> expected = counts;
        const auto m = static_cast<index_t>(rows.size());
        count_bits(flags.data(), kStride, kWords, rows.data(), m, counts.data());
        for (const index_t row : rows) {
            for (index_t bit = 0; bit < kWords * 64; ++bit) {
                expected[bit] += (flags[row * kStride + bit / 64] >> (bit % 64)) & 1u;
            }
        }
        CHECK(counts == expected);
    }
}

// Purchases at random: what rows own, what all would pay and what is refused agree with Owned, price() and affords().
inline void accounts_agree_with_prices(double budget, bool weighted) {
    constexpr index_t kRows = 50;
    for (const index_t n_features : {index_t{6}, index_t{64}, index_t{70}}) {
        const Values values = make_values(kRows, n_features, 11);
        const BinnedTable table = values.bin();
        const Prices prices(n_features);
        const Sheet sheet = prices.sheet();
        const auto weights = weighted ? make_weights(kRows, 5) : std::vector<double>{};
        RowLedger ledger(table, sheet, budget, view(weights), {}, 2);
        std::vector<Owned> twins(kRows, Owned(sheet));
        Random random(7);
        for (index_t purchase = 0; purchase < 40; ++purchase) {
            std::vector<index_t> rows;
            for (index_t row = 0; row < kRows; ++row) {
                if (random.chance(0.4)) rows.push_back(row);
            }
            const index_t feature = random.below(n_features);
            const auto m = static_cast<index_t>(rows.size());
            ledger.buy(rows.data(), m, feature);
            for (const index_t row : rows) {
                if (affords(sheet, twins[row], feature, budget)) twins[row].add(sheet, feature);
            }
            std::vector<double> due;
            ledger.due(rows.data(), m, due);
            for (index_t j = 0; j < n_features; ++j) {
                double expected = 0;
                for (const index_t row : rows) {
                    if (!affords(sheet, twins[row], j, budget)) continue;
                    expected += (weighted ? weights[row] : 1.0) * price(sheet, j, twins[row]);
                }
                const double unit = weighted ? to_fixed(view(weights)).unit : 1.0;
                CHECK(std::fabs(due[j] * unit - expected) <= 1e-9 * (1 + expected));
            }
        }
        for (index_t row = 0; row < kRows; ++row) {
            for (index_t j = 0; j < n_features; ++j) {
                const bool mine = (ledger.owned(row)[j >> 6] >> (j & 63)) & 1u;
                CHECK(mine == twins[row].has(j));
                const bool refused = !mine && !affords(sheet, twins[row], j, budget);
                const index_t bin = refused ? table.columns[j].n_bins : bin_at(table, row, j);
                CHECK(bin_at(ledger.table(), row, j) == bin);
            }
        }
    }
}

inline void accounts_without_a_budget() { accounts_agree_with_prices(kInfinity, false); }
inline void accounts_with_weights() { accounts_agree_with_prices(kInfinity, true); }
inline void accounts_within_a_budget() { accounts_agree_with_prices(9.5, false); }
inline void accounts_within_nothing() { accounts_agree_with_prices(0.0, true); }

// Trees on a ledger: any number of threads gives the same tree, leaves and accounts; rows left out pay their way, too.
inline void growing_on_a_ledger_is_repeatable() {
    const Values values = make_values(9000, 9, 21);
    const BinnedTable table = values.bin();
    const Prices prices(9);
    const Sheet sheet = prices.sheet();
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
        options.weighing.tradeoff = 20;
        options.n_threads = threads;
        Workspace workspace;
        const GradientTarget<Sums::packed> target(view(gradients), {}, 0);
        auto& leaf_of_row = leaves[threads > 1];
        for (index_t tree = 0; tree < 3; ++tree) {
            workspace.rows.clear();
            for (index_t row = tree; row < table.n_rows; row += 2) workspace.rows.push_back(row);
            Grower<GradientTarget<Sums::packed>> grower(ledger.table(), target, sheet, options, count_up(9),
                                                        Owned(sheet), workspace, &ledger);
            const Tree grown = grower.grow();
            std::vector<index_t> now(static_cast<std::size_t>(table.n_rows), -1);
            grower.leaves_of_rows({now.data(), table.n_rows});
            grower.send_others(grown, {now.data(), table.n_rows});
            CHECK(std::count(now.begin(), now.end(), index_t{-1}) == 0);
            leaf_of_row.insert(leaf_of_row.end(), now.begin(), now.end());
        }
        for (index_t row = 0; row < table.n_rows; ++row) {
            owned[threads > 1].push_back(ledger.owned(row)[0]);
            Owned mine(sheet);
            for (index_t j = 0; j < 9; ++j) {
                if ((ledger.owned(row)[0] >> j) & 1u) mine.add(sheet, j);
            }
            CHECK(within(total(sheet, mine), 6.0));
        }
    }
    CHECK(leaves[0] == leaves[1]);
    CHECK(owned[0] == owned[1]);
}

inline void lambdas_sum_to_nothing_in_each_query() {
    const std::vector<index_t> documents{4, 0, 2, 1, 3, 5};
    const std::vector<index_t> bounds{0, 3, 3, 6};
    const std::vector<double> grades{0, 3, 1, 0, 4, 0};
    const auto scores = make_numbers(6, 2);
    std::vector<double> gradients(6), hessians(6), losses(6);
    lambda_steps(view(documents), view(bounds), view(grades), view(scores), gradients.data(), hessians.data(),
                 losses.data(), 2);
    for (const index_t query : {index_t{0}, index_t{2}}) {
        double sum = 0;
        for (index_t i = bounds[query]; i < bounds[query + 1]; ++i) sum += gradients[documents[i]];
        CHECK(std::fabs(sum) < 1e-12);
    }
    CHECK(gradients[4] > 0 && gradients[1] > 0 && gradients[0] < 0);
}

inline void test_ledger() {
    RUN(bits_are_counted_as_one_by_one);
    RUN(accounts_without_a_budget);
    RUN(accounts_with_weights);
    RUN(accounts_within_a_budget);
    RUN(accounts_within_nothing);
    RUN(growing_on_a_ledger_is_repeatable);
    RUN(lambdas_sum_to_nothing_in_each_query);
}

}  // namespace farthing::tests
