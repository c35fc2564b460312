// Python bindings of predict/reasons.hpp, and the descents of a row that has not answered yet.
#include "predict/reasons.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/forest_arrays.hpp"
#include "common/views.hpp"
#include "predict/lazy_descent.hpp"

namespace farthing {
namespace {

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void require_node(const ForestView& forest, index_t tree, index_t node) {
    require(0 <= tree && tree < forest.n_trees(), "trees: each one of the forest's");
    require(forest.offsets[tree] <= node && node < forest.offsets[tree + 1], "nodes: each in its own tree");
}

// Descends once for each answer to the question for a column, from where the row stands, which is left as it is.
// Returns (outputs (n_answers, n_outputs), nodes (n_answers, n_trees), the first unfinished trees, the features that
// they test or -1).
template <class AnyScores>
nb::typed<nb::tuple, NumpyArray<double>, NumpyArray<index_t>, nb::typed<nb::list, index_t>,
          nb::typed<nb::list, std::int32_t>>
foresee(const ForestArrays& arrays, const AnyScores& scores, const Vector<double>& values,
        const Vector<std::uint8_t>& states, const Vector<index_t>& nodes, index_t tree, index_t end, bool single_sums,
        std::int32_t column, const std::vector<double>& answers) {
    const ForestView forest = arrays.with_scores(scores, single_sums);
    const index_t n_trees = forest.n_trees();
    require(span(values).size == forest.n_features && span(states).size == forest.n_features,
            "values, states: one for each feature");
    require(0 <= column && column < forest.n_features, "column: one of the features");
    require(span(nodes).size == n_trees && 0 <= tree && end <= n_trees, "nodes: one for each tree");
    for (index_t t = 0; t < n_trees; ++t) require_node(forest, t, nodes.data()[t]);
    for (const index_t first : forest.target) require(first + forest.width <= forest.n_outputs, "scores: too wide");
    const std::size_t n_answers = answers.size();
    std::vector<double> known(values.data(), values.data() + forest.n_features);
    std::vector<std::uint8_t> told(states.data(), states.data() + forest.n_features);
    told[static_cast<std::size_t>(column)] = FeatureState::known;
    std::vector<index_t> moved(n_answers * static_cast<std::size_t>(n_trees));
    std::vector<double> outputs(n_answers * static_cast<std::size_t>(forest.n_outputs), 0.0);
    nb::list trees;
    nb::list columns;
    for (std::size_t a = 0; a < n_answers; ++a) {
        known[static_cast<std::size_t>(column)] = answers[a];
        index_t* own = moved.data() + a * static_cast<std::size_t>(n_trees);
        std::copy(nodes.data(), nodes.data() + n_trees, own);
        index_t first = tree;
        columns.append(descend_known(forest, known.data(), told.data(), own, first, end, [](std::int32_t) {}));
        trees.append(first);
        add_scores(forest, own, end, outputs.data() + a * static_cast<std::size_t>(forest.n_outputs));
    }
    return {nb::make_tuple(
        to_numpy(std::move(outputs), {n_answers, static_cast<std::size_t>(forest.n_outputs)}),
        to_numpy(std::move(moved), {n_answers, static_cast<std::size_t>(n_trees)}), trees, columns)};
}

// (n_nodes, n_outputs): the outputs if a tree were at another of its nodes.
NumpyArray<double> swap_nodes(const ForestArrays& arrays, const Scores& scores, const Vector<double>& output,
                              index_t tree, index_t here, const std::vector<index_t>& there) {
    const ForestView forest = arrays.with_scores(scores, false);
    require_node(forest, tree, here);
    const std::size_t n = output.shape(0);
    const index_t first = forest.target[tree];
    require(first + forest.width <= static_cast<index_t>(n), "output: one for each of the forest's");
    std::vector<double> outputs;
    outputs.reserve(n * there.size());
    for (const index_t node : there) {
        require_node(forest, tree, node);
        outputs.insert(outputs.end(), output.data(), output.data() + n);
        double* own = outputs.data() + outputs.size() - n + first;
        for (index_t w = 0; w < forest.width; ++w)
            own[w] += forest.scores[node * forest.width + w] - forest.scores[here * forest.width + w];
    }
    return to_numpy(std::move(outputs), {there.size(), n});
}

// (place, feature, spread) of the largest spread of each feature but one, by place; of equal ones the first.
// IN  features, spreads: of some nodes; a feature below zero is none.
nb::typed<nb::list, nb::typed<nb::tuple, index_t, std::int32_t, double>> largest_spreads(
    const Vector<std::int32_t>& features, const Vector<double>& spreads, std::int32_t other) {
    require(span(features).size == span(spreads).size, "features, spreads: as many of each");
    struct Found {
        index_t place;
        std::int32_t feature;
        double spread;
    };
    std::vector<Found> found;
    for (index_t place = 0; place < span(features).size; ++place) {
        const std::int32_t feature = features.data()[place];
        const double spread = spreads.data()[place];
        if (feature < 0 || feature == other || !(spread > 0)) continue;
        const auto same = std::find_if(found.begin(), found.end(),
                                       [feature](const Found& one) { return one.feature == feature; });
        if (same == found.end()) {
            found.push_back({place, feature, spread});
        } else if (spread > same->spread) {
            *same = {place, feature, spread};
        }
    }
    std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.place < b.place; });
    nb::list listed;
    for (const Found& one : found) listed.append(nb::make_tuple(one.place, one.feature, one.spread));
    return {listed};
}

