// stumps: the weak learner of boosting. Rows carry a signed weight, their weight times their label of +1 or -1; a stump
// cuts one column in two and votes +1 on one side, -1 on the other. Its edge is the sum over all rows of vote times
// signed weight, and the search finds the largest, exactly: the sums are integers (see fixed.hpp).
//
// Missing values are a third group. It votes by the sign of its own sum, that is, it goes to the side that votes so; if the
// sum is zero it goes right, and if no row was missing a missing value stays at the node, which votes nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "bins.hpp"
#include "common.hpp"
#include "fixed.hpp"
#include "histogram.hpp"
#include "partition.hpp"
#include "split.hpp"
#include "tree.hpp"

namespace farthing {

struct Stump {
    std::int64_t edge = 0;   // 0: there is none, or it is worthless
    std::int64_t vote = 1;   // of the left side; the right side votes the opposite
    Split split;             // `gain` is not used
};

// The best stump of one column.
class StumpSearch {
public:
    // IN sums, counts: (n_bins + 1,) signed weight and number of rows by bin, the last that of missing values.
    StumpSearch(const ColumnBins& bins, const std::int64_t* sums, const std::int64_t* counts)
        : bins_(bins), sums_(sums), counts_(counts), missing_(sums[bins.n_bins]), n_missing_(counts[bins.n_bins]) {
        for (index_t bin = 0; bin < bins.n_bins; ++bin) {
            present_ += sums[bin];
            n_present_ += counts[bin];
        }
    }

    Stump best() {
        if (bins_.categorical) {
            by_sign();
        } else {
            by_threshold();
        }
        return best_;
    }

private:
    const ColumnBins& bins_;
    const std::int64_t* sums_;
    const std::int64_t* counts_;
    std::int64_t missing_;
    index_t n_missing_;
    std::int64_t present_ = 0;
    index_t n_present_ = 0;
    Stump best_;

    void by_threshold() {
        std::int64_t left = 0;
        index_t n_left = 0;
        for (index_t bin = 0; bin < bins_.n_bins; ++bin) {
            if (counts_[bin] == 0) continue;  // the same parts as after the bin before
            left += sums_[bin];
            n_left += counts_[bin];
            if (n_left == n_present_) break;
            const std::int64_t difference = left - (present_ - left);
            const std::int64_t edge = std::abs(difference) + std::abs(missing_);
            if (edge > best_.edge) take(edge, difference >= 0 ? 1 : -1, bin);
        }
        if (apart() && std::abs(present_ - missing_) > best_.edge) {
            take(std::abs(present_ - missing_), present_ > missing_ ? 1 : -1, bins_.n_bins - 1);
            best_.split.missing = Missing::right;
        }
    }

    // Each category votes by the sign of its own sum. If all agree and the missing values do not disagree, the one that
    // matters least votes against its sign, since a stump that votes the same everywhere asks for nothing.
    void by_sign() {
        index_t least = -1;
        index_t n_up = 0;
        index_t n_seen = 0;
        std::int64_t edge = std::abs(missing_);
        for (index_t bin = 0; bin < bins_.n_bins; ++bin) {
            if (counts_[bin] == 0) continue;
            ++n_seen;
            n_up += sums_[bin] > 0;
            edge += std::abs(sums_[bin]);
            if (least < 0 || std::abs(sums_[bin]) < std::abs(sums_[least])) least = bin;
        }
        const bool agree = n_up == 0 || n_up == n_seen;
        if (!agree) least = -1;
        if (agree && apart()) {
            least = -1;
        } else if (agree) {
            if (n_seen < 2) return;
            edge -= 2 * std::abs(sums_[least]);
        }
        if (edge <= 0) return;
        take(edge, 1, -1);
        best_.split.categorical = true;
        for (index_t bin = 0; bin < bins_.n_bins; ++bin) {
            if (counts_[bin] == 0) continue;
            const bool up = bin == least ? n_up == 0 : sums_[bin] > 0;
            put_in(up ? best_.split.left : best_.split.right, bin);
        }
    }

