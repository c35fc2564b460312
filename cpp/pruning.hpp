// pruning: a forest and its rows as a closure problem, and what each pruning of a nested path costs and gets wrong.
//
// Elements are the inner nodes (taken: the node stays split) and what rows buy. A node needs its parent, and each row that
// meets a feature there for the first time in the tree needs that feature, bought once for all trees. Rows that meet a
// feature (or any feature of a group) at the very same nodes share an element. A node whose split costs nothing beyond its
// parent's and loses nothing goes wherever its parent goes, so it is one element with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "closure.hpp"
#include "common.hpp"
#include "predictor.hpp"

namespace farthing {

// Prices as whole multiples of a unit.
struct GridSheet {
    Span<const std::int64_t> own;        // (k,)
    Span<const std::int64_t> shared;     // (g,)
    Span<const index_t> group_of;        // (k,), -1: none
    std::int64_t test = 0;               // of one test, owned or not
};

// Where each node hangs, and whether no node above it tests its feature.
struct Lineage {
    std::vector<std::int32_t> parent;    // (nodes,), counted over the forest; -1: a root
    std::vector<std::uint8_t> first;     // (nodes,)

    explicit Lineage(const ForestView& forest)
        : parent(static_cast<std::size_t>(forest.feature.size), -1), first(static_cast<std::size_t>(forest.feature.size), 0) {
        if (forest.feature.size > std::numeric_limits<std::int32_t>::max()) throw std::overflow_error("a forest to prune may have 2^31 nodes at most");
        for (index_t t = 0; t < forest.n_trees(); ++t) {
            const index_t begin = forest.offsets[t];
            for (index_t h = begin; h < forest.offsets[t + 1]; ++h) {
                if (forest.feature[h] < 0) continue;
                parent[begin + forest.left[h]] = static_cast<std::int32_t>(h);
                parent[begin + forest.right[h]] = static_cast<std::int32_t>(h);
                std::int32_t up = parent[h];
                while (up >= 0 && forest.feature[up] != forest.feature[h]) up = parent[up];
                first[h] = up < 0;
            }
        }
    }
};

// Calls visit(node) for each inner node whose test a row takes in a tree, from the root; returns where the row ends.
template <class T, class Visit>
index_t descend(const ForestView& forest, const Matrix<T>& X, index_t row, index_t tree, Visit visit) {
    const index_t begin = forest.offsets[tree];
    index_t node = begin;
    while (forest.feature[node] >= 0) {
        visit(node);
        const index_t next = step(forest, begin, node, static_cast<double>(X(row, forest.feature[node])));
        if (next == node) break;
        node = next;
    }
    return node;
}

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
        if (unit_.size() == static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) throw std::overflow_error("too many rows to prune on");
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
    if (__builtin_mul_overflow(a, b, &product)) throw std::overflow_error("a cost on the grid exceeds 64 bits; use a coarser grid");
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

}  // namespace detail

