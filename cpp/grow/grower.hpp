// grower: grows one tree best-first. Every open leaf has a candidate, its best split at current prices; the best
// candidate of all leaves is split until none is worth its price or a limit is reached.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "account/candidate_ranking.hpp"
#include "account/cost_sheet.hpp"
#include "account/row_ledger.hpp"
#include "common/bitset.hpp"
#include "common/counter_rng.hpp"
#include "common/interrupt.hpp"
#include "common/peers.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "grow/count_ahead.hpp"
#include "grow/grow_options.hpp"
#include "grow/leaf.hpp"
#include "grow/leaf_search.hpp"
#include "grow/monotonic.hpp"
#include "grow/root_histogram_update.hpp"
#include "grow/row_partition.hpp"
#include "grow/split.hpp"
#include "grow/split_chooser.hpp"
#include "grow/tree.hpp"
#include "grow/workspace.hpp"
#include "table/bin_codes.hpp"
#include "table/binned_table.hpp"
#include "table/column_bins.hpp"

namespace farthing {

template <class Target>
class Grower {
public:
    // IN  workspace.rows: the training rows, ascending; columns: those that may be split on; owned: what the model
    // owns (ignored under the row ledger). After grow(), owned() includes what the tree bought.
    // IN OUT ledger: what the rows own, or null; its table must be `table`.
    // IN OUT root_update: passes the root histogram from tree to tree, or null; requires all rows, all columns and
    // the model ledger.
    Grower(const BinnedTable& table, const Target& target, const CostSheet& sheet, const GrowOptions& options,
           std::vector<index_t> columns, OwnedFeatures owned, Workspace& workspace, RowLedger* ledger = nullptr,
           RootHistogramUpdate* root_update = nullptr)
        : table_(table), target_(target), sheet_(sheet), options_(options), ledger_(ledger), width_(target.width()),
          rows_(workspace.rows), scratch_(workspace.targets),
          chooser_(target, sheet, options, std::move(owned), ledger),
          search_(table, target, options, std::move(columns), chooser_, workspace, root_update) {
        tree_.n_values = target.n_values();
        tree_.sparse = Target::kSparseValues && tree_.n_values >= kMinSparseValues;
        const index_t depth = std::min<index_t>(options.max_depth, 5);  // small trees grow without moving their nodes
        const index_t n_rows = std::max<index_t>(1, static_cast<index_t>(rows_.size()));
        const index_t n_leaves = std::min({options.max_leaves, index_t{1} << depth, n_rows});
        tree_.reserve(2 * n_leaves - 1);
        leaves_.reserve(static_cast<std::size_t>(2 * n_leaves - 1));
        splits_.reserve(static_cast<std::size_t>(2 * n_leaves - 1));
    }

    Grower(const Grower&) = delete;  // members refer to each other
    Grower& operator=(const Grower&) = delete;

    Tree grow() {
        add_root();
        while (!heap_.empty() && n_leaves_ < options_.max_leaves) {
            std::pop_heap(heap_.begin(), heap_.end(), ranks_below());
            const index_t leaf = heap_.back();
            heap_.pop_back();
            split(leaf);
            check_interrupt();
        }
        search_.finish(leaves_);
        tree_.finish_values();
        return std::move(tree_);
    }

    const OwnedFeatures& owned() const { return chooser_.owned(); }

    // OUT leaf_of_row: the leaf of each training row; other rows are left unchanged.
    void leaves_of_rows(Span<index_t> leaf_of_row) const {
        const int threads = threads_for(options_.n_threads, static_cast<index_t>(rows_.size()) / 8192);
        parallel_for(static_cast<index_t>(leaves_.size()), threads, 1, [&](index_t place) {
            const Leaf& leaf = leaves_[static_cast<std::size_t>(place)];
            if (leaf.node < 0) return;
            for (index_t i = leaf.begin; i < leaf.end; ++i) leaf_of_row[rows_[i]] = leaf.node;
        });
    }

