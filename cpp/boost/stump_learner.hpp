// stump_learner: the weak learners of AdaBoost, stumps and small trees of stumps, on one binned table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "boost/bit_planes.hpp"
#include "boost/stump_search.hpp"
#include "common/fixed_point.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "grow/histogram.hpp"
#include "grow/row_partition.hpp"
#include "grow/split.hpp"
#include "grow/tree.hpp"
#include "table/binned_table.hpp"
#include "table/column_bins.hpp"

namespace farthing {

// Targets of the histograms (see target.hpp): the sum of signed weights, and the number of rows.
struct SignedWeight {
    using Row = std::int64_t;
    static constexpr index_t width() { return 1; }
    static void add(std::int64_t* cell, Row row) { *cell += row; }
};

struct RowCount {
    using Row = std::int64_t;
    static constexpr index_t width() { return 1; }
    static void add(std::int64_t* cell, Row) { *cell += 1; }
};

// Searches one table repeatedly while boosting changes the weights.
class StumpLearner {
public:
    // IN weights (n,): what the rows count in the covers of the trees.
    StumpLearner(const BinnedTable& table, Span<const double> weights, int n_threads)
        : table_(table), n_threads_(n_threads), weights_(weights.begin(), weights.end()) {
        all_rows_.resize(static_cast<std::size_t>(table.n_rows));
        for (index_t i = 0; i < table.n_rows; ++i) all_rows_[i] = i;
        root_counts_.resize(static_cast<std::size_t>(table.n_all_bins()));
        const Node root = root_node();
        const std::vector<std::int64_t> nothing(all_rows_.size(), 0);
        parallel_for(table_.n_columns(), threads(root.n), 1, [&](index_t j) {
            fill(RowCount{}, &j, 1, root, nothing.data(), root_counts_.data());
        });
        bit_planes_ = std::make_unique<BitPlanes>(table, root_counts_.data());
        for (index_t j = 0; j < table_.n_columns(); ++j) {
            all_columns_.push_back(j);
            if (!bit_planes_->has(j)) histogram_columns_.push_back(j);
        }
    }

    index_t n_columns() const { return table_.n_columns(); }

    // OUT edges (k,): the edge of the best stump of each column, on the grid of `fixed`.
    void edges(const FixedPoint& fixed, std::int64_t* out) const {
        std::vector<std::int64_t> sums(static_cast<std::size_t>(table_.n_all_bins()));
        const std::int64_t whole = std::accumulate(fixed.values.begin(), fixed.values.end(), std::int64_t{0});
        bit_planes_->fill(fixed.values.data(), whole, sums.data(), n_threads_);
        fill_all(SignedWeight{}, histogram_columns_, this->root_node(), fixed.values, sums);
        for (const index_t j : all_columns_) out[j] = stumps_of(j, sums.data(), root_counts_.data()).best().edge;
    }

    // A tree of a single leaf, which needs no feature.
    Tree constant(std::int8_t vote, std::int8_t* votes) const {
        Tree tree;
        double all = 0;
        for (const double weight : weights_) all += weight;
        *tree.add_leaf(all) = static_cast<double>(vote);
        std::fill(votes, votes + table_.n_rows, vote);
        return tree;
    }

    // A tree whose root is the best stump of a column. Below the root, a node is split by the best stump of all
    // columns if that has a larger edge on the node's rows than the node's own vote.
    // OUT votes (n,): the vote of each row's leaf.
    Tree tree(const FixedPoint& fixed, index_t column, index_t max_depth, std::int8_t* votes) const {
        TreeState state{fixed, max_depth, votes, {}, all_rows_, std::vector<index_t>(all_rows_.size())};
        const Node root = root_node();
        std::vector<std::int64_t> sums(static_cast<std::size_t>(table_.n_all_bins()));
        fill(SignedWeight{}, &column, 1, root, fixed.values.data(), sums.data());
        const StumpSearch found = stumps_of(column, sums.data(), root_counts_.data());
        const Stump stump = found.best();
        *state.tree.add_leaf(weight(state, 0, root.n)) = 0.0;
        if (stump.edge <= 0) throw std::invalid_argument("the column has no stump with an edge");
        split_node(state, 0, 0, root.n, 0, column, stump.vote, found.split(stump));
        return std::move(state.tree);
    }

private:
    // Rows, ascending.
    struct Node {
        const index_t* rows;
        index_t n;
    };
    struct TreeState {
        const FixedPoint& fixed;
        index_t max_depth;
        std::int8_t* votes;
        Tree tree;
        std::vector<index_t> rows;
        std::vector<index_t> scratch;
    };

