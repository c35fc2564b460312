// block_predictor: one thread's predictions, block of rows by block of rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/simd_quad.hpp"
#include "common/views.hpp"
#include "predict/compiled_forest.hpp"
#include "predict/forest_view.hpp"
#include "predict/small_trees.hpp"
#include "predict/touched_features.hpp"

// FARTHING_FLATTEN: a function into which all that it calls is compiled once more, as far as possible.
#if FARTHING_GNU
#define FARTHING_FLATTEN __attribute__((flatten))
#else
#define FARTHING_FLATTEN
#endif

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
    explicit PreparedForest(const ForestView& forest) : trees(forest) {
        if (forest.n_trees() < SmallTrees::kMinTrees) return;
        for (index_t t = 0; t < forest.n_trees(); t = small.back().end()) small.emplace_back(trees, t);
    }

    CompiledForest trees;
    std::vector<SmallTrees> small;  // all trees in order; none if there are few
};

// What one thread needs to send blocks of rows through the trees of a stage.
template <class T>
class BlockPredictor {
public:
    BlockPredictor(const PreparedForest& forest, const Matrix<T>& X, const Stage& stage, double* outputs,
                   std::uint64_t* touched)
        : trees_(forest.trees), view_(trees_.forest()), X_(X), stage_(stage), outputs_(outputs),
          touched_(trees_, stage.begin, stage.end, touched) {
        for (const SmallTrees& small : forest.small) {
            if (small.worth_ranking(stage.begin, stage.end)) ranked_.push_back(&small);
        }
    }

    // Predicts rows [begin, begin + n) of the stage, n <= kRowsInBlock.
    void run(index_t begin, index_t n) {
        if (has_avx2()) {
            run_avx2(begin, n);
        } else {
            run_block(begin, n);
        }
    }

    // The same without the instructions that some machines lack, and the same bits.
    FARTHING_INLINE void run_block(index_t begin, index_t n) {
        // Rows past the end repeat the last one, so that the loops over a block need no bounds; their results are not
        // written.
        n_ = n;
        for (index_t r = 0; r < kRowsInBlock; ++r) {
            row_ids_[r] = stage_.row(begin + std::min(r, n - 1));
            rows_[r] = X_.data + row_ids_[r] * X_.row_stride;
        }
        touched_.begin(row_ids_, n);
        index_t t = stage_.begin;
        if (n >= kMinRowsForRanks) {
            for (const SmallTrees* small : ranked_) {
                while (t < small->begin()) predict_tree(t++);
                t = predict_ranked(*small, t);
            }
        }
        while (t < stage_.end) predict_tree(t++);
        touched_.end(row_ids_);
    }

private:
    static constexpr index_t kMinRowsForRanks = 32;  // smaller blocks use the ordinary trees throughout
    // Small trees whose scores are added in one pass over the rows.
    static constexpr index_t kTreesTogether = 4;

    const CompiledForest& trees_;
    const ForestView& view_;
    const Matrix<T> X_;
    const Stage stage_;
    double* outputs_;
    std::vector<const SmallTrees*> ranked_;  // those for which ranking the values pays
    SmallTrees::Block<kRowsInBlock, kTreesTogether> block_;
    TouchedFeatures<kRowsInBlock> touched_;
    index_t n_ = 0;
    index_t row_ids_[kRowsInBlock];
    const T* rows_[kRowsInBlock];

    FARTHING_AVX2 FARTHING_FLATTEN void run_avx2(index_t begin, index_t n) { run_block(begin, n); }

    double* outputs(index_t r) const { return outputs_ + row_ids_[r] * view_.n_outputs; }

    // Predicts a run of trees from tree t on; returns where it or the stage ends.
    index_t predict_ranked(const SmallTrees& small, index_t t) {
        block_.rank(small, [&](index_t r, index_t feature) {
            const T x = rows_[r][feature * X_.column_stride];
            return view_.single ? static_cast<double>(static_cast<float>(x)) : static_cast<double>(x);
        });
        const index_t end = std::min(stage_.end, small.end());
        while (t < end) {
            const index_t together = n_together(small, t, end);
            if (together == 0) predict_tree(t);
            if (together == 1) predict_small_trees<1>(small, t);
            if (together == kTreesTogether) predict_small_trees<kTreesTogether>(small, t);
            t += std::max(together, index_t{1});
        }
        return end;
    }

