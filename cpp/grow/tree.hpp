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
    std::vector<double> value;  // (nodes, n_values)
    std::vector<double> cover;  // weight of its training rows

    index_t n_nodes() const { return static_cast<index_t>(feature.size()); }

    void reserve(index_t n) {
        const auto room = static_cast<std::size_t>(n);
        feature.reserve(room);
        threshold.reserve(room);
        left.reserve(room);
        right.reserve(room);
        missing.reserve(room);
        category.reserve(room);
        value.reserve(room * static_cast<std::size_t>(n_values));
        cover.reserve(room);
    }

    // Adds a leaf and returns where its values are to be written.
    double* add_leaf(double weight) {
        feature.push_back(-1);
        threshold.push_back(0.0);
        left.push_back(-1);
        right.push_back(-1);
        missing.push_back(static_cast<std::uint8_t>(Missing::stay));
        category.push_back(-1);
        cover.push_back(weight);
        value.resize(value.size() + static_cast<std::size_t>(n_values));
        return value.data() + (n_nodes() - 1) * n_values;
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
