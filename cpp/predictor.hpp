// predictor: the sum of the trees' scores for each row, and the features that the row's walk through them looked at.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "common.hpp"
#include "price.hpp"
#include "split.hpp"

namespace farthing {

// All trees of a model, concatenated; the fields are those of Tree, children counted from the tree's first node.
struct ForestView {
    index_t n_features = 0;
    index_t n_outputs = 0;
    index_t width = 1;                            // scores per node
    Span<const index_t> offsets;                  // (trees + 1,)
    Span<const index_t> target;                   // (trees,): the first output that a tree adds to
    Span<const std::int32_t> feature;
    Span<const double> threshold;
    Span<const index_t> left;
    Span<const index_t> right;
    Span<const std::uint8_t> missing;
    Span<const index_t> category;
    Span<const std::uint64_t> category_words;
    Span<const index_t> category_widths;          // (n_features,): words of one set
    Span<const double> scores;                    // (nodes, width)
    bool strict = false;                          // the test is x < threshold, not x <= threshold
    bool single = false;                          // x is rounded to 32 bits before the test
    bool single_sums = false;                     // sums of scores are rounded to 32 bits after each addition

    index_t n_trees() const { return target.size; }

    // Adds the scores of a node of a tree to the outputs of a row. The sum of two 32 bit numbers in 64 bits, rounded once,
    // is their sum in 32 bits.
    void add(index_t tree, const double* node_scores, double* outputs) const {
        double* out = outputs + target[tree];
        for (index_t w = 0; w < width; ++w) out[w] += node_scores[w];
        if (!single_sums) return;
        for (index_t w = 0; w < width; ++w) out[w] = static_cast<double>(static_cast<float>(out[w]));
    }
};

enum class Turn { left, right, missing };

// Which way a value takes at an inner node.
inline Turn turn(const ForestView& forest, index_t node, double x) {
    if (std::isnan(x)) return Turn::missing;
    if (forest.category[node] < 0) {
        const double value = forest.single ? static_cast<double>(static_cast<float>(x)) : x;
        const bool left = forest.strict ? value < forest.threshold[node] : value <= forest.threshold[node];
        return left ? Turn::left : Turn::right;
    }
    const index_t width = forest.category_widths[forest.feature[node]];
    if (!(x >= 0 && x < static_cast<double>(64 * width))) return Turn::missing;
    const auto code = static_cast<index_t>(x);
    const std::uint64_t* sets = forest.category_words.data + forest.category[node];
    if ((sets[code >> 6] >> (code & 63)) & 1u) return Turn::left;
    if ((sets[width + (code >> 6)] >> (code & 63)) & 1u) return Turn::right;
    return Turn::missing;
}

// The next node, or the same one if the walk of this tree ends here.
inline index_t step(const ForestView& forest, index_t first, index_t node, double x) {
    Turn way = turn(forest, node, x);
    if (way == Turn::missing) {
        const auto rule = static_cast<Missing>(forest.missing[node]);
        if (rule == Missing::stay) return node;
        way = rule == Missing::left ? Turn::left : Turn::right;
    }
    return first + (way == Turn::left ? forest.left[node] : forest.right[node]);
}

// The forest laid out for speed. A stop is a place where a walk can end: a leaf, or an inner node at which missing values
// stay; stops lead to themselves, so that a group of rows can go down in step without a branch.
class CompiledForest {
public:
    struct Node {
        double threshold;       // x <= threshold goes left, whatever the forest's comparator
        std::int32_t feature;
        std::int32_t next[3];   // by Turn, counted from the tree's first compiled node
    };
    struct CompiledTree {
        index_t first = 0;
        index_t depth = 0;
        bool categorical = false;
    };

    explicit CompiledForest(const ForestView& forest)
        : forest_(forest), n_words_(Bitset::n_words(forest.n_features)) {
        for (index_t t = 0; t < forest.n_trees(); ++t) compile(t);
    }

