// Tests of common/simd_pair.hpp: vector registers and the twin in plain C++ give the same bits.
#pragma once

#include "common/simd_pair.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

template <class Pair>
inline bool holds_lanes(const Pair& pair, double first, double second) {
    const auto same = [](double x, double y) { return x == y || (x != x && y != y); };
    return same(pair[0], first) && same(pair[1], second);
}

template <class Pair>
inline void each_lane_is_computed_alone() {
    using farthing::select;
    using farthing::portable::select;
    Random random(21);
    for (int trial = 0; trial < 200; ++trial) {
        const double a = random.uniform() - 0.5;
        const double b = random.chance(0.2) ? kNan : random.uniform();
        const double c = random.chance(0.2) ? a : random.uniform() - 0.5;
        const double d = random.uniform() - 0.5;
        const Pair x{a, b};
        const Pair y{c, d};
        Pair sum = x;
        sum += y;
        CHECK(holds_lanes(sum, a + c, b + d));
        CHECK(holds_lanes(x - y, a - c, b - d));
        CHECK(holds_lanes(x * y / (y + 0.25), a * c / (c + 0.25), b * d / (d + 0.25)));
        CHECK(holds_lanes(select(x == y, x, Pair{1.0, 2.0}), a == c ? a : 1.0, b == d ? b : 2.0));
        CHECK(holds_lanes(select(x < y, x, y), a < c ? a : c, b < d ? b : d));
        CHECK(holds_lanes(select(x > y, x, y), a > c ? a : c, b > d ? b : d));
    }
}

inline void pairs_go_to_memory_and_back() {
    const double from[3] = {1.0, -2.0, kInfinity};
    double to[2] = {0.0, 0.0};
    store(to, load(from + 1));
    CHECK(to[0] == -2.0 && to[1] == kInfinity);
    CHECK(holds_lanes(broadcast(3.0), 3.0, 3.0));
}

inline void test_simd_pair() {
    RUN(each_lane_is_computed_alone<SimdPair>);
    RUN(each_lane_is_computed_alone<portable::Pair>);
    RUN(pairs_go_to_memory_and_back);
}

}  // namespace farthing::tests