// IN  gain: what each inner node's split saves in errors, on a grid; X: the rows that pay
template <class T>
PruningProblem pruning_problem(const ForestView& forest, const Matrix<T>& X, Span<const std::int64_t> gain, const GridSheet& sheet) {
    const Lineage lineage(forest);
    Bundles bundles(sheet);
    std::vector<std::int64_t> reach(static_cast<std::size_t>(forest.feature.size), 0);
    std::vector<std::int64_t> keys;
    for (index_t row = 0; row < X.n_rows; ++row) {
        keys.clear();
        for (index_t t = 0; t < forest.n_trees(); ++t) {
            descend(forest, X, row, t, [&](index_t h) {
                ++reach[h];
                if (lineage.first[h] && bundles.costs(forest.feature[h])) keys.push_back(h);
            });
        }
        bundles.add(forest, keys);
    }

    PruningProblem problem;
    ClosureGraph& graph = problem.graph;
    detail::Arcs arcs;
    const auto add = [&](std::int64_t earns, std::int64_t costs) {
        if (graph.gain.size() == static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) throw std::overflow_error("too many elements to prune");
        graph.gain.push_back(earns);
        graph.cost.push_back(costs);
        return static_cast<std::int32_t>(graph.gain.size() - 1);
    };
    problem.element.assign(static_cast<std::size_t>(forest.feature.size), -1);
    for (index_t h = 0; h < forest.feature.size; ++h) {
        if (forest.feature[h] < 0) continue;
        const std::int32_t up = lineage.parent[h] < 0 ? -1 : problem.element[lineage.parent[h]];
        const std::int64_t cost = detail::times(sheet.test, reach[h]);
        const bool buys = reach[h] > 0 && lineage.first[h] && bundles.costs(forest.feature[h]);
        if (up >= 0 && !buys && cost == 0 && gain[h] >= 0) {
            problem.element[h] = up;
            if (__builtin_add_overflow(graph.gain[up], gain[h], &graph.gain[up])) throw std::overflow_error("a gain on the grid exceeds 64 bits; use a coarser grid");
            continue;
        }
        problem.element[h] = add(gain[h], cost);
        if (up >= 0) arcs.add(problem.element[h], up);
    }
    for (index_t b = 0; b < bundles.size(); ++b) {
        const index_t owner = bundles.owner(b);
        const bool grouped = owner >= sheet.own.size;
        const std::int64_t rows = bundles.rows(b);
        const std::int32_t group = grouped ? add(0, detail::times(sheet.shared[owner - sheet.own.size], rows)) : -1;
        index_t feature = -1;
        std::int32_t bought = -1;
        for (const std::int32_t h : bundles.nodes(b)) {
            if (forest.feature[h] != feature) {
                feature = forest.feature[h];
                bought = group;
                if (sheet.own[feature] > 0) {
                    bought = add(0, detail::times(sheet.own[feature], rows));
                    if (grouped) arcs.add(bought, group);
                }
            }
            arcs.add(problem.element[h], bought);
        }
    }
    arcs.fill(graph);
    return problem;
}

// How many rows are wrong at each node they pass or end in, and at the nodes where they stop for want of a value.
struct NodeErrors {
    std::vector<std::int64_t> passing;   // (nodes,)
    std::vector<std::int64_t> staying;   // (nodes,)
};

template <class T>
NodeErrors node_errors(const ForestView& forest, const Matrix<T>& X, Span<const index_t> y, Span<const index_t> label) {
    const auto n = static_cast<std::size_t>(forest.feature.size);
    NodeErrors errors{std::vector<std::int64_t>(n, 0), std::vector<std::int64_t>(n, 0)};
    for (index_t row = 0; row < X.n_rows; ++row) {
        for (index_t t = 0; t < forest.n_trees(); ++t) {
            const index_t end = descend(forest, X, row, t, [&](index_t h) { errors.passing[h] += label[h] != y[row]; });
            if (forest.feature[end] < 0) errors.passing[end] += label[end] != y[row];
            else errors.staying[end] += label[end] != y[row];
        }
    }
    return errors;
}

// What a nested path of prunings costs and gets wrong. A node h is split in the entries before drop[h]; no node outlives
// its parent.
struct Curve {
    std::vector<std::int32_t> bought;    // (features + groups, entries + 1): rows that buy it in the entries before
    std::vector<std::int64_t> tests;     // (entries + 1,): tests that are taken in the entries before
    std::vector<std::int64_t> wrong;     // (entries,): rows whose prediction is wrong
};

namespace detail {

// The sum of the trees' scores for one row, entry by entry.
class Tally {
public:
    // Scores are rounded to a grid, on which sums can be updated without drift; where the best two are closer than that
    // can tell, the row is summed anew as a prediction does it, tree by tree.
    explicit Tally(const ForestView& forest) : forest_(forest), grid_(static_cast<std::size_t>(forest.scores.size)) {
        double largest = 0;
        for (const double s : forest.scores) largest = std::fmax(largest, std::fabs(s));
        const double steps = largest > 0 ? std::ldexp(1.0, 40) / largest : 0.0;
        for (index_t i = 0; i < forest.scores.size; ++i) grid_[i] = std::llrint(forest.scores[i] * steps);
    }

