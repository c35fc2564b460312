// node_errors: training errors per node, as if each node were a leaf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/views.hpp"
#include "predict/forest_view.hpp"
#include "prune/ancestry.hpp"

namespace farthing {

// Rows misclassified at each node they pass or end in, and at inner nodes where they stop for want of a value.
struct NodeErrors {
    std::vector<std::int64_t> passing;  // (nodes,)
    std::vector<std::int64_t> staying;  // (nodes,)
};

template <class T>
NodeErrors node_errors(const ForestView& forest, const Matrix<T>& X, Span<const index_t> y, Span<const index_t> label) {
    const auto n = static_cast<std::size_t>(forest.feature.size);
    NodeErrors errors{std::vector<std::int64_t>(n, 0), std::vector<std::int64_t>(n, 0)};
    for (index_t row = 0; row < X.n_rows; ++row) {
        for (index_t t = 0; t < forest.n_trees(); ++t) {
            const index_t end =
                visit_path(forest, X, row, t, [&](index_t h) { errors.passing[h] += label[h] != y[row]; });
            if (forest.feature[end] < 0) errors.passing[end] += label[end] != y[row];
            else errors.staying[end] += label[end] != y[row];
        }
    }
    return errors;
}

}  // namespace farthing