    const ForestView& forest() const { return forest_; }
    index_t n_words() const { return n_words_; }
    const CompiledTree& tree(index_t t) const { return trees_[static_cast<std::size_t>(t)]; }
    const Node* nodes(const CompiledTree& tree) const { return nodes_.data() + tree.first; }
    const double* scores(const CompiledTree& tree, index_t place) const {
        return forest_.scores.data + source_[tree.first + place] * forest_.width;
    }
    index_t source(const CompiledTree& tree, index_t place) const { return source_[tree.first + place]; }

    // Adds the features on the way from the root to this place.
    void touch(const CompiledTree& tree, index_t place, std::uint64_t* words) const {
        if (n_words_ <= kMaskWords) {
            const std::uint64_t* mask = masks_.data() + (tree.first + place) * n_words_;
            for (index_t w = 0; w < n_words_; ++w) words[w] |= mask[w];
            return;
        }
        for (index_t up = parent_[tree.first + place]; up >= 0; up = parent_[tree.first + up]) {
            const index_t feature = forest_.feature[source_[tree.first + up]];
            words[feature >> 6] |= std::uint64_t{1} << (feature & 63);
        }
    }

private:
    static constexpr index_t kMaskWords = 4;  // wider sets of features are collected on the way up instead

    const ForestView forest_;
    index_t n_words_;
    std::vector<Node> nodes_;
    std::vector<index_t> source_;           // the forest's node behind a compiled one
    std::vector<index_t> parent_;           // -1: a root
    std::vector<std::uint64_t> masks_;      // features on the path to each place
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
                inherit(tree, child, i, forest_.feature[node]);
            }
            tree.depth = std::max(tree.depth, depth[i] + 1);
            index_t missing = forest_.missing[node] == static_cast<std::uint8_t>(Missing::left)
                                  ? forest_.left[node]
                                  : forest_.right[node];
            if (forest_.missing[node] == static_cast<std::uint8_t>(Missing::stay)) {
                missing = static_cast<index_t>(nodes_.size()) - tree.first;
                add_stop(missing, node, i);
                inherit(tree, missing, i, forest_.feature[node]);
            }
            Node& out = nodes_[tree.first + i];
            out.feature = forest_.feature[node];
            out.next[0] = static_cast<std::int32_t>(forest_.left[node]);
            out.next[1] = static_cast<std::int32_t>(forest_.right[node]);
            out.next[2] = static_cast<std::int32_t>(missing);
            tree.categorical = tree.categorical || forest_.category[node] >= 0;
            const double t0 = forest_.threshold[node];
            out.threshold = forest_.strict ? below(t0) : t0;
        }
        trees_.push_back(tree);
    }

    // The t with x < threshold exactly if x <= t; nothing is below minus infinity, nor compares with NaN.
    static double below(double threshold) {
        constexpr double kLowest = -std::numeric_limits<double>::infinity();
        return threshold == kLowest ? std::numeric_limits<double>::quiet_NaN() : std::nextafter(threshold, kLowest);
    }

    void add_stop(index_t place, index_t node, index_t parent) {
        const auto self = static_cast<std::int32_t>(place);
        nodes_.push_back({std::numeric_limits<double>::infinity(), 0, {self, self, self}});
        source_.push_back(node);
        parent_.push_back(parent);
        if (n_words_ <= kMaskWords) masks_.resize(masks_.size() + static_cast<std::size_t>(n_words_), 0);
    }

    void inherit(const CompiledTree& tree, index_t child, index_t parent, index_t feature) {
        if (n_words_ > kMaskWords) return;
        std::uint64_t* to = masks_.data() + (tree.first + child) * n_words_;
        const std::uint64_t* from = masks_.data() + (tree.first + parent) * n_words_;
        for (index_t w = 0; w < n_words_; ++w) to[w] |= from[w];
        to[feature >> 6] |= std::uint64_t{1} << (feature & 63);
    }
};

