// A forest held for the kernels that go down its trees: prediction, sampling, pruning.
#pragma once

#include <memory>
#include <optional>

#include "bindings/arrays.hpp"
#include "predict/lazy_descent.hpp"
#include "predict/predict.hpp"

namespace farthing {

// (outputs, words of touched features)
using Answers = nb::typed<nb::tuple, Owning<double>, Owning<std::uint64_t>>;

// An array that the call changes.
template <class T>
using Place = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Changing = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// What each node adds to the output.
using Scores = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The arrays of a forest but its scores. The Python side keeps them alive and has validated them.
struct ForestArrays {
    ForestArrays(index_t n_features, index_t n_outputs, Vector<index_t> offsets, Vector<index_t> target,
                 Vector<std::int32_t> feature, Vector<double> threshold, Vector<index_t> left, Vector<index_t> right,
                 Vector<std::uint8_t> missing, Vector<index_t> category, Vector<std::uint64_t> category_words,
                 Vector<index_t> category_widths, bool strict, bool single)
        : kept_{offsets, target, left, right, category, category_widths}, kept_feature_(feature),
          kept_threshold_(threshold), kept_missing_(missing), kept_words_(category_words) {
        view.n_features = n_features;
        view.n_outputs = n_outputs;
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
        view.strict = strict;
        view.single = single;
        require(view.offsets.size == view.target.size + 1, "offsets has one entry more than target");
    }

    // (the first unfinished tree, the feature it tests or -1, the features at hand that were asked for, in order); the
    // nodes and what was heard are changed in place.
    nb::typed<nb::tuple, index_t, std::int32_t, nb::typed<nb::list, std::int32_t>> descend(
        const Vector<double>& values, Changing<std::uint8_t> hearsay, Changing<index_t> nodes, index_t tree,
        index_t end) const {
        require(span(values).size == view.n_features && static_cast<index_t>(hearsay.shape(0)) == view.n_features,
                "values, hearsay: one for each feature");
        check_nodes({nodes.data(), static_cast<index_t>(nodes.shape(0))}, tree, end);
        nb::list asked;
        const std::int32_t feature = farthing::descend(view, values.data(), hearsay.data(), nodes.data(), tree, end,
                                                       [&](std::int32_t at_hand) { asked.append(at_hand); });
        return {nb::make_tuple(tree, feature, asked)};
    }

    // (n_outputs,): what the first `end` trees add up to where they stand.
    Owning<double> total(const Scores& scores, const Vector<index_t>& nodes, index_t end, bool single_sums) const {
        const ForestView forest = with_scores(scores, single_sums);
        for (const index_t first : view.target) require(first + forest.width <= view.n_outputs, "scores: too wide");
        check_nodes(span(nodes), 0, end);
        std::vector<double> outputs(static_cast<std::size_t>(view.n_outputs), 0.0);
        add_scores(forest, nodes.data(), end, outputs.data());
        return give(std::move(outputs));
    }

    // The view with what its nodes add to the output.
    ForestView with_scores(const Scores& scores, bool single_sums) const {
        require(static_cast<index_t>(scores.shape(0)) == view.feature.size, "scores: one row for each node");
        ForestView forest = view;
        forest.width = static_cast<index_t>(scores.shape(1));
        forest.scores = {scores.data(), static_cast<index_t>(scores.size())};
        forest.single_sums = single_sums;
        return forest;
    }

    ForestView view;

private:
    void check_nodes(Span<const index_t> nodes, index_t tree, index_t end) const {
        require(nodes.size == view.n_trees(), "nodes: one for each tree");
        require(0 <= tree && end <= view.n_trees(), "trees: a range of the forest's");
        for (index_t t = tree; t < end; ++t)
            require(view.offsets[t] <= nodes[t] && nodes[t] < view.offsets[t + 1], "nodes: each in its own tree");
    }

    std::vector<Vector<index_t>> kept_;
    Vector<std::int32_t> kept_feature_;
    Vector<double> kept_threshold_;
    Vector<std::uint8_t> kept_missing_;
    Vector<std::uint64_t> kept_words_;
};

// A forest held for prediction.
class Predictor {
public:
    Predictor(const ForestArrays& arrays, Scores scores, bool single_sums)
        : kept_(arrays), kept_scores_(scores),
          forest_(std::make_unique<ReadyForest>(arrays.with_scores(scores, single_sums))) {}

