// Tests of account/row_ledger.hpp and account/bit_counts.hpp.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "account/bit_counts.hpp"
#include "account/cost_sheet.hpp"
#include "account/row_ledger.hpp"
#include "common/fixed_point.hpp"
#include "common/views.hpp"
#include "table/binned_table.hpp"
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

// Random purchases: what rows own, what they would pay and what they are refused agree with price() and affords().
inline void accounts_agree_with_prices(double budget, bool weighted) {
    constexpr index_t kRows = 50;
    for (const index_t n_features : {index_t{6}, index_t{64}, index_t{70}}) {
        const Values values = make_values(kRows, n_features, 11);
        const BinnedTable table = values.bin();
        const Prices prices(n_features);
        const CostSheet sheet = prices.sheet();
        const auto weights = weighted ? make_weights(kRows, 5) : std::vector<double>{};
        RowLedger ledger(table, sheet, budget, view(weights), {}, 2);
        std::vector<OwnedFeatures> twins(kRows, OwnedFeatures(sheet));
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
                const double unit = weighted ? to_fixed_point(view(weights)).unit : 1.0;
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

inline void test_row_ledger() {
    RUN(bits_are_counted_as_one_by_one);
    RUN(accounts_without_a_budget);
    RUN(accounts_with_weights);
    RUN(accounts_within_a_budget);
    RUN(accounts_within_nothing);
}

}  // namespace farthing::tests