// Rows that go down a tree in step.
constexpr index_t kRowsInStep = 8;
// Rows that meet one tree after the other while both are in the cache.
constexpr index_t kRowsInBlock = 16 * kRowsInStep;

template <class T, bool kSingle>
void descend(const CompiledForest& forest, const CompiledForest::CompiledTree& tree, const T* const* rows,
             index_t column_stride, std::int32_t* place) {
    const CompiledForest::Node* nodes = forest.nodes(tree);
    for (index_t r = 0; r < kRowsInStep; ++r) place[r] = 0;
    for (index_t level = 0; level < tree.depth; ++level) {
        std::int32_t moved = 0;
        for (index_t r = 0; r < kRowsInStep; ++r) {
            const CompiledForest::Node& node = nodes[place[r]];
            const T raw = rows[r][node.feature * column_stride];
            const double x = kSingle ? static_cast<double>(static_cast<float>(raw)) : static_cast<double>(raw);
            // The Turn as a number: a choice would be compiled to a jump, which cannot be foreseen.
            const std::int32_t next = node.next[static_cast<int>(!(x <= node.threshold)) + static_cast<int>(x != x)];
            moved |= next ^ place[r];
            place[r] = next;
        }
        if (moved == 0) break;
    }
}

// Trees with categories go row by row.
template <class T>
void descend_with_categories(const CompiledForest& forest, const CompiledForest::CompiledTree& tree,
                             const T* const* rows, index_t column_stride, std::int32_t* place) {
    const CompiledForest::Node* nodes = forest.nodes(tree);
    for (index_t r = 0; r < kRowsInStep; ++r) {
        std::int32_t at = 0;
        while (nodes[at].next[0] != at) {
            const auto x = static_cast<double>(rows[r][nodes[at].feature * column_stride]);
            at = nodes[at].next[static_cast<int>(turn(forest.forest(), forest.source(tree, at), x))];
        }
        place[r] = at;
    }
}

// Which rows meet which trees: trees [begin, end), and the rows listed (empty: all of them).
struct Leg {
    index_t begin = 0;
    index_t end = 0;
    Span<const index_t> rows;

    index_t n_rows(index_t all) const { return rows.data ? rows.size : all; }
    index_t row(index_t i) const { return rows.data ? rows[i] : i; }
};

// IN  X (n, n_features).   IN OUT outputs (n, n_outputs), touched (n, words) or null: what the trees before this leg
// gave, zeros before the first. Trees are added one by one, so that legs give the bits that one pass gives.
template <class T>
void predict(const CompiledForest& forest, const Matrix<T>& X, const Leg& leg, double* outputs,
             std::uint64_t* touched, int n_threads) {
    const ForestView& view = forest.forest();
    const index_t n_rows = leg.n_rows(X.n_rows);
    const index_t n_blocks = (n_rows + kRowsInBlock - 1) / kRowsInBlock;
    #pragma omp parallel for schedule(dynamic, 4) num_threads(threads_for(n_threads, n_blocks))
    for (index_t block = 0; block < n_blocks; ++block) {
        const index_t begin = block * kRowsInBlock;
        const index_t n = std::min(kRowsInBlock, n_rows - begin);
        index_t numbers[kRowsInBlock];
        const T* rows[kRowsInBlock];
        for (index_t r = 0; r < kRowsInBlock; ++r) {
            numbers[r] = leg.row(begin + std::min(r, n - 1));
            rows[r] = X.data + numbers[r] * X.row_stride;
        }
        for (index_t t = leg.begin; t < leg.end; ++t) {
            const auto& tree = forest.tree(t);
            std::int32_t place[kRowsInBlock];
            for (index_t r = 0; r < n; r += kRowsInStep) {
                if (tree.categorical) {
                    descend_with_categories(forest, tree, rows + r, X.column_stride, place + r);
                } else if (view.single) {
                    descend<T, true>(forest, tree, rows + r, X.column_stride, place + r);
                } else {
                    descend<T, false>(forest, tree, rows + r, X.column_stride, place + r);
                }
            }
            for (index_t r = 0; r < n; ++r) {
                view.add(t, forest.scores(tree, place[r]), outputs + numbers[r] * view.n_outputs);
            }
            if (!touched) continue;
            for (index_t r = 0; r < n; ++r) forest.touch(tree, place[r], touched + numbers[r] * forest.n_words());
        }
    }
}

