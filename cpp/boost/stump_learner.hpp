// stump_learner: the weak learners of AdaBoost, stumps and small trees of stumps, on one binned table.
//
// `Search` finds the best stump of a column: StumpSearch for one vote per leaf, ClassStumpSearch for one per class.
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

// The target of a second histogram, beside that of the search: the number of rows.
struct RowCount {
    using Row = std::int64_t;
    static constexpr index_t width() { return 1; }
    static void add(std::int64_t* cell, Row) { *cell += 1; }
};

// Searches one table repeatedly while boosting changes the weights.
template <class Search>
class StumpLearner {
public:
    using Target = typename Search::Target;
    using Row = typename Target::Row;

    // IN weights (n,): what the rows count in the covers of the trees; width: outputs, votes per leaf.
    StumpLearner(const BinnedTable& table, Span<const double> weights, int n_threads, index_t width = 1)
        : table_(table), n_threads_(n_threads), width_(width), target_(target_of(width)),
          weights_(weights.begin(), weights.end()) {
        all_rows_.resize(static_cast<std::size_t>(table.n_rows));
        for (index_t i = 0; i < table.n_rows; ++i) all_rows_[i] = i;
        root_counts_.resize(static_cast<std::size_t>(table.n_all_bins()));
        const Node root = root_node();
        const std::vector<std::int64_t> nothing(all_rows_.size(), 0);
        parallel_for(table_.n_columns(), threads(root.n), 1, [&](index_t j) {
            fill(RowCount{}, &j, 1, root, nothing.data(), root_counts_.data());
        });
        if constexpr (Search::kOneOutput) bit_planes_ = std::make_unique<BitPlanes>(table, root_counts_.data());
        for (index_t j = 0; j < table_.n_columns(); ++j) {
            all_columns_.push_back(j);
            if (!bit_planes_ || !bit_planes_->has(j)) histogram_columns_.push_back(j);
        }
    }

    index_t n_columns() const { return table_.n_columns(); }
    index_t n_rows() const { return table_.n_rows; }
    index_t width() const { return width_; }

    // OUT edges (k,): the edge of the best stump of each column, on the grid of `fixed`.
    void edges(const FixedPoint& fixed, std::int64_t* out) const {
        std::vector<std::int64_t> sums = cells();
        if constexpr (Search::kOneOutput) {
            const std::int64_t whole = std::accumulate(fixed.values.begin(), fixed.values.end(), std::int64_t{0});
            bit_planes_->fill(fixed.values.data(), whole, sums.data(), n_threads_);
            fill_all(target_, histogram_columns_, this->root_node(), fixed.values, sums);
        } else {
            fill_all(target_, histogram_columns_, this->root_node(), targets_of(fixed, this->root_node()), sums);
        }
        for (const index_t j : all_columns_) out[j] = stumps_of(j, sums.data(), root_counts_.data()).best().edge;
    }

    // A tree of a single leaf, which needs no feature.
    // IN leaf (width,): its votes.   OUT votes (n, width).
    Tree constant(const std::int8_t* leaf, std::int8_t* votes) const {
        Tree tree = empty_tree();
        double all = 0;
        for (const double weight : weights_) all += weight;
        std::copy(leaf, leaf + width_, tree.add_leaf(all));
        for (index_t i = 0; i < table_.n_rows; ++i) std::copy(leaf, leaf + width_, votes + i * width_);
        return tree;
    }

