// pruning: a forest and the rows that pay as a closure problem.
//
// Elements are the inner nodes (taken: the node stays split) and what rows buy. A node needs its parent, and each row
// that meets a feature there for the first time in the tree needs that feature, bought once for all trees. Rows that
// meet a feature (or any feature of a group) at the very same nodes share an element. A node whose split costs nothing
// beyond its parent's and loses nothing goes wherever its parent goes, so it is one element with it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/views.hpp"
#include "predict/predict.hpp"
#include "prune/ancestry.hpp"
#include "prune/closure_path.hpp"

namespace farthing {

// Prices as whole multiples of a unit.
struct GridSheet {
    Span<const std::int64_t> own;        // (k,)
    Span<const std::int64_t> shared;     // (g,)
    Span<const index_t> group_of;        // (k,), -1: none
    std::int64_t test = 0;               // of one test, owned or not
};

// Sets of rows that meet a feature, or the features of a group, at the same nodes.
class Bundles {
public:
    explicit Bundles(const GridSheet& sheet) : sheet_(sheet), rank_(sheet.own.size), table_(1 << 12, -1) {
        std::vector<index_t> order(sheet.own.size);
        std::iota(order.begin(), order.end(), index_t{0});
        std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return unit(a) < unit(b); });
        for (std::size_t i = 0; i < order.size(); ++i) rank_[order[i]] = static_cast<std::int64_t>(i);
        feature_of_rank_ = order;
    }

    // Its group's number after the features', if it has one whose price is not nothing, else its own.
    index_t unit(index_t feature) const {
        const index_t group = sheet_.group_of[feature];
        return group >= 0 && sheet_.shared[group] > 0 ? sheet_.own.size + group : feature;
    }
    bool costs(index_t feature) const { return sheet_.own[feature] > 0 || unit(feature) != feature; }

    // Takes in the nodes where one row first meets its features, in any order.
    void add(const ForestView& forest, std::vector<std::int64_t>& keys) {
        for (std::int64_t& key : keys) key |= rank_[forest.feature[key]] << 32;
        std::sort(keys.begin(), keys.end());
        for (std::size_t begin = 0; begin < keys.size();) {
            const index_t owner = unit(feature_of_rank_[keys[begin] >> 32]);
            std::size_t end = begin;
            std::uint64_t hash = 1469598103934665603u;
            while (end < keys.size() && unit(feature_of_rank_[keys[end] >> 32]) == owner) {
                hash = (hash ^ static_cast<std::uint64_t>(keys[end])) * 0x9e3779b97f4a7c15u;
                hash ^= hash >> 29;
                ++end;
            }
            count(owner, keys.data() + begin, static_cast<index_t>(end - begin), hash);
            begin = end;
        }
    }

    index_t size() const { return static_cast<index_t>(unit_.size()); }
    index_t owner(index_t bundle) const { return unit_[bundle]; }
    std::int64_t rows(index_t bundle) const { return rows_[bundle]; }
    Span<const std::int32_t> nodes(index_t bundle) const {
        const index_t end = bundle + 1 < size() ? begin_[bundle + 1] : static_cast<index_t>(nodes_.size());
        return {nodes_.data() + begin_[bundle], end - begin_[bundle]};
    }

private:
    const GridSheet& sheet_;
    std::vector<std::int64_t> rank_;             // features in the order of their units
    std::vector<index_t> feature_of_rank_;
    std::vector<std::int32_t> nodes_;            // of all bundles, by feature and then by number
    std::vector<index_t> begin_;
    std::vector<index_t> unit_;
    std::vector<std::int64_t> rows_;
    std::vector<std::uint64_t> hash_;
    std::vector<std::int32_t> table_;            // open addressing, a power of two

    void count(index_t owner, const std::int64_t* keys, index_t n, std::uint64_t hash) {
        const std::uint64_t mask = table_.size() - 1;
        std::uint64_t at = hash & mask;
        for (; table_[at] >= 0; at = (at + 1) & mask) {
            if (hash_[table_[at]] == hash && same(table_[at], keys, n)) {
                ++rows_[table_[at]];
                return;
            }
        }
        if (unit_.size() == static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
            throw std::overflow_error("too many rows to prune on");
        table_[at] = static_cast<std::int32_t>(unit_.size());
        begin_.push_back(static_cast<index_t>(nodes_.size()));
        unit_.push_back(owner);
        rows_.push_back(1);
        hash_.push_back(hash);
        for (index_t i = 0; i < n; ++i) nodes_.push_back(static_cast<std::int32_t>(keys[i] & 0xffffffff));
        if (2 * unit_.size() > table_.size()) spread();
    }

    bool same(index_t bundle, const std::int64_t* keys, index_t n) const {
        const Span<const std::int32_t> mine = nodes(bundle);
        if (mine.size != n) return false;
        for (index_t i = 0; i < n; ++i) {
            if (mine[i] != static_cast<std::int32_t>(keys[i] & 0xffffffff)) return false;
        }
        return true;
    }

    void spread() {
        table_.assign(2 * table_.size(), -1);
        const std::uint64_t mask = table_.size() - 1;
        for (std::size_t b = 0; b < hash_.size(); ++b) {
            std::uint64_t at = hash_[b] & mask;
            while (table_[at] >= 0) at = (at + 1) & mask;
            table_[at] = static_cast<std::int32_t>(b);
        }
    }
};

