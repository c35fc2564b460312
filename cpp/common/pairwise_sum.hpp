// pairwise_sum: sums of doubles whose rounding error grows with the logarithm of their number. The order of the
// additions is that of NumPy, so both give the same bits.
#pragma once

#include "common/views.hpp"

namespace farthing {

inline double pairwise_sum(const double* x, index_t n) {
    constexpr index_t kBlock = 128;
    constexpr index_t kLanes = 8;
    if (n < kLanes) {
        double sum = 0;
        for (index_t i = 0; i < n; ++i) sum += x[i];
        return sum;
    }
    if (n <= kBlock) {
        double lane[kLanes];
        for (index_t k = 0; k < kLanes; ++k) lane[k] = x[k];
        index_t i = kLanes;
        for (; i < n - n % kLanes; i += kLanes) {
            for (index_t k = 0; k < kLanes; ++k) lane[k] += x[i + k];
        }
        double sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
        for (; i < n; ++i) sum += x[i];
        return sum;
    }
    const index_t half = n / 2 - n / 2 % kLanes;
    return pairwise_sum(x, half) + pairwise_sum(x + half, n - half);
}

}  // namespace farthing
