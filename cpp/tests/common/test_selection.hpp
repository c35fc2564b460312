// Tests of common/selection.hpp.
#pragma once

#include <cstddef>
#include <vector>

#include "common/selection.hpp"
#include "tests/check.hpp"

namespace farthing::tests {

inline void the_weighted_select_is_the_first_value_that_weighs_enough() {
    const std::vector<WeightedValue> entries{{5, 1}, {1, 2}, {3, 0.5}, {3, 0.5}, {9, 4}};
    const std::vector<double> needs{0.5, 2, 2.5, 3, 3.5, 4, 4.5, 8, 99};
    const std::vector<double> expected{1, 1, 3, 3, 5, 5, 9, 9, 9};
    for (std::size_t i = 0; i < needs.size(); ++i) {
        std::vector<WeightedValue> copy = entries;
        CHECK(weighted_select(copy, needs[i]) == expected[i]);
    }
}

inline void test_selection() { RUN(the_weighted_select_is_the_first_value_that_weighs_enough); }

}  // namespace farthing::tests
