// forest_view: the trees of a model as flat arrays, and one step down a tree.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/views.hpp"
#include "grow/split.hpp"

namespace farthing {

// All trees of a model, concatenated. Fields are those of Tree; children are relative to the tree's first node.
struct ForestView {
    index_t n_features = 0;
    index_t n_outputs = 0;
    index_t width = 1;                    // scores per node
    Span<const index_t> offsets;          // (trees + 1,)
    Span<const index_t> target;           // (trees,): the first output that a tree adds to
    Span<const std::int32_t> feature;
    Span<const double> threshold;
    Span<const index_t> left;
    Span<const index_t> right;
    Span<const std::uint8_t> missing;
    Span<const index_t> category;
    Span<const std::uint64_t> category_words;
    Span<const index_t> category_widths;  // (n_features,): words per set of categories
    Span<const double> scores;            // (nodes, width)
    bool strict = false;                  // the test is x < threshold, not x <= threshold
    bool single = false;                  // x is rounded to 32 bits before the test
    bool single_sums = false;             // sums of scores are rounded to 32 bits after each addition

    index_t n_trees() const { return target.size; }

    // Adds the scores of a node to the outputs of a row. The sum of two 32-bit floats in 64 bits, rounded once, is
    // their 32-bit sum.
    void add(index_t tree, const double* node_scores, double* outputs) const {
        double* out = outputs + target[tree];
        for (index_t w = 0; w < width; ++w) out[w] += node_scores[w];
        if (!single_sums) return;
        for (index_t w = 0; w < width; ++w) out[w] = static_cast<double>(static_cast<float>(out[w]));
    }
};

enum class Branch { left, right, missing };

// The branch that a value takes at an inner node.
inline Branch branch_of(const ForestView& forest, index_t node, double x) {
    if (std::isnan(x)) return Branch::missing;
    if (forest.category[node] < 0) {
        const double value = forest.single ? static_cast<double>(static_cast<float>(x)) : x;
        const bool left = forest.strict ? value < forest.threshold[node] : value <= forest.threshold[node];
        return left ? Branch::left : Branch::right;
    }
    const index_t width = forest.category_widths[forest.feature[node]];
    if (!(x >= 0 && x < static_cast<double>(64 * width))) return Branch::missing;
    const auto code = static_cast<index_t>(x);
    const std::uint64_t* sets = forest.category_words.data + forest.category[node];
    if ((sets[code >> 6] >> (code & 63)) & 1u) return Branch::left;
    if ((sets[width + (code >> 6)] >> (code & 63)) & 1u) return Branch::right;
    return Branch::missing;
}

// The next node, or the same one if the descent ends here because a missing value stays.
inline index_t next_node(const ForestView& forest, index_t first, index_t node, double x) {
    Branch branch = branch_of(forest, node, x);
    if (branch == Branch::missing) {
        const auto rule = static_cast<Missing>(forest.missing[node]);
        if (rule == Missing::stay) return node;
        branch = rule == Missing::left ? Branch::left : Branch::right;
    }
    return first + (branch == Branch::left ? forest.left[node] : forest.right[node]);
}

}  // namespace farthing
