// Tests of boost/lambda_gradients.hpp.
#pragma once

#include <cmath>
#include <vector>

#include "boost/lambda_gradients.hpp"
#include "common/views.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

inline void lambdas_sum_to_nothing_in_each_query() {
    const std::vector<index_t> documents{4, 0, 2, 1, 3, 5};
    const std::vector<index_t> bounds{0, 3, 3, 6};
    const std::vector<double> grades{0, 3, 1, 0, 4, 0};
    const auto scores = make_numbers(6, 2);
    std::vector<double> gradients(6), hessians(6), losses(6);
    lambda_gradients(view(documents), view(bounds), view(grades), view(scores), gradients.data(), hessians.data(),
                     losses.data(), 2);
    for (const index_t query : {index_t{0}, index_t{2}}) {
        double sum = 0;
        for (index_t i = bounds[query]; i < bounds[query + 1]; ++i) sum += gradients[documents[i]];
        CHECK(std::fabs(sum) < 1e-12);
    }
    CHECK(gradients[4] > 0 && gradients[1] > 0 && gradients[0] < 0);
}

inline void test_lambda_gradients() { RUN(lambdas_sum_to_nothing_in_each_query); }

}  // namespace farthing::tests
