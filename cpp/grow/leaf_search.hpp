// leaf_search: finds the best split of each column for a leaf, and the leaf's candidate among them. The sums come
// from a histogram of the leaf's rows, from the parent's minus the sibling's, or, if the rows are few, directly from
// the rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "common/bitset.hpp"
#include "common/counter_rng.hpp"
#include "common/interrupt.hpp"
#include "common/peers.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "grow/column_tasks.hpp"
#include "grow/grow_options.hpp"
#include "grow/histogram.hpp"
#include "grow/histogram_pool.hpp"
#include "grow/leaf.hpp"
#include "grow/monotonic.hpp"
#include "grow/root_histogram_update.hpp"
#include "grow/split.hpp"
#include "grow/split_chooser.hpp"
#include "grow/split_search.hpp"
#include "grow/workspace.hpp"
#include "table/binned_table.hpp"
#include "table/column_bins.hpp"

namespace farthing {

// A node is searched directly, column by column from its rows, if that touches fewer cells than 1 / kDirectShare of
// the cells that a whole histogram would clear, subtract and scan.
constexpr index_t kDirectShare = 3;

// Where a histogram comes from: counting rows, parent minus sibling, or it is there, from the previous tree or counted
// before.
enum class HistogramSource { rows, parent, counted };

template <class Target>
class LeafSearch {
public:
    static constexpr bool kCountsAhead = true;

    // IN  workspace.rows: the training rows; columns: those that may be split on.
    // IN OUT root_update: null, or for all rows and all columns under the model ledger.
    LeafSearch(const BinnedTable& table, const Target& target, const GrowOptions& options, std::vector<index_t> columns,
               SplitChooser<Target>& chooser, Workspace& workspace, RootHistogramUpdate* root_update)
        : table_(table), target_(target), options_(options), columns_(std::move(columns)), chooser_(chooser),
          root_update_(root_update), width_(target.width()), rows_(workspace.rows), bins_(workspace.bins),
          column_tasks_(table, CountsBinary<Target>::value), pool_(workspace.pool),
          spare_small_(workspace.spare_small),
          spare_large_(workspace.spare_large), small_splits_(workspace.small_splits),
          large_splits_(workspace.large_splits), small_constant_(workspace.small_constant),
          large_constant_(workspace.large_constant) {
        constexpr std::size_t kInts = sizeof(typename Target::Row) / sizeof(std::int64_t);
        const auto length = static_cast<std::size_t>(table.n_all_bins() * width_);
        workspace.targets.resize(rows_.size() * kInts);
        targets_ = reinterpret_cast<typename Target::Row*>(workspace.targets.data());
        bins_.resize(rows_.size());
        for (const index_t j : columns_) n_bins_ += table.first_bin[j + 1] - table.first_bin[j];
        if (StaticWidth<Target>::value == 0) scratch_.resize(static_cast<std::size_t>(4 * width_));
        spare_small_.resize(length);
        spare_large_.resize(length);
        pool_.reset(static_cast<index_t>(length), pool_capacity());
        if constexpr (Target::kUpdatesRoot) {
            if (root_update_) root_update_->begin_tree(table_, target_, options.peers);
        }
    }

    index_t n_columns() const { return static_cast<index_t>(columns_.size()); }
    bool is_random() const { return samples_columns() || !options_.cuts.empty(); }

    bool splittable(const Leaf& leaf) const {
        return leaf.depth < options_.max_depth && leaf.n_rows / 2 >= options_.min_rows_leaf &&
               !target_.pure(leaf.sums.data());
    }

    // Whether the sums of all leaves are collected for the next tree's root.
    bool updates_root() const { return Target::kUpdatesRoot && root_update_ && root_update_->active(); }

    // For the root, whose histogram may already be known from the previous tree.
    void find_root_splits(Leaf& root) {
        if (!root_is_known()) {
            const auto from = root.histogram < 0 ? HistogramSource::rows : HistogramSource::counted;
            return find_splits(root, nullptr, from, true);
        }
        root.histogram = store(root_update_->root().data());
        find_splits(root, nullptr, HistogramSource::counted, true);
    }
    bool root_is_known() const { return Target::kUpdatesRoot && root_update_ && root_update_->ready(); }
    // OUT sums (width,): those of the root's rows, if its histogram is known.
    void known_root_sums(std::int64_t* sums) const {
        const std::vector<std::int64_t>& root = root_update_->root();
        std::fill(sums, sums + width_, 0);
        for (index_t i = 0; i < table_.first_bin[1] * width_; ++i) sums[i % width_] += root[static_cast<std::size_t>(i)];
    }

