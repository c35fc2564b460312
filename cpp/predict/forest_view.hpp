// forest_view: the trees of a model as flat arrays, and one step down a tree.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/views.hpp"
#include "grow/split.hpp"

namespace farthing {

// Rows of numbers of which most are zero: those that are not, row by row.
struct SparseRows {
    Span<const index_t> starts;         // (rows + 1,)
    Span<const std::int32_t> columns;   // ascending in each row
    Span<const double> entries;

    // visit(column, entry) for the entries of a row.
    template <class Visit>
    void each(index_t row, Visit visit) const {
        for (index_t i = starts[row]; i < starts[row + 1]; ++i) visit(columns[i], entries[i]);
    }
};

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
    Span<const double> scores;            // (nodes, width); none if they are sparse
    bool strict = false;                  // the test is x < threshold, not x <= threshold
    bool single = false;                  // x is rounded to 32 bits before the test
    bool single_sums = false;             // sums of scores are rounded to 32 bits after each addition
    SparseRows sparse;                    // the scores, if most are zero; without starts otherwise

    index_t n_trees() const { return target.size; }

    bool is_sparse() const { return sparse.starts.size > 0; }

    // Adds the scores of a node to the outputs of a row. Without zeros the sums have the same bits: they begin at zero,
    // and never become the negative zero that adding zero would change.
    void add_node(index_t tree, index_t node, double* outputs) const {
        if (!is_sparse()) return add(tree, scores.data + node * width, outputs);
        double* out = outputs + target[tree];
        sparse.each(node, [out](std::int32_t column, double entry) { out[column] += entry; });
    }

    // The same from scores that are not sparse. The sum of two 32-bit floats in 64 bits, rounded once, is
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