// All trees in one pass. OUT outputs, touched: zeroed first.
template <class T>
void predict(const CompiledForest& forest, const Matrix<T>& X, double* outputs, std::uint64_t* touched,
             int n_threads) {
    const index_t n_words = forest.n_words();
    std::fill(outputs, outputs + X.n_rows * forest.forest().n_outputs, 0.0);
    if (touched) std::fill(touched, touched + X.n_rows * n_words, 0);
    predict(forest, X, Leg{0, forest.forest().n_trees(), {}}, outputs, touched, n_threads);
}

// The same under a hard budget for each row: a feature whose price would take the row over it is refused, counts as
// missing and is not asked for again, in this leg or a later one.
// IN OUT outputs (n, n_outputs), touched and refused (n, words).
template <class T>
void predict_within(const ForestView& forest, const Sheet& sheet, const Matrix<T>& X, const Leg& leg,
                    Span<const double> budgets, double* outputs, std::uint64_t* touched, std::uint64_t* refused,
                    int n_threads) {
    const index_t n_words = Bitset::n_words(forest.n_features);
    const index_t n_rows = leg.n_rows(X.n_rows);
    #pragma omp parallel num_threads(threads_for(n_threads, n_rows))
    {
        Owned owned(sheet);
        #pragma omp for schedule(dynamic, 64)
        for (index_t i = 0; i < n_rows; ++i) {
            const index_t row = leg.row(i);
            std::uint64_t* bought = touched + row * n_words;
            std::uint64_t* denied = refused + row * n_words;
            owned.assign(sheet, bought);
            double* out = outputs + row * forest.n_outputs;
            for (index_t t = leg.begin; t < leg.end; ++t) {
                const index_t first = forest.offsets[t];
                index_t node = first;
                while (forest.feature[node] >= 0) {
                    const index_t feature = forest.feature[node];
                    if (!owned.has(feature) && !((denied[feature >> 6] >> (feature & 63)) & 1u)) {
                        if (affords(sheet, owned, feature, budgets[row])) {
                            owned.add(sheet, feature);
                        } else {
                            denied[feature >> 6] |= std::uint64_t{1} << (feature & 63);
                        }
                    }
                    const double x = owned.has(feature) ? static_cast<double>(X(row, feature))
                                                        : std::numeric_limits<double>::quiet_NaN();
                    const index_t next = step(forest, first, node, x);
                    if (next == node) break;
                    node = next;
                }
                forest.add(t, forest.scores.data + node * forest.width, out);
            }
            std::copy(owned.feature_words(), owned.feature_words() + n_words, bought);
        }
    }
}

// All trees in one pass. OUT outputs, touched: zeroed first.
template <class T>
void predict_within(const ForestView& forest, const Sheet& sheet, const Matrix<T>& X, Span<const double> budgets,
                    double* outputs, std::uint64_t* touched, int n_threads) {
    const index_t n_words = Bitset::n_words(forest.n_features);
    std::vector<std::uint64_t> refused(static_cast<std::size_t>(X.n_rows * n_words), 0);
    std::fill(outputs, outputs + X.n_rows * forest.n_outputs, 0.0);
    std::fill(touched, touched + X.n_rows * n_words, 0);
    predict_within(forest, sheet, X, Leg{0, forest.n_trees(), {}}, budgets, outputs, touched, refused.data(), n_threads);
}

}  // namespace farthing