    // Finds the histograms and best splits of one leaf (large is null) or of two siblings, in parallel over columns.
    // With HistogramSource::parent, the parent's histogram is in large->histogram and becomes the large child's.
    // Unless `may_split`, both stay leaves.
    void find_splits(Leaf& small, Leaf* large, HistogramSource from, bool may_split) {
        const bool want_small = may_split && splittable(small);
        const bool want_large = may_split && large && splittable(*large);
        const bool subtract = from == HistogramSource::parent;
        if (updates_root() && large && !subtract) root_update_->disable();
        // Children that stay leaves: their sums go to the next root.
        const bool finish_small = updates_root() && large && !want_small;
        const bool finish_large = updates_root() && large && !want_large;
        if (!want_small && !want_large && !finish_small) {
            release_histogram(small);
            if (large) release_histogram(*large);
            return;
        }
        if (is_direct(large ? *large : small)) {
            if (want_small) find_splits_directly(small);
            if (large) release_histogram(*large);
            if (want_large) find_splits_directly(*large);
            return;
        }
        const bool counted = subtract && small.histogram >= 0;  // before its turn
        const bool fill_small = (subtract && !counted) || (want_small && from == HistogramSource::rows);
        const bool fill_large = want_large && !subtract;
        if (want_small && !is_direct(small) && small.histogram < 0) small.histogram = pool_.acquire();
        if (fill_large) large->histogram = pool_.acquire();
        std::int64_t* small_cells = cells_for(small, spare_small_);
        std::int64_t* large_cells = large ? cells_for(*large, spare_large_) : nullptr;
        if (fill_small) gather_targets(small);
        if (fill_large) gather_targets(*large);

        small_splits_.assign(want_small ? columns_.size() : 0, Split{});
        large_splits_.assign(want_large ? columns_.size() : 0, Split{});
        const double small_score = want_small ? score_of(small) : 0;
        const double large_score = want_large ? score_of(*large) : 0;
        const index_t n_filled = (fill_small ? small.n() : 0) + (fill_large ? large->n() : 0);
        // Siblings inherit the same constant columns from their parent; those are left out of all that follows.
        column_tasks_.select(columns_, small.constant);
        const index_t n_varying = column_tasks_.size();
        small_constant_.assign(static_cast<std::size_t>(n_varying), 0);
        large_constant_.assign(static_cast<std::size_t>(n_varying), 0);
        const bool worth_threads = n_varying * (n_filled + 512) > 65536;
        const int threads = worth_threads ? threads_for(options_.n_threads, n_varying) : 1;
        column_tasks_.make_tasks(threads);
        // A thread counts and searches its columns in one go; with peers, their sums come in between.
        Peers* const peers = options_.peers;
        if (peers && (fill_small || fill_large)) {
            for_each_task(threads, [&](const ColumnTasks::Task& task) {
                if (fill_small) fill(small, task, small_cells);
                if (fill_large) fill(*large, task, large_cells);
            });
            if (fill_small) peers->add(small_cells, table_.n_all_bins() * width_);
            if (fill_large) peers->add(large_cells, table_.n_all_bins() * width_);
        }
        for_each_task(threads, [&](const ColumnTasks::Task& task) {
            if (!peers && fill_small) fill(small, task, small_cells);
            if (!peers && fill_large) fill(*large, task, large_cells);
            std::vector<std::int64_t> scratch(scratch_.size());
            for (index_t c = task.begin; c < task.end; ++c) {
                check_interrupt();  // a node of many rows, columns or classes takes long by itself
                const index_t place = column_tasks_.place(c);
                const index_t j = columns_[place];
                if (subtract && (want_large || finish_large)) {
                    subtract_histogram(table_, width_, j, small_cells, large_cells);
                }
                if (want_small) {
                    small_splits_[place] = search(small, small_score, j, small_cells, scratch);
                    small_constant_[c] = is_constant(small, j, small_cells);
                }
                if (want_large) {
                    large_splits_[place] = search(*large, large_score, j, large_cells, scratch);
                    large_constant_[c] = is_constant(*large, j, large_cells);
                }
                if (finish_small) add_to_next_root(small, place, small_cells);
                if (finish_large) add_to_next_root(*large, place, large_cells);
            }
        });
        if (finish_small) finish_leaf(small);
        if (finish_large) finish_leaf(*large);
        // With peers, no column counts as constant: one of them may have no row to look its bin up in.
        for (index_t c = 0; !peers && c < n_varying; ++c) {
            if (small_constant_[c]) small.constant.add(column_tasks_.place(c));
            if (large_constant_[c]) large->constant.add(column_tasks_.place(c));
        }
        if (want_small) store_splits(small, small_splits_);
        if (want_large) store_splits(*large, large_splits_);
        if (large && !want_large) release_histogram(*large);
        if (counted && !want_small) release_histogram(small);
    }

