// Tests of common/keyed_sampling.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "common/keyed_sampling.hpp"
#include "common/views.hpp"
#include "tests/check.hpp"

namespace farthing::tests {

inline void a_share_of_zero_is_never_drawn_and_shares_come_up_in_proportion() {
    const std::vector<std::uint64_t> cumulative{0, 1, 1, 4, 4};
    const DiscreteDistribution distribution{view(cumulative)};
    std::vector<int> counts(5, 0);
    for (std::uint64_t i = 0; i < 40000; ++i) ++counts[static_cast<std::size_t>(distribution.draw(seed_key(7), i))];
    CHECK(counts[0] == 0 && counts[2] == 0 && counts[4] == 0);
    CHECK(std::abs(counts[1] - 10000) < 500);  // 5.8 standard deviations
    CHECK(counts[1] + counts[3] == 40000);
    const std::vector<std::uint64_t> nothing{0, 0};
    CHECK(DiscreteDistribution{view(nothing)}.empty() && DiscreteDistribution{}.empty() && !distribution.empty());
}

inline void shares_up_to_62_bits_do_not_overflow() {
    const std::uint64_t half = std::uint64_t{1} << 61;
    const std::vector<std::uint64_t> cumulative{half, 2 * half};
    const DiscreteDistribution distribution{view(cumulative)};
    int first = 0;
    for (std::uint64_t i = 0; i < 10000; ++i) first += distribution.draw(seed_key(1), i) == 0;
    CHECK(std::abs(first - 5000) < 300);
}

inline void test_keyed_sampling() {
    RUN(a_share_of_zero_is_never_drawn_and_shares_come_up_in_proportion);
    RUN(shares_up_to_62_bits_do_not_overflow);
}

}  // namespace farthing::tests
