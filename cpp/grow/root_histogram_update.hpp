// root_histogram_update: the root histogram of the next tree, computed from the leaves of this one.
//
// Under squared loss a tree moves the gradients of all rows of a leaf by the same step V. The root histogram of the
// next tree is therefore the sum of the shifted leaf histograms:
//
//     G'(bin) = sum over leaves of G(leaf, bin) - V(leaf) n(leaf, bin)
//
// Sums are integers and steps are multiples of their grid, so the result equals a count over all rows bit for bit,
// and a tree only counts the rows of its smaller children. Each row's next gradient is compared with the expected
// one: the few that rounding has changed are corrected, and if there are many, as under another loss, the update is
// disabled for good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/peers.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "table/binned_table.hpp"

namespace farthing {

class RootHistogramUpdate {
public:
    // Whether leaves are being added. Only for trees that are small relative to the table: adding a leaf costs as
    // much as counting some hundred rows.
    bool active() const { return active_; }
    // Whether the current tree's root histogram is known.
    bool ready() const { return ready_; }
    const std::vector<std::int64_t>& root() const { return root_; }
    index_t n_reused() const { return n_reused_; }

    // Before a tree.
    template <class Target>
    void begin_tree(const BinnedTable& table, const Target& target, Peers* peers) {
        const index_t n_all = all_rows(peers, table.n_rows);
        ready_ = complete_ && unit_ == target.unit() && correct_rows(table, target, n_all, peers);
        if (ready_) root_.swap(next_root_);
        n_reused_ += ready_;
        complete_ = false;
        leaves_left_ = n_all / kRowsPerLeaf;
        active_ = !disabled_ && leaves_left_ > 1 && target.steps_on_grid();
        if (active_) next_root_.assign(static_cast<std::size_t>(table.n_all_bins() * Target::kWidth), 0);
    }

    // Called if the tree has too many leaves, or one whose histogram is unknown. Later trees most likely do, too, and
    // adding their leaves would be wasted work.
    void disable() {
        disabled_ = true;
        active_ = false;
    }

    // A leaf has been added.
    void count_leaf() {
        if (--leaves_left_ < 0) disable();
    }

    // Adds one column of a leaf: from its cells, or, if its rows share one bin, from the sum of the leaf. Threads may
    // add different columns at once.
    template <class Target>
    void add_column(const BinnedTable& table, const Target& target, index_t column, const std::int64_t* cells,
                    std::int64_t step) {
        const index_t end = table.first_bin[column + 1] * Target::kWidth;
        for (index_t i = table.first_bin[column] * Target::kWidth; i < end; i += Target::kWidth) {
            target.add_moved(cells + i, step, next_root_.data() + i);
        }
    }
    template <class Target>
    void add_constant_column(const BinnedTable& table, const Target& target, index_t column, index_t row,
                             const std::int64_t* sums, std::int64_t step) {
        const index_t cell = (table.first_bin[column] + table.column(column)[row]) * Target::kWidth;
        target.add_moved(sums, step, next_root_.data() + cell);
    }

    // After a tree whose leaves were all added: the targets that rows[0 .. n) will have if their gradients decrease
    // by `step`.
    template <class Target>
    void expect_targets(const Target& target, const index_t* rows, index_t n, std::int64_t step, int n_threads) {
        expected_.resize(static_cast<std::size_t>(target.n_targets()));
        parallel_ranges(n, threads_for(n_threads, n / 8192), [&](index_t begin, index_t end) {
            for (index_t i = begin; i < end; ++i) expected_[rows[i]] = target.moved(target.row(rows[i]), step);
        });
    }
    template <class Target>
    void finish_tree(const Target& target) {
        unit_ = target.unit();
        complete_ = true;
    }

private:
    static constexpr index_t kRowsPerLeaf = 1024;
    static constexpr index_t kMaxChangedShare = 64;  // at most one in so many rows may be corrected

    bool disabled_ = false;
    bool active_ = false;
    bool ready_ = false;
    index_t n_reused_ = 0;                 // trees so far that started from a known root histogram
    bool complete_ = false;                // next_root_ and expected_ cover the whole last tree
    double unit_ = 0;                      // grid unit they are on
    index_t leaves_left_ = 0;
    std::vector<std::int64_t> root_;       // (n_all_bins, width)
    std::vector<std::int64_t> next_root_;  // (n_all_bins, width)
    std::vector<std::int64_t> expected_;   // (n,): targets after the step

    // Corrects the sums for rows whose targets are not as expected, with those of all peers; false if there are too many.
    template <class Target>
    bool correct_rows(const BinnedTable& table, const Target& target, index_t n_all, Peers* peers) {
        std::vector<index_t> changed;
        for (index_t row = 0; row < table.n_rows; ++row) {
            if (target.row(row) == expected_[row]) continue;
            changed.push_back(row);
            if (static_cast<index_t>(changed.size()) * kMaxChangedShare > n_all) break;
        }
        const index_t n_changed = sum_over(peers, static_cast<index_t>(changed.size()));
        if (n_changed * kMaxChangedShare > n_all) {
            disabled_ = true;
            return false;
        }
        if (n_changed == 0) return true;
        std::vector<std::int64_t> corrections(peers ? next_root_.size() : 0, 0);
        std::int64_t* sums = peers ? corrections.data() : next_root_.data();
        for (const index_t row : changed) {
            const std::int64_t difference = target.row(row) - expected_[row];
            for (index_t j = 0; j < table.n_columns(); ++j) {
                sums[(table.first_bin[j] + table.column(j)[row]) * Target::kWidth] += difference;
            }
        }
        add_up(peers, corrections);
        for (std::size_t i = 0; i < corrections.size(); ++i) next_root_[i] += corrections[i];
        return true;
    }
};

}  // namespace farthing
