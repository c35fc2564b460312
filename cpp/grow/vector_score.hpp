// vector_score: gradients and hessians of four outputs at a time, and their share of the score of a split; the inner
// loops of vector_target.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/simd_pair.hpp"
#include "common/views.hpp"

namespace farthing {

constexpr index_t kBlockOutputs = 4;
constexpr index_t kBlockSums = 2 * kBlockOutputs;
// The bits of a row's gradient or hessian, in grid steps: all that a float holds. So sums over 2^26 rows stay below
// 2^50 steps: they are exact as doubles, in any order, and products of a few of them do not overflow.
constexpr int kRowBits = 24;

// The gradients of four outputs, then their hessians, in whole grid steps; zero beyond the last output.
struct alignas(32) RowBlock {
    float steps[kBlockSums] = {};
};

// Two floats as doubles.
inline SimdPair widen(const float* from) { return SimdPair{from[0], from[1]}; }

// Sums over rows.
struct alignas(16) BlockSums {
    SimdPair g0 = broadcast(0);
    SimdPair g1 = broadcast(0);
    SimdPair h0 = broadcast(0);
    SimdPair h1 = broadcast(0);

    void operator+=(const RowBlock& row) {
        g0 += widen(row.steps);
        g1 += widen(row.steps + 2);
        h0 += widen(row.steps + 4);
        h1 += widen(row.steps + 6);
    }
    void operator+=(const BlockSums& other) {
        g0 += other.g0;
        g1 += other.g1;
        h0 += other.h0;
        h1 += other.h1;
    }
    BlockSums operator-(const BlockSums& other) const {
        return {g0 - other.g0, g1 - other.g1, h0 - other.h0, h1 - other.h1};
    }
};

// The sum of G^2 / (H + l2) over the outputs of a block, in units of `unit()`.
class VectorScore {
public:
    // IN  unit: (step of the gradients)^2 / step of the hessians; l2: in steps of the hessians.
    VectorScore(double unit, double l2) : unit_(unit), l2_(std::min(std::max(l2, kLeastL2), kMostL2)) {}

    double unit() const { return unit_; }

    double of(const BlockSums& node) const {
        const SimdPair score = node.g0 * node.g0 / (node.h0 + l2_) + node.g1 * node.g1 / (node.h1 + l2_);
        return score[0] + score[1];
    }

    // Of the two sides of a split together, two sums to be added. Four fractions on one denominator: a division takes
    // as long as several products.
    SimdPair of_parts(const BlockSums& left, const BlockSums& right) const {
        const SimdPair hl0 = left.h0 + l2_;
        const SimdPair hl1 = left.h1 + l2_;
        const SimdPair hr0 = right.h0 + l2_;
        const SimdPair hr1 = right.h1 + l2_;
        const SimdPair a0 = left.g0 * left.g0 * hr0 + right.g0 * right.g0 * hl0;
        const SimdPair a1 = left.g1 * left.g1 * hr1 + right.g1 * right.g1 * hl1;
        const SimdPair b0 = hl0 * hr0;
        const SimdPair b1 = hl1 * hr1;
        return (a0 * b1 + a1 * b0) / (b0 * b1);
    }

private:
    // Hessians are whole steps, so that this changes none that is not zero; it keeps 0 / 0 from being NaN.
    static constexpr double kLeastL2 = 0x1p-20;
    static constexpr double kMostL2 = 0x1p200;  // no product overflows

    double unit_;
    double l2_;
};

}  // namespace farthing
