// compiled_forest: trees laid out so that several rows descend in lockstep.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "common/bitset.hpp"
#include "common/views.hpp"
#include "grow/split.hpp"
#include "predict/forest_view.hpp"

namespace farthing {

// A stop is a place where a descent can end: a leaf, or an extra node for missing values that stay at an inner node.
// Stops point to themselves, so a group of rows can take the same number of steps without a branch.
class CompiledForest {
public:
    struct Node {
        double threshold;      // x <= threshold goes left, whatever the forest's comparator
        std::int32_t feature;
        std::int32_t next[3];  // indexed by Branch; relative to the tree's first compiled node
    };
    struct CompiledTree {
        index_t first = 0;
        index_t depth = 0;
        index_t n_tests = 0;  // inner nodes
        bool categorical = false;
    };

    explicit CompiledForest(const ForestView& forest) : forest_(forest), n_words_(Bitset::n_words(forest.n_features)) {
        for (index_t t = 0; t < forest.n_trees(); ++t) compile(t);
    }

    const ForestView& forest() const { return forest_; }
    index_t n_words() const { return n_words_; }
    // Whether the features on the paths are stored; sets that are too wide are not.
    bool keeps_masks() const { return n_words_ <= kMaskWords; }
    // Words from one set of features to the next: three become four, which fit a register.
    index_t mask_stride() const { return n_words_ == 3 ? 4 : n_words_; }
    const CompiledTree& tree(index_t t) const { return trees_[static_cast<std::size_t>(t)]; }
    const Node* nodes(const CompiledTree& tree) const { return nodes_.data() + tree.first; }
    index_t source(const CompiledTree& tree, index_t place) const { return source_[tree.first + place]; }

    // The features on the path from the root to this place, (stride,); null if they are not stored.
    const std::uint64_t* mask(const CompiledTree& tree, index_t place) const {
        return keeps_masks() ? masks_.data() + (tree.first + place) * mask_stride() : nullptr;
    }

    // The features that a tree tests, (words,); null if they are not stored.
    const std::uint64_t* tested(index_t t) const {
        return keeps_masks() ? tested_.data() + t * n_words_ : nullptr;
    }

    // Whether a tree may test a feature that is not among these, (words,).
    bool may_touch_more(index_t t, const std::uint64_t* touched) const {
        if (!keeps_masks()) return true;
        std::uint64_t more = 0;
        for (index_t w = 0; w < n_words_; ++w) more |= tested(t)[w] & ~touched[w];
        return more != 0;
    }

    // Adds the features on the path from the root to this place.
    void add_path_features(const CompiledTree& tree, index_t place, std::uint64_t* words) const {
        if (const std::uint64_t* mask = this->mask(tree, place)) {
            for (index_t w = 0; w < n_words_; ++w) words[w] |= mask[w];
            return;
        }
        for (index_t up = parent_[tree.first + place]; up >= 0; up = parent_[tree.first + up]) {
            const index_t feature = forest_.feature[source_[tree.first + up]];
            words[feature >> 6] |= std::uint64_t{1} << (feature & 63);
        }
    }

    static constexpr index_t kMaskWords = 4;  // wider sets are not stored but collected by climbing to the root

private:
    const ForestView forest_;
    index_t n_words_;
    std::vector<Node> nodes_;
    std::vector<index_t> source_;        // the forest's node behind a compiled one
    std::vector<index_t> parent_;        // -1: a root
    std::vector<std::uint64_t> masks_;   // features on the path to each place
    std::vector<std::uint64_t> tested_;  // features that each tree tests
    std::vector<CompiledTree> trees_;

