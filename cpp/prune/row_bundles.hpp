// row_bundles: rows that meet a feature, or the features of a group, at the same nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "common/views.hpp"
#include "predict/forest_view.hpp"

namespace farthing {

// Prices as integer multiples of a unit.
struct IntegerCosts {
    Span<const std::int64_t> own;     // (k,)
    Span<const std::int64_t> shared;  // (g,)
    Span<const index_t> group_of;     // (k,), -1: none
    std::int64_t test = 0;            // of one test, whether or not the feature is owned
};

// A hash table of the distinct sets of nodes, with the number of rows of each.
class RowBundles {
public:
    explicit RowBundles(const IntegerCosts& sheet) : sheet_(sheet), rank_(sheet.own.size), table_(1 << 12, -1) {
        std::vector<index_t> order(sheet.own.size);
        std::iota(order.begin(), order.end(), index_t{0});
        std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return item_of(a) < item_of(b); });
        for (std::size_t i = 0; i < order.size(); ++i) rank_[order[i]] = static_cast<std::int64_t>(i);
        feature_of_rank_ = order;
    }

    // The item that is paid for: the feature's group (numbered after the features) if its shared cost is above zero,
    // else the feature itself.
    index_t item_of(index_t feature) const {
        const index_t group = sheet_.group_of[feature];
        return group >= 0 && sheet_.shared[group] > 0 ? sheet_.own.size + group : feature;
    }
    bool costs(index_t feature) const { return sheet_.own[feature] > 0 || item_of(feature) != feature; }

    // Adds one row.   IN OUT keys: the nodes where it first meets its features, in any order; used as scratch.
    void add(const ForestView& forest, std::vector<std::int64_t>& keys) {
        // Key: the rank of the feature in the high 32 bits, the node in the low ones, so sorting groups the nodes by
        // item.
        for (std::int64_t& key : keys) key |= rank_[forest.feature[key]] << 32;
        std::sort(keys.begin(), keys.end());
        for (std::size_t begin = 0; begin < keys.size();) {
            const index_t item = item_of(feature_of_rank_[keys[begin] >> 32]);
            std::size_t end = begin;
            std::uint64_t hash = 1469598103934665603u;
            while (end < keys.size() && item_of(feature_of_rank_[keys[end] >> 32]) == item) {
                hash = (hash ^ static_cast<std::uint64_t>(keys[end])) * 0x9e3779b97f4a7c15u;
                hash ^= hash >> 29;
                ++end;
            }
            count_row(item, keys.data() + begin, static_cast<index_t>(end - begin), hash);
            begin = end;
        }
    }

    index_t size() const { return static_cast<index_t>(item_.size()); }
    index_t item(index_t bundle) const { return item_[bundle]; }
    std::int64_t rows(index_t bundle) const { return rows_[bundle]; }
    Span<const std::int32_t> nodes(index_t bundle) const {
        const index_t end = bundle + 1 < size() ? begin_[bundle + 1] : static_cast<index_t>(nodes_.size());
        return {nodes_.data() + begin_[bundle], end - begin_[bundle]};
    }

private:
    const IntegerCosts& sheet_;
    std::vector<std::int64_t> rank_;   // features in the order of their items
    std::vector<index_t> feature_of_rank_;
    std::vector<std::int32_t> nodes_;  // of all bundles, sorted by feature and node
    std::vector<index_t> begin_;
    std::vector<index_t> item_;
    std::vector<std::int64_t> rows_;
    std::vector<std::uint64_t> hash_;
    std::vector<std::int32_t> table_;  // open addressing; the size is a power of two

    void count_row(index_t item, const std::int64_t* keys, index_t n, std::uint64_t hash) {
        const std::uint64_t mask = table_.size() - 1;
        std::uint64_t at = hash & mask;
        for (; table_[at] >= 0; at = (at + 1) & mask) {
            if (hash_[table_[at]] == hash && same(table_[at], keys, n)) {
                ++rows_[table_[at]];
                return;
            }
        }
        if (item_.size() == static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
            throw std::overflow_error("too many rows to prune on");
        table_[at] = static_cast<std::int32_t>(item_.size());
        begin_.push_back(static_cast<index_t>(nodes_.size()));
        item_.push_back(item);
        rows_.push_back(1);
        hash_.push_back(hash);
        for (index_t i = 0; i < n; ++i) nodes_.push_back(static_cast<std::int32_t>(keys[i] & 0xffffffff));
        if (2 * item_.size() > table_.size()) rehash();
    }

    bool same(index_t bundle, const std::int64_t* keys, index_t n) const {
        const Span<const std::int32_t> own_nodes = nodes(bundle);
        if (own_nodes.size != n) return false;
        for (index_t i = 0; i < n; ++i) {
            if (own_nodes[i] != static_cast<std::int32_t>(keys[i] & 0xffffffff)) return false;
        }
        return true;
    }

    void rehash() {
        table_.assign(2 * table_.size(), -1);
        const std::uint64_t mask = table_.size() - 1;
        for (std::size_t b = 0; b < hash_.size(); ++b) {
            std::uint64_t at = hash_[b] & mask;
            while (table_[at] >= 0) at = (at + 1) & mask;
            table_[at] = static_cast<std::int32_t>(b);
        }
    }
};

}  // namespace farthing