    // How many small trees that add to the same output come next: none, one or kTreesTogether.
    index_t n_together(const SmallTrees& small, index_t t, index_t end) const {
        index_t n = 0;
        while (n < kTreesTogether && t + n < end && small.has(t + n) && view_.target[t + n] == view_.target[t]) ++n;
        return n == kTreesTogether ? n : std::min(n, index_t{1});
    }

    template <index_t kTrees>
    void predict_small_trees(const SmallTrees& small, index_t t) {
        const std::uint8_t* stops[kTrees];
        bool may_add = false;
        for (index_t i = 0; i < kTrees; ++i) {
            stops[i] = block_.descend(t + i, i);
            may_add = touched_.may_add(t + i) || may_add;
        }
        if (view_.is_sparse() || view_.width > 1 || view_.single_sums || !trees_.keeps_masks()) {
            for (index_t i = 0; i < kTrees; ++i) add_one_by_one(small, t + i, stops[i], may_add);
            return;
        }
        if (!may_add) {
            add<kTrees, 0>(small, t, stops);
        } else if (trees_.mask_stride() == 1) {
            add<kTrees, 1>(small, t, stops);
        } else if (trees_.mask_stride() == 2) {
            add<kTrees, 2>(small, t, stops);
        } else {
            add<kTrees, CompiledForest::kMaskWords>(small, t, stops);
        }
    }

    // Adds the scores of some trees and records the features of their paths, kWords words each.
    template <index_t kTrees, index_t kWords>
    void add(const SmallTrees& small, index_t t, const std::uint8_t* const* stops) {
        const double* scores[kTrees];
        const std::uint64_t* masks[kTrees];
        for (index_t i = 0; i < kTrees; ++i) {
            scores[i] = small.scores(t + i);
            masks[i] = kWords > 0 ? small.masks(t + i) : nullptr;
        }
        double* out = outputs_ + view_.target[t];
        std::uint64_t* words = touched_.words();
        for (index_t r = 0; r < n_; ++r) {
            double sum = out[row_ids_[r] * view_.n_outputs];
            std::uint64_t set[kWords + 1] = {};
            for (index_t i = 0; i < kTrees; ++i) {
                const std::uint8_t stop = stops[i][r];
                sum += scores[i][stop];
                for (index_t w = 0; w < kWords; ++w) set[w] |= masks[i][stop * kWords + w];
            }
            out[row_ids_[r] * view_.n_outputs] = sum;
            for (index_t w = 0; w < kWords; ++w) words[r * kWords + w] |= set[w];
        }
    }

    void add_one_by_one(const SmallTrees& small, index_t t, const std::uint8_t* stops, bool may_add) {
        const std::int32_t* places = small.places(t);
        const auto& tree = trees_.tree(t);
        if (view_.is_sparse()) {
            for (index_t r = 0; r < n_; ++r) view_.add_node(t, trees_.source(tree, places[stops[r]]), outputs(r));
        } else {
            const double* scores = small.scores(t);
            for (index_t r = 0; r < n_; ++r) view_.add(t, scores + stops[r] * view_.width, outputs(r));
        }
        if (may_add) record_features(t, [=](index_t r) { return places[stops[r]]; });
    }

    template <class Place>
    void record_features(index_t t, Place place) {
        const auto& tree = trees_.tree(t);
        touched_.add([&](index_t r, std::uint64_t* words) { trees_.add_path_features(tree, place(r), words); });
    }

    void predict_tree(index_t t) {
        const auto& tree = trees_.tree(t);
        std::int32_t places[kRowsInBlock];
        for (index_t r = 0; r < n_; r += kRowsInStep) {
            if (tree.categorical) {
                descend_categorical<T, kRowsInStep>(trees_, tree, rows_ + r, X_.column_stride, places + r);
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
