// Tests of common/radix_sort.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/counter_rng.hpp"
#include "common/radix_sort.hpp"
#include "tests/check.hpp"

namespace farthing::tests {

inline void values_are_sorted_by_their_bits() {
    for (const double scale : {1.0, 1e-300, 1e300}) {
        std::vector<double> values = {0.0,
                                      -0.0,
                                      5e-324,
                                      -5e-324,
                                      std::numeric_limits<double>::infinity(),
                                      -std::numeric_limits<double>::infinity()};
        for (std::uint64_t i = 0; i < 3000; ++i) {
            values.push_back(scale * (static_cast<double>(random_bits(7, i) % 2000) - 1000) / 64);
        }
        std::vector<double> expected = values;
        std::sort(expected.begin(), expected.end());
        sort_values(values);
        CHECK(values == expected);
    }
}

inline void test_radix_sort() { RUN(values_are_sorted_by_their_bits); }

}  // namespace farthing::tests
