// vector_leaf_search: leaf_search.hpp for targets with several outputs. No histogram is kept: for many outputs it
// would be longer than the rows of most nodes. Only peers need one, to add up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/peers.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "grow/grow_options.hpp"
#include "grow/leaf.hpp"
#include "grow/leaf_search.hpp"
#include "grow/root_histogram_update.hpp"
#include "grow/sparse_column_rows.hpp"
#include "grow/split.hpp"
#include "grow/split_chooser.hpp"
#include "grow/vector_search.hpp"
#include "grow/vector_target.hpp"
#include "grow/workspace.hpp"
#include "table/binned_table.hpp"

namespace farthing {

template <>
class LeafSearch<VectorTarget> {
public:
    static constexpr bool kCountsAhead = false;

    LeafSearch(const BinnedTable& table, const VectorTarget& target, const GrowOptions& options,
               std::vector<index_t> columns, SplitChooser<VectorTarget>& chooser, Workspace& workspace,
               RootHistogramUpdate*)
        : table_(table), target_(target), options_(options), columns_(std::move(columns)), chooser_(chooser),
          rows_(workspace.rows), sparse_(table, columns_) {
        workspace.targets.resize(rows_.size());  // scratch of the partition
    }

    index_t n_columns() const { return static_cast<index_t>(columns_.size()); }
    bool is_random() const { return false; }
    bool updates_root() const { return false; }

    bool splittable(const Leaf& leaf) const {
        return leaf.depth < options_.max_depth && leaf.n_rows / 2 >= options_.min_rows_leaf;
    }

    void find_root_splits(Leaf& root) { find_splits(root); }
    void find_splits(Leaf& small, Leaf* large, HistogramSource, bool may_split) {
        if (!may_split) return;
        if (splittable(small)) find_splits(small);
        if (splittable(*large)) find_splits(*large);
    }

    // Reranks the stored splits of a leaf after a purchase; model ledger only.
    void rerank(Leaf& leaf) { chooser_.rank(leaf, rows_.data(), columns_, leaf.splits); }

    // There are no histograms to reuse.
    void finish(std::vector<Leaf>&) {}
    const std::int64_t* cells_of(const Leaf&, index_t) { return nullptr; }
    void release_histogram(Leaf&) {}

private:
    const BinnedTable& table_;
    const VectorTarget& target_;
    const GrowOptions& options_;
    std::vector<index_t> columns_;
    SplitChooser<VectorTarget>& chooser_;
    const std::vector<index_t>& rows_;
    SparseColumnRows sparse_;
    std::vector<std::int64_t> cells_;  // with peers: the histogram of a leaf

    // Below this many products of rows, columns and blocks a second thread is not worth waking.
    static constexpr index_t kWorthThreads = 1 << 15;

    void find_splits(Leaf& leaf) {
        const double node_score = target_.node_score(leaf.sums.data());
        std::vector<Split> splits(columns_.size());
        std::vector<std::uint8_t> constant(columns_.size(), 0);
        const bool worth_threads = leaf.n() * n_columns() * target_.n_blocks() > kWorthThreads;
        const int threads = worth_threads ? threads_for(options_.n_threads, n_columns()) : 1;
        const bool alone = !options_.peers;
        if (alone) {
            sparse_.sort(rows_.data() + leaf.begin, leaf.n());
        } else {
            count_with_peers(leaf, threads);
        }
        parallel_ranges(n_columns(), threads, [&](index_t begin, index_t end) {
            VectorSearch search(target_, leaf.sums.data(), node_score, options_.min_rows_leaf,
                                alone ? rows_.data() + leaf.begin : nullptr, leaf.n_rows);
            for (index_t place = begin; place < end; ++place) {
                if (leaf.constant.has(place)) continue;
                bool is_constant = false;
                splits[place] = alone ? search.find(table_, columns_[place], sparse_, is_constant)
                                      : search.find(cells_of(columns_[place]), table_.columns[columns_[place]],
                                                    is_constant);
                constant[place] = is_constant;
            }
        });
        for (index_t place = 0; place < n_columns(); ++place) {
            if (constant[place]) leaf.constant.add(place);
        }
        chooser_.rank(leaf, rows_.data(), columns_, splits);
        if (options_.ledger == LedgerKind::model) leaf.splits = std::move(splits);
    }

    const std::int64_t* cells_of(index_t column) const {
        return cells_.data() + table_.first_bin[column] * target_.width();
    }

    // Peers can only add histograms, not look at each other's rows.
    void count_with_peers(const Leaf& leaf, int threads) {
        const index_t width = target_.width();
        cells_.assign(static_cast<std::size_t>(table_.n_all_bins() * width), 0);
        parallel_ranges(n_columns(), threads, [&](index_t begin, index_t end) {
            for (index_t place = begin; place < end; ++place) {
                const CodeColumn codes = table_.column(columns_[place]);
                std::int64_t* first = cells_.data() + table_.first_bin[columns_[place]] * width;
                for (index_t i = leaf.begin; i < leaf.end; ++i) {
                    target_.add(first + codes[rows_[i]] * width, target_.row(rows_[i]));
                }
            }
        });
        add_up(options_.peers, cells_);
    }
};

}  // namespace farthing
