// predictor: the sum of the trees' scores for each row, and the features that the row's walk through them looked at.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "common.hpp"
#include "compiled_forest.hpp"
#include "forest_view.hpp"
#include "price.hpp"
#include "small_trees.hpp"

namespace farthing {

// Which rows meet which trees: trees [begin, end), and the rows listed (empty: all of them).
struct Leg {
    index_t begin = 0;
    index_t end = 0;
    Span<const index_t> rows;

    index_t n_rows(index_t all) const { return rows.data ? rows.size : all; }
    index_t row(index_t i) const { return rows.data ? rows[i] : i; }
};

// Rows that meet one tree after the other while both are in the cache.
constexpr index_t kRowsInBlock = 16 * kRowsInStep;

// A forest made ready for prediction: all of its trees, and the small ones for whole blocks as well.
struct ReadyForest {
    explicit ReadyForest(const ForestView& forest) : trees(forest), small(trees) {}

    CompiledForest trees;
    SmallTrees small;
};

// What one thread needs to send one block of rows after the other through the trees of a leg.
template <class T>
class Pass {
public:
    Pass(const ReadyForest& forest, const Matrix<T>& X, const Leg& leg, double* outputs, std::uint64_t* touched)
        : trees_(forest.trees), small_(forest.small), view_(trees_.forest()), X_(X), leg_(leg), outputs_(outputs),
          touched_(touched), pay_(small_.pay(leg.begin, leg.end)), block_(small_) {
        if (trees_.n_words() > CompiledForest::kMaskWords) return;
        for (index_t t = leg.begin; t < leg.end; ++t) {
            for (index_t w = 0; w < trees_.n_words(); ++w) tested_[w] |= trees_.tested(t)[w];
        }
    }

    // Rows [begin, begin + n) of the leg, n <= kRowsInBlock.
    void run(index_t begin, index_t n) {
        n_ = n;
        for (index_t r = 0; r < kRowsInBlock; ++r) {
            numbers_[r] = leg_.row(begin + std::min(r, n - 1));
            rows_[r] = X_.data + numbers_[r] * X_.row_stride;
        }
        const bool ranked = pay_ && n >= kFewestRows;
        if (ranked) rank();
        if (touched_) open_all();
        for (index_t t = leg_.begin; t < leg_.end;) {
            const index_t together = ranked ? n_together(t) : 0;
            if (together == 0) meet(t);
            if (together == 1) meet_small<1>(t);
            if (together == kTogether) meet_small<kTogether>(t);
            t += std::max(together, index_t{1});
        }
    }

private:
    static constexpr index_t kFewestRows = 32;        // with less, they go through small trees one by one as well
    static constexpr index_t kTogether = 4;           // small trees whose scores are added in one go
    static constexpr index_t kTreesBetweenLooks = 4;

    const CompiledForest& trees_;
    const SmallTrees& small_;
    const ForestView& view_;
    const Matrix<T> X_;
    const Leg leg_;
    double* outputs_;
    std::uint64_t* touched_;
    const bool pay_;
    SmallTrees::Block<kRowsInBlock, kTogether> block_;
    index_t n_ = 0;
    index_t numbers_[kRowsInBlock];
    const T* rows_[kRowsInBlock];
    std::uint64_t tested_[CompiledForest::kMaskWords] = {};   // features that the trees of the leg test
    std::uint64_t lacking_[CompiledForest::kMaskWords] = {};  // those that some open row has not touched
    index_t open_[kRowsInBlock];
    index_t n_open_ = 0;
    index_t since_look_ = 0;

    double* outputs(index_t r) const { return outputs_ + numbers_[r] * view_.n_outputs; }
    std::uint64_t* touched(index_t r) const { return touched_ + numbers_[r] * trees_.n_words(); }

    void rank() {
        block_.rank([&](index_t r, index_t feature) {
            const T x = rows_[r][feature * X_.column_stride];
            return view_.single ? static_cast<double>(static_cast<float>(x)) : static_cast<double>(x);
        });
    }

    // How many small trees that add to the same output come next: none, one or kTogether.
    index_t n_together(index_t t) const {
        index_t n = 0;
        while (n < kTogether && t + n < leg_.end && small_.has(t + n) && view_.target[t + n] == view_.target[t]) ++n;
        return n == kTogether ? n : std::min(n, index_t{1});
    }

    template <index_t kTrees>
    void meet_small(index_t t) {
        const std::uint8_t* stops[kTrees];
        for (index_t i = 0; i < kTrees; ++i) stops[i] = block_.descend(t + i, i);
        add_scores<kTrees>(t, stops);
        for (index_t i = 0; i < kTrees; ++i) {
            if (lacks(t + i)) touch(t + i, stops[i]);
        }
    }

