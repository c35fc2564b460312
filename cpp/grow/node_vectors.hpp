// node_vectors: the values of a grown tree with several outputs, from the sums over the rows of each node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/fixed_point.hpp"
#include "common/peers.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "grow/tree.hpp"

namespace farthing {

// value[node][k] = step * G_k / (H_k + l2), where G_k and H_k are the sums over the training rows of the node. They
// are exact integers (see fixed_point.hpp), so those of an inner node are those of its children.
// IN  gradients (n_outputs, n); hessians (n_outputs, n), or empty for 1 each; rows: the training rows; leaf_of_row
// (n,): their leaves; peers: those that hold further rows, or null.   OUT tree.value.
inline void fill_node_vectors(Span<const double> gradients, Span<const double> hessians,
                              const std::vector<index_t>& rows, const std::vector<index_t>& leaf_of_row, double l2,
                              double step, int n_threads, Peers* peers, Tree& tree) {
    const auto n = static_cast<index_t>(leaf_of_row.size());
    const index_t n_all = all_rows(peers, n);
    const Grid g_grid = grid_of(gradients, n_all, 62, n_threads, peers);
    const Grid h_grid = grid_of(hessians, n_all, 62, n_threads, peers);
    const index_t n_nodes = tree.n_nodes();
    // Node by node: the number of rows, then the sums of each output's gradients, then those of its hessians.
    std::vector<std::int64_t> sums(static_cast<std::size_t>((1 + 2 * tree.n_values) * n_nodes), 0);
    const auto add_rows = [&](index_t place, auto of_row) {
        std::int64_t* of_nodes = sums.data() + place * n_nodes;
        for (const index_t row : rows) of_nodes[leaf_of_row[row]] += of_row(row);
        for (index_t node = n_nodes - 1; node >= 0; --node) {  // children come after their parents
            if (tree.feature[node] >= 0) of_nodes[node] += of_nodes[tree.left[node]] + of_nodes[tree.right[node]];
        }
    };
    add_rows(0, [](index_t) { return std::int64_t{1}; });
    const int threads = threads_for(n_threads, gradients.size / 16384);
    parallel_ranges(tree.n_values, threads, [&](index_t begin, index_t end) {
        for (index_t k = begin; k < end; ++k) {
            add_rows(1 + k, [&](index_t row) { return g_grid.steps(gradients[k * n + row]); });
            if (!hessians.size) continue;
            add_rows(1 + tree.n_values + k, [&](index_t row) { return h_grid.steps(hessians[k * n + row]); });
        }
    });
    add_up(peers, sums);
    for (index_t node = 0; node < n_nodes; ++node) {
        for (index_t k = 0; k < tree.n_values; ++k) {
            const std::int64_t g = sums[(1 + k) * n_nodes + node];
            const double h = (hessians.size ? h_grid.to_double(sums[(1 + tree.n_values + k) * n_nodes + node])
                                            : static_cast<double>(sums[node])) +
                             l2;
            tree.value[node * tree.n_values + k] = h > 0 ? g_grid.to_double(g) / h * step : 0.0;
        }
    }
}

}  // namespace farthing