    const ForestView& view() const { return forest_->trees.forest(); }

    template <class T>
    Answers predict(const Table<T>& X, bool want_touched, int n_threads) const {
        const auto [n, words] = check(X);
        std::vector<double> outputs(static_cast<std::size_t>(n * view().n_outputs));
        std::vector<std::uint64_t> touched(static_cast<std::size_t>(want_touched ? n * words : 0));
        {
            nb::gil_scoped_release unlocked;
            // Vectors are zeros at first, as a first leg wants them.
            farthing::predict(*forest_, matrix(X), Leg{0, view().n_trees(), {}}, outputs.data(),
                              want_touched ? touched.data() : nullptr, n_threads);
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

    // The two calls again for a leg of the way: some trees, some rows, on top of what earlier legs gave. The arrays are
    // changed in place.
    template <class T>
    void advance(const Table<T>& X, index_t begin, index_t end, std::optional<Vector<index_t>> rows, Place<double> outputs,
                 Place<std::uint64_t> touched, int n_threads) const {
        const Leg leg = check_leg(X, begin, end, rows, outputs, touched);
        nb::gil_scoped_release unlocked;
        farthing::predict(*forest_, matrix(X), leg, outputs.data(), touched.data(), n_threads);
    }

    template <class T>
    void advance_within(const Table<T>& X, index_t begin, index_t end, std::optional<Vector<index_t>> rows,
                        Place<double> outputs, Place<std::uint64_t> touched, Place<std::uint64_t> refused,
                        const Vector<double>& budgets, const Vector<double>& own, const Vector<double>& shared,
                        const Vector<index_t>& group_of, int n_threads) const {
        const Leg leg = check_leg(X, begin, end, rows, outputs, touched);
        require(refused.shape(0) == touched.shape(0) && refused.shape(1) == touched.shape(1), "refused: as touched");
        require(budgets.shape(0) == X.shape(0), "budgets: one for each row");
        const Sheet sheet = sheet_of(own, shared, group_of, view().n_features);
        nb::gil_scoped_release unlocked;
        farthing::predict_within(view(), sheet, matrix(X), leg, span(budgets), outputs.data(), touched.data(),
                                 refused.data(), n_threads);
    }

private:
    ForestArrays kept_;
    Scores kept_scores_;
    std::unique_ptr<ReadyForest> forest_;

    template <class T>
    std::pair<index_t, index_t> check(const Table<T>& X) const {
        require(static_cast<index_t>(X.shape(1)) == view().n_features, "X: one column for each feature");
        return {static_cast<index_t>(X.shape(0)), forest_->trees.n_words()};
    }

    template <class T>
    Leg check_leg(const Table<T>& X, index_t begin, index_t end, const std::optional<Vector<index_t>>& rows,
                  const Place<double>& outputs, const Place<std::uint64_t>& touched) const {
        const auto [n, words] = check(X);
        require(0 <= begin && begin <= end && end <= view().n_trees(), "trees: an ascending range of the forest's");
        require(static_cast<index_t>(outputs.shape(0)) == n && static_cast<index_t>(outputs.shape(1)) == view().n_outputs,
                "outputs: a row for each row of X, a column for each output");
        require(static_cast<index_t>(touched.shape(0)) == n && static_cast<index_t>(touched.shape(1)) == words,
                "touched: a row for each row of X, a bit for each feature");
        Leg leg{begin, end, {}};
        if (!rows) return leg;
        index_t last = -1;  // ascending, so that no two threads write to one row
        for (const index_t row : span(*rows)) {
            require(last < row && row < n, "rows: ascending rows of X");
            last = row;
        }
        leg.rows = span(*rows);
        // An empty list may have no address, which would mean all rows.
        if (leg.rows.size == 0) leg.end = leg.begin;
        return leg;
    }

    Answers results(index_t n, index_t words, std::vector<double>&& outputs,
                      std::vector<std::uint64_t>&& touched) const {
        const auto rows = static_cast<std::size_t>(n);
        return {nb::make_tuple(give(std::move(outputs), {rows, static_cast<std::size_t>(view().n_outputs)}),
                              give(std::move(touched), {rows, static_cast<std::size_t>(words)}))};
    }
};

}  // namespace farthing