// Outputs before the last round of boosting, its steps, and which outputs it walked, for the rows of `outputs`.
// IN  nodes, trees: of all rows; starts (rows + 1,): where those of each begin.
nb::typed<nb::tuple, NumpyArray<double>, NumpyArray<double>, NumpyArray<bool>> undo_rounds(
    const ForestArrays& arrays, const Scores& scores, const Rows& outputs, const Vector<index_t>& nodes,
    const Vector<index_t>& trees, const std::vector<index_t>& starts, double learning_rate) {
    const ForestView forest = arrays.with_scores(scores, false);
    const std::size_t n_rows = outputs.shape(0);
    const std::size_t n = outputs.shape(1);
    require(span(nodes).size == span(trees).size, "nodes, trees: as many of each");
    require(starts.size() == n_rows + 1 && starts.front() == 0 && starts.back() == span(nodes).size &&
                std::is_sorted(starts.begin(), starts.end()),
            "starts: ascending, one more than rows");
    for (index_t i = 0; i < span(nodes).size; ++i) {
        require_node(forest, trees.data()[i], nodes.data()[i]);
        require(forest.target[trees.data()[i]] + forest.width <= static_cast<index_t>(n), "outputs: too few");
    }
    std::vector<double> before(outputs.data(), outputs.data() + n_rows * n);
    std::vector<double> steps(n_rows * n, 0.0);
    auto walked = unwritten<bool>(n_rows * n);
    std::vector<std::uint8_t> flags(n);
    for (std::size_t row = 0; row < n_rows; ++row) {
        const index_t begin = starts[row];
        const index_t size = starts[row + 1] - begin;
        std::fill(flags.begin(), flags.end(), std::uint8_t{0});
        undo_round(forest, {nodes.data() + begin, size}, {trees.data() + begin, size}, learning_rate,
                   before.data() + row * n, steps.data() + row * n, flags.data());
        std::copy(flags.begin(), flags.end(), walked.get() + row * n);
    }
    return {nb::make_tuple(to_numpy(std::move(before), {n_rows, n}), to_numpy(std::move(steps), {n_rows, n}),
                           to_numpy(std::move(walked), {n_rows, n}))};
}

// (n_rows, n_classes): the shares of the classes that a round of boosting was fitted to.
NumpyArray<double> round_shares(const Rows& before, const Rows& steps, const Flags& own) {
    const std::size_t n_rows = before.shape(0);
    const std::size_t n = before.shape(1);
    require(steps.shape(0) == n_rows && steps.shape(1) == n && own.shape(0) == n_rows && own.shape(1) == n,
            "before, steps, own: of one shape");
    std::vector<double> shares(n_rows * n);
    for (std::size_t row = 0; row < n_rows; ++row)
        boosted_shares(static_cast<index_t>(n), before.data() + row * n, steps.data() + row * n,
                       own.data() + row * n, shares.data() + row * n);
    return to_numpy(std::move(shares), {n_rows, n});
}

