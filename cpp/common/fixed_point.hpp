// fixed_point: sums that do not depend on the order of summation.
//
// Gradients, hessians and weights are rounded once to a grid of integers, and every sum is a sum of 64-bit integers.
// Integer addition is associative, so any number of threads gives the same bits, and a parent's histogram minus one
// child's is exactly the other child's. The grid is the finest power of two at which the sum of n values cannot
// overflow: for n = 2^20 rows it keeps 42 bits below the largest magnitude; a float has 24.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "common/peers.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"

namespace farthing {

struct FixedPoint {
    std::vector<std::int64_t> values;  // (n,)
    double unit = 1.0;                 // size of one grid step; a power of two, so scaling by it is exact

    double to_double(std::int64_t sum) const { return static_cast<double>(sum) * unit; }
};

// A grid of integers: x is rounded to a multiple of the unit, a power of two.
struct Grid {
    double unit = 1.0;
    double steps_per_one = 1.0;  // 1 / unit

    std::int64_t steps(double x) const { return std::llrint(x * steps_per_one); }
    double round(double x) const { return std::nearbyint(x * steps_per_one); }  // the same as a double
    double to_double(std::int64_t sum) const { return static_cast<double>(sum) * unit; }
};

// The finest grid on which the sum of any n_added of |values| stays below 2^sum_bits. Integers stay integers (unit 1)
// if every such sum is exact in a double and fits, so class counts are exact. The grid is that of the values of all
// peers.
// IN x: finite.
inline Grid grid_of(Span<const double> x, index_t n_added, int sum_bits = 62, int n_threads = 1,
                    Peers* peers = nullptr) {
    const int threads = threads_for(n_threads, x.size / 16384);
    double largest = 0;
    bool integral = true;
    bool finite = true;
    std::mutex merging;
    parallel_ranges(x.size, threads, [&](index_t begin, index_t end) {
        // Several lanes: each maximum would wait for the one before it.
        constexpr index_t kLanes = 8;
        double lanes[kLanes] = {};
        double zeros[kLanes] = {};  // zero times what is not finite is NaN
        const auto look = [&](index_t i, index_t lane) {
            const double size = std::fabs(x[i]);
            lanes[lane] = lanes[lane] < size ? size : lanes[lane];
            zeros[lane] += x[i] * 0.0;
        };
        index_t i = begin;
        for (; i + kLanes <= end; i += kLanes) {
            for (index_t lane = 0; lane < kLanes; ++lane) look(i + lane, lane);
        }
        for (; i < end; ++i) look(i, 0);
        double largest_here = 0;
        bool finite_here = true;
        for (index_t lane = 0; lane < kLanes; ++lane) {
            largest_here = std::max(largest_here, lanes[lane]);
            finite_here = finite_here && zeros[lane] == 0;
        }
        bool integral_here = true;
        for (i = begin; i < end && integral_here; ++i) integral_here = x[i] == std::floor(x[i]);
        const std::lock_guard<std::mutex> lock(merging);
        largest = std::max(largest, largest_here);
        integral = integral && integral_here;
        finite = finite && finite_here;
    });
    if (peers) {
        double common[] = {largest, integral ? 0.0 : 1.0, finite ? 0.0 : 1.0};
        if (!finite) common[0] = 0;  // the maximum of NaN would depend on the order
        peers->largest(common, 3);
        largest = common[0];
        integral = common[1] == 0;
        finite = common[2] == 0;
    }
    if (!finite) throw std::invalid_argument("cannot sum a value that is not finite");
    int shift = 0;
    const bool exact = integral && largest * static_cast<double>(n_added) < std::ldexp(1.0, std::min(53, sum_bits));
    if (largest > 0 && !exact) {
        int magnitude = 0;
        std::frexp(largest, &magnitude);  // largest < 2^magnitude
        int rows = 0;
        while ((index_t{1} << rows) < n_added) ++rows;
        shift = sum_bits - rows - magnitude;
        if (shift > 1000) shift = 1000;  // keeps 2^shift finite; values this small become zero
    }
    return {std::ldexp(1.0, -shift), std::ldexp(1.0, shift)};
}

// Rounds all values to the grid on which their sum fits, with that of all peers.
// IN n_all: the number of values of all peers.
inline FixedPoint to_fixed_point(Span<const double> x, index_t n_all, Peers* peers, int sum_bits = 62,
                                 int n_threads = 1) {
    const Grid grid = grid_of(x, n_all, sum_bits, n_threads, peers);
    FixedPoint fixed;
    fixed.values.resize(static_cast<std::size_t>(x.size));
    fixed.unit = grid.unit;
    const int threads = threads_for(n_threads, x.size / 16384);
    parallel_ranges(x.size, threads, [&](index_t begin, index_t end) {
        for (index_t i = begin; i < end; ++i) fixed.values[i] = grid.steps(x[i]);
    });
    return fixed;
}
inline FixedPoint to_fixed_point(Span<const double> x, int sum_bits = 62, int n_threads = 1) {
    return to_fixed_point(x, x.size, nullptr, sum_bits, n_threads);
}

}  // namespace farthing