    void add(std::vector<std::int64_t>& sums, index_t tree, index_t node, std::int64_t sign) const {
        const std::int64_t* from = grid_.data() + node * forest_.width;
        std::int64_t* to = sums.data() + forest_.target[tree];
        for (index_t c = 0; c < forest_.width; ++c) to[c] += sign * from[c];
    }

    index_t best(const std::vector<std::int64_t>& sums, const std::vector<index_t>& stops, std::vector<double>& exact) const {
        index_t winner = 0;
        std::int64_t second = std::numeric_limits<std::int64_t>::min();
        for (index_t c = 1; c < forest_.n_outputs; ++c) {
            if (sums[c] > sums[winner]) {
                second = sums[winner];
                winner = c;
            } else {
                second = std::max(second, sums[c]);
            }
        }
        if (forest_.n_outputs < 2 || sums[winner] - second > 2 * forest_.n_trees() + (1 << 10)) return winner;
        exact.assign(static_cast<std::size_t>(forest_.n_outputs), 0.0);
        for (index_t t = 0; t < forest_.n_trees(); ++t) {
            for (index_t c = 0; c < forest_.width; ++c) exact[forest_.target[t] + c] += forest_.scores[stops[t] * forest_.width + c];
        }
        return std::max_element(exact.begin(), exact.end()) - exact.begin();
    }

private:
    const ForestView& forest_;
    std::vector<std::int64_t> grid_;
};

struct Event {
    std::int32_t entry;
    std::int32_t tree;
    index_t stop;
};

}  // namespace detail