    // A tree whose root is the best stump of a column. Below the root, a node is split by the best stump of all
    // columns if that has a larger edge on the node's rows than the node's own vote.
    // OUT votes (n, width): the votes of each row's leaf.
    Tree tree(const FixedPoint& fixed, index_t column, index_t max_depth, std::int8_t* votes) const {
        TreeState state{fixed, max_depth, votes, empty_tree(), all_rows_, std::vector<index_t>(all_rows_.size())};
        const Node root = root_node();
        std::vector<std::int64_t> sums = cells();
        fill(target_, &column, 1, root, targets_of(fixed, root).data(), sums.data());
        const Search found = stumps_of(column, sums.data(), root_counts_.data());
        state.tree.add_leaf(weight(state, 0, root.n));
        if (found.best().edge <= 0) throw std::invalid_argument("the column has no stump with an edge");
        split_node(state, 0, 0, root.n, 0, column, found);
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
    index_t width_;
    Target target_;
    std::vector<double> weights_;
    std::vector<index_t> all_rows_;
    std::vector<std::int64_t> root_counts_;
    std::unique_ptr<BitPlanes> bit_planes_;   // null if there are several outputs
    std::vector<index_t> all_columns_;
    std::vector<index_t> histogram_columns_;  // columns not stored as bit planes

    static Target target_of(index_t width) {
        if constexpr (Search::kOneOutput) {
            return {};
        } else {
            return {width};
        }
    }

    Tree empty_tree() const {
        Tree tree;
        tree.n_values = width_;
        return tree;
    }

    // The cells of all columns.
    std::vector<std::int64_t> cells() const {
        return std::vector<std::int64_t>(static_cast<std::size_t>(table_.n_all_bins() * width_));
    }

    // The targets of the rows of a node.
    std::vector<Row> targets_of(const FixedPoint& fixed, const Node& node) const {
        std::vector<Row> targets(static_cast<std::size_t>(node.n));
        for (index_t i = 0; i < node.n; ++i) {
            if constexpr (Search::kOneOutput) {
                targets[i] = fixed.values[node.rows[i]];
            } else {
                targets[i] = fixed.values.data() + node.rows[i] * width_;
            }
        }
        return targets;
    }

    Node root_node() const { return {all_rows_.data(), static_cast<index_t>(all_rows_.size())}; }

    int threads(index_t n) const { return threads(n, table_.n_columns()); }
    int threads(index_t n, index_t n_columns) const {
        return n_columns * (n + 512) > 65536 ? threads_for(n_threads_, n_columns) : 1;
    }

    template <class Sums>
    void fill(const Sums& target, const index_t* columns, index_t n_columns, const Node& node,
              const typename Sums::Row* targets, std::int64_t* cells) const {
        fill_histograms(table_, target, columns, n_columns, node.rows, targets, node.n, cells);
    }

    // Fills the histograms of some columns, several per pass, in parallel.
    template <class Sums>
    void fill_all(const Sums& target, const std::vector<index_t>& columns, const Node& node,
                  const std::vector<typename Sums::Row>& targets, std::vector<std::int64_t>& cells) const {
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

    Search stumps_of(index_t column, const std::int64_t* sums, const std::int64_t* counts) const {
        const index_t first = table_.first_bin[column];
        return {table_.columns[column], sums + first * width_, counts + first, width_};
    }

    double weight(const TreeState& state, index_t begin, index_t end) const {
        double sum = 0;
        for (index_t i = begin; i < end; ++i) sum += weights_[state.rows[i]];
        return sum;
    }

    // Splits a leaf by the best stump of a column and continues with both children.
    void split_node(TreeState& state, index_t node, index_t begin, index_t end, index_t depth, index_t column,
                    const Search& found) const {
        const ColumnBins& bins = table_.columns[column];
        const auto stump = found.best();
        const Split split = found.split(stump);
        std::vector<std::int8_t> leaves(static_cast<std::size_t>(2 * width_));  // the votes of both sides
        std::int8_t* const right_votes = leaves.data() + width_;
        found.votes(stump, leaves.data(), right_votes);
        const index_t n_left =
            partition_rows(table_.column(column), goes_left(split, bins.n_bins), state.rows.data() + begin, end - begin,
                           state.scratch.data() + begin, n_threads_);
        const index_t middle = begin + n_left;
        const index_t left = state.tree.n_nodes();
        std::copy(leaves.data(), right_votes, state.tree.add_leaf(weight(state, begin, middle)));
        std::copy(right_votes, right_votes + width_, state.tree.add_leaf(weight(state, middle, end)));
        state.tree.split_leaf(node, column, bins, split, left, left + 1);
        std::fill_n(state.tree.value.begin() + node * width_, width_, 0.0);
        refine(state, left, begin, middle, depth + 1, leaves.data());
        refine(state, left + 1, middle, end, depth + 1, right_votes);
    }

    void refine(TreeState& state, index_t node, index_t begin, index_t end, index_t depth,
                const std::int8_t* leaf) const {
        if (depth < state.max_depth && end - begin > 1 && split_again(state, node, begin, end, depth, leaf)) return;
        for (index_t i = begin; i < end; ++i) std::copy(leaf, leaf + width_, state.votes + state.rows[i] * width_);
    }

    // Splits a leaf by the best stump of all columns on its rows (the first one of a tie), if that increases the
    // edge.
    bool split_again(TreeState& state, index_t node, index_t begin, index_t end, index_t depth,
                     const std::int8_t* leaf) const {
        const Node rows{state.rows.data() + begin, end - begin};
        std::int64_t edge = 0;
        for (index_t i = begin; i < end; ++i) {
            const std::int64_t* own = state.fixed.values.data() + state.rows[i] * width_;
            for (index_t k = 0; k < width_; ++k) edge += leaf[k] * own[k];
        }
        std::vector<std::int64_t> sums = cells();
        std::vector<std::int64_t> counts(static_cast<std::size_t>(table_.n_all_bins()));
        fill_all(target_, all_columns_, rows, targets_of(state.fixed, rows), sums);
        fill_all(RowCount{}, all_columns_, rows, std::vector<std::int64_t>(static_cast<std::size_t>(rows.n)), counts);
        // A vote of the leaf may be wrong for most of its rows; an edge of 0 is still no stump.
        edge = std::max<std::int64_t>(edge, 0);
        index_t column = -1;
        for (const index_t j : all_columns_) {
            const std::int64_t found = stumps_of(j, sums.data(), counts.data()).best().edge;
            if (found <= edge) continue;
            edge = found;
            column = j;
        }
        if (column < 0) return false;
        split_node(state, node, begin, end, depth, column, stumps_of(column, sums.data(), counts.data()));
        return true;
    }
};

}  // namespace farthing
