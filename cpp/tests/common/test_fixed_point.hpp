// Tests of common/fixed_point.hpp.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "common/fixed_point.hpp"
#include "common/views.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

inline void whole_numbers_stay_whole() {
    const std::vector<double> numbers{3, -5, 0, 1 << 20};
    const FixedPoint fixed = to_fixed_point(view(numbers));
    CHECK(fixed.unit == 1.0);
    CHECK(fixed.values == std::vector<std::int64_t>{3, -5, 0, 1 << 20});
}

inline void sums_neither_overflow_nor_lose_their_bits() {
    for (const double scale : {1e-305, 1e-200, 1e-3, 1.0, 1e9, 1e200, 1e306}) {
        for (const int sum_bits : {62, 43}) {
            auto numbers = make_numbers(1000, 5);
            for (double& x : numbers) x *= scale;
            const FixedPoint fixed = to_fixed_point(view(numbers), sum_bits);
            double all = 0;
            for (std::size_t i = 0; i < numbers.size(); ++i) {
                all += std::fabs(static_cast<double>(fixed.values[i]));
                CHECK(std::fabs(fixed.to_double(fixed.values[i]) - numbers[i]) <= fixed.unit / 2);
            }
            CHECK(all <= std::ldexp(1.0, sum_bits));
            if (scale > 1e-290) CHECK(fixed.unit <= scale * std::ldexp(1.0, 10 + 2 - sum_bits));
        }
    }
}

inline void extremes_are_summed_or_refused() {
    const double largest = std::numeric_limits<double>::max();
    const std::vector<double> huge{largest, -largest, largest};
    const FixedPoint fixed = to_fixed_point(view(huge));
    CHECK(fixed.values[0] == -fixed.values[1] && fixed.values[0] > 0);
    const std::vector<double> tiny{std::numeric_limits<double>::denorm_min(), 0.0};
    CHECK(to_fixed_point(view(tiny)).values[0] == 0);
    CHECK(to_fixed_point(view(std::vector<double>{})).values.empty());
    for (const double bad : {kNan, kInfinity, -kInfinity}) {
        bool thrown = false;
        try {
            to_fixed_point(view(std::vector<double>{1.0, bad}));
        } catch (const std::invalid_argument&) {
            thrown = true;
        }
        CHECK(thrown);
    }
}

inline void test_fixed_point() {
    RUN(whole_numbers_stay_whole);
    RUN(sums_neither_overflow_nor_lose_their_bits);
    RUN(extremes_are_summed_or_refused);
}

}  // namespace farthing::tests
