// tree: a tree as flat arrays, one vector per field and one entry per node. Parents precede their children; node 0 is
// the root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/bitset.hpp"
#include "common/views.hpp"
#include "grow/split.hpp"
#include "table/column_bins.hpp"

namespace farthing {

// The values of nodes of which most are zero: those that are not, node by node.
struct SparseValues {
    std::vector<index_t> starts{0};     // (nodes + 1,)
    std::vector<std::int32_t> columns;  // ascending in each node
    std::vector<double> entries;

    void add(const double* row, index_t width) {
        for (index_t k = 0; k < width; ++k) {
            if (row[k] == 0) continue;
            columns.push_back(static_cast<std::int32_t>(k));
            entries.push_back(row[k]);
        }
        starts.push_back(static_cast<index_t>(entries.size()));
    }

    // Whether they take at most half of the memory of all values. A node without any value has no sparse form.
    bool pays(index_t width) const {
        const auto n = static_cast<index_t>(starts.size()) - 1;
        for (index_t node = 0; node < n; ++node) {
            if (starts[node] == starts[node + 1]) return false;
        }
        return 2 * (12 * static_cast<index_t>(entries.size()) + 8 * (n + 1)) <= 8 * n * width;
    }
};

struct Tree {
    index_t n_values = 1;
    std::vector<std::int32_t> feature;  // -1: a leaf
    std::vector<double> threshold;
    std::vector<index_t> left;          // -1 at leaves
    std::vector<index_t> right;
    std::vector<std::uint8_t> missing;  // Missing
    // -1: numeric; else where its two sets (left, right) begin in category_words
    std::vector<index_t> category;
    std::vector<std::uint64_t> category_words;
    std::vector<double> value;  // (nodes, n_values); while the tree grows sparse, those of the last node
    SparseValues sparse_value;  // in their place
    bool sparse = false;
    std::vector<double> cover;  // weight of its training rows

    index_t n_nodes() const { return static_cast<index_t>(feature.size()); }

    // Multiplies the values of all nodes.
    void scale(double factor) {
        for (double& one : value) one *= factor;
        for (double& one : sparse_value.entries) one *= factor;
    }

    void reserve(index_t n) {
        const auto room = static_cast<std::size_t>(n);
        feature.reserve(room);
        threshold.reserve(room);
        left.reserve(room);
        right.reserve(room);
        missing.reserve(room);
        category.reserve(room);
        if (!sparse) value.reserve(room * static_cast<std::size_t>(n_values));
        cover.reserve(room);
    }

    // Adds a leaf and returns where its values are to be written; in a sparse tree, store_values follows.
    double* add_leaf(double weight) {
        feature.push_back(-1);
        threshold.push_back(0.0);
        left.push_back(-1);
        right.push_back(-1);
        missing.push_back(static_cast<std::uint8_t>(Missing::stay));
        category.push_back(-1);
        cover.push_back(weight);
        value.resize((sparse ? 0 : value.size()) + static_cast<std::size_t>(n_values));
        return value.data() + static_cast<index_t>(value.size()) - n_values;
    }

    void store_values() {
        if (sparse) sparse_value.add(value.data(), n_values);
    }

    // Ends the growth: the values stay sparse only if that pays.
    void finish_values() {
        if (!sparse) return;
        value.clear();
        if (sparse_value.pays(n_values)) {
            value.shrink_to_fit();
            return;
        }
        value.assign(static_cast<std::size_t>(n_nodes() * n_values), 0.0);
        for (index_t node = 0; node < n_nodes(); ++node) {
            for (index_t i = sparse_value.starts[node]; i < sparse_value.starts[node + 1]; ++i)
                value[node * n_values + sparse_value.columns[i]] = sparse_value.entries[i];
        }
        sparse_value = {};
        sparse = false;
    }

    void split_leaf(index_t node, index_t column, const ColumnBins& bins, const Split& split, index_t left_child,
                    index_t right_child) {
        feature[node] = static_cast<std::int32_t>(column);
        left[node] = left_child;
        right[node] = right_child;
        missing[node] = static_cast<std::uint8_t>(split.missing);
        if (!split.categorical) {
            // After the last bin, only missing values are left to go right.
            threshold[node] =
                split.bin < bins.n_bins - 1 ? bins.edges[split.bin] : std::numeric_limits<double>::infinity();
            return;
        }
        const auto n_codes = static_cast<index_t>(bins.bin_of_code.size());
        const index_t width = Bitset::n_words(n_codes);
        category[node] = static_cast<index_t>(category_words.size());
        category_words.resize(category_words.size() + static_cast<std::size_t>(2 * width), 0);
        std::uint64_t* sets = category_words.data() + category[node];
        for (index_t code = 0; code < n_codes; ++code) {
            const index_t bin = bins.bin_of_code[code];
            const std::uint64_t bit = std::uint64_t{1} << (code & 63);
            if (has_bin(split.left, bin)) sets[code >> 6] |= bit;
            if (has_bin(split.right, bin)) sets[width + (code >> 6)] |= bit;
        }
    }
};

}  // namespace farthing
