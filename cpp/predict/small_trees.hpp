// small_trees: trees with few nodes, evaluated for a whole block of rows at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bits.hpp"
#include "common/views.hpp"
#include "predict/compiled_forest.hpp"
#include "predict/threshold_ranks.hpp"

namespace farthing {

// A run of consecutive trees, of which those that have few nodes and no categorical tests are small. Every node of
// these is evaluated for all rows of a block, from the leaves up:
//
//     stop(node) = rank(feature) < bound ? stop(left) : stop(right)
//
// where stops, the places where a descent can end, are numbered from 0 in each tree. That is more tests than a row
// needs, but they compare bytes, and no branch or address depends on a value, so one SIMD instruction serves 16 rows
// or more.
class SmallTrees {
    // One test. A side is the slot that holds the stops of its subtree or, if negative, a single stop: -1 - stop.
    struct Test {
        std::int32_t rank_row;  // row of the block's ranks
        std::int32_t left;
        std::int32_t right;
        std::int32_t out;       // slot of the result
        std::uint8_t bound;
        // 1: added (modulo 256) to rank and bound, it makes the rank of a missing value 0, which goes left
        std::uint8_t shift;
        bool stays;         // missing values end here
        std::uint8_t stop;  // at this stop
    };

    struct Tree {
        bool small = false;
        index_t depth = 0;
        index_t first_test = 0;
        index_t n_tests = 0;
        index_t first_stop = 0;
    };

public:
    // Per tree: 128 leaves and at most 127 stops for missing values fit a byte.
    static constexpr index_t kMaxTests = 127;

    static constexpr index_t kMinTrees = 8;   // with fewer trees, or steps of descents,
    static constexpr index_t kMinSteps = 16;  // ranking the values does not pay

    // The trees from `begin` on, as long as no feature gets too many thresholds.
    SmallTrees(const CompiledForest& forest, index_t begin)
        : begin_(begin), width_(forest.forest().width), mask_stride_(forest.mask_stride()),
          ranks_(forest.forest().n_features),
          rank_row_of_(static_cast<std::size_t>(forest.forest().n_features), -1) {
        for (index_t t = begin; t < forest.forest().n_trees() && admit(forest, t); ++t) {
        }
        ranks_.seal();
        number_features(forest);
        for (index_t t = begin_; t < end(); ++t) {
            if (has(t)) compile(forest, t);
        }
    }

    index_t begin() const { return begin_; }
    // Where the trees after these begin.
    index_t end() const { return begin_ + static_cast<index_t>(trees_.size()); }
    bool has(index_t t) const { return tree(t).small; }
    // Whether ranking the values pays off for those of the trees [begin, end) that are here.
    bool worth_ranking(index_t begin, index_t end) const {
        // A rank takes about as long as a step of a descent.
        index_t n_steps = 0;
        for (index_t t = std::max(begin, begin_); t < std::min(end, this->end()); ++t) {
            n_steps += has(t) ? tree(t).depth : 0;
        }
        return n_steps >= std::max(kMinSteps, static_cast<index_t>(features_.size()));
    }
    // The features that these trees test, in ascending order.
    const std::vector<index_t>& features() const { return features_; }
    const ThresholdRanks& ranks() const { return ranks_; }

    // Per stop of a tree: its scores (unless sparse), the features on the path to it (if stored), and its place in the
    // compiled forest.
    const double* scores(index_t t) const { return scores_.data() + tree(t).first_stop * width_; }
    const std::uint64_t* masks(index_t t) const { return masks_.data() + tree(t).first_stop * mask_stride_; }
    const std::int32_t* places(index_t t) const { return places_.data() + tree(t).first_stop; }