    void compile(index_t t) {
        const index_t begin = forest_.offsets[t];
        const index_t n = forest_.offsets[t + 1] - begin;
        if (2 * n > std::numeric_limits<std::int32_t>::max()) throw std::length_error("a tree has 2^30 nodes or more");
        CompiledTree tree;
        tree.first = static_cast<index_t>(nodes_.size());
        std::vector<index_t> depth(static_cast<std::size_t>(n), 0);
        for (index_t i = 0; i < n; ++i) add_stop(i, begin + i, -1);
        for (index_t i = 0; i < n; ++i) {
            const index_t node = begin + i;
            if (forest_.feature[node] < 0) continue;
            for (const index_t child : {forest_.left[node], forest_.right[node]}) {
                depth[child] = depth[i] + 1;
                parent_[tree.first + child] = i;
                inherit_mask(tree, child, i, forest_.feature[node]);
            }
            tree.depth = std::max(tree.depth, depth[i] + 1);
            ++tree.n_tests;
            index_t missing = forest_.missing[node] == static_cast<std::uint8_t>(Missing::left) ? forest_.left[node]
                                                                                                : forest_.right[node];
            if (forest_.missing[node] == static_cast<std::uint8_t>(Missing::stay)) {
                missing = static_cast<index_t>(nodes_.size()) - tree.first;
                add_stop(missing, node, i);
                inherit_mask(tree, missing, i, forest_.feature[node]);
            }
            Node& out = nodes_[tree.first + i];
            out.feature = forest_.feature[node];
            out.next[0] = static_cast<std::int32_t>(forest_.left[node]);
            out.next[1] = static_cast<std::int32_t>(forest_.right[node]);
            out.next[2] = static_cast<std::int32_t>(missing);
            tree.categorical = tree.categorical || forest_.category[node] >= 0;
            const double t0 = forest_.threshold[node];
            out.threshold = forest_.strict ? largest_below(t0) : t0;
        }
        trees_.push_back(tree);
        if (!keeps_masks()) return;
        tested_.resize(tested_.size() + static_cast<std::size_t>(n_words_), 0);
        std::uint64_t* tested = tested_.data() + t * n_words_;
        for (index_t i = 0; i < static_cast<index_t>(nodes_.size()) - tree.first; ++i) {
            for (index_t w = 0; w < n_words_; ++w) tested[w] |= mask(tree, i)[w];
        }
    }

    // The t for which x < threshold is the same as x <= t. Nothing is below minus infinity: NaN, which no x compares
    // with.
    static double largest_below(double threshold) {
        constexpr double kLowest = -std::numeric_limits<double>::infinity();
        return threshold == kLowest ? std::numeric_limits<double>::quiet_NaN() : std::nextafter(threshold, kLowest);
    }

    void add_stop(index_t place, index_t node, index_t parent) {
        const auto self = static_cast<std::int32_t>(place);
        nodes_.push_back({std::numeric_limits<double>::infinity(), 0, {self, self, self}});
        source_.push_back(node);
        parent_.push_back(parent);
        if (keeps_masks()) masks_.resize(masks_.size() + static_cast<std::size_t>(mask_stride()), 0);
    }

    void inherit_mask(const CompiledTree& tree, index_t child, index_t parent, index_t feature) {
        if (!keeps_masks()) return;
        std::uint64_t* to = masks_.data() + (tree.first + child) * mask_stride();
        const std::uint64_t* from = masks_.data() + (tree.first + parent) * mask_stride();
        for (index_t w = 0; w < n_words_; ++w) to[w] |= from[w];
        to[feature >> 6] |= std::uint64_t{1} << (feature & 63);
    }
};

// Rows that descend in lockstep.
constexpr index_t kRowsInStep = 8;

template <class T, bool kSingle>
void descend_in_step(const CompiledForest& forest, const CompiledForest::CompiledTree& tree, const T* const* rows,
                     index_t column_stride, std::int32_t* place) {
    const CompiledForest::Node* nodes = forest.nodes(tree);
    for (index_t r = 0; r < kRowsInStep; ++r) place[r] = 0;
    for (index_t level = 0; level < tree.depth; ++level) {
        std::int32_t moved = 0;
        for (index_t r = 0; r < kRowsInStep; ++r) {
            const CompiledForest::Node& node = nodes[place[r]];
            const T raw = rows[r][node.feature * column_stride];
            const double x = kSingle ? static_cast<double>(static_cast<float>(raw)) : static_cast<double>(raw);
            // The Branch by arithmetic: a conditional would compile to a jump, which is unpredictable.
            const std::int32_t next = node.next[static_cast<int>(!(x <= node.threshold)) + static_cast<int>(x != x)];
            moved |= next ^ place[r];
            place[r] = next;
        }
        if (moved == 0) break;
    }
}

// Trees with categories descend row by row.
template <class T, index_t kRows>
void descend_categorical(const CompiledForest& forest, const CompiledForest::CompiledTree& tree, const T* const* rows,
                         index_t column_stride, std::int32_t* place) {
    const CompiledForest::Node* nodes = forest.nodes(tree);
    for (index_t r = 0; r < kRows; ++r) {
        std::int32_t at = 0;
        while (nodes[at].next[0] != at) {
            const auto x = static_cast<double>(rows[r][nodes[at].feature * column_stride]);
            at = nodes[at].next[static_cast<int>(branch_of(forest.forest(), forest.source(tree, at), x))];
        }
        place[r] = at;
    }
}

}  // namespace farthing