    // Routes the rows that were not trained on through the grown tree; each pays for the features on its path.
    // IN OUT leaf_of_row: -1 for those rows on entry, their leaf on return.
    void route_other_rows(const Tree& tree, Span<index_t> leaf_of_row) const {
        const int threads = threads_for(options_.n_threads, leaf_of_row.size / 4096 + 1);
        const std::vector<Step> steps = this->steps(tree);
        parallel_ranges(leaf_of_row.size, threads, [&](index_t begin, index_t end) {
            for (index_t row = begin; row < end; ++row) {
                if (leaf_of_row[row] < 0) leaf_of_row[row] = route(steps, row);
            }
        });
    }

private:
    static constexpr index_t kMinSparseValues = 32;  // with fewer values in a node, zeros take little memory

    const BinnedTable& table_;
    const Target& target_;
    const CostSheet& sheet_;
    const GrowOptions& options_;
    RowLedger* ledger_;
    index_t width_;
    std::vector<index_t>& rows_;
    std::vector<std::int64_t>& scratch_;
    SplitChooser<Target> chooser_;
    LeafSearch<Target> search_;
    Tree tree_;
    std::vector<Leaf> leaves_;
    std::vector<index_t> heap_;  // open leaves with an acceptable candidate, as positions in leaves_
    std::vector<Split> splits_;  // by node; empty at leaves
    index_t n_leaves_ = 0;

    void add_root() {
        Leaf root;
        root.end = static_cast<index_t>(rows_.size());
        root.sums.assign(static_cast<std::size_t>(width_), 0);
        add_rows(root.sums, rows_.data(), static_cast<index_t>(rows_.size()));
        add_up_root(root);
        root.n_rows = target_.n_rows(root.sums.data());
        root.path = OwnedFeatures(sheet_);
        root.key = options_.key;
        root.constant = Bitset(search_.n_columns());
        chooser_.begin_tree(root, rows_.data());
        add_node(root);
        leaves_.push_back(std::move(root));
        n_leaves_ = 1;
        if (options_.max_leaves > 1 && search_.splittable(leaves_[0])) {
            search_.find_root_splits(leaves_[0]);
            open_leaf(0);
        }
    }

    // Adds up the sums of the root over peers: with its histogram, or from the one that the last tree left.
    void add_up_root(Leaf& root) {
        if (!options_.peers) return;
        if constexpr (Target::kUpdatesRoot) {
            if (search_.root_is_known()) {
                return search_.known_root_sums(root.sums.data());
            }
        }
        if constexpr (LeafSearch<Target>::kCountsAhead) {
            if (counts_ahead() && options_.max_leaves > 1 && options_.max_depth > 0) return ahead().count_root(root);
        }
        add_up(options_.peers, root.sums);
    }

    // With a row ledger, a purchase may change the codes of the rows.
    bool counts_ahead() const { return options_.peers && !ledger_ && !search_.is_random(); }
    CountAhead<Target> ahead() { return {table_, target_, options_, search_, rows_, scratch_}; }

    void count_ahead(index_t place) {
        if constexpr (LeafSearch<Target>::kCountsAhead) {
            // After the last split, nobody asks for the histograms of its children.
            const index_t n_splits = options_.max_leaves - n_leaves_ - (search_.updates_root() ? 0 : 1);
            if (!counts_ahead() || n_splits < 1) return;
            std::vector<index_t> others = heap_;
            std::sort(others.begin(), others.end(), [this](index_t a, index_t b) { return ranks_below()(b, a); });
            ahead().count(leaves_, place, others, n_splits);
        }
    }

    // IN OUT sums: those of a node.
    template <class Sums>
    void add_rows(Sums& sums, const index_t* rows, index_t n) const {
        if constexpr (Target::kAddsRows) {
            target_.add_rows(sums.data(), rows, n);
        } else {
            for (index_t i = 0; i < n; ++i) target_.add(sums.data(), target_.row(rows[i]));
        }
    }

    void add_node(Leaf& leaf) {
        leaf.node = tree_.n_nodes();
        splits_.emplace_back();
        double* values = tree_.add_leaf(target_.cover(leaf.sums.data()));
        if constexpr (Target::kMonotonic) {
            target_.values(leaf.sums.data(), leaf.bounds, values);
        } else {
            target_.values(leaf.sums.data(), values);
        }
        tree_.store_values();
    }

    // What sending a row one node down needs, in one place.
    struct Step {
        CodeColumn codes;
        const Split* split;
        index_t feature;
        index_t n_bins;
        index_t left;
        index_t right;
    };

