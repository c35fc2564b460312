// gradient_target: gradients and hessians as a target (see target.hpp), for boosted trees.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "common/fixed_point.hpp"
#include "common/peers.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "grow/monotonic.hpp"
#include "grow/target.hpp"

namespace farthing {

// The second-order approximation of a loss at the current scores. A node with sums G (negative gradients) and H
// (hessians, or weights for plain gradient steps) has the value G / (H + l2) and reduces the loss by G^2 / (2 (H +
// l2)). With H = sum of weights this is the squared error to the negative gradient, equation 5 of Xu et al. 2012.

enum class GradientSums {
    packed,  // unit hessians; one integer: the gradient sum in the high bits, the number of rows in the low bits
    unit,    // unit hessians; gradients, rows
    full     // gradients, hessians, rows
};

struct GradientRow {
    std::int64_t g;
    std::int64_t h;
};

// Bits that a count of up to n rows needs.
inline int bits_for(index_t n) {
    int bits = 0;
    while ((index_t{1} << bits) <= n) ++bits;
    return bits;
}

// Packing halves the memory traffic of a histogram, and a tree of half a million rows takes a quarter less time. It is
// used as long as gradients keep 20 bits, up to 2^21 - 1 rows: each is then rounded by less than a millionth of the
// largest, which vanishes in sums over so many.
inline bool can_pack(index_t n) { return 62 - 2 * bits_for(n) >= 20; }

// Gradients beside a number of rows keep this many bits. The others of a double are left for its rounding errors, so
// that root_histogram_update.hpp has few rows to correct.
constexpr int kUnitBits = 32;

// The bits of a sum of gradients.
inline int gradient_sum_bits(GradientSums sums, index_t n) {
    const int row_bits = bits_for(n);
    if (sums == GradientSums::packed) return 62 - row_bits;
    return sums == GradientSums::unit ? std::min(62, kUnitBits + row_bits) : 62;
}

template <GradientSums kSums>
class GradientTarget {
public:
    using Row = std::conditional_t<kSums == GradientSums::full, GradientRow, std::int64_t>;
    static constexpr bool kSparseValues = false;  // boosted values are rarely zero
    static constexpr bool kCentersCuts = false;  // boosted trees are small, so their nodes have few empty bins
    static constexpr bool kUpdatesRoot = kSums != GradientSums::full;  // see root_histogram_update.hpp
    static constexpr bool kAddsRows = false;
    static constexpr bool kMonotonic = true;
    static constexpr index_t kWidth = kSums == GradientSums::packed ? 1 : kSums == GradientSums::unit ? 2 : 3;

    // IN  min_hessian: a split that leaves a child a smaller sum of hessians gains nothing; step: learning rate that
    // values are multiplied by; on_grid: whether values may be rounded to the grid of the sums; peers: those that hold
    // further rows, or null.
    GradientTarget(Span<const double> gradients, Span<const double> hessians, double l2, double min_hessian = 0,
                   int n_threads = 1, double step = 1, bool on_grid = false, Peers* peers = nullptr)
        : n_all_(all_rows(peers, gradients.size)), row_bits_(kSums == GradientSums::packed ? bits_for(n_all_) : 0),
          g_(to_fixed_point(gradients, n_all_, peers, gradient_sum_bits(kSums, n_all_), n_threads)),
          h_(kSums == GradientSums::full ? to_fixed_point(hessians, n_all_, peers, 62, n_threads) : FixedPoint{}),
          l2_(l2), min_hessian_(min_hessian), step_(step) {
        if constexpr (kUpdatesRoot) {
            const int threads = threads_for(n_threads, gradients.size / 16384);
            std::atomic<index_t> n_fine{0};
            parallel_ranges(gradients.size, threads, [&](index_t begin, index_t end) {
                index_t n_fine_here = 0;
                for (index_t i = begin; i < end; ++i) {
                    n_fine_here += std::abs(g_.values[i]) >= kFineSteps;
                    //      63 ............. row_bits | row_bits - 1 ... 0
                    //        gradient sum (signed)  |  number of rows
                    // Adding packed rows adds both fields. The count cannot overflow into the gradients: row_bits_
                    // holds all rows.
                    if (kSums == GradientSums::packed) g_.values[i] = g_.values[i] * row_step() + 1;
                }
                n_fine += n_fine_here;
            });
            on_grid_ = on_grid && 2 * sum_over(peers, n_fine.load()) >= n_all_;
        }
    }

    index_t width() const { return kWidth; }
    index_t n_values() const { return 1; }
    index_t n_orders() const { return 1; }

    Row row(index_t i) const {
        if constexpr (kSums == GradientSums::full) {
            return {g_.values[i], h_.values[i]};
        } else {
            return g_.values[i];
        }
    }

    static void add(std::int64_t* cell, const Row& row) {
        if constexpr (kSums == GradientSums::packed) {
            cell[0] += row;
        } else if constexpr (kSums == GradientSums::unit) {
            cell[0] += row;
            cell[1] += 1;
        } else {
            cell[0] += row.g;
            cell[1] += row.h;
            cell[2] += 1;
        }
    }

