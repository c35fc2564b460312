// Tests of account/row_totals.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "account/cost_sheet.hpp"
#include "account/row_totals.hpp"
#include "common/views.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

// Whether rows have the bits of a sum feature by feature, in both memory orders.
inline bool rows_are_summed_in_order(const std::vector<double>& own, std::uint64_t key) {
    const std::vector<double> shared{0.3, 7};
    const auto k = static_cast<index_t>(own.size());
    Random random(key);
    std::vector<index_t> group_of;
    for (index_t j = 0; j < k; ++j) group_of.push_back(random.below(3) - 1);
    const RowTotals sums(CostSheet{view(own), view(shared), view(group_of)});
    constexpr index_t n = 21;
    const auto rows = std::make_unique<bool[]>(static_cast<std::size_t>(n * k));
    const auto columns = std::make_unique<bool[]>(static_cast<std::size_t>(n * k));
    std::vector<double> expected;
    for (index_t i = 0; i < n; ++i) {
        double sum = 0;
        bool paid[2] = {};
        for (index_t j = 0; j < k; ++j) {
            const bool bought = random.chance(0.5);
            rows[i * k + j] = columns[j * n + i] = bought;
            if (bought) sum += own[j];
            if (bought && group_of[j] >= 0) paid[group_of[j]] = true;
        }
        for (index_t group = 0; group < 2; ++group) sum += paid[group] ? shared[group] : 0.0;
        expected.push_back(sum);
    }
    std::vector<double> by_rows(n), by_columns(n);
    sums.add_up({rows.get(), n, k, k, 1}, by_rows.data());
    sums.add_up({columns.get(), n, k, 1, n}, by_columns.data());
    return by_rows == expected && by_columns == expected;
}

inline void totals_have_the_bits_of_a_sum_in_order() {
    for (const index_t k : {1, 7, 8, 9, 64, 100, 1030}) {
        Random random(static_cast<std::uint64_t>(k));
        std::vector<double> whole, odd;
        for (index_t j = 0; j < k; ++j) {
            whole.push_back(static_cast<double>(random.below(100)) / 4);
            odd.push_back(random.uniform() * 10);
        }
        CHECK(rows_are_summed_in_order(whole, 1) && rows_are_summed_in_order(odd, 2));
    }
}

inline void only_exact_sums_are_made_of_bytes() {
    const auto exact = [](std::vector<double> own) { return ByteTotals(view(own)).exact(); };
    CHECK(exact({1, 2.5, 0, 3}) && exact({0, 0}) && exact({0.1}) && exact({0x1p-1074, 0x1p-1073}));
    CHECK(!exact({0.1, 0.2, 0.7}));    // 0.1 + 0.2 is rounded
    CHECK(!exact({0x1p60, 1}));        // so is 2^60 + 1
    CHECK(exact({0x1p50, 1, 0.5}) && !exact({0x1p52, 0x1p51, 0.5}));
    CHECK(!exact({kInfinity, 1}) && !exact({-1, 2}) && !exact(std::vector<double>(2000, 1.0)));
}

inline void test_row_totals() {
    RUN(totals_have_the_bits_of_a_sum_in_order);
    RUN(only_exact_sums_are_made_of_bytes);
}

}  // namespace farthing::tests