    std::vector<Step> steps(const Tree& tree) const {
        std::vector<Step> steps(splits_.size());
        for (index_t node = 0; node < tree.n_nodes(); ++node) {
            const index_t feature = tree.feature[node];
            if (feature < 0) continue;
            steps[node] = {table_.column(feature), &splits_[node],   feature, table_.columns[feature].n_bins,
                           tree.left[node],        tree.right[node]};
        }
        return steps;
    }

    index_t route(const std::vector<Step>& steps, index_t row) const {
        index_t node = 0;
        while (const Split* split = steps[node].split) {
            const Step& step = steps[node];
            if (ledger_) ledger_->buy(row, step.feature);
            const index_t bin = step.codes[row];
            const bool missing = bin == step.n_bins ||
                                 (split->categorical && !has_bin(split->left, bin) && !has_bin(split->right, bin));
            if (missing && split->missing == Missing::stay) break;
            const bool left = missing              ? split->missing == Missing::left
                              : split->categorical ? has_bin(split->left, bin)
                                                   : bin <= split->bin;
            node = left ? step.left : step.right;
        }
        return node;
    }

    void split(index_t parent_place) {
        count_ahead(parent_place);
        const Candidate candidate = leaves_[parent_place].candidate;
        Split chosen = leaves_[parent_place].split;
        if (Target::kCentersCuts) center_cut(leaves_[parent_place], candidate.feature, chosen);
        Leaf left;
        Leaf right;
        const CountedSplit counted = leaves_[parent_place].ahead;
        const bool is_counted = CountAhead<Target>::is_counted(leaves_[parent_place]);
        partition_leaf(leaves_[parent_place], candidate.feature, chosen, is_counted ? &counted : nullptr, left, right);
        if (chosen.missing == Missing::stay && options_.number) {
            chosen.missing = unseen_missing(*options_.number, target_.population(left.sums.data()),
                                            target_.population(right.sums.data()));
        }
        bound_children(leaves_[parent_place], candidate.feature, left, right);
        const index_t parent_node = leaves_[parent_place].node;
        // Prices were asked for and the charge is zero although the feature is not free: all rows own it or were
        // refused it.
        const bool nobody_pays =
            options_.ranking.tradeoff > 0 && candidate.charge == 0 && sheet_.own[candidate.feature] > 0;
        if (ledger_ && !nobody_pays &&
            ledger_->buy(rows_.data() + left.begin, left.n() + right.n(), candidate.feature)) {
            // Codes of these rows became missing, so the parent's histogram is no longer the sum of its children's.
            search_.release_histogram(leaves_[parent_place]);
        }
        const index_t parent_histogram = leaves_[parent_place].histogram;
        splits_[parent_node] = chosen;
        leaves_[parent_place] = Leaf{};
        add_node(left);
        add_node(right);
        tree_.split_leaf(parent_node, candidate.feature, table_.columns[candidate.feature], chosen, left.node,
                         right.node);
        ++n_leaves_;

        const bool prices_changed = chooser_.buy(candidate.feature);

        // The smaller child is counted from its rows; the larger one is the parent minus it.
        const bool left_is_small = left.n_rows <= right.n_rows;
        Leaf& small_child = left_is_small ? left : right;
        Leaf& large_child = left_is_small ? right : left;
        large_child.histogram = parent_histogram;
        if (is_counted) small_child.histogram = counted.histogram;
        const auto small = static_cast<index_t>(leaves_.size());
        const index_t large = small + 1;
        leaves_.push_back(std::move(small_child));
        leaves_.push_back(std::move(large_child));
        const bool more = n_leaves_ < options_.max_leaves;
        if (more || search_.updates_root()) {
            const HistogramSource from = parent_histogram >= 0 ? HistogramSource::parent : HistogramSource::rows;
            search_.find_splits(leaves_[small], &leaves_[large], from, more);
        }
        if (more) {
            open_leaf(small);
            open_leaf(large);
        }
        if (prices_changed) rerank_leaves();
    }

