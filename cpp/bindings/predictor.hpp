// A forest held for the kernels that go down its trees: prediction and pruning.
#pragma once

#include <memory>

#include "../predictor.hpp"
#include "common.hpp"

namespace farthing {

// (outputs, words of touched features)
using Answers = nb::typed<nb::tuple, Owning<double>, Owning<std::uint64_t>>;

// A forest held for prediction. The Python side keeps the arrays alive and has validated them.
class Predictor {
public:
    Predictor(index_t n_features, index_t n_outputs, Vector<index_t> offsets, Vector<index_t> target,
              Vector<std::int32_t> feature, Vector<double> threshold, Vector<index_t> left, Vector<index_t> right,
              Vector<std::uint8_t> missing, Vector<index_t> category, Vector<std::uint64_t> category_words,
              Vector<index_t> category_widths, nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> scores,
              bool strict, bool single)
        : kept_{offsets, target, left, right, category, category_widths}, kept_feature_(feature),
          kept_threshold_(threshold), kept_missing_(missing), kept_words_(category_words), kept_scores_(scores) {
        ForestView view;
        view.n_features = n_features;
        view.n_outputs = n_outputs;
        view.width = static_cast<index_t>(scores.shape(1));
        view.offsets = span(offsets);
        view.target = span(target);
        view.feature = span(feature);
        view.threshold = span(threshold);
        view.left = span(left);
        view.right = span(right);
        view.missing = span(missing);
        view.category = span(category);
        view.category_words = span(category_words);
        view.category_widths = span(category_widths);
        view.scores = {scores.data(), static_cast<index_t>(scores.size())};
        view.strict = strict;
        view.single = single;
        require(view.offsets.size == view.target.size + 1, "offsets has one entry more than target");
        require(static_cast<index_t>(scores.shape(0)) == view.feature.size, "scores: one row for each node");
        forest_ = std::make_unique<CompiledForest>(view);
    }

    const ForestView& view() const { return forest_->forest(); }

    template <class T>
    Answers predict(const Table<T>& X, bool want_touched, int n_threads) const {
        const auto [n, words] = check(X);
        std::vector<double> outputs(static_cast<std::size_t>(n * view().n_outputs));
        std::vector<std::uint64_t> touched(static_cast<std::size_t>(want_touched ? n * words : 0));
        {
            nb::gil_scoped_release unlocked;
            farthing::predict(*forest_, matrix(X), outputs.data(), want_touched ? touched.data() : nullptr, n_threads);
        }
        return results(n, want_touched ? words : 0, std::move(outputs), std::move(touched));
    }

    template <class T>
    Answers predict_within(const Table<T>& X, const Vector<double>& budgets, const Vector<double>& own,
                             const Vector<double>& shared, const Vector<index_t>& group_of, int n_threads) const {
        const auto [n, words] = check(X);
        require(static_cast<index_t>(budgets.shape(0)) == n, "budgets: one for each row");
        const Sheet sheet = sheet_of(own, shared, group_of, view().n_features);
        std::vector<double> outputs(static_cast<std::size_t>(n * view().n_outputs));
        std::vector<std::uint64_t> touched(static_cast<std::size_t>(n * words));
        {
            nb::gil_scoped_release unlocked;
            farthing::predict_within(view(), sheet, matrix(X), span(budgets), outputs.data(), touched.data(), n_threads);
        }
        return results(n, words, std::move(outputs), std::move(touched));
    }

private:
    std::vector<Vector<index_t>> kept_;
    Vector<std::int32_t> kept_feature_;
    Vector<double> kept_threshold_;
    Vector<std::uint8_t> kept_missing_;
    Vector<std::uint64_t> kept_words_;
    nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> kept_scores_;
    std::unique_ptr<CompiledForest> forest_;

    template <class T>
    std::pair<index_t, index_t> check(const Table<T>& X) const {
        require(static_cast<index_t>(X.shape(1)) == view().n_features, "X: one column for each feature");
        return {static_cast<index_t>(X.shape(0)), forest_->n_words()};
    }

    Answers results(index_t n, index_t words, std::vector<double>&& outputs,
                      std::vector<std::uint64_t>&& touched) const {
        const auto rows = static_cast<std::size_t>(n);
        return {nb::make_tuple(give(std::move(outputs), {rows, static_cast<std::size_t>(view().n_outputs)}),
                              give(std::move(touched), {rows, static_cast<std::size_t>(words)}))};
    }
};

}  // namespace farthing