    template <index_t kTrees>
    void add_scores(index_t t, const std::uint8_t* const* stops) const {
        const double* scores[kTrees];
        for (index_t i = 0; i < kTrees; ++i) scores[i] = small_.scores(t + i);
        if (view_.width > 1 || view_.single_sums) {
            for (index_t i = 0; i < kTrees; ++i) {
                for (index_t r = 0; r < n_; ++r) view_.add(t, scores[i] + stops[i][r] * view_.width, outputs(r));
            }
            return;
        }
        double* out = outputs_ + view_.target[t];
        for (index_t r = 0; r < n_; ++r) {
            double sum = out[numbers_[r] * view_.n_outputs];
            for (index_t i = 0; i < kTrees; ++i) sum += scores[i][stops[i][r]];
            out[numbers_[r] * view_.n_outputs] = sum;
        }
    }

    void touch(index_t t, const std::uint8_t* stops) const {
        if (trees_.n_words() == 1) {
            const std::uint64_t* masks = small_.masks(t);
            for (index_t i = 0; i < n_open_; ++i) touched_[numbers_[open_[i]]] |= masks[stops[open_[i]]];
        } else {
            const std::int32_t* places = small_.places(t);
            for (index_t i = 0; i < n_open_; ++i) {
                trees_.touch(trees_.tree(t), places[stops[open_[i]]], touched(open_[i]));
            }
        }
    }

    void meet(index_t t) {
        const auto& tree = trees_.tree(t);
        std::int32_t places[kRowsInBlock];
        for (index_t r = 0; r < n_; r += kRowsInStep) {
            if (tree.categorical) {
                descend_with_categories(trees_, tree, rows_ + r, X_.column_stride, places + r);
            } else if (view_.single) {
                descend<T, true>(trees_, tree, rows_ + r, X_.column_stride, places + r);
            } else {
                descend<T, false>(trees_, tree, rows_ + r, X_.column_stride, places + r);
            }
        }
        for (index_t r = 0; r < n_; ++r) view_.add(t, trees_.scores(tree, places[r]), outputs(r));
        if (!lacks(t)) return;
        for (index_t i = 0; i < n_open_; ++i) trees_.touch(tree, places[open_[i]], touched(open_[i]));
    }

    // The account of touched features. Most rows have touched all that the trees test after a few of them, and then
    // there is nothing to write down any more; the rows of which this is not true are open.

    // Whether a tree tests a feature that some open row has not touched.
    bool lacks(index_t t) {
        if (!touched_) return false;
        const std::uint64_t* tested = trees_.tested(t);
        if (!tested) return true;
        std::uint64_t any = 0;
        for (index_t w = 0; w < trees_.n_words(); ++w) any |= tested[w] & lacking_[w];
        if (any != 0 && ++since_look_ > kTreesBetweenLooks) look();
        return any != 0;
    }

    void open_all() {
        n_open_ = n_;
        for (index_t r = 0; r < n_; ++r) open_[r] = r;
        if (trees_.n_words() <= CompiledForest::kMaskWords) look();
    }

    // Looks again which rows are open, and what they lack.
    void look() {
        since_look_ = 0;
        std::fill(lacking_, lacking_ + trees_.n_words(), 0);
        index_t n_open = 0;
        for (index_t i = 0; i < n_open_; ++i) {
            std::uint64_t any = 0;
            for (index_t w = 0; w < trees_.n_words(); ++w) {
                const std::uint64_t lack = tested_[w] & ~touched(open_[i])[w];
                lacking_[w] |= lack;
                any |= lack;
            }
            open_[n_open] = open_[i];
            n_open += any != 0;
        }
        n_open_ = n_open;
    }
};

// IN  X (n, n_features).   IN OUT outputs (n, n_outputs), touched (n, words) or null: what the trees before this leg
// gave, zeros before the first. Trees are added one by one, so that legs give the bits that one pass gives.
template <class T>
void predict(const ReadyForest& forest, const Matrix<T>& X, const Leg& leg, double* outputs, std::uint64_t* touched,
             int n_threads) {
    const index_t n_rows = leg.n_rows(X.n_rows);
    const index_t n_blocks = (n_rows + kRowsInBlock - 1) / kRowsInBlock;
    #pragma omp parallel num_threads(threads_for(n_threads, n_blocks))
    {
        Pass<T> pass(forest, X, leg, outputs, touched);
        #pragma omp for schedule(dynamic, 4)
        for (index_t block = 0; block < n_blocks; ++block) {
            const index_t begin = block * kRowsInBlock;
            pass.run(begin, std::min(kRowsInBlock, n_rows - begin));
        }
    }
}

// All trees in one pass. OUT outputs, touched: zeroed first.
template <class T>
void predict(const ReadyForest& forest, const Matrix<T>& X, double* outputs, std::uint64_t* touched, int n_threads) {
    const ForestView& view = forest.trees.forest();
    std::fill(outputs, outputs + X.n_rows * view.n_outputs, 0.0);
    if (touched) std::fill(touched, touched + X.n_rows * forest.trees.n_words(), 0);
    predict(forest, X, Leg{0, view.n_trees(), {}}, outputs, touched, n_threads);
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