    // After the tree: adds the leaves that were never searched again to the next root, and the expected targets of
    // all rows.
    void finish(std::vector<Leaf>& leaves) {
        if constexpr (Target::kUpdatesRoot) {
            for (Leaf& leaf : leaves) {
                if (!updates_root()) return;
                if (leaf.node < 0 || leaf.counted_for_next_root) continue;
                if (leaf.histogram < 0) return root_update_->disable();
                const std::int64_t* cells = pool_.data(leaf.histogram);
                for (index_t c = 0; c < n_columns(); ++c) {
                    if (!leaf.constant.has(c)) add_to_next_root(leaf, c, cells);
                }
                finish_leaf(leaf);
            }
            if (!updates_root()) return;
            for (const Leaf& leaf : leaves) {
                if (leaf.node < 0) continue;
                root_update_->expect_targets(target_, rows_.data() + leaf.begin, leaf.n(),
                                             target_.step(leaf.sums.data(), leaf.bounds), options_.n_threads);
            }
            root_update_->finish_tree(target_);
        }
    }

    // Reranks the stored splits of a leaf after a purchase; model ledger only.
    void rerank(Leaf& leaf) { chooser_.rank(leaf, rows_.data(), columns_, leaf.splits); }

    // The cells of one column of a leaf's histogram, or null if it has none.
    const std::int64_t* cells_of(const Leaf& leaf, index_t column) {
        return leaf.histogram >= 0 ? pool_.data(leaf.histogram) + table_.first_bin[column] * width_ : nullptr;
    }

    void release_histogram(Leaf& leaf) {
        pool_.release(leaf.histogram);
        leaf.histogram = -1;
    }

    // For count_ahead.hpp.
    index_t histogram_length() const { return table_.n_all_bins() * width_; }
    index_t reserve() { return pool_.acquire(); }
    void release(index_t histogram) { pool_.release(histogram); }
    std::int64_t* cells(index_t histogram) { return pool_.data(histogram); }
    index_t store(const std::int64_t* total) {
        const index_t histogram = pool_.acquire();
        if (histogram >= 0) std::copy(total, total + histogram_length(), pool_.data(histogram));
        return histogram;
    }
    // Counts the rows of this process in [begin, end) of the training rows.
    // OUT cells: their histogram; zero on entry.
    void count(index_t begin, index_t end, std::int64_t* cells) {
        Leaf counted;
        counted.begin = begin;
        counted.end = end;
        counted.constant = Bitset(n_columns());
        gather_targets(counted);
        column_tasks_.select(columns_, counted.constant);
        const int threads = threads_for(options_.n_threads, column_tasks_.size());
        column_tasks_.make_tasks(threads);
        for_each_task(threads, [&](const ColumnTasks::Task& task) { fill(counted, task, cells); });
    }

private:
    const BinnedTable& table_;
    const Target& target_;
    const GrowOptions& options_;
    std::vector<index_t> columns_;
    index_t n_bins_ = 0;  // of these columns
    SplitChooser<Target>& chooser_;
    RootHistogramUpdate* root_update_;
    index_t width_;
    const std::vector<index_t>& rows_;
    typename Target::Row* targets_ = nullptr;
    std::vector<std::uint8_t>& bins_;
    std::vector<std::int64_t> scratch_;
    std::vector<index_t> order_;  // scratch: column positions in random order
    ColumnTasks column_tasks_;    // scratch
    HistogramPool& pool_;
    std::vector<std::int64_t>& spare_small_;
    std::vector<std::int64_t>& spare_large_;
    std::vector<Split>& small_splits_;
    std::vector<Split>& large_splits_;
    std::vector<std::uint8_t>& small_constant_;
    std::vector<std::uint8_t>& large_constant_;