    // Are the missing values and all the others two groups that vote against each other?
    bool apart() const { return (present_ > 0 && missing_ < 0) || (present_ < 0 && missing_ > 0); }

    void take(std::int64_t edge, std::int64_t vote, index_t bin) {
        best_.edge = edge;
        best_.vote = vote;
        best_.split.bin = bin;
        best_.split.missing = n_missing_ == 0                                 ? Missing::stay
                              : missing_ != 0 && (missing_ > 0) == (vote > 0) ? Missing::left
                                                                              : Missing::right;
    }
};

// What a histogram adds up for stumps.
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

// Searches one table again and again, as boosting moves the weights.
class StumpLearner {
public:
    // IN weights (n,): what the rows count in the covers of the trees.
    StumpLearner(const BinnedTable& table, Span<const double> weights, int n_threads)
        : table_(table), n_threads_(n_threads), weights_(weights.begin(), weights.end()) {
        all_rows_.resize(static_cast<std::size_t>(table.n_rows));
        for (index_t i = 0; i < table.n_rows; ++i) all_rows_[i] = i;
        root_counts_.resize(static_cast<std::size_t>(table.n_all_bins()));
        const Node root = whole();
        const std::vector<std::int64_t> nothing(all_rows_.size(), 0);
        #pragma omp parallel for schedule(dynamic) num_threads(threads(root.n))
        for (index_t j = 0; j < table_.n_columns(); ++j) fill(RowCount{}, j, 1, root, nothing.data(), root_counts_.data());
    }

    // OUT edges (k,): the edge of the best stump of each column, on the grid of `fixed`.
    void edges(const Fixed& fixed, std::int64_t* out) const {
        std::vector<Stump> stumps = search(whole(), fixed.values);
        for (index_t j = 0; j < table_.n_columns(); ++j) out[j] = stumps[j].edge;
    }

    // A tree whose root is the best stump of a column. Below, a node takes the best stump of all columns if its edge among
    // the node's rows is larger than that of the vote the node has already.
    // OUT votes (n,): the vote of each row's leaf.
    Tree tree(const Fixed& fixed, index_t column, index_t max_depth, std::int8_t* votes) const {
        Growing growing{fixed, max_depth, votes, {}, all_rows_, std::vector<index_t>(all_rows_.size())};
        const Node root = whole();
        std::vector<std::int64_t> sums(static_cast<std::size_t>(table_.n_all_bins()));
        fill(SignedWeight{}, column, 1, root, fixed.values.data(), sums.data());
        const Stump stump = best_of(column, sums.data(), root_counts_.data());
        *growing.tree.add_leaf(weight(growing, 0, root.n)) = 0.0;
        if (stump.edge <= 0) throw std::invalid_argument("the column has no stump with an edge");
        divide(growing, 0, 0, root.n, 0, column, stump);
        return std::move(growing.tree);
    }

private:
    // Rows, ascending.
    struct Node {
        const index_t* rows;
        index_t n;
    };
    struct Growing {
        const Fixed& fixed;
        index_t max_depth;
        std::int8_t* votes;
        Tree tree;
        std::vector<index_t> rows;
        std::vector<index_t> room;
    };

    const BinnedTable& table_;
    int n_threads_;
    std::vector<double> weights_;
    std::vector<index_t> all_rows_;
    std::vector<std::int64_t> root_counts_;

    Node whole() const { return {all_rows_.data(), static_cast<index_t>(all_rows_.size())}; }

    int threads(index_t n) const {
        const index_t k = table_.n_columns();
        return k * (n + 512) > 65536 ? threads_for(n_threads_, k) : 1;
    }

