// Python bindings of the prune folder.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <nanobind/stl/function.h>

#include "bindings/arrays.hpp"
#include "bindings/predictor.hpp"
#include "common/views.hpp"
#include "predict/forest_view.hpp"
#include "prune/closure_graph.hpp"
#include "prune/closure_path.hpp"
#include "prune/feature_removal.hpp"
#include "prune/min_cut.hpp"
#include "prune/node_errors.hpp"
#include "prune/path_curve.hpp"
#include "prune/pruning_problem.hpp"
#include "prune/row_bundles.hpp"

namespace farthing {
namespace {

// (numerators, denominators, drops, number of cuts)
using Path = nb::typed<nb::tuple, NumpyArray<std::int64_t>, NumpyArray<std::int64_t>, NumpyArray<index_t>, index_t>;
using Caller = std::optional<nb::typed<nb::callable, void(double)>>;

Progress with_lock(const Caller& caller) {
    if (!caller) return {};
    return [&caller](double share) {
        nb::gil_scoped_acquire lock;
        (*caller)(share);
    };
}

Path give_path(ClosurePath&& path, std::vector<index_t>&& drop) {
    std::vector<std::int64_t> p;
    std::vector<std::int64_t> q;
    for (const Rate& rate : path.rates) {
        p.push_back(rate.p);
        q.push_back(rate.q);
    }
    return {nb::make_tuple(to_numpy(std::move(p)), to_numpy(std::move(q)), to_numpy(std::move(drop)), path.n_cuts)};
}

ClosureGraph graph_of(const Vector<std::int64_t>& gain, const Vector<std::int64_t>& cost, const Vector<index_t>& tail,
                      const Vector<index_t>& head) {
    require(gain.shape(0) == cost.shape(0), "gain and cost: one for each element");
    require(tail.shape(0) == head.shape(0), "tail and head: one for each arc");
    ClosureGraph graph;
    graph.gain.assign(span(gain).begin(), span(gain).end());
    graph.cost.assign(span(cost).begin(), span(cost).end());
    for (const std::int64_t c : graph.cost) require(c >= 0, "costs are not negative");
    ArcList arcs;
    for (index_t a = 0; a < span(tail).size; ++a) {
        for (const index_t v : {span(tail)[a], span(head)[a]})
            require(v >= 0 && v < graph.n(), "an arc leads out of the elements");
        arcs.add(static_cast<std::int32_t>(span(tail)[a]), static_cast<std::int32_t>(span(head)[a]));
    }
    arcs.fill(graph);
    return graph;
}

Path closure_path(const Vector<std::int64_t>& gain, const Vector<std::int64_t>& cost, const Vector<index_t>& tail,
                  const Vector<index_t>& head, const Caller& progress) {
    ClosureGraph graph = graph_of(gain, cost, tail, head);
    ClosurePath path;
    {
        nb::gil_scoped_release unlocked;
        path = ClosureSolver(with_lock(progress)).solve(std::move(graph));
    }
    std::vector<index_t> drop(path.drop.begin(), path.drop.end());
    return give_path(std::move(path), std::move(drop));
}

// The pruning problem of a forest and the rows that pay.
class Pruning {
public:
    template <class T>
    static Pruning make(const Predictor& predictor, const Table<T>& X, const Vector<std::int64_t>& gain,
                        const Vector<std::int64_t>& own, const Vector<std::int64_t>& shared,
                        const Vector<index_t>& group_of, std::int64_t test) {
        const ForestView& view = predictor.dense_view();
        require(static_cast<index_t>(X.shape(1)) == view.n_features, "X: one column for each feature");
        require(static_cast<index_t>(gain.shape(0)) == view.feature.size, "gain: one for each node");
        require(static_cast<index_t>(own.shape(0)) == view.n_features, "own: one for each feature");
        require(static_cast<index_t>(group_of.shape(0)) == view.n_features, "group_of: one for each feature");
        for (const index_t group : span(group_of))
            require(group < static_cast<index_t>(shared.shape(0)), "group_of names no group");
        for (const std::int64_t c : span(own)) require(c >= 0, "own costs are not negative");
        for (const std::int64_t c : span(shared)) require(c >= 0, "shared costs are not negative");
        require(test >= 0, "the cost of a test is not negative");
        const IntegerCosts sheet{span(own), span(shared), span(group_of), test};
        nb::gil_scoped_release unlocked;
        return Pruning(pruning_problem(view, matrix(X), span(gain), sheet));
    }

