// block_predictor: one thread's predictions, block of rows by block of rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/views.hpp"
#include "predict/compiled_forest.hpp"
#include "predict/forest_view.hpp"
#include "predict/small_trees.hpp"
#include "predict/touched_features.hpp"

namespace farthing {

// A stage of a prediction: trees [begin, end) for the listed rows (no list: all rows).
struct Stage {
    index_t begin = 0;
    index_t end = 0;
    Span<const index_t> rows;

    index_t n_rows(index_t all) const { return rows.data ? rows.size : all; }
    index_t row(index_t i) const { return rows.data ? rows[i] : i; }
};

// Rows that visit one tree after another while both are in the cache.
constexpr index_t kRowsInBlock = 16 * kRowsInStep;

// A forest prepared for prediction: all trees compiled, and the small ones also in the form for whole blocks.
struct PreparedForest {
    explicit PreparedForest(const ForestView& forest) : trees(forest), small(trees) {}

    CompiledForest trees;
    SmallTrees small;
};

// What one thread needs to send blocks of rows through the trees of a stage.
template <class T>
class BlockPredictor {
public:
    BlockPredictor(const PreparedForest& forest, const Matrix<T>& X, const Stage& stage, double* outputs,
                   std::uint64_t* touched)
        : trees_(forest.trees), small_(forest.small), view_(trees_.forest()), X_(X), stage_(stage), outputs_(outputs),
          use_ranks_(small_.worth_ranking(stage.begin, stage.end)), block_(small_),
          touched_(trees_, stage.begin, stage.end, touched) {}

    // Predicts rows [begin, begin + n) of the stage, n <= kRowsInBlock.
    void run(index_t begin, index_t n) {
        // Rows past the end repeat the last one, so that the loops over a block need no bounds; their results are not
        // written.
        n_ = n;
        for (index_t r = 0; r < kRowsInBlock; ++r) {
            row_ids_[r] = stage_.row(begin + std::min(r, n - 1));
            rows_[r] = X_.data + row_ids_[r] * X_.row_stride;
        }
        const bool ranked = use_ranks_ && n >= kMinRowsForRanks;
        if (ranked) rank();
        touched_.begin(row_ids_, n);
        for (index_t t = stage_.begin; t < stage_.end;) {
            const index_t together = ranked ? n_together(t) : 0;
            if (together == 0) predict_tree(t);
            if (together == 1) predict_small_trees<1>(t);
            if (together == kTreesTogether) predict_small_trees<kTreesTogether>(t);
            t += std::max(together, index_t{1});
        }
    }

private:
    static constexpr index_t kMinRowsForRanks = 32;  // smaller blocks use the ordinary trees throughout
    // Small trees whose scores are added in one pass over the rows.
    static constexpr index_t kTreesTogether = 4;

    const CompiledForest& trees_;
    const SmallTrees& small_;
    const ForestView& view_;
    const Matrix<T> X_;
    const Stage stage_;
    double* outputs_;
    const bool use_ranks_;
    SmallTrees::Block<kRowsInBlock, kTreesTogether> block_;
    TouchedFeatures<kRowsInBlock> touched_;
    index_t n_ = 0;
    index_t row_ids_[kRowsInBlock];
    const T* rows_[kRowsInBlock];

    double* outputs(index_t r) const { return outputs_ + row_ids_[r] * view_.n_outputs; }

    void rank() {
        block_.rank([&](index_t r, index_t feature) {
            const T x = rows_[r][feature * X_.column_stride];
            return view_.single ? static_cast<double>(static_cast<float>(x)) : static_cast<double>(x);
        });
    }

    // How many small trees that add to the same output come next: none, one or kTreesTogether.
    index_t n_together(index_t t) const {
        index_t n = 0;
        while (n < kTreesTogether && t + n < stage_.end && small_.has(t + n) &&
               view_.target[t + n] == view_.target[t]) {
            ++n;
        }
        return n == kTreesTogether ? n : std::min(n, index_t{1});
    }

    template <index_t kTrees>
    void predict_small_trees(index_t t) {
        const std::uint8_t* stops[kTrees];
        for (index_t i = 0; i < kTrees; ++i) stops[i] = block_.descend(t + i, i);
        add_scores<kTrees>(t, stops);
        for (index_t i = 0; i < kTrees; ++i) {
            if (touched_.may_add(t + i)) record_features(t + i, stops[i]);
        }
    }

    template <index_t kTrees>
    void add_scores(index_t t, const std::uint8_t* const* stops) const {
        if (view_.is_sparse()) {
            for (index_t i = 0; i < kTrees; ++i) {
                const auto& tree = trees_.tree(t + i);
                const std::int32_t* places = small_.places(t + i);
                for (index_t r = 0; r < n_; ++r) {
                    view_.add_node(t, trees_.source(tree, places[stops[i][r]]), outputs(r));
                }
            }
            return;
        }
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
            double sum = out[row_ids_[r] * view_.n_outputs];
            for (index_t i = 0; i < kTrees; ++i) sum += scores[i][stops[i][r]];
            out[row_ids_[r] * view_.n_outputs] = sum;
        }
    }

    void record_features(index_t t, const std::uint8_t* stops) const {
        if (trees_.n_words() == 1) {
            const std::uint64_t* masks = small_.masks(t);
            touched_.add([=](index_t r, std::uint64_t* words) { *words |= masks[stops[r]]; });
        } else {
            const std::int32_t* places = small_.places(t);
            record_features(t, [=](index_t r) { return places[stops[r]]; });
        }
    }

    template <class MutableMatrix>
    void record_features(index_t t, MutableMatrix place) const {
        const auto& tree = trees_.tree(t);
        touched_.add([&](index_t r, std::uint64_t* words) { trees_.add_path_features(tree, place(r), words); });
    }

    void predict_tree(index_t t) {
        const auto& tree = trees_.tree(t);
        std::int32_t places[kRowsInBlock];
        for (index_t r = 0; r < n_; r += kRowsInStep) {
            if (tree.categorical) {
                descend_categorical(trees_, tree, rows_ + r, X_.column_stride, places + r);
            } else if (view_.single) {
                descend_in_step<T, true>(trees_, tree, rows_ + r, X_.column_stride, places + r);
            } else {
                descend_in_step<T, false>(trees_, tree, rows_ + r, X_.column_stride, places + r);
            }
        }
        for (index_t r = 0; r < n_; ++r) view_.add_node(t, trees_.source(tree, places[r]), outputs(r));
        if (touched_.may_add(t)) record_features(t, [&](index_t r) { return places[r]; });
    }
};

}  // namespace farthing