    template <class Visit>
    void for_each_task(int threads, Visit&& visit) const {
        const auto n_tasks = static_cast<index_t>(column_tasks_.tasks().size());
        parallel_for(n_tasks, threads, 1,
                     [&](index_t t) {
                         check_interrupt();
                         visit(column_tasks_.tasks()[static_cast<std::size_t>(t)]);
                     });
    }

    // Histograms may take up to 40 % of the memory of the codes; with peers, of their mean, since all of them must
    // keep the same histograms.
    index_t pool_capacity() const {
        const double histogram = static_cast<double>(table_.n_all_bins() * width_) * sizeof(std::int64_t);
        const index_t n_here = options_.peers ? options_.peers->n_rows() / options_.peers->size() : table_.n_rows;
        const double allowed = 0.4 * static_cast<double>(n_here * table_.n_columns());
        const auto n = std::max<index_t>(4, static_cast<index_t>(allowed / std::max(histogram, 1.0)));
        if (!options_.peers) return n;
        // A histogram that peers have to add up again costs more than memory: all of a small tree, if they are small.
        constexpr double kSmall = 64 << 20;
        const auto n_small = static_cast<index_t>(kSmall / std::max(histogram, 1.0));
        return std::max(n, std::min(2 * std::min<index_t>(options_.max_leaves, index_t{1} << 20), n_small));
    }

    double score_of(const Leaf& leaf) const {
        if constexpr (Target::kMonotonic) {
            return target_.node_score(leaf.sums.data(), leaf.bounds);
        } else {
            return target_.node_score(leaf.sums.data());
        }
    }

    SplitConstraint constraint_of(const Leaf& leaf, index_t column) const {
        return {leaf.bounds, options_.direction(column)};
    }

    bool samples_columns() const { return options_.max_features < n_columns(); }

    // How many thresholds of a column are sampled; none: all are tried.
    std::optional<index_t> n_cuts(const Leaf& leaf) const {
        for (const CutRule& rule : options_.cuts) {
            if (target_.cover(leaf.sums.data()) > rule.above) {
                return rule.n_cuts < kMaxBins ? std::optional(rule.n_cuts) : std::nullopt;
            }
        }
        return std::nullopt;
    }

    bool is_direct(const Leaf& leaf) const {
        if (options_.ledger == LedgerKind::model) return false;  // it needs the best splits of all columns
        return samples_columns() || n_cuts(leaf) ||
               (!options_.peers && leaf.n() * n_columns() * kDirectShare < n_bins_ * width_);
    }

    // Finds the best split of a leaf from its rows, one column after another, without a histogram.
    void find_splits_directly(Leaf& leaf) {
        gather_targets(leaf);
        if (options_.peers) count_with_peers(leaf);
        const double node_score = score_of(leaf);
        if (samples_columns()) {
            order_.resize(columns_.size());
            std::iota(order_.begin(), order_.end(), index_t{0});
        }
        chooser_.begin(leaf, rows_.data());
        for (index_t i = 0; i < n_columns(); ++i) {
            index_t place = i;
            if (samples_columns()) {
                // Beyond max_features, columns are drawn one by one until one has an acceptable split.
                if (i >= options_.max_features && chooser_.acceptable(leaf)) break;
                const auto left = static_cast<std::uint64_t>(n_columns() - i);
                std::swap(order_[i], order_[i + static_cast<index_t>(random_bits(leaf.key, i) % left)]);
                place = order_[i];
            }
            if (leaf.constant.has(place)) continue;
            check_interrupt();
            const double least_gain = chooser_.least_gain(leaf, columns_[place]);
            if (!target_.can_gain(node_score, least_gain)) continue;
            chooser_.consider(leaf, columns_[place], search_rows(leaf, node_score, place, least_gain));
        }
        chooser_.end(leaf);
    }

    // Peers add up the histogram of all columns in one exchange, and draw from it.
    void count_with_peers(const Leaf& leaf) {
        column_tasks_.select(columns_, leaf.constant);
        const int threads = threads_for(options_.n_threads, column_tasks_.size());
        column_tasks_.make_tasks(threads);
        for_each_task(threads, [&](const ColumnTasks::Task& task) { fill(leaf, task, spare_small_.data()); });
        add_up(options_.peers, spare_small_);
    }