// (risk, fall) of the expected Brier score.
std::pair<double, double> fall_of(const Vector<double>& now, const Rows& after, const Rows& labels,
                                  const std::vector<double>& weights) {
    const std::size_t n = now.shape(0);
    require(after.shape(1) == n && labels.shape(1) == n && after.shape(0) == weights.size() &&
                labels.shape(0) == weights.size(),
            "after, labels: one row for each weight, as wide as now");
    const Fall found = expected_fall(static_cast<index_t>(n), now.data(), after.data(), labels.data(),
                                     {weights.data(), static_cast<index_t>(weights.size())});
    return {found.risk, found.fall};
}

// (n_rows, n_columns): counts divided by the sum of their row.
NumpyArray<double> normalise(const Table<double>& counts) {
    auto shares = unwritten<double>(counts.shape(0) * counts.shape(1));
    normalise_rows(matrix(counts), shares.get());
    return to_numpy(std::move(shares), {counts.shape(0), counts.shape(1)});
}

// (n_rows, n_columns): scores without the largest of their row.
NumpyArray<double> shift(const Table<double>& scores) {
    require(scores.shape(1) > 0, "scores: at least one column");
    auto shifted = unwritten<double>(scores.shape(0) * scores.shape(1));
    shift_rows(matrix(scores), shifted.get());
    return to_numpy(std::move(shifted), {scores.shape(0), scores.shape(1)});
}

// (n_rows, width): the mean over the nodes of each row of the shares of their counts, which are not negative.
// IN  nodes: of all rows; starts (rows + 1,): where those of each begin; every row has some.
NumpyArray<double> shares_of(const Scores& counts, const Vector<index_t>& nodes, const std::vector<index_t>& starts) {
    const Span<const index_t> given = span(nodes);
    require(!starts.empty() && starts.front() == 0 && starts.back() == given.size, "starts: from 0 to all nodes");
    for (const index_t node : given)
        require(0 <= node && node < static_cast<index_t>(counts.shape(0)), "nodes: each with counts");
    const std::size_t n_rows = starts.size() - 1;
    std::vector<double> shares(n_rows * counts.shape(1), 0.0);
    for (std::size_t row = 0; row < n_rows; ++row) {
        require(starts[row] < starts[row + 1], "starts: ascending");
        mean_shares(counts.data(), static_cast<index_t>(counts.shape(1)),
                    {given.data + starts[row], starts[row + 1] - starts[row]}, shares.data() + row * counts.shape(1));
    }
    return to_numpy(std::move(shares), {n_rows, counts.shape(1)});
}

}  // namespace

void bind_reasons(nb::module_& m) {
    m.def("foresee", &foresee<Scores>, "forest"_a, "scores"_a.noconvert(), "values"_a.noconvert(),
          "states"_a.noconvert(), "nodes"_a.noconvert(), "tree"_a, "end"_a, "single_sums"_a, "column"_a, "answers"_a);
    m.def("foresee", &foresee<SparseScores>, "forest"_a, "scores"_a, "values"_a.noconvert(), "states"_a.noconvert(),
          "nodes"_a.noconvert(), "tree"_a, "end"_a, "single_sums"_a, "column"_a, "answers"_a);
    m.def("swap_nodes", &swap_nodes, "forest"_a, "scores"_a.noconvert(), "output"_a, "tree"_a, "here"_a, "there"_a);
    m.def("largest_spreads", &largest_spreads, "features"_a, "spreads"_a, "other"_a);
    m.def("undo_rounds", &undo_rounds, "forest"_a, "scores"_a.noconvert(), "outputs"_a, "nodes"_a, "trees"_a,
          "starts"_a, "learning_rate"_a);
    m.def("round_shares", &round_shares, "before"_a, "steps"_a, "own"_a);
    m.def("expected_fall", &fall_of, "now"_a, "after"_a, "labels"_a, "weights"_a);
    m.def("normalise", &normalise, "counts"_a);
    m.def("shift", &shift, "scores"_a);
    m.def("mean_shares", &shares_of, "counts"_a.noconvert(), "nodes"_a, "starts"_a);
}

}  // namespace farthing
