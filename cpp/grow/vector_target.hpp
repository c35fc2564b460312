// vector_target: several gradients per row as a target (see target.hpp), for trees with a vector of values at each
// node: one tree a round for all classes.
//
// With G_k and H_k the sums of the negative gradients and the hessians of output k, a split gains half the increase of
//
//     sum over outputs k of G_k^2 / (H_k + l2),
//
// the second-order decrease of a loss whose hessian is taken to be diagonal, as in GBDT-MO (Zhang and Jung 2021). With
// one output it is the gain of gradient_target.hpp. Of many outputs, only those with the largest gradients are in this
// sum ("top outputs" of SketchBoost: Iosipoi and Vakhrushev 2022). The values of nodes, G_k / (H_k + l2), are those of
// all outputs; they are left to node_vectors.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "common/fixed_point.hpp"
#include "common/peers.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "grow/target.hpp"
#include "grow/vector_score.hpp"

namespace farthing {

// The most outputs that splits are searched by; the time of a search is proportional to their number.
constexpr index_t kMostSearched = 32;

// The outputs with the largest sum of squared gradients over some rows, ascending.
// IN  gradients (n_outputs, n); rows: those to learn from; peers: those that hold further rows, or null.
inline std::vector<index_t> top_outputs(Span<const double> gradients, index_t n_outputs,
                                        const std::vector<index_t>& rows, Peers* peers = nullptr,
                                        index_t most = kMostSearched) {
    std::vector<index_t> outputs(static_cast<std::size_t>(n_outputs));
    std::iota(outputs.begin(), outputs.end(), index_t{0});
    if (n_outputs <= most) return outputs;
    const index_t n = gradients.size / n_outputs;
    // On a coarse grid: integers, whose sum does not depend on the order, and that of 2^33 squares fits.
    constexpr int kBits = 15;
    const Grid grid = grid_of(gradients, 1, kBits, 1, peers);
    std::vector<std::int64_t> squares(static_cast<std::size_t>(n_outputs), 0);
    for (const index_t k : outputs) {
        for (const index_t row : rows) {
            const std::int64_t steps = grid.steps(gradients[k * n + row]);
            squares[k] += steps * steps;
        }
    }
    add_up(peers, squares);
    std::stable_sort(outputs.begin(), outputs.end(), [&](index_t a, index_t b) { return squares[a] > squares[b]; });
    outputs.resize(static_cast<std::size_t>(most));
    std::sort(outputs.begin(), outputs.end());
    return outputs;
}

struct VectorRow {
    index_t row;
};

// The sums of a node are those of all blocks, as integers (see vector_score.hpp), then the number of rows.
class VectorTarget {
public:
    using Row = VectorRow;
    static constexpr bool kSparseValues = false;  // boosted values are rarely zero
    static constexpr bool kCentersCuts = false;  // boosted trees are small, so their nodes have few empty bins
    static constexpr bool kUpdatesRoot = false;
    static constexpr bool kAddsRows = true;
    static constexpr bool kMonotonic = false;

    // IN  gradients (n_outputs, n); hessians (n_outputs, n), or empty for 1 each; searched: the outputs that splits are
    // searched by; min_hessian: a split that leaves a child a smaller sum of their hessians gains nothing.
    VectorTarget(Span<const double> gradients, Span<const double> hessians, index_t n_outputs,
                 std::vector<index_t> searched, double l2, double min_hessian = 0, int n_threads = 1,
                 Peers* peers = nullptr)
        : n_values_(n_outputs), n_(gradients.size / n_outputs), searched_(std::move(searched)),
          n_blocks_((n_searched() + kBlockOutputs - 1) / kBlockOutputs),
          g_(grid_of(gradients, 1, kRowBits, n_threads, peers)), h_(grid_of(hessians, 1, kRowBits, n_threads, peers)),
          score_(g_.unit * g_.unit / h_.unit, l2 / h_.unit), l2_(l2), min_hessian_(min_hessian) {
        memory_.resize(static_cast<std::size_t>((n_blocks_ * n_ + 1) / 2));
        parallel_ranges(n_, threads_for(n_threads, n_ * n_searched() / 16384), [&](index_t begin, index_t end) {
            constexpr index_t kRows = 64;  // which stay in the cache while the outputs come one by one
            for (index_t first = begin; first < end; first += kRows) {
                const index_t last = std::min(end, first + kRows);
                for (index_t k = 0; k < n_searched(); ++k) fill_output(gradients, hessians, k, first, last);
            }
        });
    }

    index_t width() const { return n_blocks_ * kBlockSums + 1; }
    index_t n_values() const { return n_values_; }
    index_t n_searched() const { return static_cast<index_t>(searched_.size()); }
    index_t n_blocks() const { return n_blocks_; }
    // Two blocks of each row, (n,), the first of them an even number; a last one without a second.
    const RowPair* pairs(index_t b) const { return memory_.data() + b / 2 * n_; }
    const RowBlock* last_block() const { return &pairs(n_blocks_ - 1)->first; }
    const VectorScore& score() const { return score_; }
    double min_hessian() const { return min_hessian_; }

