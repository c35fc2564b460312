// leaf_search: the best split of each column for a leaf, from a histogram of its rows, from its parent's less its sibling's,
// or, if the rows are few, directly from them; then the leaf's offer among these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "common/counter_rng.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "grow/column_tasks.hpp"
#include "grow/grow_options.hpp"
#include "grow/histogram.hpp"
#include "grow/histogram_pool.hpp"
#include "grow/leaf.hpp"
#include "grow/root_histogram_update.hpp"
#include "grow/split.hpp"
#include "grow/split_chooser.hpp"
#include "grow/split_search.hpp"
#include "grow/workspace.hpp"
#include "table/binned_table.hpp"
#include "table/column_bins.hpp"

namespace farthing {

// A node is searched directly, column by column from its rows, if these touch fewer cells than this share of what a whole
// histogram would clear, subtract and scan.
constexpr index_t kDirectShare = 2;

// Where the sums of leaves come from: their rows, the parent's less those of the smaller one, or the last tree.
enum class From { rows, parent, last_tree };

template <class Target>
class LeafSearch {
public:
    // IN workspace.rows: the rows to learn from; columns: those that may be split on.
    // IN OUT carry: null, or for all rows and all columns under the model ledger.
    LeafSearch(const BinnedTable& table, const Target& target, const GrowOptions& options, std::vector<index_t> columns,
               Offers<Target>& offers, Workspace& workspace, Carry* carry)
        : table_(table), target_(target), options_(options), columns_(std::move(columns)), offers_(offers),
          carry_(carry), width_(target.width()), rows_(workspace.rows), bins_(workspace.bins), live_(table), pool_(workspace.pool),
          spare_small_(workspace.spare_small), spare_large_(workspace.spare_large) {
        constexpr std::size_t kInts = sizeof(typename Target::Row) / sizeof(std::int64_t);
        const auto length = static_cast<std::size_t>(table.n_all_bins() * width_);
        workspace.room.resize(rows_.size() * kInts);
        targets_ = reinterpret_cast<typename Target::Row*>(workspace.room.data());
        bins_.resize(rows_.size());
        scratch_.resize(static_cast<std::size_t>(4 * width_));
        spare_small_.resize(length);
        spare_large_.resize(length);
        pool_.reset(static_cast<index_t>(length), pool_capacity());
        if constexpr (Target::kCarries) {
            if (carry_) carry_->begin(table_, target_);
        }
    }

    index_t n_columns() const { return static_cast<index_t>(columns_.size()); }
    bool draws() const { return draws_columns() || options_.max_cuts < kMaxBins; }

    bool splittable(const Leaf& leaf) const {
        return leaf.depth < options_.max_depth && leaf.n() / 2 >= options_.min_rows_leaf &&
               !target_.pure(leaf.sums.data());
    }

    // Whether the sums of all leaves are to be carried to the next tree.
    bool gathers() const { return Target::kCarries && carry_ && carry_->gathers(); }

    // The root, whose histogram may be that which was carried.
    void look_at_root(Leaf& root) {
        if (!Target::kCarries || !carry_ || !carry_->ready()) return look(root, nullptr, From::rows, true);
        root.histogram = pool_.acquire();
        std::copy(carry_->root().begin(), carry_->root().end(), pool_.data(root.histogram));
        look(root, nullptr, From::last_tree, true);
    }

