// Python bindings of boost/curtailed_class_vote.hpp.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "account/cost_sheet.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cost_sheet.hpp"
#include "bindings/predictor.hpp"
#include "boost/curtailed_class_vote.hpp"
#include "common/bitset.hpp"
#include "common/views.hpp"
#include "predict/forest_view.hpp"

namespace farthing {
namespace {

// The Python side has built the plan for the predictor's forest; its tables are flat.
template <class T>
PredictionWords curtailed_classes(const Predictor& predictor, const Table<T>& X, const Vector<index_t>& order,
                                  const Vector<index_t>& position, const Vector<std::uint8_t>& stump,
                                  const Vector<double>& weights, const Vector<double>& shared_lead,
                                  const Vector<double>& shared_sum, const Vector<std::int8_t>& node_lead,
                                  const Vector<std::int8_t>& node_sum, const std::optional<Vector<double>>& budgets,
                                  const Vector<double>& own, const Vector<double>& shared,
                                  const Vector<index_t>& group_of, int n_threads) {
    const ForestView& forest = predictor.dense_view();
    const index_t k = forest.n_outputs;
    const ClassCurtailPlan plan{span(order),       span(position),   span(stump),     span(weights),
                                span(shared_lead), span(shared_sum), span(node_lead), span(node_sum),
                                k};
    const auto n = static_cast<index_t>(X.shape(0));
    const index_t words = Bitset::n_words(forest.n_features);
    const index_t nodes = forest.feature.size;
    require(forest.width == k, "every tree votes on all classes");
    require(static_cast<index_t>(X.shape(1)) == forest.n_features, "X: one column for each feature");
    require(plan.position.size == forest.n_features, "position: one for each feature");
    require(plan.stump.size == forest.n_trees() && plan.weights.size == forest.n_trees(),
            "stump, weights: one for each tree");
    require(plan.shared_lead.size == plan.order.size * k * k && plan.shared_sum.size == plan.order.size * k,
            "shared bounds: for each feature of the order");
    require(plan.node_lead.size == nodes * k * k && plan.node_sum.size == nodes * k, "bounds: for each node");
    for (const index_t feature : plan.order) require(feature >= 0 && feature < forest.n_features, "no such feature");
    for (const std::int32_t feature : forest.feature) {
        require(feature < 0 || (plan.position[feature] >= 0 && plan.position[feature] < plan.order.size),
                "position: a tested feature is not in the order");
    }
    require(!budgets || static_cast<index_t>(budgets->shape(0)) == n, "budgets: one for each row");
    const CostSheet sheet = cost_sheet_of(own, shared, group_of, forest.n_features);
    std::vector<double> outputs(static_cast<std::size_t>(n * k));
    std::vector<std::uint64_t> touched(static_cast<std::size_t>(n * words));
    {
        nb::gil_scoped_release unlocked;
        predict_curtailed_classes(forest, plan, sheet, matrix(X), budgets ? span(*budgets) : Span<const double>{},
                                  outputs.data(), touched.data(), n_threads);
    }
    const auto rows = static_cast<std::size_t>(n);
    return {nb::make_tuple(to_numpy(std::move(outputs), {rows, static_cast<std::size_t>(k)}),
                           to_numpy(std::move(touched), {rows, static_cast<std::size_t>(words)}))};
}

template <class T>
void bind(nb::module_& m) {
    m.def("curtailed_classes", &curtailed_classes<T>, "predictor"_a, "X"_a.noconvert(), nb::kw_only(), "order"_a,
          "position"_a, "stump"_a, "weights"_a, "shared_lead"_a, "shared_sum"_a, "node_lead"_a, "node_sum"_a,
          "budgets"_a.none(), "own"_a, "shared"_a, "group_of"_a, "n_threads"_a);
}

}  // namespace

void bind_curtail_classes(nb::module_& m) {
    bind<double>(m);
    bind<float>(m);
}

}  // namespace farthing
