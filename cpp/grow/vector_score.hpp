// vector_score: gradients and hessians of four outputs at a time, and their share of the score of a split; the inner
// loops of vector_target.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/simd_pair.hpp"
#include "common/simd_quad.hpp"
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
// Two blocks of a row: one line of the cache.
struct alignas(64) RowPair {
    RowBlock first;
    RowBlock second;
};

// Sums over rows.
struct BlockSums {
    using Row = RowBlock;

    SimdQuad g = {};
    SimdQuad h = {};

    FARTHING_INLINE void operator+=(const RowBlock& row) {
        add(row.steps, g);
        add(row.steps + kBlockOutputs, h);
    }
    FARTHING_INLINE void operator+=(const BlockSums& other) {
        g += other.g;
        h += other.h;
    }
    FARTHING_INLINE BlockSums operator-(const BlockSums& other) const { return {g - other.g, h - other.h}; }
    // The sum of the hessians of the first two outputs with those of the last two.
    FARTHING_INLINE SimdPair hessians() const { return low_half(h) + high_half(h); }
};

// Sums over bins whose own sums are known.
struct CellSums : BlockSums {
    using Row = BlockSums;

    CellSums() = default;
    FARTHING_INLINE explicit CellSums(const BlockSums& sums) : BlockSums(sums) {}
    FARTHING_INLINE CellSums operator-(const CellSums& other) const { return CellSums(BlockSums::operator-(other)); }
};

// The same for two blocks.
struct PairSums {
    using Row = RowPair;

    BlockSums first;
    BlockSums second;

    FARTHING_INLINE void operator+=(const RowPair& row) {
        first += row.first;
        second += row.second;
    }
    FARTHING_INLINE void operator+=(const PairSums& other) {
        first += other.first;
        second += other.second;
    }
    FARTHING_INLINE PairSums operator-(const PairSums& other) const {
        return {first - other.first, second - other.second};
    }
    FARTHING_INLINE SimdPair hessians() const { return first.hessians() + second.hessians(); }
};

// The sum of G^2 / (H + l2) over the outputs of a block, in units of `unit()`.
class VectorScore {
public:
    // IN  unit: (step of the gradients)^2 / step of the hessians; l2: in steps of the hessians.
    VectorScore(double unit, double l2) : unit_(unit), l2_(std::min(std::max(l2, kLeastL2), kMostL2)) {}

    double unit() const { return unit_; }

    double of(const BlockSums& node) const {
        const SimdQuad each = node.g * node.g / (node.h + l2_);
        const SimdPair score = low_half(each) + high_half(each);
        return score[0] + score[1];
    }

    // Of the two sides of a split together, two sums to be added. Four fractions on one denominator: a division takes
    // as long as several products.
    FARTHING_INLINE SimdPair of_parts(const BlockSums& left, const BlockSums& right) const {
        const SimdQuad hl = left.h + l2_;
        const SimdQuad hr = right.h + l2_;
        const SimdQuad a = left.g * left.g * hr + right.g * right.g * hl;
        const SimdQuad b = hl * hr;
        const SimdPair b0 = low_half(b);
        const SimdPair b1 = high_half(b);
        return (low_half(a) * b1 + high_half(a) * b0) / (b0 * b1);
    }

    // IN OUT sum: increased by the scores of a split, block by block.
    FARTHING_INLINE void add_parts(const BlockSums& left, const BlockSums& whole, SimdPair& sum) const {
        sum += of_parts(left, whole - left);
    }
    FARTHING_INLINE void add_parts(const PairSums& left, const PairSums& whole, SimdPair& sum) const {
        add_parts(left.first, whole.first, sum);
        add_parts(left.second, whole.second, sum);
    }

private:
    // Hessians are whole steps, so that this changes none that is not zero; it keeps 0 / 0 from being NaN.
    static constexpr double kLeastL2 = 0x1p-20;
    static constexpr double kMostL2 = 0x1p200;  // no product overflows

    double unit_;
    double l2_;
};

}  // namespace farthing