    // A block of rows: the ranks of their values, and their stops in up to kTreesTogether trees.
    template <index_t kRows, index_t kTreesTogether>
    class Block {
    public:
        // Ranks the values that some trees test: value(row, feature), row < kRows.
        template <class Value>
        void rank(const SmallTrees& trees, Value value) {
            trees_ = &trees;
            const std::vector<index_t>& features = trees.features();
            ranks_.resize(std::max(ranks_.size(), features.size() * kRows));
            missing_.resize(std::max(missing_.size(), features.size()));
            stops_.resize(std::max(stops_.size(), static_cast<std::size_t>((kTreesTogether + trees.n_slots_ - 1) * kRows)));
            // Some neighbouring features of a row at a time: they share a line of the cache.
            double x[kFeaturesTogether][kRows];
            for (std::size_t first = 0; first < features.size(); first += kFeaturesTogether) {
                const std::size_t n = std::min(kFeaturesTogether, features.size() - first);
                for (index_t r = 0; r < kRows; ++r) {
                    for (std::size_t i = 0; i < n; ++i) x[i][r] = value(r, features[first + i]);
                }
                for (std::size_t i = 0; i < n; ++i) {
                    missing_[first + i] = trees.ranks().template rank<kRows>(features[first + i], x[i],
                                                                             ranks_.data() + (first + i) * kRows);
                }
            }
        }

        // Returns the stop of each row in tree t, (kRows,); i < kTreesTogether numbers the trees evaluated together.
        const std::uint8_t* descend(index_t t, index_t i) {
            const Tree& tree = trees_->tree(t);
            std::uint8_t* slots = stops_.data() + i * kRows;
            if (tree.n_tests == 0) std::fill(slots, slots + kRows, std::uint8_t{0});
            const Test* tests = trees_->tests_.data() + tree.first_test;
            for (index_t k = 0; k < tree.n_tests; ++k) apply(tests[k], slots);
            return slots;
        }

    private:
        static constexpr std::size_t kFeaturesTogether = 8;

        const SmallTrees* trees_ = nullptr;
        std::vector<std::uint8_t> ranks_;    // (features, kRows)
        std::vector<std::uint8_t> missing_;  // (features,): whether any row's value is missing
        std::vector<std::uint8_t> stops_;    // (slots, kRows)

        struct ConstantStop {
            std::uint8_t stop;
            std::uint8_t operator[](index_t) const { return stop; }
        };

        void apply(const Test& test, std::uint8_t* slots) const {
            const std::uint8_t* left = slots + test.left * kRows;
            const std::uint8_t* right = slots + test.right * kRows;
            if (test.left < 0 && test.right < 0) {
                apply(test, ConstantStop{stop_of(test.left)}, ConstantStop{stop_of(test.right)}, slots);
            } else if (test.left < 0) {
                apply(test, ConstantStop{stop_of(test.left)}, right, slots);
            } else if (test.right < 0) {
                apply(test, left, ConstantStop{stop_of(test.right)}, slots);
            } else {
                apply(test, left, right, slots);
            }
        }

        template <class Left, class Right>
        void apply(const Test& test, Left left, Right right, std::uint8_t* slots) const {
            const std::uint8_t* ranks = ranks_.data() + test.rank_row * kRows;
            std::uint8_t* out = slots + test.out * kRows;
            // Both sides of the comparison move by 128: vectors of signed bytes are compared in one instruction.
            const auto shift = static_cast<std::uint8_t>(test.shift + 128);
            const auto bound = static_cast<std::int8_t>(test.bound + 128);
            FARTHING_SIMD_LOOP
            for (index_t r = 0; r < kRows; ++r) {
                const std::uint8_t a = left[r];
                const std::uint8_t b = right[r];
                out[r] = static_cast<std::int8_t>(static_cast<std::uint8_t>(ranks[r] + shift)) < bound ? a : b;
            }
            if (!test.stays || !missing_[static_cast<std::size_t>(test.rank_row)]) return;
            const std::uint8_t stop = test.stop;
            FARTHING_SIMD_LOOP
            for (index_t r = 0; r < kRows; ++r) out[r] = ranks[r] == ThresholdRanks::kMissing ? stop : out[r];
        }
    };

private:
    index_t begin_;
    index_t width_;
    index_t mask_stride_;
    ThresholdRanks ranks_;
    std::vector<index_t> features_;
    std::vector<std::int32_t> rank_row_of_;  // position of a feature in features_, or -1
    std::vector<Tree> trees_;
    std::vector<Test> tests_;
    std::vector<double> scores_;
    std::vector<std::uint64_t> masks_;
    std::vector<std::int32_t> places_;
    index_t n_slots_ = 1;