    index_t n_elements() const { return problem_.graph.n(); }
    index_t n_arcs() const { return problem_.graph.n_arcs(); }

    // All breakpoints, and for each node the entry from which on it is no longer split.
    Path path(const Caller& progress) const {
        ClosurePath path;
        std::vector<index_t> drop(problem_.element.size(), 0);
        {
            nb::gil_scoped_release unlocked;
            path = ClosureSolver(with_lock(progress)).solve(ClosureGraph(problem_.graph));
            for (std::size_t h = 0; h < drop.size(); ++h) {
                if (problem_.element[h] >= 0) drop[h] = path.drop[problem_.element[h]];
            }
            leave_out_purchases(path.rates, drop);
        }
        return give_path(std::move(path), std::move(drop));
    }

    // The nodes that stay split at the rate p / q, from a single cut.
    NumpyArray<std::uint8_t> cut(std::int64_t p, std::int64_t q) const {
        require(p >= 0 && q > 0, "a rate is p / q with p >= 0 and q > 0");
        std::vector<std::uint8_t> kept(problem_.element.size(), 0);
        {
            nb::gil_scoped_release unlocked;
            const std::vector<std::uint8_t> inside = best_closure(problem_.graph, Rate{p, q});
            for (std::size_t h = 0; h < kept.size(); ++h)
                kept[h] = problem_.element[h] >= 0 && inside[problem_.element[h]];
        }
        return to_numpy(std::move(kept));
    }

private:
    explicit Pruning(PruningProblem&& problem) : problem_(std::move(problem)) {}

    PruningProblem problem_;