    Split search_rows(Leaf& leaf, double node_score, index_t place, double least_gain) {
        const index_t column = columns_[place];
        const index_t* rows = rows_.data() + leaf.begin;
        const ColumnBins& bins = table_.columns[column];
        std::int64_t* cells = spare_small_.data() + table_.first_bin[column] * width_;
        const BinSet present = options_.peers
                                   ? bins_present(target_, cells, bins.n_bins)
                                   : bins_present(table_.column(column), rows, leaf.n(), bins_.data());
        if (is_single_bin(present)) {
            leaf.constant.add(place);
            return {};
        }
        if (!options_.peers) {
            if (bins.categorical) std::fill(cells, cells + bins.n_bins * width_, 0);
            fill_present_bins(target_, present, bins_.data(), targets_ + leaf.begin, leaf.n(), bins.n_bins, cells);
        }
        SplitSearch<Target> search(target_, leaf.sums.data(), node_score, options_.min_rows_leaf, scratch_.data(),
                                   least_gain, constraint_of(leaf, column));
        if (bins.categorical) return search.categorical(cells, bins.n_bins);
        const std::optional<index_t> sampled = n_cuts(leaf);
        if (!sampled) return search.numeric(cells, bins.n_bins, present, present);
        const std::uint64_t key = random_bits(random_bits(leaf.key, kCutDraw), column);
        const auto draw = [key](index_t i) { return random_bits(key, i); };
        return search.numeric(cells, bins.n_bins, present, random_cuts(present, bins.n_bins, *sampled, draw));
    }

    bool is_constant(const Leaf& leaf, index_t column, const std::int64_t* cells) const {
        const std::int64_t* cell = cells + table_.first_bin[column] * width_;
        const std::int64_t* end = cells + table_.first_bin[column + 1] * width_;
        while (cell < end && target_.n_rows(cell) == 0) cell += width_;
        return cell == end || target_.n_rows(cell) == leaf.n_rows;
    }

    std::int64_t* cells_for(const Leaf& leaf, std::vector<std::int64_t>& spare) {
        return leaf.histogram >= 0 ? pool_.data(leaf.histogram) : spare.data();
    }

    void gather_targets(const Leaf& leaf) {
        const int threads = threads_for(options_.n_threads, leaf.n() / 8192);
        parallel_ranges(leaf.n(), threads, [&](index_t begin, index_t end) {
            for (index_t i = leaf.begin + begin; i < leaf.begin + end; ++i) targets_[i] = target_.row(rows_[i]);
        });
    }

    void fill(const Leaf& leaf, const ColumnTasks::Task& task, std::int64_t* cells) const {
        column_tasks_.fill(task, target_, rows_.data() + leaf.begin, targets_ + leaf.begin, leaf.n(), leaf.sums.data(),
                           cells);
    }

    Split search(const Leaf& leaf, double node_score, index_t column, const std::int64_t* cells,
                 std::vector<std::int64_t>& scratch) const {
        const ColumnBins& bins = table_.columns[column];
        SplitSearch<Target> search(target_, leaf.sums.data(), node_score, options_.min_rows_leaf, scratch.data(), 0,
                                   constraint_of(leaf, column));
        const std::int64_t* first = cells + table_.first_bin[column] * width_;
        return bins.categorical ? search.categorical(first, bins.n_bins) : search.numeric(first, bins.n_bins);
    }

    // Adds one column of a final leaf to the next tree's root histogram.
    void add_to_next_root(const Leaf& leaf, index_t place, const std::int64_t* cells) {
        if constexpr (Target::kUpdatesRoot) {
            root_update_->add_column(table_, target_, columns_[place], cells,
                                     target_.step(leaf.sums.data(), leaf.bounds));
        }
    }

    // Adds the columns that are constant in a final leaf, and marks the leaf as added.
    void finish_leaf(Leaf& leaf) {
        if constexpr (Target::kUpdatesRoot) {
            const std::int64_t step = target_.step(leaf.sums.data(), leaf.bounds);
            for (index_t c = 0; c < n_columns(); ++c) {
                if (!leaf.constant.has(c)) continue;
                root_update_->add_constant_column(table_, target_, columns_[c], rows_[leaf.begin],
                                                  leaf.sums.data(), step);
            }
            leaf.counted_for_next_root = true;
            root_update_->count_leaf();
        }
    }

    void store_splits(Leaf& leaf, const std::vector<Split>& splits) {
        chooser_.rank(leaf, rows_.data(), columns_, splits);
        if (options_.ledger == LedgerKind::model) leaf.splits = splits;
    }
};

}  // namespace farthing
