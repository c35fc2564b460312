// count_ahead: with peers, an exchange takes as long as counting some million entries. So the children of several open
// leaves are counted before their turn, and their histograms travel together. A leaf whose candidate has changed by
// then is counted again. The tree is the same: its splits are applied in the same order, from the same sums.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/peers.hpp"
#include "common/views.hpp"
#include "grow/grow_options.hpp"
#include "grow/leaf.hpp"
#include "grow/leaf_search.hpp"
#include "grow/row_partition.hpp"
#include "grow/split.hpp"
#include "table/binned_table.hpp"

namespace farthing {

template <class Target>
class CountAhead {
public:
    // IN OUT rows: the training rows, of which each leaf has a range; scratch (n,).
    CountAhead(const BinnedTable& table, const Target& target, const GrowOptions& options, LeafSearch<Target>& search,
               std::vector<index_t>& rows, std::vector<std::int64_t>& scratch)
        : table_(table), target_(target), options_(options), search_(search), rows_(rows), scratch_(scratch) {}

    // Counts the root, and adds up its sums in the same exchange.
    void count_root(Leaf& root) {
        const auto width = static_cast<index_t>(root.sums.size());
        std::vector<std::int64_t> numbers(static_cast<std::size_t>(search_.histogram_length() + width), 0);
        search_.count(root.begin, root.end, numbers.data() + width);
        std::copy(root.sums.begin(), root.sums.end(), numbers.begin());
        add_up(options_.peers, numbers);
        std::copy(numbers.begin(), numbers.begin() + width, root.sums.begin());
        root.histogram = search_.store(numbers.data() + width);
    }

    // Counts the smaller child of an open leaf, and of those that are likely to be split after it.
    // IN  first: the leaf to be split now; others: further open leaves, best first; n_splits: how many more there may be.
    void count(std::vector<Leaf>& leaves, index_t first, const std::vector<index_t>& others, index_t n_splits) {
        if (!countable(leaves[first]) || is_counted(leaves[first])) return;
        std::vector<index_t> batch{first};
        for (index_t rank = 1; rank <= static_cast<index_t>(others.size()) && rank < n_splits; ++rank) {
            const Leaf& leaf = leaves[others[rank - 1]];
            // All but the last splits are nearly certain to come; the others only if counting in vain costs little.
            const bool likely = kCertainShare * (rank + 1) <= n_splits;
            if (countable(leaf) && !is_counted(leaf) && (likely || is_cheap(leaf))) batch.push_back(others[rank - 1]);
        }
        const index_t length = search_.histogram_length();
        index_t n_counted = 0;
        std::vector<std::int64_t> numbers(static_cast<std::size_t>(length) * batch.size(), 0);
        for (const index_t place : batch) {
            Leaf& leaf = leaves[place];
            search_.release(leaf.ahead.histogram);
            leaf.ahead = {};
            if ((leaf.ahead.histogram = search_.reserve()) < 0) break;  // no room: those counted so far will do
            part(leaf);
            const index_t middle = leaf.begin + leaf.ahead.n_left;
            const bool left_is_small = leaf.ahead.left_rows <= leaf.n_rows - leaf.ahead.left_rows;
            search_.count(left_is_small ? leaf.begin : middle, left_is_small ? middle : leaf.end,
                          numbers.data() + length * n_counted++);
        }
        numbers.resize(static_cast<std::size_t>(length * n_counted));
        if (n_counted == 0) return;
        add_up(options_.peers, numbers);
        for (index_t i = 0; i < n_counted; ++i) {
            const std::int64_t* total = numbers.data() + length * i;
            std::copy(total, total + length, search_.cells(leaves[batch[static_cast<std::size_t>(i)]].ahead.histogram));
        }
    }

    // Whether the children of the leaf's candidate are counted.
    static bool is_counted(const Leaf& leaf) {
        return leaf.ahead.feature >= 0 && leaf.ahead.feature == leaf.candidate.feature &&
               same_split(leaf.ahead.split, leaf.split);
    }

private:
    static constexpr index_t kCertainShare = 3;
    static constexpr index_t kCheapEntries = index_t{1} << 20;  // counted in about a millisecond

    const BinnedTable& table_;
    const Target& target_;
    const GrowOptions& options_;
    LeafSearch<Target>& search_;
    std::vector<index_t>& rows_;
    std::vector<std::int64_t>& scratch_;

    // The rows of a child are known from the histogram of the leaf; its children must need histograms.
    bool countable(const Leaf& leaf) const {
        return leaf.histogram >= 0 && leaf.candidate.feature >= 0 &&
               (leaf.depth + 1 < options_.max_depth || search_.updates_root());
    }

    // The same for all peers, so by the rows of all.
    bool is_cheap(const Leaf& leaf) const {
        return leaf.n_rows / 2 / options_.peers->size() * search_.n_columns() <= kCheapEntries;
    }

    // Parts the rows of this process by the leaf's candidate.
    void part(Leaf& leaf) {
        const index_t feature = leaf.candidate.feature;
        const index_t n_bins = table_.columns[feature].n_bins;
        const auto left_bins = goes_left(leaf.split, n_bins);
        leaf.ahead.feature = feature;
        leaf.ahead.split = leaf.split;
        leaf.ahead.n_left = partition_rows(table_.column(feature), left_bins, rows_.data() + leaf.begin, leaf.n(),
                                           scratch_.data(), options_.n_threads);
        const std::int64_t* cells = search_.cells_of(leaf, feature);
        for (index_t bin = 0; bin <= n_bins; ++bin, cells += target_.width()) {
            if (left_bins[bin]) leaf.ahead.left_rows += target_.n_rows(cells);
        }
    }
};

}  // namespace farthing