    // Histograms and best splits of one leaf (large is null), or of two siblings, column by column in parallel. From the
    // parent, whose histogram is in the large one's place. Without `more`, both stay leaves.
    void look(Leaf& small, Leaf* large, From from, bool more) {
        const bool want_small = more && splittable(small);
        const bool want_large = more && large && splittable(*large);
        const bool subtract = from == From::parent;
        if (gathers() && large && !subtract) carry_->give_up();
        const bool end_small = gathers() && large && !want_small;  // it stays a leaf, and its sums are carried
        const bool end_large = gathers() && large && !want_large;
        if (!want_small && !want_large && !end_small) {
            if (large) drop(*large);
            return;
        }
        if (is_direct(large ? *large : small)) {
            if (want_small) look_directly(small);
            if (large) drop(*large);
            if (want_large) look_directly(*large);
            return;
        }
        const bool fill_small = subtract || (want_small && from == From::rows);
        const bool fill_large = want_large && !subtract;
        if (want_small && !is_direct(small) && small.histogram < 0) small.histogram = pool_.acquire();
        if (fill_large) large->histogram = pool_.acquire();
        std::int64_t* small_cells = place(small, spare_small_);
        std::int64_t* large_cells = large ? place(*large, spare_large_) : nullptr;
        if (fill_small) gather(small);
        if (fill_large) gather(*large);

        std::vector<Split> small_splits(want_small ? columns_.size() : 0);
        std::vector<Split> large_splits(want_large ? columns_.size() : 0);
        const double small_whole = want_small ? target_.whole(small.sums.data()) : 0;
        const double large_whole = want_large ? target_.whole(large->sums.data()) : 0;
        const index_t n_filled = (fill_small ? small.n() : 0) + (fill_large ? large->n() : 0);
        // Siblings know the same columns to be constant, from their parent; those stay out of all that follows.
        live_.choose(columns_, small.constant);
        const index_t n_varying = live_.size();
        std::vector<std::uint8_t> small_constant(static_cast<std::size_t>(n_varying), 0);
        std::vector<std::uint8_t> large_constant(static_cast<std::size_t>(n_varying), 0);
        const bool worth_threads = n_varying * (n_filled + 512) > 65536;
        const int threads = worth_threads ? threads_for(options_.n_threads, n_varying) : 1;
        live_.part(threads);
        const auto n_tasks = static_cast<index_t>(live_.tasks().size());
        #pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (index_t t = 0; t < n_tasks; ++t) {
            const LiveColumns::Task& task = live_.tasks()[static_cast<std::size_t>(t)];
            if (fill_small) fill(small, task, small_cells);
            if (fill_large) fill(*large, task, large_cells);
            std::vector<std::int64_t> scratch(static_cast<std::size_t>(4 * width_));
            for (index_t c = task.begin; c < task.end; ++c) {
                const index_t place = live_.place(c);
                const index_t j = columns_[place];
                if (subtract && (want_large || end_large)) {
                    subtract_histogram(table_, width_, j, small_cells, large_cells);
                }
                if (want_small) {
                    small_splits[place] = search(small, small_whole, j, small_cells, scratch);
                    small_constant[c] = is_constant(small, j, small_cells);
                }
                if (want_large) {
                    large_splits[place] = search(*large, large_whole, j, large_cells, scratch);
                    large_constant[c] = is_constant(*large, j, large_cells);
                }
                if (end_small) carry(small, place, small_cells);
                if (end_large) carry(*large, place, large_cells);
            }
        }
        if (end_small) end_with_constants(small);
        if (end_large) end_with_constants(*large);
        for (index_t c = 0; c < n_varying; ++c) {
            if (small_constant[c]) small.constant.add(live_.place(c));
            if (large_constant[c]) large->constant.add(live_.place(c));
        }
        if (want_small) settle(small, std::move(small_splits));
        if (want_large) settle(*large, std::move(large_splits));
        if (large && !want_large) drop(*large);
    }

    // After the tree: carries the sums of the leaves that might have been split, and the targets of all.
    void finish(std::vector<Leaf>& leaves) {
        if constexpr (Target::kCarries) {
            for (Leaf& leaf : leaves) {
                if (!gathers()) return;
                if (leaf.node < 0 || leaf.carried) continue;
                if (leaf.histogram < 0) return carry_->give_up();
                const std::int64_t* cells = pool_.data(leaf.histogram);
                for (index_t c = 0; c < n_columns(); ++c) {
                    if (!leaf.constant.has(c)) carry(leaf, c, cells);
                }
                end_with_constants(leaf);
            }
            if (!gathers()) return;
            for (const Leaf& leaf : leaves) {
                if (leaf.node < 0) continue;
                carry_->expect(target_, rows_.data() + leaf.begin, leaf.n(), target_.step(leaf.sums.data()),
                               options_.n_threads);
            }
            carry_->leave(target_);
        }
    }

    // Ranks the splits that the leaf keeps under the model ledger anew.
    void rank_anew(Leaf& leaf) { offers_.rank(leaf, rows_.data(), columns_, leaf.splits); }

    // The sums of a leaf's bins in one column, or null if they were not kept.
    const std::int64_t* kept(const Leaf& leaf, index_t column) {
        return leaf.histogram >= 0 ? pool_.data(leaf.histogram) + table_.first_bin[column] * width_ : nullptr;
    }

    void drop(Leaf& leaf) {
        pool_.release(leaf.histogram);
        leaf.histogram = -1;
    }

private:
    const BinnedTable& table_;
    const Target& target_;
    const GrowOptions& options_;
    std::vector<index_t> columns_;
    Offers<Target>& offers_;
    Carry* carry_;
    index_t width_;
    const std::vector<index_t>& rows_;
    typename Target::Row* targets_ = nullptr;
    std::vector<std::uint8_t>& bins_;
    std::vector<std::int64_t> scratch_;
    std::vector<index_t> order_;  // scratch: places in columns_, as drawn
    LiveColumns live_;            // scratch: of one look
    HistogramPool& pool_;
    std::vector<std::int64_t>& spare_small_;
    std::vector<std::int64_t>& spare_large_;

    index_t pool_capacity() const {
        const double histogram = static_cast<double>(table_.n_all_bins() * width_) * sizeof(std::int64_t);
        const double allowed = 0.4 * static_cast<double>(table_.codes.size());
        return std::max<index_t>(4, static_cast<index_t>(allowed / std::max(histogram, 1.0)));
    }

    bool draws_columns() const { return options_.max_features < n_columns(); }

    bool draws_cuts(const Leaf& leaf) const {
        return options_.max_cuts < kMaxBins && target_.cover(leaf.sums.data()) > options_.cuts_above;
    }

    bool is_direct(const Leaf& leaf) const {
        if (options_.ledger == Ledger::model) return false;  // keeps the best splits of all columns
        return draws_columns() || draws_cuts(leaf) ||
               leaf.n() * n_columns() * kDirectShare < table_.n_all_bins() * width_;
    }

