// Tests of optimal/column_tests.hpp: every division of a kind once, and what each sums up.
#pragma once

#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "common/bits.hpp"
#include "optimal/column_tests.hpp"
#include "tests/check.hpp"

namespace farthing::tests {

inline PresentCodes codes_of_kind(TestKind kind, int n, bool missing) {
    PresentCodes codes;
    codes.kind = kind;
    codes.n = n;
    codes.missing = missing;
    return codes;
}

// Whether numbers are one run of bits, from bit 0 if `lowest`.
inline bool is_run(unsigned numbers, bool lowest) {
    if (lowest && (numbers & 1) == 0) return false;
    const unsigned first = numbers & (~numbers + 1);
    return (numbers & (numbers + first)) == 0;
}

// All ways to divide n codes in two that tests of a kind have, each by the set without code 0.
inline std::set<unsigned> divisions_of(const PresentCodes& codes) {
    const unsigned all = (1u << codes.n) - 1;
    const unsigned numbers = codes.missing ? all >> 1 : all;
    std::set<unsigned> found;
    for (unsigned left = 1; left < all; ++left) {
        const bool ordered = is_run(left & numbers, true);
        const bool interval = is_run(left & numbers, false);
        bool tested = true;
        if (codes.kind == TestKind::singles) tested = count_ones(static_cast<std::uint64_t>(left)) == 1;
        if (codes.kind == TestKind::ordered) tested = (left & numbers) != 0 && ordered;
        if (codes.kind == TestKind::intervals) tested = (left & numbers) != 0 && interval;
        if (tested) found.insert((left & 1) ? all ^ left : left);
    }
    return found;
}

inline void tests_divide_codes_in_every_way_once() {
    for (const TestKind kind : {TestKind::ordered, TestKind::singles, TestKind::subsets, TestKind::intervals}) {
        for (int n = 0; n <= 9; ++n) {
            for (const bool missing : {false, true}) {
                if (missing && (n < 2 || !is_ordered(kind))) continue;
                const PresentCodes codes = codes_of_kind(kind, n, missing);
                std::set<unsigned> found;
                for (int test = 0; test < codes.n_tests(); ++test) {
                    unsigned left = 0;
                    for (int place = 0; place < n; ++place)
                        left |= static_cast<unsigned>(codes.goes_left(test, place)) << place;
                    CHECK(codes.n_left(test) == static_cast<int>(count_ones(static_cast<std::uint64_t>(left))));
                    found.insert((left & 1) ? ((1u << n) - 1) ^ left : left);
                }
                CHECK(found.size() == static_cast<std::size_t>(codes.n_tests()));
                CHECK(n < 2 || found == divisions_of(codes));
            }
        }
    }
}

inline void sums_are_those_of_the_codes_on_the_left() {
    for (const TestKind kind : {TestKind::ordered, TestKind::singles, TestKind::subsets, TestKind::intervals}) {
        for (int n = 2; n <= 7; ++n) {
            for (const bool missing : {false, true}) {
                if (missing && !is_ordered(kind)) continue;
                const PresentCodes codes = codes_of_kind(kind, n, missing);
                std::vector<double> values;
                for (int place = 0; place < n; ++place) {
                    values.push_back(std::ldexp(1.0, place));
                    values.push_back(place);
                }
                double scratch[2];
                int next = 0;
                for_each_left_sum(codes, values.data(), 2, scratch, [&](int test, const double* sums) {
                    double expected[2] = {0, 0};
                    for (int place = 0; place < n; ++place) {
                        if (!codes.goes_left(test, place)) continue;
                        expected[0] += values[2 * place];
                        expected[1] += values[2 * place + 1];
                    }
                    CHECK(test == next++);
                    CHECK(sums[0] == expected[0] && sums[1] == expected[1]);
                });
                CHECK(next == codes.n_tests());
            }
        }
    }
}

inline void test_column_tests() {
    RUN(tests_divide_codes_in_every_way_once);
    RUN(sums_are_those_of_the_codes_on_the_left);
}

}  // namespace farthing::tests
