// Python bindings of boost/curtailed_vote.hpp.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "account/cost_sheet.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cost_sheet.hpp"
#include "bindings/predictor.hpp"
#include "boost/curtailed_vote.hpp"
#include "common/bitset.hpp"
#include "common/views.hpp"
#include "predict/forest_view.hpp"

namespace farthing {
namespace {

// The Python side has built the plan for the predictor's forest.
void check_plan(const ForestView& forest, const CurtailPlan& plan, index_t n_columns) {
    require(forest.n_outputs == 1 && forest.width == 1, "a vote has one output");
    require(n_columns == forest.n_features, "X: one column for each feature");
    require(plan.position.size == forest.n_features, "position: one for each feature");
    require(plan.stump.size == forest.n_trees(), "stump: one for each tree");
    require(plan.shared_low.size == plan.order.size && plan.shared_high.size == plan.order.size,
            "shared bounds: one for each feature of the order");
    require(plan.low.size == forest.feature.size && plan.high.size == forest.feature.size, "bounds: one for each node");
    require(plan.stop_low.size == plan.stop_high.size &&
                (plan.stop_low.size == 0 || plan.stop_low.size == plan.order.size),
            "thresholds: one of each for each feature of the order, or none");
    for (const index_t feature : plan.order) require(feature >= 0 && feature < forest.n_features, "no such feature");
    for (const std::int32_t feature : forest.feature) {
        require(feature < 0 || (plan.position[feature] >= 0 && plan.position[feature] < plan.order.size),
                "position: a tested feature is not in the order");
    }
}

template <class T>
PredictionWords curtailed(const Predictor& predictor, const Table<T>& X, const Vector<index_t>& order,
                          const Vector<index_t>& position, const Vector<std::uint8_t>& stump,
                          const Vector<double>& shared_low, const Vector<double>& shared_high,
                          const Vector<double>& low, const Vector<double>& high,
                          const Vector<double>& stop_low, const Vector<double>& stop_high,
                          const std::optional<Vector<double>>& budgets, const Vector<double>& own,
                          const Vector<double>& shared, const Vector<index_t>& group_of, int n_threads) {
    const ForestView& forest = predictor.dense_view();
    const CurtailPlan plan{span(order), span(position), span(stump),    span(shared_low), span(shared_high),
                           span(low),   span(high),     span(stop_low), span(stop_high)};
    const auto n = static_cast<index_t>(X.shape(0));
    const index_t words = Bitset::n_words(forest.n_features);
    check_plan(forest, plan, static_cast<index_t>(X.shape(1)));
    require(!budgets || static_cast<index_t>(budgets->shape(0)) == n, "budgets: one for each row");
    const CostSheet sheet = cost_sheet_of(own, shared, group_of, forest.n_features);
    std::vector<double> outputs(static_cast<std::size_t>(n));
    std::vector<std::uint64_t> touched(static_cast<std::size_t>(n * words));
    {
        nb::gil_scoped_release unlocked;
        predict_curtailed(forest, plan, sheet, matrix(X), budgets ? span(*budgets) : Span<const double>{},
                          outputs.data(), touched.data(), n_threads);
    }
    const auto rows = static_cast<std::size_t>(n);
    return {nb::make_tuple(to_numpy(std::move(outputs), {rows, 1}),
                           to_numpy(std::move(touched), {rows, static_cast<std::size_t>(words)}))};
}

// (sums, finals)
using Traces = nb::typed<nb::tuple, NumpyArray<double>, NumpyArray<double>>;

template <class T>
Traces traced(const Predictor& predictor, const Table<T>& X, const Vector<index_t>& order,
              const Vector<index_t>& position, const Vector<std::uint8_t>& stump, const Vector<double>& shared_low,
              const Vector<double>& shared_high, const Vector<double>& low, const Vector<double>& high, int n_threads) {
    const ForestView& forest = predictor.dense_view();
    const CurtailPlan plan{span(order), span(position), span(stump), span(shared_low), span(shared_high),
                           span(low),   span(high),     {},          {}};
    check_plan(forest, plan, static_cast<index_t>(X.shape(1)));
    const auto rows = static_cast<std::size_t>(X.shape(0));
    const auto places = static_cast<std::size_t>(plan.order.size);
    std::vector<double> sums(rows * places);
    std::vector<double> finals(rows);
    {
        nb::gil_scoped_release unlocked;
        trace_votes(forest, plan, matrix(X), sums.data(), finals.data(), n_threads);
    }
    return {nb::make_tuple(to_numpy(std::move(sums), {rows, places}), to_numpy(std::move(finals)))};
}

template <class T>
void bind(nb::module_& m) {
    m.def("curtailed", &curtailed<T>, "predictor"_a, "X"_a.noconvert(), nb::kw_only(), "order"_a, "position"_a,
          "stump"_a, "shared_low"_a, "shared_high"_a, "low"_a, "high"_a, "stop_low"_a, "stop_high"_a,
          "budgets"_a.none(), "own"_a, "shared"_a, "group_of"_a, "n_threads"_a);
    m.def("trace_votes", &traced<T>, "predictor"_a, "X"_a.noconvert(), nb::kw_only(), "order"_a, "position"_a,
          "stump"_a, "shared_low"_a, "shared_high"_a, "low"_a, "high"_a, "n_threads"_a);
}

}  // namespace

void bind_curtail(nb::module_& m) {
    bind<double>(m);
    bind<float>(m);
}

}  // namespace farthing