    // The best split of a leaf from its rows, one column after another; no histogram is kept.
    void look_directly(Leaf& leaf) {
        gather(leaf);
        const double whole = target_.whole(leaf.sums.data());
        if (draws_columns()) {
            order_.resize(columns_.size());
            std::iota(order_.begin(), order_.end(), index_t{0});
        }
        offers_.begin(leaf, rows_.data());
        for (index_t i = 0; i < n_columns(); ++i) {
            index_t place = i;
            if (draws_columns()) {
                // After those drawn, one by one until there is a split.
                if (i >= options_.max_features && offers_.acceptable(leaf)) break;
                const auto left = static_cast<std::uint64_t>(n_columns() - i);
                std::swap(order_[i], order_[i + static_cast<index_t>(random_bits(leaf.key, i) % left)]);
                place = order_[i];
            }
            if (!leaf.constant.has(place)) offers_.consider(leaf, columns_[place], search_rows(leaf, whole, place));
        }
        offers_.end(leaf);
    }

    Split search_rows(Leaf& leaf, double whole, index_t place) {
        const index_t column = columns_[place];
        const index_t* rows = rows_.data() + leaf.begin;
        const BinSet present = bins_present(table_.column(column), rows, leaf.n(), bins_.data());
        if (one_bin(present)) {
            leaf.constant.add(place);
            return {};
        }
        const ColumnBins& bins = table_.columns[column];
        std::int64_t* cells = spare_small_.data() + table_.first_bin[column] * width_;
        if (bins.categorical) std::fill(cells, cells + bins.n_bins * width_, 0);
        fill_present(target_, present, bins_.data(), targets_ + leaf.begin, leaf.n(), bins.n_bins, cells);
        SplitSearch<Target> search(target_, leaf.sums.data(), whole, options_.min_rows_leaf, scratch_.data());
        if (bins.categorical) return search.categorical(cells, bins.n_bins);
        if (!draws_cuts(leaf)) return search.numeric(cells, bins.n_bins, present, present);
        const std::uint64_t key = random_bits(random_bits(leaf.key, kCutDraw), column);
        const auto draw = [key](index_t i) { return random_bits(key, i); };
        return search.numeric(cells, bins.n_bins, present, drawn_cuts(present, bins.n_bins, options_.max_cuts, draw));
    }

    bool is_constant(const Leaf& leaf, index_t column, const std::int64_t* cells) const {
        const std::int64_t* cell = cells + table_.first_bin[column] * width_;
        const std::int64_t* end = cells + table_.first_bin[column + 1] * width_;
        while (cell < end && target_.n_rows(cell) == 0) cell += width_;
        return cell == end || target_.n_rows(cell) == leaf.n();
    }

    std::int64_t* place(const Leaf& leaf, std::vector<std::int64_t>& spare) {
        return leaf.histogram >= 0 ? pool_.data(leaf.histogram) : spare.data();
    }

    void gather(const Leaf& leaf) {
        const int threads = threads_for(options_.n_threads, leaf.n() / 8192);
        #pragma omp parallel for schedule(static) num_threads(threads)
        for (index_t i = leaf.begin; i < leaf.end; ++i) targets_[i] = target_.row(rows_[i]);
    }

    void fill(const Leaf& leaf, const LiveColumns::Task& task, std::int64_t* cells) const {
        live_.fill(task, target_, rows_.data() + leaf.begin, targets_ + leaf.begin, leaf.n(), leaf.sums.data(), cells);
    }

    Split search(const Leaf& leaf, double whole, index_t column, const std::int64_t* cells,
                 std::vector<std::int64_t>& scratch) const {
        const ColumnBins& bins = table_.columns[column];
        SplitSearch<Target> search(target_, leaf.sums.data(), whole, options_.min_rows_leaf, scratch.data());
        const std::int64_t* first = cells + table_.first_bin[column] * width_;
        return bins.categorical ? search.categorical(first, bins.n_bins) : search.numeric(first, bins.n_bins);
    }

    // Carries one column of a leaf.
    void carry(const Leaf& leaf, index_t place, const std::int64_t* cells) {
        if constexpr (Target::kCarries) {
            carry_->add(table_, target_, columns_[place], cells, target_.step(leaf.sums.data()));
        }
    }

    // Carries the columns in which all rows of the leaf are in one bin, and notes that the leaf is done.
    void end_with_constants(Leaf& leaf) {
        if constexpr (Target::kCarries) {
            const std::int64_t step = target_.step(leaf.sums.data());
            for (index_t c = 0; c < n_columns(); ++c) {
                if (!leaf.constant.has(c)) continue;
                carry_->add_constant(table_, target_, columns_[c], rows_[leaf.begin], leaf.sums[0], step);
            }
            leaf.carried = true;
            carry_->count();
        }
    }

    void settle(Leaf& leaf, std::vector<Split> splits) {
        offers_.rank(leaf, rows_.data(), columns_, splits);
        if (options_.ledger == Ledger::model) leaf.splits = std::move(splits);
    }
};

}  // namespace farthing
