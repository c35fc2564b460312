// forest_arrays: the arrays of a forest, shared by all predictors of it, and the descents of single rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "common/views.hpp"
#include "predict/forest_view.hpp"
#include "predict/lazy_descent.hpp"
#include "predict/refused_ways.hpp"

namespace farthing {

// Arrays that the call modifies.
template <class T>
using MutableMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using MutableVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// What each node adds to the output.
using Scores = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The same, if most are zero. The Python side keeps the arrays alive.
struct SparseScores {
    SparseScores(Vector<index_t> starts, Vector<std::int32_t> columns, Vector<double> entries, index_t n_columns)
        : rows{span(starts), span(columns), span(entries)}, width(n_columns), kept_starts_(starts),
          kept_columns_(columns), kept_entries_(entries) {
        const auto n_entries = static_cast<index_t>(rows.entries.size);
        require(n_columns >= 1 && rows.columns.size == n_entries, "columns and entries: one each, within the width");
        require(rows.starts.size >= 1 && rows.starts[0] == 0 && rows.starts[rows.starts.size - 1] == n_entries,
                "starts: from 0 to the number of entries");
        for (index_t row = 1; row < rows.starts.size; ++row)
            require(rows.starts[row - 1] <= rows.starts[row], "starts: ascending");
        for (const std::int32_t column : rows.columns)
            require(0 <= column && column < n_columns, "columns: within the width");
    }

    SparseRows rows;
    index_t width;

private:
    Vector<index_t> kept_starts_;
    Vector<std::int32_t> kept_columns_;
    Vector<double> kept_entries_;
};

// The arrays of a forest without its scores. The Python side keeps them alive and has validated them.
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

    // Returns (the first unfinished tree, the feature it tests or -1, the features on hand that were asked for, in
    // order).
    // IN OUT states, nodes.
    nb::typed<nb::tuple, index_t, std::int32_t, nb::typed<nb::list, std::int32_t>> descend(
        const Vector<double>& values, MutableVector<std::uint8_t> states, MutableVector<index_t> nodes, index_t tree,
        index_t end) const {
        require(span(values).size == view.n_features && static_cast<index_t>(states.shape(0)) == view.n_features,
                "values, feature_state: one for each feature");
        check_nodes({nodes.data(), static_cast<index_t>(nodes.shape(0))}, tree, end);
        nb::list asked;
        const std::int32_t feature = descend_known(view, values.data(), states.data(), nodes.data(), tree, end,
                                                   [&](std::int32_t on_hand) { asked.append(on_hand); });
        return {nb::make_tuple(tree, feature, asked)};
    }

    // (n_outputs,): the sum over the current nodes of the first `end` trees.
    template <class AnyScores>
    NumpyArray<double> total(const AnyScores& scores, const Vector<index_t>& nodes, index_t end,
                             bool single_sums) const {
        const ForestView forest = with_scores(scores, single_sums);
        for (const index_t first : view.target) require(first + forest.width <= view.n_outputs, "scores: too wide");
        check_nodes(span(nodes), 0, end);
        std::vector<double> outputs(static_cast<std::size_t>(view.n_outputs), 0.0);
        add_scores(forest, nodes.data(), end, outputs.data());
        return to_numpy(std::move(outputs));
    }

    // (nodes,): where the nodes send a refused value.
    template <class AnyScores>
    NumpyArray<std::uint8_t> refused_ways(const AnyScores& scores, const Vector<double>& cover) const {
        const ForestView forest = with_scores(scores, false);
        for (const index_t first : view.target) require(first + forest.width <= view.n_outputs, "scores: too wide");
        require(static_cast<index_t>(cover.shape(0)) == view.feature.size, "cover: one for each node");
        std::vector<std::uint8_t> ways(static_cast<std::size_t>(view.feature.size));
        {
            nb::gil_scoped_release unlocked;
            RefusedWays(forest, span(cover)).choose(ways.data());
        }
        return to_numpy(std::move(ways));
    }

    // The view with scores.
    ForestView with_scores(const Scores& scores, bool single_sums) const {
        require(static_cast<index_t>(scores.shape(0)) == view.feature.size, "scores: one row for each node");
        ForestView forest = view;
        forest.width = static_cast<index_t>(scores.shape(1));
        forest.scores = {scores.data(), static_cast<index_t>(scores.size())};
        forest.single_sums = single_sums;
        return forest;
    }
    ForestView with_scores(const SparseScores& scores, bool single_sums) const {
        require(scores.rows.starts.size == view.feature.size + 1, "scores: one row for each node");
        require(!single_sums, "sums that are rounded after each tree need all scores");
        ForestView forest = view;
        forest.width = scores.width;
        forest.sparse = scores.rows;
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

}  // namespace farthing
