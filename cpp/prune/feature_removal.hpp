// feature_removal: what removing a feature from a whole forest loses and saves, for GreedyPrune.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "common/threads.hpp"
#include "common/views.hpp"
#include "predict/forest_view.hpp"
#include "prune/ancestry.hpp"

namespace farthing {

// Stores, per row and tree, the features on the row's path in the order of their first tests.
class FeatureRemoval {
public:
    template <class T>
    FeatureRemoval(const ForestView& forest, const Matrix<T>& X, Span<const index_t> group_of, index_t n_groups)
        : forest_(forest), ancestry_(forest), group_of_(group_of.begin(), group_of.end()), n_groups_(n_groups),
          n_rows_(X.n_rows) {
        begin_.reserve(static_cast<std::size_t>(X.n_rows * forest.n_trees() + 1));
        for (index_t row = 0; row < X.n_rows; ++row) {
            for (index_t t = 0; t < forest.n_trees(); ++t) {
                begin_.push_back(static_cast<index_t>(features_.size()));
                visit_path(forest, X, row, t, [&](index_t h) {
                    if (ancestry_.first_test[h]) features_.push_back(forest.feature[h]);
                });
            }
        }
        begin_.push_back(static_cast<index_t>(features_.size()));
    }

    index_t n_features() const { return forest_.n_features; }
    index_t n_items() const { return forest_.n_features + n_groups_; }
    index_t n_nodes() const { return forest_.feature.size; }

    // Per feature: the gains lost if all remaining splits on it, and all splits below them, are removed as well.
    std::vector<std::int64_t> losses(Span<const std::int64_t> gain, Span<const std::uint8_t> removed) const {
        const index_t n = forest_.feature.size;
        std::vector<std::uint8_t> kept(static_cast<std::size_t>(n), 0);
        std::vector<std::int64_t> below(static_cast<std::size_t>(n), 0);
        std::vector<std::int64_t> lost(static_cast<std::size_t>(forest_.n_features), 0);
        for (index_t h = 0; h < n; ++h) {
            const std::int32_t up = ancestry_.parent[h];
            kept[h] = forest_.feature[h] >= 0 && !removed[forest_.feature[h]] && (up < 0 || kept[up]);
        }
        for (index_t h = n - 1; h >= 0; --h) {
            if (!kept[h]) continue;
            below[h] += gain[h];
            if (ancestry_.parent[h] >= 0) below[ancestry_.parent[h]] += below[h];
            if (ancestry_.first_test[h]) lost[forest_.feature[h]] += below[h];
        }
        return lost;
    }

    // (features, features + groups): how many rows no longer buy the second once the first is removed as well.
    std::vector<std::int64_t> savings(Span<const std::uint8_t> removed, int n_threads) const {
        const index_t k = forest_.n_features;
        std::vector<std::int64_t> saved(static_cast<std::size_t>(k * n_items()), 0);
        Chunks chunks(n_rows_, 64);
        std::mutex merging;
        on_threads(threads_for(n_threads, n_rows_), [&](int) {
            std::vector<std::int64_t> partial(saved.size(), 0);
            std::vector<index_t> local(static_cast<std::size_t>(k), -1);
            std::vector<index_t> used;
            std::vector<std::int32_t> tree_counts;  // (used,): trees that test the feature
            // (used, used): trees in which the second is tested no earlier than the first
            std::vector<std::int32_t> after;
            std::vector<std::int32_t> members;  // (groups,): members that are saved; -1 if one stays
            chunks.for_each([&](index_t row) {
                used.clear();
                for_each_tree(row, removed, [&](const std::int32_t* f, index_t n) {
                    for (index_t a = 0; a < n; ++a) {
                        if (local[f[a]] >= 0) continue;
                        local[f[a]] = static_cast<index_t>(used.size());
                        used.push_back(f[a]);
                    }
                });
                const auto width = static_cast<index_t>(used.size());
                tree_counts.assign(used.size(), 0);
                after.assign(used.size() * used.size(), 0);
                for_each_tree(row, removed, [&](const std::int32_t* f, index_t n) {
                    for (index_t a = 0; a < n; ++a) {
                        ++tree_counts[local[f[a]]];
                        for (index_t b = a; b < n; ++b) ++after[local[f[a]] * width + local[f[b]]];
                    }
                });
                for (index_t a = 0; a < width; ++a) {
                    members.assign(static_cast<std::size_t>(n_groups_), 0);
                    std::int64_t* out = partial.data() + used[a] * n_items();
                    for (index_t b = 0; b < width; ++b) {
                        const index_t group = group_of_[used[b]];
                        const bool saved_too = after[a * width + b] == tree_counts[b];
                        if (saved_too) ++out[used[b]];
                        else if (group >= 0) members[group] = -1;  // a member stays, and so does the group's cost
                        if (saved_too && group >= 0 && members[group] >= 0) ++members[group];
                    }
                    for (index_t g = 0; g < n_groups_; ++g) out[k + g] += members[g] > 0;
                }
                for (const index_t feature : used) local[feature] = -1;
            });
            const std::lock_guard<std::mutex> lock(merging);
            for (std::size_t i = 0; i < saved.size(); ++i) saved[i] += partial[i];
        });
        return saved;
    }

private:
    ForestView forest_;
    Ancestry ancestry_;
    std::vector<index_t> group_of_;
    index_t n_groups_;
    index_t n_rows_;
    std::vector<index_t> begin_;  // (rows * trees + 1,)
    std::vector<std::int32_t> features_;

    // Calls visit(features, n) for each tree, with the features before the first removed one.
    template <class Visit>
    void for_each_tree(index_t row, Span<const std::uint8_t> removed, Visit visit) const {
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