// IN  drop: (nodes,); y: (rows,) or negative for a label of no class; prior: the class of a row that looks at nothing
template <class T>
Curve path_curve(const ForestView& forest, const Matrix<T>& X, Span<const index_t> drop, index_t n_entries, Span<const index_t> y,
                 index_t prior, Span<const index_t> group_of, index_t n_groups, int n_threads) {
    const detail::Tally tally(forest);
    const index_t n_items = forest.n_features + n_groups;
    const index_t stride = n_entries + 1;
    Curve curve{std::vector<std::int32_t>(static_cast<std::size_t>(n_items * stride), 0),
                std::vector<std::int64_t>(static_cast<std::size_t>(stride), 0),
                std::vector<std::int64_t>(static_cast<std::size_t>(n_entries), 0)};
#pragma omp parallel num_threads(threads_for(n_threads, X.n_rows))
    {
        std::vector<std::int32_t> bought(curve.bought.size(), 0);
        std::vector<std::int64_t> tests(curve.tests.size(), 0);
        std::vector<std::int64_t> change(curve.wrong.size(), 0);   // of the number of wrong rows, entry by entry
        std::vector<index_t> until(static_cast<std::size_t>(n_items), 0);
        std::vector<index_t> stops(static_cast<std::size_t>(forest.n_trees()));
        std::vector<std::int64_t> sums(static_cast<std::size_t>(forest.n_outputs));
        std::vector<detail::Event> events;
        std::vector<double> exact;
#pragma omp for schedule(dynamic, 64)
        for (index_t row = 0; row < X.n_rows; ++row) {
            std::fill(until.begin(), until.end(), 0);
            std::fill(sums.begin(), sums.end(), 0);
            events.clear();
            index_t looks = 0;  // the first entry at which every root is pruned
            for (index_t t = 0; t < forest.n_trees(); ++t) {
                const std::size_t mine = events.size();
                const index_t end = descend(forest, X, row, t, [&](index_t h) {
                    ++tests[drop[h]];
                    index_t& feature = until[forest.feature[h]];
                    feature = std::max(feature, drop[h]);
                    // Split up to the drop, a leaf from then on.
                    if (drop[h] < n_entries) events.push_back({static_cast<std::int32_t>(drop[h]), static_cast<std::int32_t>(t), h});
                });
                const index_t root = forest.offsets[t];
                if (forest.feature[root] >= 0) looks = std::max(looks, drop[root]);
                // From the bottom up: the row starts at the first node that is pruned from the start.
                index_t stop = end;
                for (std::size_t e = events.size(); e-- > mine;) {
                    if (events[e].entry == 0) stop = events[e].stop;
                }
                stops[t] = stop;
                tally.add(sums, t, stop, 1);
            }
            for (index_t k = 0; k < forest.n_features; ++k) {
                if (until[k] == 0) continue;
                ++bought[k * stride + until[k]];
                if (group_of[k] >= 0) {
                    index_t& group = until[forest.n_features + group_of[k]];
                    group = std::max(group, until[k]);
                }
            }
            for (index_t g = forest.n_features; g < n_items; ++g) {
                if (until[g] > 0) ++bought[g * stride + until[g]];
            }
            std::stable_sort(events.begin(), events.end(), [](const detail::Event& a, const detail::Event& b) { return a.entry < b.entry; });
            const auto is_wrong = [&](index_t entry) {
                const index_t said = entry >= looks ? prior : tally.best(sums, stops, exact);
                return said != y[row];
            };
            bool before = is_wrong(0);
            if (before) ++change[0];
            const auto settle = [&](index_t entry) {
                const bool now = is_wrong(entry);
                if (now != before) change[entry] += now ? 1 : -1;
                before = now;
            };
            for (std::size_t e = 0; e < events.size();) {
                const std::int32_t entry = events[e].entry;
                for (; e < events.size() && events[e].entry == entry; ++e) {
                    const auto [at, tree, node] = events[e];
                    if (at == 0 || node >= stops[tree]) continue;  // a node above it is a leaf already
                    tally.add(sums, tree, stops[tree], -1);
                    tally.add(sums, tree, node, 1);
                    stops[tree] = node;
                }
                if (entry > 0) settle(entry);
            }
        }
#pragma omp critical
        {
            for (std::size_t i = 0; i < bought.size(); ++i) curve.bought[i] += bought[i];
            for (std::size_t i = 0; i < tests.size(); ++i) curve.tests[i] += tests[i];
            for (std::size_t i = 0; i < change.size(); ++i) curve.wrong[i] += change[i];
        }
    }
    std::partial_sum(curve.wrong.begin(), curve.wrong.end(), curve.wrong.begin());
    return curve;
}

// The features that each row meets in each tree, in the order of their first tests; what the removal of a feature would
// cost and save.
class FeaturePaths {
public:
    template <class T>
    FeaturePaths(const ForestView& forest, const Matrix<T>& X, Span<const index_t> group_of, index_t n_groups)
        : forest_(forest), lineage_(forest), group_of_(group_of.begin(), group_of.end()), n_groups_(n_groups), n_rows_(X.n_rows) {
        begin_.reserve(static_cast<std::size_t>(X.n_rows * forest.n_trees() + 1));
        for (index_t row = 0; row < X.n_rows; ++row) {
            for (index_t t = 0; t < forest.n_trees(); ++t) {
                begin_.push_back(static_cast<index_t>(features_.size()));
                descend(forest, X, row, t, [&](index_t h) {
                    if (lineage_.first[h]) features_.push_back(forest.feature[h]);
                });
            }
        }
        begin_.push_back(static_cast<index_t>(features_.size()));
    }

    index_t n_features() const { return forest_.n_features; }
    index_t n_items() const { return forest_.n_features + n_groups_; }
    index_t n_nodes() const { return forest_.feature.size; }

