// refused_ways: where the nodes of an ensemble send a refused value.
//
// A missing value goes the way of the training rows that lacked it. They may be few, or unlike the others, and a
// refusal says nothing about the row. So a refused feature is to change the sum over the trees, on average over the
// training rows, as little as possible: each node sends it to the child that keeps the sum over the trees so far
// nearest to its mean. A single test sends it to the larger child.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/views.hpp"
#include "grow/split.hpp"
#include "predict/forest_view.hpp"

namespace farthing {

class RefusedWays {
public:
    // IN  cover (nodes,): the weight of the training rows of each node, not negative.
    RefusedWays(const ForestView& forest, Span<const double> cover)
        : forest_(forest), cover_(cover), excess_(static_cast<std::size_t>(forest.n_features * forest.n_outputs), 0.0) {}

    // OUT ways (nodes,): Missing::left or right at inner nodes, stay at leaves. Those of a tree depend on the trees
    // before it only.
    void choose(std::uint8_t* ways) {
        for (index_t tree = 0; tree < forest_.n_trees(); ++tree) {
            first_ = forest_.offsets[tree];
            const index_t n_nodes = forest_.offsets[tree + 1] - first_;
            measure(n_nodes);
            for (index_t node = 0; node < n_nodes; ++node)
                ways[first_ + node] = static_cast<std::uint8_t>(way_of(tree, node, ways + first_));
        }
    }

private:
    const ForestView& forest_;
    Span<const double> cover_;
    // (n_features, n_outputs): the sum of the trees so far if a feature is refused, minus its mean.
    std::vector<double> excess_;
    // Of the current tree, whose nodes are counted from its first one.
    index_t first_ = 0;
    std::vector<index_t> parent_;
    std::vector<double> left_share_;
    std::vector<double> mean_;  // (nodes, width): the mean score of the training rows

    std::int32_t feature(index_t node) const { return forest_.feature[first_ + node]; }
    index_t left(index_t node) const { return forest_.left[first_ + node]; }
    index_t right(index_t node) const { return forest_.right[first_ + node]; }

    void measure(index_t n_nodes) {
        const index_t width = forest_.width;
        parent_.assign(static_cast<std::size_t>(n_nodes), -1);
        left_share_.assign(static_cast<std::size_t>(n_nodes), 0.0);
        mean_.assign(static_cast<std::size_t>(n_nodes * width), 0.0);
        // Children come after their parents.
        for (index_t node = n_nodes - 1; node >= 0; --node) {
            double* mean = mean_.data() + node * width;
            if (feature(node) < 0) {
                read_scores(first_ + node, mean);
                continue;
            }
            parent_[left(node)] = parent_[right(node)] = node;
            const double on_left = cover_[first_ + left(node)];
            const double both = on_left + cover_[first_ + right(node)];
            const double share = left_share_[node] = both > 0 ? on_left / both : 0.5;
            for (index_t w = 0; w < width; ++w)
                mean[w] = share * mean_[left(node) * width + w] + (1 - share) * mean_[right(node) * width + w];
        }
    }

    // OUT row (width,): zeros on entry.
    void read_scores(index_t node, double* row) const {
        if (!forest_.is_sparse()) {
            for (index_t w = 0; w < forest_.width; ++w) row[w] = forest_.scores[node * forest_.width + w];
            return;
        }
        forest_.sparse.each(node, [row](std::int32_t column, double entry) { row[column] = entry; });
    }

    // The share of the training rows that get to a node if its feature is refused.
    double reach(index_t node, const std::uint8_t* ways) const {
        double share = 1;
        for (index_t child = node; parent_[child] >= 0; child = parent_[child]) {
            const index_t above = parent_[child];
            const bool is_left = left(above) == child;
            if (feature(above) != feature(node)) {
                share *= is_left ? left_share_[above] : 1 - left_share_[above];
            } else if ((static_cast<Missing>(ways[above]) == Missing::left) != is_left) {
                return 0;
            }
        }
        return share;
    }

    Missing way_of(index_t tree, index_t node, const std::uint8_t* ways) {
        if (feature(node) < 0) return Missing::stay;
        const index_t width = forest_.width;
        const double share = reach(node, ways);
        double* excess = excess_.data() + feature(node) * forest_.n_outputs + forest_.target[tree];
        const auto move = [&](index_t child, index_t w) {
            return share * (mean_[child * width + w] - mean_[node * width + w]);
        };
        double by_left = 0;
        double by_right = 0;
        for (index_t w = 0; w < width; ++w) {
            by_left += std::fabs(excess[w] + move(left(node), w));
            by_right += std::fabs(excess[w] + move(right(node), w));
        }
        const bool goes_left = by_left != by_right ? by_left < by_right : left_share_[node] >= 0.5;
        for (index_t w = 0; w < width; ++w) excess[w] += move(goes_left ? left(node) : right(node), w);
        return goes_left ? Missing::left : Missing::right;
    }
};

}  // namespace farthing
