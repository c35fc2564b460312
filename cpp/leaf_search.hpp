// leaf_search: the best split of each column for a leaf, from a histogram of its rows, from its parent's less its sibling's,
// or, if the rows are few, directly from them; then the leaf's offer among these.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "bins.hpp"
#include "common.hpp"
#include "growing.hpp"
#include "histogram.hpp"
#include "offers.hpp"
#include "random.hpp"
#include "split.hpp"

namespace farthing {

// A node is searched directly, column by column from its rows, if these touch fewer cells than this share of what a whole
// histogram would clear, subtract and scan.
constexpr index_t kDirectShare = 2;

template <class Target>
class LeafSearch {
public:
    // IN workspace.rows: the rows to learn from; columns: those that may be split on.
    LeafSearch(const BinnedTable& table, const Target& target, const GrowOptions& options, std::vector<index_t> columns,
               Offers<Target>& offers, Workspace& workspace)
        : table_(table), target_(target), options_(options), columns_(std::move(columns)), offers_(offers),
          width_(target.width()), rows_(workspace.rows), bins_(workspace.bins), pool_(workspace.pool),
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
    }

    index_t n_columns() const { return static_cast<index_t>(columns_.size()); }
    bool draws() const { return draws_columns() || options_.max_cuts < kMaxBins; }

    bool splittable(const Leaf& leaf) const {
        return leaf.depth < options_.max_depth && leaf.n() / 2 >= options_.min_rows_leaf &&
               !target_.pure(leaf.sums.data());
    }

    // Histograms and best splits of one leaf (large is null), or of two siblings, column by column in parallel. With
    // `subtract`, the large one's place holds the parent's histogram.
    void look(Leaf& small, Leaf* large, bool subtract) {
        const bool want_small = splittable(small);
        const bool want_large = large && splittable(*large);
        if (!want_small && !want_large) {
            if (large) drop(*large);
            return;
        }
        if (is_direct(large ? *large : small)) {
            if (want_small) look_directly(small);
            if (large) drop(*large);
            if (want_large) look_directly(*large);
            return;
        }
        const bool fill_small = want_small || subtract;
        const bool fill_large = want_large && !subtract;
        if (want_small && !is_direct(small)) small.histogram = pool_.acquire();
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
        varying(small);
        const auto n_varying = static_cast<index_t>(order_.size());
        std::vector<std::uint8_t> small_constant(order_.size(), 0);
        std::vector<std::uint8_t> large_constant(order_.size(), 0);
        const bool worth_threads = n_varying * (n_filled + 512) > 65536;
        const int threads = worth_threads ? threads_for(options_.n_threads, n_varying) : 1;
        // Columns with rare entries are one task, the first; the others go a few together.
        const index_t n_others = n_varying - n_rare_;
        const index_t together = std::max<index_t>(1, std::min(kTogether, n_others / threads));
        const index_t n_tasks = 1 + (n_others + together - 1) / together;
        #pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (index_t task = 0; task < n_tasks; ++task) {
            const index_t begin = task == 0 ? 0 : n_rare_ + (task - 1) * together;
            const index_t end = task == 0 ? n_rare_ : std::min(begin + together, n_varying);
            if (begin == end) continue;
            if (fill_small) fill(small, begin, end, small_cells);
            if (fill_large) fill(*large, begin, end, large_cells);
            std::vector<std::int64_t> scratch(static_cast<std::size_t>(4 * width_));
            for (index_t c = begin; c < end; ++c) {
                const index_t place = order_[c];
                const index_t j = columns_[place];
                if (subtract && want_large) subtract_histogram(table_, width_, j, small_cells, large_cells);
                if (want_small) {
                    small_splits[place] = search(small, small_whole, j, small_cells, scratch);
                    small_constant[c] = is_constant(small, j, small_cells);
                }
                if (want_large) {
                    large_splits[place] = search(*large, large_whole, j, large_cells, scratch);
                    large_constant[c] = is_constant(*large, j, large_cells);
                }
            }
        }
        for (index_t c = 0; c < n_varying; ++c) {
            if (small_constant[c]) small.constant.add(order_[c]);
            if (large_constant[c]) large->constant.add(order_[c]);
        }
        if (want_small) settle(small, std::move(small_splits));
        if (want_large) settle(*large, std::move(large_splits));
        if (large && !want_large) drop(*large);
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
    index_t width_;
    const std::vector<index_t>& rows_;
    typename Target::Row* targets_ = nullptr;
    std::vector<std::uint8_t>& bins_;
    std::vector<std::int64_t> scratch_;
    std::vector<index_t> order_;  // scratch: places in columns_, drawn or not known to be constant
    std::vector<index_t> live_;   // scratch: the columns in these places
    index_t n_rare_ = 0;          // scratch: how many of these, the first, have rare entries
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

    // Puts the places of the columns that are not known to be constant into order_, and the columns into live_; first those
    // with rare entries.
    void varying(const Leaf& leaf) {
        order_.clear();
        live_.clear();
        for (const bool rare : {true, false}) {
            for (index_t place = 0; place < n_columns(); ++place) {
                if (leaf.constant.has(place) || is_rare(columns_[place]) != rare) continue;
                order_.push_back(place);
                live_.push_back(columns_[place]);
            }
            if (rare) n_rare_ = static_cast<index_t>(order_.size());
        }
    }

    bool is_rare(index_t column) const { return !table_.rare.columns.empty() && table_.rare.has.has(column); }

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

    void fill(const Leaf& leaf, index_t begin, index_t end, std::int64_t* cells) const {
        if (begin < n_rare_) {
            fill_rare(table_, target_, live_.data() + begin, end - begin, rows_.data() + leaf.begin,
                      targets_ + leaf.begin, leaf.n(), leaf.sums.data(), cells);
            return;
        }
        fill_histograms(table_, target_, live_.data() + begin, end - begin, rows_.data() + leaf.begin,
                        targets_ + leaf.begin, leaf.n(), cells);
    }

    Split search(const Leaf& leaf, double whole, index_t column, const std::int64_t* cells,
                 std::vector<std::int64_t>& scratch) const {
        const ColumnBins& bins = table_.columns[column];
        SplitSearch<Target> search(target_, leaf.sums.data(), whole, options_.min_rows_leaf, scratch.data());
        const std::int64_t* first = cells + table_.first_bin[column] * width_;
        return bins.categorical ? search.categorical(first, bins.n_bins) : search.numeric(first, bins.n_bins);
    }

    void settle(Leaf& leaf, std::vector<Split> splits) {
        offers_.rank(leaf, rows_.data(), columns_, splits);
        if (options_.ledger == Ledger::model) leaf.splits = std::move(splits);
    }
};

}  // namespace farthing
