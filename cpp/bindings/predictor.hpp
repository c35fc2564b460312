// predictor: a forest with scores, prepared for the kernels that descend its trees: prediction, sampling, pruning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "account/cost_sheet.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cost_sheet.hpp"
#include "bindings/forest_arrays.hpp"
#include "common/bitset.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "predict/block_predictor.hpp"
#include "predict/forest_view.hpp"
#include "predict/predict.hpp"

namespace farthing {

// (outputs, words of touched features), and the same with a flag for each feature
using PredictionWords = nb::typed<nb::tuple, NumpyArray<double>, NumpyArray<std::uint64_t>>;
using Predictions = nb::typed<nb::tuple, NumpyArray<double>, NumpyArray<bool>>;

// A forest prepared for prediction.
class Predictor {
public:
    Predictor(const ForestArrays& arrays, Scores scores, bool single_sums)
        : kept_(arrays), kept_scores_(scores),
          forest_(std::make_unique<PreparedForest>(arrays.with_scores(scores, single_sums))) {}
    Predictor(const ForestArrays& arrays, const SparseScores& scores, bool single_sums)
        : kept_(arrays), kept_sparse_(scores),
          forest_(std::make_unique<PreparedForest>(arrays.with_scores(scores, single_sums))) {}

    const ForestView& view() const { return forest_->trees.forest(); }
    // The same, for kernels that read its scores themselves.
    const ForestView& dense_view() const {
        require(!view().is_sparse(), "this kernel needs scores that are not sparse");
        return view();
    }

    template <class T>
    Predictions predict(const Table<T>& X, int n_threads) const {
        const auto [n, words] = check(X);
        std::vector<double> outputs(static_cast<std::size_t>(n * view().n_outputs));
        std::vector<std::uint64_t> touched(static_cast<std::size_t>(n * words));
        std::unique_ptr<bool[]> flags;
        {
            nb::gil_scoped_release unlocked;
            // New vectors are zeros, as a first stage needs them.
            farthing::predict(*forest_, matrix(X), Stage{0, view().n_trees(), {}}, outputs.data(), touched.data(),
                              n_threads);
            flags = flags_of(n, touched, n_threads);
        }
        return results(n, std::move(outputs), std::move(flags));
    }

    template <class T>
    Predictions predict_within(const Table<T>& X, const Vector<double>& budgets, const Vector<double>& own,
                               const Vector<double>& shared, const Vector<index_t>& group_of, int n_threads) const {
        const auto [n, words] = check(X);
        require(static_cast<index_t>(budgets.shape(0)) == n, "budgets: one for each row");
        const CostSheet sheet = cost_sheet_of(own, shared, group_of, view().n_features);
        std::vector<double> outputs(static_cast<std::size_t>(n * view().n_outputs));
        std::vector<std::uint64_t> touched(static_cast<std::size_t>(n * words));
        std::unique_ptr<bool[]> flags;
        {
            nb::gil_scoped_release unlocked;
            farthing::predict_within(view(), sheet, matrix(X), span(budgets), outputs.data(), touched.data(),
                                     n_threads);
            flags = flags_of(n, touched, n_threads);
        }
        return results(n, std::move(outputs), std::move(flags));
    }

    // The two calls for one stage: some trees, some rows, on top of the results of earlier stages.
    // IN OUT outputs, touched, refused.
    template <class T>
    void advance(const Table<T>& X, index_t begin, index_t end, std::optional<Vector<index_t>> rows,
                 MutableMatrix<double> outputs, MutableMatrix<std::uint64_t> touched, int n_threads) const {
        const Stage stage = check_stage(X, begin, end, rows, outputs, touched);
        nb::gil_scoped_release unlocked;
        farthing::predict(*forest_, matrix(X), stage, outputs.data(), touched.data(), n_threads);
    }

    template <class T>
    void advance_within(const Table<T>& X, index_t begin, index_t end, std::optional<Vector<index_t>> rows,
                        MutableMatrix<double> outputs, MutableMatrix<std::uint64_t> touched,
                        MutableMatrix<std::uint64_t> refused, const Vector<double>& budgets, const Vector<double>& own,
                        const Vector<double>& shared, const Vector<index_t>& group_of, int n_threads) const {
        const Stage stage = check_stage(X, begin, end, rows, outputs, touched);
        require(refused.shape(0) == touched.shape(0) && refused.shape(1) == touched.shape(1), "refused: as touched");
        require(budgets.shape(0) == X.shape(0), "budgets: one for each row");
        const CostSheet sheet = cost_sheet_of(own, shared, group_of, view().n_features);
        nb::gil_scoped_release unlocked;
        farthing::predict_within(view(), sheet, matrix(X), stage, span(budgets), outputs.data(), touched.data(),
                                 refused.data(), n_threads);
    }

private:
    // So few flags are written before another thread wakes.
    static constexpr index_t kFlagsOfThread = index_t{1} << 20;

    ForestArrays kept_;
    std::optional<Scores> kept_scores_;
    std::optional<SparseScores> kept_sparse_;
    std::unique_ptr<PreparedForest> forest_;

    template <class T>
    std::pair<index_t, index_t> check(const Table<T>& X) const {
        require(static_cast<index_t>(X.shape(1)) == view().n_features, "X: one column for each feature");
        return {static_cast<index_t>(X.shape(0)), forest_->trees.n_words()};
    }

    template <class T>
    Stage check_stage(const Table<T>& X, index_t begin, index_t end, const std::optional<Vector<index_t>>& rows,
                      const MutableMatrix<double>& outputs, const MutableMatrix<std::uint64_t>& touched) const {
        const auto [n, words] = check(X);
        require(0 <= begin && begin <= end && end <= view().n_trees(), "trees: an ascending range of the forest's");
        require(
            static_cast<index_t>(outputs.shape(0)) == n && static_cast<index_t>(outputs.shape(1)) == view().n_outputs,
            "outputs: a row for each row of X, a column for each output");
        require(static_cast<index_t>(touched.shape(0)) == n && static_cast<index_t>(touched.shape(1)) == words,
                "touched: a row for each row of X, a bit for each feature");
        Stage stage{begin, end, {}};
        if (!rows) return stage;
        index_t last = -1;  // ascending, so no two threads write to one row
        for (const index_t row : span(*rows)) {
            require(last < row && row < n, "rows: ascending rows of X");
            last = row;
        }
        stage.rows = span(*rows);
        // An empty array may have a null address, which would mean all rows.
        if (stage.rows.size == 0) stage.end = stage.begin;
        return stage;
    }

    // The sets of n rows as flags, (n, n_features).
    std::unique_ptr<bool[]> flags_of(index_t n, const std::vector<std::uint64_t>& touched, int n_threads) const {
        const index_t n_features = view().n_features;
        std::unique_ptr<bool[]> flags = unwritten<bool>(static_cast<std::size_t>(n * n_features));
        const index_t n_parts = n * n_features / kFlagsOfThread;
        parallel_ranges(n, threads_for(n_threads, n_parts), [&](index_t begin, index_t end) {
            write_flags(touched.data(), n_features, begin, end, flags.get());
        });
        return flags;
    }

    Predictions results(index_t n, std::vector<double>&& outputs, std::unique_ptr<bool[]>&& flags) const {
        const auto rows = static_cast<std::size_t>(n);
        return {nb::make_tuple(to_numpy(std::move(outputs), {rows, static_cast<std::size_t>(view().n_outputs)}),
                               to_numpy(std::move(flags), {rows, static_cast<std::size_t>(view().n_features)}))};
    }
};

}  // namespace farthing
