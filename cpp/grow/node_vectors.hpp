// node_vectors: the values of a grown tree with several outputs, from the sums over the rows of each node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/fixed_point.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "grow/tree.hpp"

namespace farthing {

// value[node][k] = step * G_k / (H_k + l2), where G_k and H_k are the sums over the training rows of the node. They
// are exact integers (see fixed_point.hpp), so those of an inner node are those of its children.
// IN  gradients (n_outputs, n); hessians (n_outputs, n), or empty for 1 each; rows: the training rows; leaf_of_row
// (n,): their leaves.   OUT tree.value.
inline void fill_node_vectors(Span<const double> gradients, Span<const double> hessians,
                              const std::vector<index_t>& rows, const std::vector<index_t>& leaf_of_row, double l2,
                              double step, int n_threads, Tree& tree) {
    const auto n = static_cast<index_t>(leaf_of_row.size());
    const Grid g_grid = grid_of(gradients, n, 62, n_threads);
    const Grid h_grid = grid_of(hessians, n, 62, n_threads);
    const auto n_nodes = static_cast<std::size_t>(tree.n_nodes());
    const auto add_up = [&](auto of_row, std::vector<std::int64_t>& sums) {
        sums.assign(n_nodes, 0);
        for (const index_t row : rows) sums[leaf_of_row[row]] += of_row(row);
        for (index_t node = tree.n_nodes() - 1; node >= 0; --node) {  // children come after their parents
            if (tree.feature[node] >= 0) sums[node] += sums[tree.left[node]] + sums[tree.right[node]];
        }
    };
    std::vector<std::int64_t> counts;
    add_up([](index_t) { return std::int64_t{1}; }, counts);
    const int threads = threads_for(n_threads, gradients.size / 16384);
    parallel_ranges(tree.n_values, threads, [&](index_t begin, index_t end) {
        std::vector<std::int64_t> g_sums;
        std::vector<std::int64_t> h_sums;
        for (index_t k = begin; k < end; ++k) {
            add_up([&](index_t row) { return g_grid.steps(gradients[k * n + row]); }, g_sums);
            if (hessians.size) add_up([&](index_t row) { return h_grid.steps(hessians[k * n + row]); }, h_sums);
            for (index_t node = 0; node < tree.n_nodes(); ++node) {
                const double h = (hessians.size ? h_grid.to_double(h_sums[node]) : static_cast<double>(counts[node])) + l2;
                tree.value[node * tree.n_values + k] = h > 0 ? g_grid.to_double(g_sums[node]) / h * step : 0.0;
            }
        }
    });
}

}  // namespace farthing