    template <class Target>
    void fill(const Target& target, index_t first, index_t n_columns, const Node& node, const std::int64_t* targets,
              std::int64_t* cells) const {
        index_t columns[kTogether];
        for (index_t c = 0; c < n_columns; ++c) columns[c] = first + c;
        fill_histograms(table_, target, columns, n_columns, node.rows, targets, node.n, cells);
    }

    Stump best_of(index_t column, const std::int64_t* sums, const std::int64_t* counts) const {
        const index_t first = table_.first_bin[column];
        return StumpSearch(table_.columns[column], sums + first, counts + first).best();
    }

    // The best stump of every column. IN targets: signed weights in the order of the node's rows.
    std::vector<Stump> search(const Node& node, const std::vector<std::int64_t>& targets) const {
        const index_t k = table_.n_columns();
        const bool at_root = node.rows == all_rows_.data();
        std::vector<Stump> stumps(static_cast<std::size_t>(k));
        std::vector<std::int64_t> sums(static_cast<std::size_t>(table_.n_all_bins()));
        std::vector<std::int64_t> counted(at_root ? 0 : sums.size());
        const std::int64_t* counts = at_root ? root_counts_.data() : counted.data();
        const int threads = this->threads(node.n);
        const index_t together = std::max<index_t>(1, std::min(kTogether, k / threads));
        const index_t n_tasks = (k + together - 1) / together;
        #pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (index_t task = 0; task < n_tasks; ++task) {
            const index_t begin = task * together;
            const index_t n_columns = std::min(together, k - begin);
            fill(SignedWeight{}, begin, n_columns, node, targets.data(), sums.data());
            if (!at_root) fill(RowCount{}, begin, n_columns, node, targets.data(), counted.data());
            for (index_t j = begin; j < begin + n_columns; ++j) stumps[j] = best_of(j, sums.data(), counts);
        }
        return stumps;
    }

    double weight(const Growing& growing, index_t begin, index_t end) const {
        double sum = 0;
        for (index_t i = begin; i < end; ++i) sum += weights_[growing.rows[i]];
        return sum;
    }

    // Splits a leaf and goes on with both children.
    void divide(Growing& growing, index_t node, index_t begin, index_t end, index_t depth, index_t column,
                const Stump& stump) const {
        const ColumnBins& bins = table_.columns[column];
        const index_t n_left =
            partition_rows(table_.column(column), goes_left(stump.split, bins.n_bins), growing.rows.data() + begin,
                           end - begin, growing.room.data() + begin, n_threads_);
        const index_t middle = begin + n_left;
        const index_t left = growing.tree.n_nodes();
        *growing.tree.add_leaf(weight(growing, begin, middle)) = static_cast<double>(stump.vote);
        *growing.tree.add_leaf(weight(growing, middle, end)) = static_cast<double>(-stump.vote);
        growing.tree.split_leaf(node, column, bins, stump.split, left, left + 1);
        growing.tree.value[node] = 0.0;
        refine(growing, left, begin, middle, depth + 1, stump.vote);
        refine(growing, left + 1, middle, end, depth + 1, -stump.vote);
    }

    void refine(Growing& growing, index_t node, index_t begin, index_t end, index_t depth, std::int64_t vote) const {
        if (depth < growing.max_depth && end - begin > 1) {
            std::vector<std::int64_t> targets(static_cast<std::size_t>(end - begin));
            std::int64_t sum = 0;
            for (index_t i = begin; i < end; ++i) sum += targets[i - begin] = growing.fixed.values[growing.rows[i]];
            const auto stumps = search({growing.rows.data() + begin, end - begin}, targets);
            const auto best = std::max_element(stumps.begin(), stumps.end(),
                                               [](const Stump& a, const Stump& b) { return a.edge < b.edge; });
            if (best->edge > vote * sum) {
                divide(growing, node, begin, end, depth, best - stumps.begin(), *best);
                return;
            }
        }
        for (index_t i = begin; i < end; ++i) growing.votes[growing.rows[i]] = static_cast<std::int8_t>(vote);
    }
};

}  // namespace farthing