    // Purchases that no split needs leave the largest optimum at rate 0 by themselves; that entry prunes nothing.
    static void leave_out_purchases(std::vector<Rate>& rates, std::vector<index_t>& drop) {
        if (rates.empty() || std::find(drop.begin(), drop.end(), 1) != drop.end()) return;
        rates.erase(rates.begin());
        for (index_t& entry : drop) entry -= entry > 1;
    }
};

// (errors of passing rows, errors of staying rows)
using Errors = nb::typed<nb::tuple, NumpyArray<std::int64_t>, NumpyArray<std::int64_t>>;

template <class T>
Errors node_errors_of(const Predictor& predictor, const Table<T>& X, const Vector<index_t>& y,
                      const Vector<index_t>& label) {
    const ForestView& view = predictor.dense_view();
    require(static_cast<index_t>(X.shape(1)) == view.n_features, "X: one column for each feature");
    require(y.shape(0) == X.shape(0), "y: one for each row");
    require(static_cast<index_t>(label.shape(0)) == view.feature.size, "label: one for each node");
    NodeErrors errors;
    {
        nb::gil_scoped_release unlocked;
        errors = node_errors(view, matrix(X), span(y), span(label));
    }
    return {nb::make_tuple(to_numpy(std::move(errors.passing)), to_numpy(std::move(errors.staying)))};
}

// (rows that buy, tests, misclassified rows)
using Curves = nb::typed<nb::tuple, NumpyArray<std::int32_t>, NumpyArray<std::int64_t>, NumpyArray<std::int64_t>>;

template <class T>
Curves path_curve_of(const Predictor& predictor, const Table<T>& X, const Vector<index_t>& drop, index_t n_entries,
                     const Vector<index_t>& y, index_t prior, const Vector<index_t>& group_of, index_t n_groups,
                     int n_threads) {
    const ForestView& view = predictor.dense_view();
    require(static_cast<index_t>(X.shape(1)) == view.n_features, "X: one column for each feature");
    require(y.shape(0) == X.shape(0), "y: one for each row");
    require(static_cast<index_t>(drop.shape(0)) == view.feature.size, "drop: one for each node");
    require(n_entries >= 1 && n_entries < std::numeric_limits<std::int32_t>::max(), "too many entries");
    for (const index_t d : span(drop)) require(d >= 0 && d <= n_entries, "drop: an entry, or their number");
    require(static_cast<index_t>(group_of.shape(0)) == view.n_features, "group_of: one for each feature");
    for (const index_t group : span(group_of)) require(group < n_groups, "group_of names no group");
    PathCurve curve;
    {
        nb::gil_scoped_release unlocked;
        curve =
            path_curve(view, matrix(X), span(y), {span(drop), n_entries, span(group_of), n_groups, prior}, n_threads);
    }
    const auto items = static_cast<std::size_t>(view.n_features + n_groups);
    const auto entries = static_cast<std::size_t>(n_entries + 1);
    return {nb::make_tuple(to_numpy(std::move(curve.bought), {items, entries}), to_numpy(std::move(curve.tests)),
                           to_numpy(std::move(curve.wrong)))};
}

template <class T>
FeatureRemoval feature_paths(const Predictor& predictor, const Table<T>& X, const Vector<index_t>& group_of,
                             index_t n_groups) {
    const ForestView& view = predictor.dense_view();
    require(static_cast<index_t>(X.shape(1)) == view.n_features, "X: one column for each feature");
    require(static_cast<index_t>(group_of.shape(0)) == view.n_features, "group_of: one for each feature");
    for (const index_t group : span(group_of)) require(group < n_groups, "group_of names no group");
    nb::gil_scoped_release unlocked;
    return FeatureRemoval(view, matrix(X), span(group_of), n_groups);
}

}  // namespace

void bind_prune(nb::module_& m) {
    m.def("closure_path", &closure_path, "gain"_a, "cost"_a, "tail"_a, "head"_a, "progress"_a.none() = nb::none());

    nb::class_<Pruning>(m, "Pruning")
        .def_static("make", &Pruning::make<double>, "predictor"_a, "X"_a.noconvert(), nb::kw_only(), "gain"_a, "own"_a,
                    "shared"_a, "group_of"_a, "test"_a)
        .def_static("make", &Pruning::make<float>, "predictor"_a, "X"_a.noconvert(), nb::kw_only(), "gain"_a, "own"_a,
                    "shared"_a, "group_of"_a, "test"_a)
        .def_prop_ro("n_elements", &Pruning::n_elements)
        .def_prop_ro("n_arcs", &Pruning::n_arcs)
        .def("path", &Pruning::path, "progress"_a.none() = nb::none())
        .def("cut", &Pruning::cut, "p"_a, "q"_a);

    m.def("node_errors", &node_errors_of<double>, "predictor"_a, "X"_a.noconvert(), "y"_a, "label"_a);
    m.def("node_errors", &node_errors_of<float>, "predictor"_a, "X"_a.noconvert(), "y"_a, "label"_a);
    m.def("path_curve", &path_curve_of<double>, "predictor"_a, "X"_a.noconvert(), nb::kw_only(), "drop"_a,
          "n_entries"_a, "y"_a, "prior"_a, "group_of"_a, "n_groups"_a, "n_threads"_a);
    m.def("path_curve", &path_curve_of<float>, "predictor"_a, "X"_a.noconvert(), nb::kw_only(), "drop"_a, "n_entries"_a,
          "y"_a, "prior"_a, "group_of"_a, "n_groups"_a, "n_threads"_a);

    nb::class_<FeatureRemoval>(m, "FeaturePaths")
        .def(
            "losses",
            [](const FeatureRemoval& paths, const Vector<std::int64_t>& gain, const Vector<std::uint8_t>& removed) {
                require(static_cast<index_t>(removed.shape(0)) == paths.n_features(), "removed: one for each feature");
                require(static_cast<index_t>(gain.shape(0)) == paths.n_nodes(), "gain: one for each node");
                return to_numpy(paths.losses(span(gain), span(removed)));
            },
            "gain"_a, "removed"_a)
        .def(
            "savings",
            [](const FeatureRemoval& paths, const Vector<std::uint8_t>& removed, int n_threads) {
                require(static_cast<index_t>(removed.shape(0)) == paths.n_features(), "removed: one for each feature");
                std::vector<std::int64_t> saved;
                {
                    nb::gil_scoped_release unlocked;
                    saved = paths.savings(span(removed), n_threads);
                }
                return to_numpy(std::move(saved), {static_cast<std::size_t>(paths.n_features()),
                                                   static_cast<std::size_t>(paths.n_items())});
            },
            "removed"_a, "n_threads"_a);
    m.def("feature_paths", &feature_paths<double>, nb::keep_alive<0, 1>(), "predictor"_a, "X"_a.noconvert(),
          "group_of"_a, "n_groups"_a);
    m.def("feature_paths", &feature_paths<float>, nb::keep_alive<0, 1>(), "predictor"_a, "X"_a.noconvert(),
          "group_of"_a, "n_groups"_a);
}

}  // namespace farthing
