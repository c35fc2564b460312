// pruning_problem: pruning a forest for the rows that pay, as a closure problem (BudgetPrune).
//
// Elements are the inner nodes (chosen: the node stays split) and the purchases of the rows. A node needs its parent;
// it also needs the purchase of its feature for each row that first meets the feature there in the tree. A purchase
// counts once for all trees. Rows that meet a feature (or the features of a group) at the same nodes share one
// element. A node whose split neither costs nor loses anything beyond its parent's is kept whenever the parent is, so
// both are one element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/views.hpp"
#include "common/wide_integer.hpp"
#include "predict/forest_view.hpp"
#include "prune/ancestry.hpp"
#include "prune/closure_graph.hpp"
#include "prune/row_bundles.hpp"

namespace farthing {

struct PruningProblem {
    ClosureGraph graph;
    std::vector<std::int32_t> element;  // (nodes,): element of an inner node; -1 at leaves
};

namespace detail {

inline std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (!fits(int128_t(a) * b, product))
        throw std::overflow_error("a cost on the grid exceeds 64 bits; use a coarser grid");
    return product;
}

// Builds the problem in the order of its elements: nodes, then purchases.
class PruningBuilder {
public:
    PruningBuilder(const ForestView& forest, const IntegerCosts& sheet)
        : forest_(forest), sheet_(sheet), ancestry_(forest), bundles_(sheet_),
          n_rows_at_(static_cast<std::size_t>(forest.feature.size), 0) {}

    // Sends all rows down all trees.
    template <class T>
    void collect(const Matrix<T>& X) {
        std::vector<std::int64_t> keys;
        for (index_t row = 0; row < X.n_rows; ++row) {
            keys.clear();
            for (index_t t = 0; t < forest_.n_trees(); ++t) {
                visit_path(forest_, X, row, t, [&](index_t h) {
                    ++n_rows_at_[h];
                    if (buys(h)) keys.push_back(h);
                });
            }
            bundles_.add(forest_, keys);
        }
    }

    PruningProblem build(Span<const std::int64_t> gain) {
        problem_.element.assign(static_cast<std::size_t>(forest_.feature.size), -1);
        for (index_t h = 0; h < forest_.feature.size; ++h) {
            if (forest_.feature[h] >= 0) add_node(h, gain[h]);
        }
        for (index_t bundle = 0; bundle < bundles_.size(); ++bundle) add_purchases(bundle);
        arcs_.fill(problem_.graph);
        return std::move(problem_);
    }

private:
    const ForestView& forest_;
    const IntegerCosts sheet_;
    Ancestry ancestry_;
    RowBundles bundles_;
    std::vector<std::int64_t> n_rows_at_;  // (nodes,): rows tested at the node
    PruningProblem problem_;
    ArcList arcs_;

    bool buys(index_t h) const {
        return n_rows_at_[h] > 0 && ancestry_.first_test[h] && bundles_.costs(forest_.feature[h]);
    }

    std::int32_t add(std::int64_t gain, std::int64_t cost) {
        ClosureGraph& graph = problem_.graph;
        if (graph.gain.size() == static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
            throw std::overflow_error("too many elements to prune");
        graph.gain.push_back(gain);
        graph.cost.push_back(cost);
        return static_cast<std::int32_t>(graph.gain.size() - 1);
    }

    void add_node(index_t h, std::int64_t gain) {
        const std::int32_t up = ancestry_.parent[h] < 0 ? -1 : problem_.element[ancestry_.parent[h]];
        const std::int64_t cost = checked_multiply(sheet_.test, n_rows_at_[h]);
        if (up >= 0 && !buys(h) && cost == 0 && gain >= 0) {
            problem_.element[h] = up;
            std::int64_t& merged = problem_.graph.gain[up];
            if (!fits(int128_t(merged) + gain, merged))
                throw std::overflow_error("a gain on the grid exceeds 64 bits; use a coarser grid");
            return;
        }
        problem_.element[h] = add(gain, cost);
        if (up >= 0) arcs_.add(problem_.element[h], up);
    }

    void add_purchases(index_t bundle) {
        const index_t item = bundles_.item(bundle);
        const bool grouped = item >= sheet_.own.size;
        const std::int64_t rows = bundles_.rows(bundle);
        const std::int32_t group = grouped ? add(0, checked_multiply(sheet_.shared[item - sheet_.own.size], rows)) : -1;
        index_t feature = -1;
        std::int32_t bought = -1;
        for (const std::int32_t h : bundles_.nodes(bundle)) {  // sorted by feature
            if (forest_.feature[h] != feature) {
                feature = forest_.feature[h];
                bought = group;  // a member without an own cost only pays for the group
                if (sheet_.own[feature] > 0) {
                    bought = add(0, checked_multiply(sheet_.own[feature], rows));
                    if (grouped) arcs_.add(bought, group);
                }
            }
            arcs_.add(problem_.element[h], bought);
        }
    }
};

}  // namespace detail

// IN  gain: the errors that each inner node's split saves, on a grid; X: the rows that pay.
template <class T>
PruningProblem pruning_problem(const ForestView& forest, const Matrix<T>& X, Span<const std::int64_t> gain,
                               const IntegerCosts& sheet) {
    detail::PruningBuilder builder(forest, sheet);
    builder.collect(X);
    return builder.build(gain);
}

}  // namespace farthing