    Row row(index_t i) const { return {i}; }
    void add(std::int64_t* sums, const Row& row) const {
        for (index_t b = 0; b < n_blocks_; ++b) {
            const RowBlock& own = all_blocks()[place_of(b)(row.row)];
            for (index_t s = 0; s < kBlockSums; ++s) {
                sums[b * kBlockSums + s] += static_cast<std::int64_t>(own.steps[s]);
            }
        }
        sums[n_blocks_ * kBlockSums] += 1;
    }
    // The same for many rows.
    template <class Index>
    void add_rows(std::int64_t* sums, const Index* rows, index_t n) const {
        for (index_t b = 0; b < n_blocks_; ++b) {
            const Place at = place_of(b);
            BlockSums total;
            for (index_t i = 0; i < n; ++i) total += all_blocks()[at(static_cast<index_t>(rows[i]))];
            std::int64_t* to = sums + b * kBlockSums;
            for (index_t k = 0; k < kBlockOutputs; ++k) {
                to[k] += static_cast<std::int64_t>(total.g[k]);
                to[kBlockOutputs + k] += static_cast<std::int64_t>(total.h[k]);
            }
        }
        sums[n_blocks_ * kBlockSums] += n;
    }

    index_t n_rows(const std::int64_t* sums) const { return sums[n_blocks_ * kBlockSums]; }
    double cover(const std::int64_t* sums) const { return hessian(sums); }
    // Rows, not hessians: see gradient_target.hpp.
    double population(const std::int64_t* sums) const { return static_cast<double>(n_rows(sums)); }
    void values(const std::int64_t*, double*) const {}  // see node_vectors.hpp

    bool pure(const std::int64_t*) const { return false; }
    double node_score(const std::int64_t* sums) const {
        double score = 0;
        for (index_t b = 0; b < n_blocks_; ++b) score += score_.of(block_of(sums, b));
        return score * score_.unit();
    }
    // What a split gains whose two sides have a score together.
    double gain(double parts, double node_score) const {
        const double increase = parts - node_score;
        return increase > kMinRelativeGain * parts ? increase / 2 : 0.0;
    }

    // One block of the sums of a node.
    BlockSums block_of(const std::int64_t* sums, index_t b) const {
        const std::int64_t* first = sums + b * kBlockSums;
        BlockSums block;
        for (index_t k = 0; k < kBlockOutputs; ++k) {
            block.g[k] = static_cast<double>(first[k]);
            block.h[k] = static_cast<double>(first[kBlockOutputs + k]);
        }
        return block;
    }
    // The sum of the hessians of all outputs that are searched by.
    double hessian(const std::int64_t* sums) const {
        double sum = 0;
        for (index_t k = 0; k < n_searched(); ++k) sum += h_.to_double(sums[h_place(k)]);
        return sum;
    }
    // From the sum of `hessians()` over all blocks.
    double hessian(SimdPair sum) const { return (sum[0] + sum[1]) * h_.unit; }
    // Of the k-th of them alone, to order categories by.
    double mean(const std::int64_t* sums, index_t k) const {
        const double h = h_.to_double(sums[h_place(k)]) + l2_;
        return h > 0 ? g_.to_double(sums[g_place(k)]) / h : 0.0;
    }
    double score_of(const std::int64_t* sums, index_t k) const {
        return g_.to_double(sums[g_place(k)]) * mean(sums, k);
    }

private:
    index_t n_values_;
    index_t n_;
    std::vector<index_t> searched_;
    index_t n_blocks_;
    Grid g_;
    Grid h_;
    VectorScore score_;
    double l2_;
    double min_hessian_;
    // Pairs of blocks, (n_blocks / 2, n); if their number is odd, then the last blocks, (n,).
    std::vector<RowPair> memory_;

    // Of row i, block b is number `first + stride * i` of all blocks in memory.
    struct Place {
        index_t first;
        index_t stride;

        index_t operator()(index_t row) const { return first + stride * row; }
    };
    Place place_of(index_t b) const {
        const bool is_single = b % 2 == 0 && b + 1 == n_blocks_;
        return is_single ? Place{b * n_, 1} : Place{b / 2 * 2 * n_ + b % 2, 2};
    }
    RowBlock* all_blocks() { return reinterpret_cast<RowBlock*>(memory_.data()); }
    const RowBlock* all_blocks() const { return reinterpret_cast<const RowBlock*>(memory_.data()); }

    static index_t g_place(index_t k) { return k / kBlockOutputs * kBlockSums + k % kBlockOutputs; }
    static index_t h_place(index_t k) { return g_place(k) + kBlockOutputs; }

    void fill_output(Span<const double> gradients, Span<const double> hessians, index_t k, index_t begin, index_t end) {
        const index_t place = k % kBlockOutputs;
        const index_t from = searched_[k] * n_;
        const Place at = place_of(k / kBlockOutputs);
        for (index_t i = begin; i < end; ++i) {
            const auto g = static_cast<float>(g_.steps(gradients[from + i]));
            const auto h = hessians.size ? static_cast<float>(h_.steps(hessians[from + i])) : 1.0f;
            RowBlock& own = all_blocks()[at(i)];
            own.steps[place] = g;
            // A gradient without a hessian would have an infinite score; one grid step makes it finite.
            own.steps[kBlockOutputs + place] = g != 0 ? std::max(h, 1.0f) : h;
        }
    }
};

}  // namespace farthing