    const BinnedTable& table_;
    int n_threads_;
    std::vector<double> weights_;
    std::vector<index_t> all_rows_;
    std::vector<std::int64_t> root_counts_;
    std::unique_ptr<BitPlanes> bit_planes_;
    std::vector<index_t> all_columns_;
    std::vector<index_t> histogram_columns_;  // columns not stored as bit planes

    Node root_node() const { return {all_rows_.data(), static_cast<index_t>(all_rows_.size())}; }

    int threads(index_t n) const { return threads(n, table_.n_columns()); }
    int threads(index_t n, index_t n_columns) const {
        return n_columns * (n + 512) > 65536 ? threads_for(n_threads_, n_columns) : 1;
    }

    template <class Target>
    void fill(const Target& target, const index_t* columns, index_t n_columns, const Node& node,
              const std::int64_t* targets, std::int64_t* cells) const {
        fill_histograms(table_, target, columns, n_columns, node.rows, targets, node.n, cells);
    }

    // Fills the histograms of some columns, several per pass, in parallel.
    template <class Target>
    void fill_all(const Target& target, const std::vector<index_t>& columns, const Node& node,
                  const std::vector<std::int64_t>& targets, std::vector<std::int64_t>& cells) const {
        const auto n_columns = static_cast<index_t>(columns.size());
        const int threads = this->threads(node.n, n_columns);
        const index_t together = std::max<index_t>(1, std::min(kColumnsPerPass, n_columns / threads));
        const index_t n_tasks = (n_columns + together - 1) / together;
        parallel_for(n_tasks, threads, 1, [&](index_t task) {
            const index_t begin = task * together;
            fill(target, columns.data() + begin, std::min(together, n_columns - begin), node, targets.data(),
                 cells.data());
        });
    }

    StumpSearch stumps_of(index_t column, const std::int64_t* sums, const std::int64_t* counts) const {
        const index_t first = table_.first_bin[column];
        return {table_.columns[column], sums + first, counts + first};
    }

    double weight(const TreeState& state, index_t begin, index_t end) const {
        double sum = 0;
        for (index_t i = begin; i < end; ++i) sum += weights_[state.rows[i]];
        return sum;
    }

    // Splits a leaf and continues with both children.
    void split_node(TreeState& state, index_t node, index_t begin, index_t end, index_t depth, index_t column,
                    std::int8_t vote, const Split& split) const {
        const ColumnBins& bins = table_.columns[column];
        const index_t n_left =
            partition_rows(table_.column(column), goes_left(split, bins.n_bins), state.rows.data() + begin, end - begin,
                           state.scratch.data() + begin, n_threads_);
        const index_t middle = begin + n_left;
        const index_t left = state.tree.n_nodes();
        *state.tree.add_leaf(weight(state, begin, middle)) = vote;
        *state.tree.add_leaf(weight(state, middle, end)) = -vote;
        state.tree.split_leaf(node, column, bins, split, left, left + 1);
        state.tree.value[node] = 0.0;
        refine(state, left, begin, middle, depth + 1, vote);
        refine(state, left + 1, middle, end, depth + 1, static_cast<std::int8_t>(-vote));
    }

    void refine(TreeState& state, index_t node, index_t begin, index_t end, index_t depth, std::int8_t vote) const {
        if (depth < state.max_depth && end - begin > 1 && split_again(state, node, begin, end, depth, vote)) return;
        for (index_t i = begin; i < end; ++i) state.votes[state.rows[i]] = vote;
    }

    // Splits a leaf by the best stump of all columns on its rows (the first one of a tie), if that increases the
    // edge.
    bool split_again(TreeState& state, index_t node, index_t begin, index_t end, index_t depth,
                     std::int8_t vote) const {
        std::vector<std::int64_t> targets(static_cast<std::size_t>(end - begin));
        std::int64_t edge = 0;
        for (index_t i = begin; i < end; ++i) {
            targets[i - begin] = state.fixed.values[state.rows[i]];
            edge += vote * targets[i - begin];
        }
        std::vector<std::int64_t> sums(static_cast<std::size_t>(table_.n_all_bins()));
        std::vector<std::int64_t> counts(sums.size());
        const Node rows{state.rows.data() + begin, end - begin};
        fill_all(SignedWeight{}, all_columns_, rows, targets, sums);
        fill_all(RowCount{}, all_columns_, rows, targets, counts);
        index_t column = -1;
        for (const index_t j : all_columns_) {
            const std::int64_t found = stumps_of(j, sums.data(), counts.data()).best().edge;
            if (found <= edge) continue;
            edge = found;
            column = j;
        }
        if (column < 0) return false;
        const StumpSearch chosen = stumps_of(column, sums.data(), counts.data());
        const Stump stump = chosen.best();
        split_node(state, node, begin, end, depth, column, stump.vote, chosen.split(stump));
        return true;
    }
};

}  // namespace farthing
