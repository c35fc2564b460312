// Tests of boost/curtailed_vote.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "boost/curtailed_vote.hpp"
#include "common/views.hpp"
#include "predict/forest_view.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

// Three stumps on two features: x0 <= 0 votes +2, x0 <= 1 votes -1, x1 <= 0 votes +2; the other side the opposite.
inline void a_vote_ends_when_its_sign_is_certain() {
    const std::vector<index_t> offsets{0, 3, 6, 9};
    const std::vector<index_t> target{0, 0, 0};
    const std::vector<std::int32_t> feature{0, -1, -1, 0, -1, -1, 1, -1, -1};
    const std::vector<double> threshold{0, 0, 0, 1, 0, 0, 0, 0, 0};
    const std::vector<index_t> left{1, -1, -1, 1, -1, -1, 1, -1, -1};
    const std::vector<index_t> right{2, -1, -1, 2, -1, -1, 2, -1, -1};
    const std::vector<std::uint8_t> missing(9, 2);
    const std::vector<index_t> category(9, -1);
    const std::vector<index_t> widths{0, 0};
    const std::vector<double> scores{0, 2, -2, 0, -1, 1, 0, 2, -2};
    const std::vector<std::uint64_t> words;
    ForestView forest{2,
                      1,
                      1,
                      view(offsets),
                      view(target),
                      view(feature),
                      view(threshold),
                      view(left),
                      view(right),
                      view(missing),
                      view(category),
                      view(words),
                      view(widths),
                      view(scores),
                      false,
                      false,
                      false,
                      {}};
    const std::vector<index_t> order{0, 1};
    const std::vector<std::uint8_t> stump{1, 1, 1};
    // x0: 2 - 1 up to 0, -2 - 1 up to 1, -2 + 1 beyond, 0 if missing.
    const std::vector<double> low{-3, -2};
    const std::vector<double> high{1, 2};
    const std::vector<double> nodes(9, 0.0);
    CurtailPlan plan{view(order), view(order), view(stump), view(low), view(high), view(nodes), view(nodes), {}, {}};
    const Prices prices(2);
    const std::vector<double> x{0, 0, 1, 0, 2, 0, kNan, 5};
    std::vector<double> outputs(4);
    std::vector<std::uint64_t> touched(4);
    predict_curtailed(forest, plan, prices.sheet(), Matrix<double>{x.data(), 4, 2, 2, 1}, Span<const double>{},
                      outputs.data(), touched.data(), 2);
    CHECK(outputs == std::vector<double>{3, -3, 1, -2});
    CHECK(touched == std::vector<std::uint64_t>{3, 1, 3, 3});

    std::vector<double> sums(8);
    trace_votes(forest, plan, Matrix<double>{x.data(), 4, 2, 2, 1}, sums.data(), outputs.data(), 2);
    CHECK(outputs == std::vector<double>{3, -1, 1, -2});  // all votes: the second row is not cut short
    CHECK(sums == std::vector<double>{0, 1, 0, -3, 0, -1, 0, 0});

    // After x0, a sum of at most -1, or above 0.5, is enough.
    const std::vector<double> stop_low{-9, -1};
    const std::vector<double> stop_high{9, 0.5};
    plan.stop_low = view(stop_low);
    plan.stop_high = view(stop_high);
    predict_curtailed(forest, plan, prices.sheet(), Matrix<double>{x.data(), 4, 2, 2, 1}, Span<const double>{},
                      outputs.data(), touched.data(), 2);
    CHECK(outputs == std::vector<double>{1, -3, -1, -2});
    CHECK(touched == std::vector<std::uint64_t>{1, 1, 1, 3});
}

inline void test_curtailed_vote() { RUN(a_vote_ends_when_its_sign_is_certain); }

}  // namespace farthing::tests
