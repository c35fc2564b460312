// path_curve: what each entry of a nested pruning path costs and how many rows it gets wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <mutex>
#include <vector>

#include "common/threads.hpp"
#include "common/views.hpp"
#include "predict/forest_view.hpp"
#include "prune/ancestry.hpp"
#include "prune/score_tally.hpp"

namespace farthing {

// Node h is split in the entries before drop[h]; no node outlives its parent. `bought` and `tests` count per drop, so
// that entry e sums what drops after e.
struct PathCurve {
    std::vector<std::int32_t> bought;  // (features + groups, entries + 1): rows that buy it in the entries before
    std::vector<std::int64_t> tests;   // (entries + 1,): tests taken in the entries before
    std::vector<std::int64_t> wrong;   // (entries,): misclassified rows

    static PathCurve zeros(const ForestView& forest, index_t n_groups, index_t n_entries) {
        const auto stride = static_cast<std::size_t>(n_entries + 1);
        const auto n_items = static_cast<std::size_t>(forest.n_features + n_groups);
        return {std::vector<std::int32_t>(n_items * stride, 0), std::vector<std::int64_t>(stride, 0),
                std::vector<std::int64_t>(stride - 1, 0)};
    }

    void add(const PathCurve& other) {
        for (std::size_t i = 0; i < bought.size(); ++i) bought[i] += other.bought[i];
        for (std::size_t i = 0; i < tests.size(); ++i) tests[i] += other.tests[i];
        for (std::size_t i = 0; i < wrong.size(); ++i) wrong[i] += other.wrong[i];
    }
};

namespace detail {

// From this entry on, the row ends at this node of the tree.
struct PruneEvent {
    std::int32_t entry;
    std::int32_t tree;
    index_t stop;
};

// Sweeps the entries for one row after another and adds up the results.
class CurveSweep {
public:
    struct Path {
        Span<const index_t> drop;      // (nodes,)
        index_t n_entries = 0;
        Span<const index_t> group_of;  // (features,)
        index_t n_groups = 0;
        index_t prior = 0;             // class of a row that tests nothing
    };

    CurveSweep(const ForestView& forest, const ScoreTally& tally, const Path& path)
        : forest_(forest), tally_(tally), path_(path), curve_(PathCurve::zeros(forest, path.n_groups, path.n_entries)),
          bought_until_(static_cast<std::size_t>(forest.n_features + path.n_groups)),
          stops_(static_cast<std::size_t>(forest.n_trees())), sums_(static_cast<std::size_t>(forest.n_outputs)) {}

    // `wrong` holds differences between consecutive entries.
    const PathCurve& curve() const { return curve_; }

    template <class T>
    void add(const Matrix<T>& X, index_t row, index_t label) {
        descend_trees(X, row);
        count_purchases();
        count_errors(label);
    }

private:
    const ForestView& forest_;
    const ScoreTally& tally_;
    const Path path_;
    PathCurve curve_;
    std::vector<index_t> bought_until_;  // (features + groups,): bought in the entries before this one
    std::vector<index_t> stops_;         // (trees,): where the row ends in the current entry
    std::vector<std::int64_t> sums_;     // scores summed over these nodes
    std::vector<PruneEvent> events_;
    std::vector<double> exact_;
    index_t prior_from_ = 0;             // the first entry at which every root is pruned

    // Sends the row down all trees and places it where it ends in the first entry.
    template <class T>
    void descend_trees(const Matrix<T>& X, index_t row) {
        std::fill(bought_until_.begin(), bought_until_.end(), 0);
        std::fill(sums_.begin(), sums_.end(), 0);
        events_.clear();
        prior_from_ = 0;
        for (index_t t = 0; t < forest_.n_trees(); ++t) {
            const std::size_t mine = events_.size();
            index_t stop = visit_path(forest_, X, row, t, [&](index_t h) {
                const index_t drop = path_.drop[h];
                ++curve_.tests[drop];
                index_t& until = bought_until_[forest_.feature[h]];
                until = std::max(until, drop);
                prior_from_ = std::max(prior_from_, drop);
                if (drop < path_.n_entries)
                    events_.push_back({static_cast<std::int32_t>(drop), static_cast<std::int32_t>(t), h});
            });
            // The topmost node that is pruned from the start.
            for (std::size_t e = events_.size(); e-- > mine;) {
                if (events_[e].entry == 0) stop = events_[e].stop;
            }
            stops_[t] = stop;
            tally_.add(sums_, t, stop, 1);
        }
        std::stable_sort(events_.begin(), events_.end(),
                         [](const PruneEvent& a, const PruneEvent& b) { return a.entry < b.entry; });
    }

    void count_purchases() {
        const index_t stride = path_.n_entries + 1;
        for (index_t k = 0; k < forest_.n_features; ++k) {
            if (bought_until_[k] > 0 && path_.group_of[k] >= 0) {
                index_t& group = bought_until_[forest_.n_features + path_.group_of[k]];
                group = std::max(group, bought_until_[k]);
            }
        }
        for (std::size_t item = 0; item < bought_until_.size(); ++item) {
            if (bought_until_[item] > 0) ++curve_.bought[static_cast<index_t>(item) * stride + bought_until_[item]];
        }
    }

    void count_errors(index_t label) {
        const auto is_wrong = [&](index_t entry) {
            return label != (entry >= prior_from_ ? path_.prior : tally_.predicted_class(sums_, stops_, exact_));
        };
        bool wrong = is_wrong(0);
        curve_.wrong[0] += wrong;
        for (std::size_t e = 0; e < events_.size();) {
            const std::int32_t entry = events_[e].entry;
            for (; e < events_.size() && events_[e].entry == entry; ++e) move_up(events_[e].tree, events_[e].stop);
            const bool now = is_wrong(entry);
            curve_.wrong[entry] += static_cast<std::int64_t>(now) - static_cast<std::int64_t>(wrong);
            wrong = now;
        }
    }

    // Children come after their parents, so on one path the smaller index is higher up.
    void move_up(index_t tree, index_t node) {
        if (node >= stops_[tree]) return;
        tally_.add(sums_, tree, stops_[tree], -1);
        tally_.add(sums_, tree, node, 1);
        stops_[tree] = node;
    }
};

}  // namespace detail

// IN  y (rows,): negative for a label of no class.
template <class T>
PathCurve path_curve(const ForestView& forest, const Matrix<T>& X, Span<const index_t> y,
                     const detail::CurveSweep::Path& path, int n_threads) {
    const ScoreTally tally(forest);
    PathCurve curve = PathCurve::zeros(forest, path.n_groups, path.n_entries);
    Chunks chunks(X.n_rows, 64);
    std::mutex merging;
    on_threads(threads_for(n_threads, X.n_rows), [&](int) {
        detail::CurveSweep sweep(forest, tally, path);
        chunks.for_each([&](index_t row) { sweep.add(X, row, y[row]); });
        const std::lock_guard<std::mutex> lock(merging);
        curve.add(sweep.curve());
    });
    std::partial_sum(curve.wrong.begin(), curve.wrong.end(), curve.wrong.begin());
    return curve;
}

}  // namespace farthing
