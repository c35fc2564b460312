// column_tests: the two-way tests of a column between the codes that some rows have.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/bits.hpp"
#include "common/views.hpp"

namespace farthing {

enum class TestKind : std::uint8_t {
    ordered = 0,  // all thresholds; missing values, the last code, go to either side
    singles = 1,  // one code against the rest
    subsets = 2,  // any set of codes against the rest
};

// The codes of a column that occur, ascending, and its tests, numbered from 0. The last code is never on the left,
// except with missing values, so that no two tests divide the rows in the same way.
struct PresentCodes {
    TestKind kind = TestKind::ordered;
    int n = 0;
    bool missing = false;  // the last code is that of missing values, of an ordered column
    std::array<std::uint8_t, 256> code{};

    int n_tests() const {
        if (n < 2) return 0;
        switch (kind) {
            case TestKind::ordered: return n - 1 + (missing ? n - 2 : 0);
            case TestKind::singles: return n == 2 ? 1 : n;
            default: return (1 << (n - 1)) - 1;
        }
    }

    // How many of the codes go left.
    int n_left(int test) const {
        switch (kind) {
            case TestKind::ordered: return test < n - 1 ? test + 1 : test - (n - 1) + 2;
            case TestKind::singles: return 1;
            default: return count_ones(static_cast<std::uint64_t>(test + 1));
        }
    }

    // IN place: of a code among those that occur.
    bool goes_left(int test, int place) const {
        switch (kind) {
            case TestKind::ordered:
                return test < n - 1 ? place <= test : place <= test - (n - 1) || place == n - 1;
            case TestKind::singles: return place == test;
            default: return ((test + 1) >> place & 1) != 0;
        }
    }
};

// Calls visit(test, sums) for every test, where sums are those of the rows that go left.
// IN values: (codes.n, width), sums by code.   IN scratch: (width,).
template <class Visit>
inline void for_each_left_sum(const PresentCodes& codes, const double* values, index_t width, double* scratch,
                              Visit&& visit) {
    const auto add = [&](int place) {
        const double* row = values + place * width;
        for (index_t k = 0; k < width; ++k) scratch[k] += row[k];
    };
    if (codes.n < 2) return;
    if (codes.n == 2) {
        // All kinds have the one test of the first code.
        visit(0, values);
    } else if (codes.kind == TestKind::singles) {
        for (int test = 0; test < codes.n; ++test) visit(test, values + test * width);
    } else if (codes.kind == TestKind::subsets) {
        for (int test = 0; test < codes.n_tests(); ++test) {
            std::fill(scratch, scratch + width, 0.0);
            for (int left = test + 1, place = 0; left != 0; left >>= 1, ++place) {
                if (left & 1) add(place);
            }
            visit(test, static_cast<const double*>(scratch));
        }
    } else {
        std::fill(scratch, scratch + width, 0.0);
        for (int test = 0; test < codes.n - 1; ++test) {
            add(test);
            visit(test, static_cast<const double*>(scratch));
        }
        if (!codes.missing) return;
        std::copy(values + (codes.n - 1) * width, values + codes.n * width, scratch);
        for (int test = 0; test < codes.n - 2; ++test) {
            add(test);
            visit(codes.n - 1 + test, static_cast<const double*>(scratch));
        }
    }
}

}  // namespace farthing
