// Tests of common/softmax.hpp.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "common/softmax.hpp"
#include "common/views.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

inline void a_tempered_loss_is_the_sum_over_rows() {
    // More rows than are multiplied before a logarithm is taken.
    constexpr index_t n = 3000;
    std::vector<double> margins = make_numbers(2 * n, 5);
    margins[0] = 1000;  // counts as the least probability
    const std::vector<double> weights(n, 0.5);
    double expected = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double odds = 1 + std::exp(margins[2 * i] / 0.8) + std::exp(margins[2 * i + 1] / 0.8);
        expected += std::log(std::fmin(odds, 1e12));
    }
    const Matrix<double> rows{margins.data(), n, 2, 2, 1};
    CHECK(std::fabs(tempered_log_loss(rows, {}, 0.8, 1e-12) - expected) < 1e-9);
    CHECK(std::fabs(tempered_log_loss(rows, view(weights), 0.8, 1e-12) - expected / 2) < 1e-9);
}

inline void test_softmax() { RUN(a_tempered_loss_is_the_sum_over_rows); }

}  // namespace farthing::tests