    // By feature: the gains lost with all splits on it and below them, of those that the features removed before left.
    std::vector<std::int64_t> losses(Span<const std::int64_t> gain, Span<const std::uint8_t> removed) const {
        const index_t n = forest_.feature.size;
        std::vector<std::uint8_t> kept(static_cast<std::size_t>(n), 0);
        std::vector<std::int64_t> below(static_cast<std::size_t>(n), 0);
        std::vector<std::int64_t> lost(static_cast<std::size_t>(forest_.n_features), 0);
        for (index_t h = 0; h < n; ++h) {
            const std::int32_t up = lineage_.parent[h];
            kept[h] = forest_.feature[h] >= 0 && !removed[forest_.feature[h]] && (up < 0 || kept[up]);
        }
        for (index_t h = n - 1; h >= 0; --h) {
            if (!kept[h]) continue;
            below[h] += gain[h];
            if (lineage_.parent[h] >= 0) below[lineage_.parent[h]] += below[h];
            if (lineage_.first[h]) lost[forest_.feature[h]] += below[h];
        }
        return lost;
    }

    // (features, features + groups): how many rows no longer buy the second once the first is removed, too.
    std::vector<std::int64_t> savings(Span<const std::uint8_t> removed, int n_threads) const {
        const index_t k = forest_.n_features;
        std::vector<std::int64_t> saved(static_cast<std::size_t>(k * n_items()), 0);
#pragma omp parallel num_threads(threads_for(n_threads, n_rows_))
        {
            std::vector<std::int64_t> mine(saved.size(), 0);
            std::vector<index_t> local(static_cast<std::size_t>(k), -1);
            std::vector<index_t> used;
            std::vector<std::int32_t> trees;      // (used,): trees that test the feature
            std::vector<std::int32_t> after;      // (used, used): trees that test the second not before the first
            std::vector<std::int32_t> members;    // (groups,): features in use, less those saved
#pragma omp for schedule(static)
            for (index_t row = 0; row < n_rows_; ++row) {
                used.clear();
                walk(row, removed, [&](const std::int32_t* f, index_t n) {
                    for (index_t a = 0; a < n; ++a) {
                        if (local[f[a]] >= 0) continue;
                        local[f[a]] = static_cast<index_t>(used.size());
                        used.push_back(f[a]);
                    }
                });
                const auto width = static_cast<index_t>(used.size());
                trees.assign(used.size(), 0);
                after.assign(used.size() * used.size(), 0);
                walk(row, removed, [&](const std::int32_t* f, index_t n) {
                    for (index_t a = 0; a < n; ++a) {
                        ++trees[local[f[a]]];
                        for (index_t b = a; b < n; ++b) ++after[local[f[a]] * width + local[f[b]]];
                    }
                });
                for (index_t a = 0; a < width; ++a) {
                    members.assign(static_cast<std::size_t>(n_groups_), 0);
                    std::int64_t* out = mine.data() + used[a] * n_items();
                    for (index_t b = 0; b < width; ++b) {
                        const index_t group = group_of_[used[b]];
                        const bool gone = after[a * width + b] == trees[b];
                        if (gone) ++out[used[b]];
                        else if (group >= 0) members[group] = -1;  // a member stays, and the group with it
                        if (gone && group >= 0 && members[group] >= 0) ++members[group];
                    }
                    for (index_t g = 0; g < n_groups_; ++g) out[k + g] += members[g] > 0;
                }
                for (const index_t feature : used) local[feature] = -1;
            }
#pragma omp critical
            for (std::size_t i = 0; i < saved.size(); ++i) saved[i] += mine[i];
        }
        return saved;
    }

private:
    ForestView forest_;
    Lineage lineage_;
    std::vector<index_t> group_of_;
    index_t n_groups_;
    index_t n_rows_;
    std::vector<index_t> begin_;             // (rows * trees + 1,)
    std::vector<std::int32_t> features_;

    // Calls visit(features, n) for each tree, up to the first feature that is removed.
    template <class Visit>
    void walk(index_t row, Span<const std::uint8_t> removed, Visit visit) const {
        for (index_t t = 0; t < forest_.n_trees(); ++t) {
            const index_t at = row * forest_.n_trees() + t;
            const std::int32_t* f = features_.data() + begin_[at];
            index_t n = 0;
            while (n < begin_[at + 1] - begin_[at] && !removed[f[n]]) ++n;
            visit(f, n);
        }
    }
};

}  // namespace farthing
