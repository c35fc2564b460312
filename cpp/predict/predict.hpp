// predict: the sum of the trees' scores for each row, and the features that the row's descents tested.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/bitset.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "predict/block_predictor.hpp"
#include "predict/forest_view.hpp"
#include "predict/single_row.hpp"

namespace farthing {

// So few rows go through the trees one after another.
constexpr index_t kMaxRowsAlone = 4;
// Descents, of one row in one tree, that take longer than to wake a thread: some tenth of a millisecond.
constexpr index_t kDescentsOfThread = index_t{1} << 15;

// IN  X (n, n_features).
// IN OUT outputs (n, n_outputs), touched (n, words) or null: results of the stages before, zeros before the first.
// Trees are added one by one in order, so stages give the bits of a single pass.
template <class T>
void predict(const PreparedForest& forest, const Matrix<T>& X, const Stage& stage, double* outputs,
             std::uint64_t* touched, int n_threads) {
    const index_t n_rows = stage.n_rows(X.n_rows);
    if (n_rows <= kMaxRowsAlone) {
        for (index_t i = 0; i < n_rows; ++i) {
            const index_t row = stage.row(i);
            predict_row(forest.trees, stage.begin, stage.end, X.data + row * X.row_stride, X.column_stride,
                        outputs + row * forest.trees.forest().n_outputs,
                        touched ? touched + row * forest.trees.n_words() : nullptr);
        }
        return;
    }
    const index_t n_blocks = (n_rows + kRowsInBlock - 1) / kRowsInBlock;
    const index_t n_descents = n_rows * (stage.end - stage.begin);
    Chunks chunks(n_blocks, 4);
    on_threads(threads_for(n_threads, std::min(n_blocks, n_descents / kDescentsOfThread)), [&](int) {
        BlockPredictor<T> pass(forest, X, stage, outputs, touched);
        chunks.for_each([&](index_t block) {
            const index_t begin = block * kRowsInBlock;
            pass.run(begin, std::min(kRowsInBlock, n_rows - begin));
        });
    });
}

// All trees in one pass. OUT outputs, touched: cleared first.
template <class T>
void predict(const PreparedForest& forest, const Matrix<T>& X, double* outputs, std::uint64_t* touched, int n_threads) {
    const ForestView& view = forest.trees.forest();
    std::fill(outputs, outputs + X.n_rows * view.n_outputs, 0.0);
    if (touched) std::fill(touched, touched + X.n_rows * forest.trees.n_words(), 0);
    predict(forest, X, Stage{0, view.n_trees(), {}}, outputs, touched, n_threads);
}

// The same under a hard budget per row. A feature whose price would take the row over its budget is refused: it
// counts as missing and is not asked for again, in this stage or a later one.
// IN OUT outputs (n, n_outputs), touched and refused (n, words).
template <class T>
void predict_within(const ForestView& forest, const CostSheet& sheet, const Matrix<T>& X, const Stage& stage,
                    Span<const double> budgets, double* outputs, std::uint64_t* touched, std::uint64_t* refused,
                    int n_threads) {
    const index_t n_words = Bitset::n_words(forest.n_features);
    const index_t n_rows = stage.n_rows(X.n_rows);
    Chunks chunks(n_rows, 64);
    on_threads(threads_for(n_threads, n_rows), [&](int) {
        OwnedFeatures owned(sheet);
        chunks.for_each([&](index_t i) {
            const index_t row = stage.row(i);
            std::uint64_t* bought = touched + row * n_words;
            std::uint64_t* denied = refused + row * n_words;
            owned.assign(sheet, bought);
            double* out = outputs + row * forest.n_outputs;
            for (index_t t = stage.begin; t < stage.end; ++t) {
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
                    const index_t next = next_node(forest, first, node, x);
                    if (next == node) break;
                    node = next;
                }
                forest.add_node(t, node, out);
            }
            std::copy(owned.feature_words(), owned.feature_words() + n_words, bought);
        });
    });
}

// All trees in one pass. OUT outputs, touched: cleared first.
template <class T>
void predict_within(const ForestView& forest, const CostSheet& sheet, const Matrix<T>& X, Span<const double> budgets,
                    double* outputs, std::uint64_t* touched, int n_threads) {
    const index_t n_words = Bitset::n_words(forest.n_features);
    std::vector<std::uint64_t> refused(static_cast<std::size_t>(X.n_rows * n_words), 0);
    std::fill(outputs, outputs + X.n_rows * forest.n_outputs, 0.0);
    std::fill(touched, touched + X.n_rows * n_words, 0);
    predict_within(forest, sheet, X, Stage{0, forest.n_trees(), {}}, budgets, outputs, touched, refused.data(),
                   n_threads);
}

}  // namespace farthing