    index_t n_rows(const std::int64_t* sums) const {
        if constexpr (kSums == GradientSums::packed) {
            return sums[0] & ((std::int64_t{1} << row_bits_) - 1);
        } else {
            return sums[kWidth - 1];
        }
    }
    double cover(const std::int64_t* sums) const { return hessian(sums); }
    // Rows, not hessians: these vanish where the model is certain, and would make its common cases look rare.
    double population(const std::int64_t* sums) const { return static_cast<double>(n_rows(sums)); }
    void values(const std::int64_t* sums, const ValueBounds& bounds, double* out) const {
        const double step = level(sums, bounds) * step_;
        out[0] = on_grid_ ? g_.to_double(std::llrint(step / g_.unit)) : step;
    }
    void values(const std::int64_t* sums, double* out) const { values(sums, ValueBounds{}, out); }
    double level(const std::int64_t* sums, const ValueBounds& bounds) const { return bounds.clip(mean(sums)); }

    // For root_histogram_update.hpp: values are multiples of the grid unit, if the grid is fine relative to the
    // gradients.
    bool steps_on_grid() const { return on_grid_; }
    double unit() const { return g_.unit; }
    index_t n_targets() const { return static_cast<index_t>(g_.values.size()); }
    // The value of a node in grid steps.
    std::int64_t step(const std::int64_t* sums, const ValueBounds& bounds) const {
        return std::llrint(level(sums, bounds) * step_ / g_.unit);
    }
    // What a row contributes after its gradient decreased by `step`.
    std::int64_t moved(std::int64_t row, std::int64_t step) const { return row - step * row_step(); }
    // OUT out (width,): increased by the sums after the gradients of all their rows decreased by `step`.
    void add_moved(const std::int64_t* sums, std::int64_t step, std::int64_t* out) const {
        out[0] += sums[0] - step * n_rows(sums) * row_step();
        if constexpr (kSums == GradientSums::unit) out[1] += sums[1];
    }

    bool pure(const std::int64_t*) const { return false; }

    // Half the increase of the sum of G^2 / (H + l2).
    double gain(const std::int64_t* left, const std::int64_t* right, double node_score) const {
        if constexpr (kSums == GradientSums::full) {
            if (hessian(left) < min_hessian_ || hessian(right) < min_hessian_) return 0.0;
        }
        const double parts = score(left) + score(right);
        const double increase = parts - node_score;
        return increase > kMinRelativeGain * parts ? increase / 2 : 0.0;
    }
    // The same of values within bounds.
    double gain(const std::int64_t* left, const std::int64_t* right, double node_score,
                const SplitConstraint& constraint) const {
        if constexpr (kSums == GradientSums::full) {
            if (hessian(left) < min_hessian_ || hessian(right) < min_hessian_) return 0.0;
        }
        const ValueBounds& bounds = constraint.bounds;
        if (!constraint.ordered(level(left, bounds), level(right, bounds))) return 0.0;
        const double parts = this->node_score(left, bounds) + this->node_score(right, bounds);
        const double increase = parts - node_score;
        return increase > kMinRelativeGain * std::abs(parts) ? increase / 2 : 0.0;
    }
    bool can_gain(double, double) const { return true; }  // the score of a node does not bound the gain
    // The same comparison without divisions, with slack for rounding.
    bool gains_less(const std::int64_t* left, const std::int64_t* right, double node_score, double gain) const {
        const double a = gradient(left);
        const double b = gradient(right);
        const double h_left = hessian(left) + l2_;
        const double h_right = hessian(right) + l2_;
        const double needed = 2 * (1 - 1e-6) * gain + (1 - 1e-9) * node_score;
        return a * a * h_right + b * b * h_left < needed * h_left * h_right;
    }
    double node_score(const std::int64_t* sums) const { return score(sums); }
    // A value v reduces the loss by half of 2 G v - (H + l2) v^2, which is largest at the mean.
    double node_score(const std::int64_t* sums, const ValueBounds& bounds) const {
        const double value = mean(sums);
        const double kept = bounds.clip(value);
        return kept == value ? score(sums) : (2 * gradient(sums) - (hessian(sums) + l2_) * kept) * kept;
    }

    // Categories sorted by mean gradient: some prefix of this order is the best subset (Fisher 1958).
    double order_key(const std::int64_t* sums, index_t) const { return mean(sums); }

private:
    // The grid is fine enough if at least half of the gradients are this many steps or more.
    static constexpr std::int64_t kFineSteps = std::int64_t{1} << 16;

    index_t n_all_;  // rows of all peers
    int row_bits_;
    FixedPoint g_;
    FixedPoint h_;
    double l2_;
    double min_hessian_;
    double step_;
    bool on_grid_ = false;

    std::int64_t row_step() const { return std::int64_t{1} << row_bits_; }
    double mean(const std::int64_t* sums) const {
        const double h = hessian(sums) + l2_;
        return h > 0 ? gradient(sums) / h : 0.0;
    }
    double gradient(const std::int64_t* sums) const {
        return g_.to_double(kSums == GradientSums::packed ? sums[0] >> row_bits_ : sums[0]);
    }
    double hessian(const std::int64_t* sums) const {
        return kSums == GradientSums::full ? h_.to_double(sums[1]) : static_cast<double>(n_rows(sums));
    }
    double score(const std::int64_t* sums) const {
        const double g = gradient(sums);
        const double h = hessian(sums) + l2_;
        return h > 0 ? g * g / h : 0.0;
    }
};

}  // namespace farthing
