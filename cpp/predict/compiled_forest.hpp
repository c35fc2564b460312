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
// Stops point to themselves, so a group of rows can take the same number of steps without a branch. The places of a
// tree are numbered level by level, so that the children of a node are neighbours, in the order left, right, stop:
//
//     place:   0   1   2   3   4   5
//     node:    a   b   c   d   e   stop of b        a: b | c    b: d | e, missing values stay
class CompiledForest {
public:
    struct Node {
        double threshold;      // x <= threshold goes left, whatever the forest's comparator
        std::int32_t feature;
        std::int32_t link;     // 4 * first child + the number of the child for missing values; of a stop, 4 * itself

        std::int32_t first_child() const { return link >> 2; }
        std::int32_t missing_child() const { return first_child() + (link & 3); }
        bool is_stop(std::int32_t place) const { return first_child() == place; }

        // The place after this one, by arithmetic: a conditional would compile to a jump, which is unpredictable.
        std::int32_t next(double x) const {
            const auto misses = static_cast<std::int32_t>(x != x);
            // NaN is not <=, so a missing value counts as right first.
            return first_child() + static_cast<std::int32_t>(!(x <= threshold)) + (-misses & ((link & 3) - 1));
        }
    };
    struct CompiledTree {
        index_t first = 0;
        index_t n_places = 0;
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
        // Each inner node may add a stop, and links are four times as large as places.
        if (n >= std::numeric_limits<std::int32_t>::max() / 8) throw std::length_error("a tree has 2^28 nodes or more");
        CompiledTree tree;
        tree.first = static_cast<index_t>(nodes_.size());
        std::vector<index_t> depth;  // of each place
        add_place(tree, begin, -1, depth);
        for (index_t place = 0; place < static_cast<index_t>(depth.size()); ++place) {
            const index_t node = source_[tree.first + place];
            const index_t parent = parent_[tree.first + place];
            const bool extra = parent >= 0 && source_[tree.first + parent] == node;  // where missing values stay
            if (extra || forest_.feature[node] < 0) continue;
            const auto child = static_cast<std::int32_t>(depth.size());
            add_place(tree, begin + forest_.left[node], place, depth);
            add_place(tree, begin + forest_.right[node], place, depth);
            const auto missing = static_cast<Missing>(forest_.missing[node]);
            if (missing == Missing::stay) add_place(tree, node, place, depth);
            Node& out = nodes_[tree.first + place];
            out.feature = forest_.feature[node];
            out.link = 4 * child + (missing == Missing::left ? 0 : missing == Missing::right ? 1 : 2);
            out.threshold = forest_.strict ? largest_below(forest_.threshold[node]) : forest_.threshold[node];
            tree.depth = std::max(tree.depth, depth[place] + 1);
            tree.categorical = tree.categorical || forest_.category[node] >= 0;
            ++tree.n_tests;
        }
        tree.n_places = static_cast<index_t>(depth.size());
        trees_.push_back(tree);
        if (!keeps_masks()) return;
        tested_.resize(tested_.size() + static_cast<std::size_t>(n_words_), 0);
        std::uint64_t* tested = tested_.data() + t * n_words_;
        for (index_t i = 0; i < tree.n_places; ++i) {
            for (index_t w = 0; w < n_words_; ++w) tested[w] |= mask(tree, i)[w];
        }
    }

    // The t for which x < threshold is the same as x <= t. Nothing is below minus infinity: NaN, which no x compares
    // with.
    static double largest_below(double threshold) {
        constexpr double kLowest = -std::numeric_limits<double>::infinity();
        return threshold == kLowest ? std::numeric_limits<double>::quiet_NaN() : std::nextafter(threshold, kLowest);
    }

    // Appends a place as a stop, with the features on the path to it.   IN OUT depth: of each place of the tree.
    void add_place(const CompiledTree& tree, index_t node, index_t parent, std::vector<index_t>& depth) {
        const auto place = static_cast<std::int32_t>(depth.size());
        depth.push_back(parent < 0 ? 0 : depth[static_cast<std::size_t>(parent)] + 1);
        nodes_.push_back({std::numeric_limits<double>::infinity(), 0, 4 * place});
        source_.push_back(node);
        parent_.push_back(parent);
        if (!keeps_masks()) return;
        masks_.resize(masks_.size() + static_cast<std::size_t>(mask_stride()), 0);
        if (parent < 0) return;
        std::uint64_t* to = masks_.data() + (tree.first + place) * mask_stride();
        const std::uint64_t* from = masks_.data() + (tree.first + parent) * mask_stride();
        std::copy(from, from + n_words_, to);
        const index_t feature = forest_.feature[source_[tree.first + parent]];
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
            const std::int32_t next = node.next(x);
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
        while (!nodes[at].is_stop(at)) {
            const auto x = static_cast<double>(rows[r][nodes[at].feature * column_stride]);
            const Branch branch = branch_of(forest.forest(), forest.source(tree, at), x);
            at = branch == Branch::missing ? nodes[at].missing_child()
                                           : nodes[at].first_child() + static_cast<std::int32_t>(branch);
        }
        place[r] = at;
    }
}

}  // namespace farthing
