// threshold_tree: a found tree whose tests of ordered columns are single thresholds.
//
// An interval test becomes two nested thresholds: codes below the interval go left, and of the others, those inside go
// left and those above right. The tree of the codes outside stands below both; each copy has the same tests and labels.
// The second threshold is free, since its column is owned.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/views.hpp"
#include "optimal/column_tests.hpp"
#include "optimal/priced_rows.hpp"
#include "optimal/tree_search.hpp"

namespace farthing {

struct ThresholdTree {
    FoundTree tree;
    std::vector<index_t> origin;  // (nodes,), the first node with the same test or leaf: itself unless it is a copy
    index_t n_tests = 0;          // of the found tree; an interval is one
};

class ThresholdTreeBuilder {
public:
    ThresholdTreeBuilder(const FoundTree& found, const SearchColumns& columns) : found_(found), columns_(columns) {
        for (const std::int32_t feature : found.feature) made_.n_tests += feature >= 0;
        first_.assign(found.feature.size(), {-1, -1});
        add(0);
    }

    ThresholdTree take() { return std::move(made_); }

private:
    using Sides = std::array<std::uint8_t, 256>;
    static constexpr std::uint8_t kNoRow = 0;
    static constexpr std::uint8_t kLeft = 1;
    static constexpr std::uint8_t kRight = 2;

    const FoundTree& found_;
    const SearchColumns& columns_;
    ThresholdTree made_;
    std::vector<std::array<index_t, 2>> first_;  // by found node, the first node of its one or two thresholds

    // IN which: 1 for the second threshold of an interval.
    index_t add_node(index_t found, int which, std::int32_t feature, const Sides& sides) {
        FoundTree& tree = made_.tree;
        const auto node = static_cast<index_t>(tree.feature.size());
        tree.feature.push_back(feature);
        tree.left.push_back(-1);
        tree.right.push_back(-1);
        tree.side.insert(tree.side.end(), sides.begin(), sides.end());
        index_t& first = first_[found][which];
        if (first < 0) first = node;
        made_.origin.push_back(first);
        return node;
    }

    // Adds a node of the found tree and all below it; returns its first threshold.
    index_t add(index_t found) {
        const std::int32_t feature = found_.feature[found];
        Sides sides{};
        std::copy_n(found_.side.begin() + found * 256, 256, sides.begin());
        if (feature < 0) return add_node(found, 0, feature, sides);
        Sides inner{};
        const bool interval = split_interval(feature, sides, inner);
        const index_t node = add_node(found, 0, feature, sides);
        if (!interval) {
            link(node, found_.left[found], found_.right[found]);
            return node;
        }
        made_.tree.left[node] = add(found_.right[found]);
        const index_t second = add_node(found, 1, feature, inner);
        made_.tree.right[node] = second;
        link(second, found_.left[found], found_.right[found]);
        return node;
    }

    void link(index_t node, index_t found_left, index_t found_right) {
        const index_t left = add(found_left);
        made_.tree.left[node] = left;
        const index_t right = add(found_right);
        made_.tree.right[node] = right;
    }

    // Whether the codes on the left have others below them, hence above them, too: an interval.
    // INOUT sides: of the test, then of its first threshold.   OUT inner: of the second one, below its right side.
    bool split_interval(std::int32_t feature, Sides& sides, Sides& inner) const {
        if (static_cast<TestKind>(columns_.kinds[feature]) != TestKind::intervals) return false;
        const index_t missing = columns_.missing[feature];
        const index_t n_numbers = missing >= 0 ? missing : columns_.n_codes[feature];
        const std::uint8_t* begin = sides.data();
        const std::uint8_t* first_left = std::find(begin, begin + n_numbers, kLeft);
        if (std::find(begin, first_left, kRight) == first_left) return false;
        for (index_t code = 0; code < 256; ++code) {
            if (sides[code] == kNoRow) continue;
            const bool below = code < first_left - begin || (code == missing && sides[code] == kRight);
            if (!below) inner[code] = sides[code];
            sides[code] = below ? kLeft : kRight;
        }
        return true;
    }
};

}  // namespace farthing
