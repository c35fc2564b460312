// pass: one thread's way through some trees with one block of rows after the other.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/views.hpp"
#include "predict/compiled_forest.hpp"
#include "predict/forest_view.hpp"
#include "predict/small_trees.hpp"
#include "predict/touched_features.hpp"

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
          pay_(small_.pay(leg.begin, leg.end)), block_(small_), touches_(trees_, leg.begin, leg.end, touched) {}

    // Rows [begin, begin + n) of the leg, n <= kRowsInBlock.
    void run(index_t begin, index_t n) {
        n_ = n;
        for (index_t r = 0; r < kRowsInBlock; ++r) {
            numbers_[r] = leg_.row(begin + std::min(r, n - 1));
            rows_[r] = X_.data + numbers_[r] * X_.row_stride;
        }
        const bool ranked = pay_ && n >= kFewestRows;
        if (ranked) rank();
        touches_.begin(numbers_, n);
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

    const CompiledForest& trees_;
    const SmallTrees& small_;
    const ForestView& view_;
    const Matrix<T> X_;
    const Leg leg_;
    double* outputs_;
    const bool pay_;
    SmallTrees::Block<kRowsInBlock, kTogether> block_;
    Touches<kRowsInBlock> touches_;
    index_t n_ = 0;
    index_t numbers_[kRowsInBlock];
    const T* rows_[kRowsInBlock];

    double* outputs(index_t r) const { return outputs_ + numbers_[r] * view_.n_outputs; }

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
            if (touches_.lack(t + i)) touch(t + i, stops[i]);
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
            touches_.add([=](index_t r, std::uint64_t* words) { *words |= masks[stops[r]]; });
        } else {
            const std::int32_t* places = small_.places(t);
            touch(t, [=](index_t r) { return places[stops[r]]; });
        }
    }

    template <class Place>
    void touch(index_t t, Place place) const {
        const auto& tree = trees_.tree(t);
        touches_.add([&](index_t r, std::uint64_t* words) { trees_.touch(tree, place(r), words); });
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
        if (touches_.lack(t)) touch(t, [&](index_t r) { return places[r]; });
    }
};

}  // namespace farthing
