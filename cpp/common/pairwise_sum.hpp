// pairwise_sum: sums of doubles whose rounding error grows with the logarithm of their number. The order of the
// additions is that of NumPy, so both give the same bits.
#pragma once

#include "common/views.hpp"

namespace farthing {

// The sum of x(begin), x(begin + 1), ... of n numbers.
template <class Numbers>
double pairwise_sum_of(const Numbers& x, index_t begin, index_t n) {
    constexpr index_t kBlock = 128;
    constexpr index_t kLanes = 8;
    if (n < kLanes) {
        double sum = 0;
        for (index_t i = 0; i < n; ++i) sum += x(begin + i);
        return sum;
    }
    if (n <= kBlock) {
        double lane[kLanes];
        for (index_t k = 0; k < kLanes; ++k) lane[k] = x(begin + k);
        index_t i = kLanes;
        for (; i < n - n % kLanes; i += kLanes) {
            for (index_t k = 0; k < kLanes; ++k) lane[k] += x(begin + i + k);
        }
        double sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
        for (; i < n; ++i) sum += x(begin + i);
        return sum;
    }
    const index_t half = n / 2 - n / 2 % kLanes;
    return pairwise_sum_of(x, begin, half) + pairwise_sum_of(x, begin + half, n - half);
}

inline double pairwise_sum(const double* x, index_t n) {
    return pairwise_sum_of([x](index_t i) { return x[i]; }, 0, n);
}

}  // namespace farthing
