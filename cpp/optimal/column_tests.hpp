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
    intervals = 3,  // as ordered, and any codes between two thresholds against the rest
};

// Whether the codes of a column have an order, and the last one may be that of missing values.
inline bool is_ordered(TestKind kind) { return kind == TestKind::ordered || kind == TestKind::intervals; }

// Places from `first` to `last`, both included.
struct PlaceInterval {
    int first = 0;
    int last = 0;

    bool has(int place) const { return first <= place && place <= last; }
};

// The codes of a column that occur, ascending, and its tests, numbered from 0. The last code is never on the left,
// except with missing values, so that no two tests divide the rows in the same way.
struct PresentCodes {
    TestKind kind = TestKind::ordered;
    int n = 0;
    bool missing = false;  // the last code is that of missing values, of an ordered column
    std::array<std::uint8_t, 256> code{};

    int n_thresholds() const { return n - 1 + (missing ? n - 2 : 0); }

    // Codes that are not missing.
    int n_numbers() const { return n - (missing ? 1 : 0); }

    // Intervals between two thresholds; the lowest and the highest code are in none. They follow the thresholds, by
    // their first and then their last code: all with missing values outside, then all with those inside.
    int n_intervals() const { return n_numbers() < 3 ? 0 : (n_numbers() - 1) * (n_numbers() - 2) / 2; }

    bool is_interval(int test) const { return kind == TestKind::intervals && test >= n_thresholds(); }

    bool has_missing_inside(int test) const { return test >= n_thresholds() + n_intervals(); }

    PlaceInterval interval(int test) const {
        int rest = (test - n_thresholds()) % n_intervals();
        int first = 1;
        for (; rest >= n_numbers() - 1 - first; ++first) rest -= n_numbers() - 1 - first;
        return {first, first + rest};
    }

    int n_tests() const {
        if (n < 2) return 0;
        switch (kind) {
            case TestKind::ordered: return n_thresholds();
            case TestKind::intervals: return n_thresholds() + n_intervals() * (missing ? 2 : 1);
            case TestKind::singles: return n == 2 ? 1 : n;
            default: return (1 << (n - 1)) - 1;
        }
    }

    // How many of the codes go left.
    int n_left(int test) const {
        if (is_interval(test)) {
            const PlaceInterval inside = interval(test);
            return inside.last - inside.first + 1 + (has_missing_inside(test) ? 1 : 0);
        }
        switch (kind) {
            case TestKind::ordered:
            case TestKind::intervals: return test < n - 1 ? test + 1 : test - (n - 1) + 2;
            case TestKind::singles: return 1;
            default: return count_ones(static_cast<std::uint64_t>(test + 1));
        }
    }

    // IN place: of a code among those that occur.
    bool goes_left(int test, int place) const {
        if (is_interval(test))
            return interval(test).has(place) || (place == n_numbers() && has_missing_inside(test));
        switch (kind) {
            case TestKind::ordered:
            case TestKind::intervals:
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
        const double* missing = values + (codes.n - 1) * width;
        if (codes.missing) {
            std::copy(missing, missing + width, scratch);
            for (int test = 0; test < codes.n - 2; ++test) {
                add(test);
                visit(codes.n - 1 + test, static_cast<const double*>(scratch));
            }
        }
        if (codes.kind != TestKind::intervals) return;
        int test = codes.n_thresholds();
        for (int with_missing = 0; with_missing < (codes.missing ? 2 : 1); ++with_missing) {
            for (int first = 1; first < codes.n_numbers() - 1; ++first) {
                if (with_missing) {
                    std::copy(missing, missing + width, scratch);
                } else {
                    std::fill(scratch, scratch + width, 0.0);
                }
                for (int last = first; last < codes.n_numbers() - 1; ++last, ++test) {
                    add(last);
                    visit(test, static_cast<const double*>(scratch));
                }
            }
        }
    }
}

}  // namespace farthing