    const Tree& tree(index_t t) const { return trees_[static_cast<std::size_t>(t - begin_)]; }
    static std::uint8_t stop_of(std::int32_t side) { return static_cast<std::uint8_t>(-1 - side); }

    // Adds the next tree. False if it is small, but a feature would get too many thresholds.
    bool admit(const CompiledForest& forest, index_t t) {
        const auto& compiled = forest.tree(t);
        Tree tree;
        if (!compiled.categorical && compiled.n_tests <= kMaxTests) {
            const CompiledForest::Node* nodes = forest.nodes(compiled);
            std::vector<ThresholdRanks::Threshold> thresholds;
            for (index_t i = 0; i < forest.forest().offsets[t + 1] - forest.forest().offsets[t]; ++i) {
                if (nodes[i].next[0] != i) thresholds.emplace_back(nodes[i].feature, nodes[i].threshold);
            }
            if (!ranks_.admit(thresholds)) return false;
            for (const auto& threshold : thresholds) rank_row_of_[static_cast<std::size_t>(threshold.first)] = 0;
            tree.small = true;
            tree.depth = compiled.depth;
        }
        trees_.push_back(tree);
        return true;
    }

    // Numbers the tested features in ascending order.
    void number_features(const CompiledForest& forest) {
        for (index_t feature = 0; feature < forest.forest().n_features; ++feature) {
            std::int32_t& row = rank_row_of_[static_cast<std::size_t>(feature)];
            if (row < 0) continue;
            row = static_cast<std::int32_t>(features_.size());
            features_.push_back(feature);
        }
    }

    void compile(const CompiledForest& forest, index_t t) {
        Tree& tree = trees_[static_cast<std::size_t>(t - begin_)];
        tree.first_test = static_cast<index_t>(tests_.size());
        tree.first_stop = static_cast<index_t>(places_.size());
        compile(forest, t, 0, 0);
        tree.n_tests = static_cast<index_t>(tests_.size()) - tree.first_test;
    }

    // Appends the tests at and below a place, children first, with results in slots from `slot` on; returns its side.
    std::int32_t compile(const CompiledForest& forest, index_t t, std::int32_t place, std::int32_t slot) {
        const CompiledForest::Node& node = forest.nodes(forest.tree(t))[place];
        if (node.next[0] == place) return -1 - add_stop(forest, t, place);
        Test test;
        test.rank_row = rank_row_of_[static_cast<std::size_t>(node.feature)];
        test.left = compile(forest, t, node.next[0], slot);
        test.right = compile(forest, t, node.next[1], test.left < 0 ? slot : slot + 1);
        test.out = slot;
        test.shift = node.next[2] == node.next[0];
        test.bound = static_cast<std::uint8_t>(ranks_.bound({node.feature, node.threshold}) + test.shift);
        test.stays = node.next[2] != node.next[0] && node.next[2] != node.next[1];
        test.stop = test.stays ? static_cast<std::uint8_t>(add_stop(forest, t, node.next[2])) : std::uint8_t{0};
        tests_.push_back(test);
        n_slots_ = std::max<index_t>(n_slots_, slot + 1);
        return slot;
    }

    std::int32_t add_stop(const CompiledForest& forest, index_t t, std::int32_t place) {
        const auto& compiled = forest.tree(t);
        const ForestView& view = forest.forest();
        if (!view.is_sparse()) {
            const double* scores = view.scores.data + forest.source(compiled, place) * width_;
            scores_.insert(scores_.end(), scores, scores + width_);
        }
        const auto stop = static_cast<index_t>(places_.size()) - trees_[static_cast<std::size_t>(t - begin_)].first_stop;
        if (const std::uint64_t* mask = forest.mask(compiled, place)) {
            masks_.insert(masks_.end(), mask, mask + mask_stride_);
        }
        places_.push_back(place);
        return static_cast<std::int32_t>(stop);
    }
};

}  // namespace farthing