    // Between the highest bin on the left and the lowest on the right there may be bins without training rows. All
    // cuts in that gap split the training rows alike; the one nearest to its middle generalises best.
    void center_cut(const Leaf& leaf, index_t feature, Split& split) {
        if (split.categorical) return;
        const ColumnBins& bins = table_.columns[feature];
        const CodeColumn codes = table_.column(feature);
        index_t right = bins.n_bins;
        const std::int64_t* cells = options_.peers ? search_.cells_of(leaf, feature) : nullptr;
        if (cells) {  // of all peers, without an exchange
            right = split.bin + 1;
            while (right < bins.n_bins && target_.n_rows(cells + right * width_) == 0) ++right;
        } else {
            for (index_t i = leaf.begin; i < leaf.end && right > split.bin + 1; ++i) {
                const index_t bin = codes[rows_[i]];
                if (bin > split.bin && bin < right) right = bin;
            }
            right = -static_cast<index_t>(largest_of(options_.peers, -static_cast<double>(right)));
        }
        if (right == bins.n_bins) return;  // only missing values go right
        split.bin = bins.middle_edge(split.bin, right - 1);
    }

    // IN  counted: the same split, by which the rows are parted already, or null.
    void partition_leaf(const Leaf& parent, index_t feature, const Split& split, const CountedSplit* counted,
                        Leaf& left, Leaf& right) {
        const ColumnBins& bins = table_.columns[feature];
        const auto left_bins = goes_left(split, bins.n_bins);
        const index_t n_left = counted ? counted->n_left
                                       : partition_rows(table_.column(feature), left_bins,
                                                        rows_.data() + parent.begin, parent.n(), scratch_.data(),
                                                        options_.n_threads);
        left.begin = parent.begin;
        left.end = parent.begin + n_left;
        right.begin = left.end;
        right.end = parent.end;
        left.depth = right.depth = parent.depth + 1;
        left.path = parent.path;
        left.path.add(sheet_, feature);
        right.path = left.path;
        // With a row ledger a purchase can turn codes to missing, so a constant column may vary again.
        left.constant = right.constant = ledger_ ? Bitset(search_.n_columns()) : parent.constant;
        if (search_.is_random()) {
            left.key = random_bits(parent.key, kLeftDraw);
            right.key = random_bits(parent.key, kRightDraw);
        }
        left.sums.assign(static_cast<std::size_t>(width_), 0);
        if (const std::int64_t* cells = search_.cells_of(parent, feature)) {
            for (index_t bin = 0; bin <= bins.n_bins; ++bin, cells += width_) {
                if (!left_bins[bin]) continue;
                for (index_t w = 0; w < width_; ++w) left.sums[w] += cells[w];
            }
        } else {
            add_rows(left.sums, rows_.data() + left.begin, left.n());
            add_up(options_.peers, left.sums);
        }
        right.sums = parent.sums;
        for (index_t w = 0; w < width_; ++w) right.sums[w] -= left.sums[w];
        left.n_rows = target_.n_rows(left.sums.data());
        right.n_rows = parent.n_rows - left.n_rows;
    }

    void bound_children(const Leaf& parent, index_t feature, Leaf& left, Leaf& right) const {
        if constexpr (Target::kMonotonic) {
            if (options_.monotonic.empty()) return;
            bound_sides({parent.bounds, options_.direction(feature)}, target_.level(left.sums.data(), parent.bounds),
                        target_.level(right.sums.data(), parent.bounds), left.bounds, right.bounds);
        }
    }

    auto ranks_below() const {
        return [this](index_t a, index_t b) { return chooser_.ranks_below(leaves_[a], leaves_[b]); };
    }

    void open_leaf(index_t place) {
        if (leaves_[place].candidate.feature < 0) {
            // Under the model ledger a later purchase can make one of its splits worthwhile.
            if (options_.ledger == LedgerKind::row || leaves_[place].splits.empty()) {
                search_.release_histogram(leaves_[place]);
                // It stays a leaf. With many classes, the sums of all leaves are as large as a tree.
                if constexpr (Target::kSparseValues) std::vector<std::int64_t>().swap(leaves_[place].sums);
            }
            return;
        }
        heap_.push_back(place);
        std::push_heap(heap_.begin(), heap_.end(), ranks_below());
    }

    void rerank_leaves() {
        heap_.clear();
        for (index_t place = 0; place < static_cast<index_t>(leaves_.size()); ++place) {
            Leaf& leaf = leaves_[place];
            if (leaf.node < 0 || leaf.splits.empty()) continue;
            search_.rerank(leaf);
            if (leaf.candidate.feature >= 0) heap_.push_back(place);
        }
        std::make_heap(heap_.begin(), heap_.end(), ranks_below());
    }
};

}  // namespace farthing