struct PruningProblem {
    ClosureGraph graph;
    std::vector<std::int32_t> element;   // (nodes,): an inner node's; -1 at leaves
};

namespace detail {

inline std::int64_t times(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product))
        throw std::overflow_error("a cost on the grid exceeds 64 bits; use a coarser grid");
    return product;
}

// Arcs in the order they come, put by their tails when all are known.
struct Arcs {
    std::vector<std::int32_t> tail;
    std::vector<std::int32_t> head;

    void add(std::int32_t u, std::int32_t v) {
        tail.push_back(u);
        head.push_back(v);
    }

    void fill(ClosureGraph& graph) const {
        graph.first.assign(graph.gain.size() + 1, 0);
        for (const std::int32_t u : tail) ++graph.first[u + 1];
        std::partial_sum(graph.first.begin(), graph.first.end(), graph.first.begin());
        graph.head.resize(head.size());
        std::vector<index_t> place(graph.first.begin(), graph.first.end() - 1);
        for (std::size_t a = 0; a < tail.size(); ++a) graph.head[place[tail[a]]++] = head[a];
    }
};

// Makes the problem in the order of its elements: nodes, then purchases.
class PruningBuilder {
public:
    PruningBuilder(const ForestView& forest, const GridSheet& sheet)
        : forest_(forest), sheet_(sheet), lineage_(forest), bundles_(sheet_),
          reach_(static_cast<std::size_t>(forest.feature.size), 0) {}

    // Sends all rows down all trees.
    template <class T>
    void gather(const Matrix<T>& X) {
        std::vector<std::int64_t> keys;
        for (index_t row = 0; row < X.n_rows; ++row) {
            keys.clear();
            for (index_t t = 0; t < forest_.n_trees(); ++t) {
                descend(forest_, X, row, t, [&](index_t h) {
                    ++reach_[h];
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
    const GridSheet sheet_;
    Lineage lineage_;
    Bundles bundles_;
    std::vector<std::int64_t> reach_;  // (nodes,): rows that take the node's test
    PruningProblem problem_;
    Arcs arcs_;

    bool buys(index_t h) const {
        return reach_[h] > 0 && lineage_.first[h] && bundles_.costs(forest_.feature[h]);
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
        const std::int32_t up = lineage_.parent[h] < 0 ? -1 : problem_.element[lineage_.parent[h]];
        const std::int64_t cost = times(sheet_.test, reach_[h]);
        if (up >= 0 && !buys(h) && cost == 0 && gain >= 0) {
            problem_.element[h] = up;
            std::int64_t& together = problem_.graph.gain[up];
            if (__builtin_add_overflow(together, gain, &together))
                throw std::overflow_error("a gain on the grid exceeds 64 bits; use a coarser grid");
            return;
        }
        problem_.element[h] = add(gain, cost);
        if (up >= 0) arcs_.add(problem_.element[h], up);
    }

    void add_purchases(index_t bundle) {
        const index_t owner = bundles_.owner(bundle);
        const bool grouped = owner >= sheet_.own.size;
        const std::int64_t rows = bundles_.rows(bundle);
        const std::int32_t group = grouped ? add(0, times(sheet_.shared[owner - sheet_.own.size], rows)) : -1;
        index_t feature = -1;
        std::int32_t bought = -1;
        for (const std::int32_t h : bundles_.nodes(bundle)) {  // feature by feature
            if (forest_.feature[h] != feature) {
                feature = forest_.feature[h];
                bought = group;  // all there is to pay for a member without a cost of its own
                if (sheet_.own[feature] > 0) {
                    bought = add(0, times(sheet_.own[feature], rows));
                    if (grouped) arcs_.add(bought, group);
                }
            }
            arcs_.add(problem_.element[h], bought);
        }
    }
};

}  // namespace detail

// IN  gain: what each inner node's split saves in errors, on a grid; X: the rows that pay
template <class T>
PruningProblem pruning_problem(const ForestView& forest, const Matrix<T>& X, Span<const std::int64_t> gain,
                               const GridSheet& sheet) {
    detail::PruningBuilder builder(forest, sheet);
    builder.gather(X);
    return builder.build(gain);
}

}  // namespace farthing
