// Python bindings of the neighbors folder.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "account/cost_sheet.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cost_sheet.hpp"
#include "common/bitset.hpp"
#include "common/selection.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "neighbors/greedy_acquisition.hpp"
#include "neighbors/local_regression.hpp"
#include "neighbors/neighborhood.hpp"
#include "neighbors/reference_rows.hpp"
#include "neighbors/set_planner.hpp"

namespace farthing {
namespace {

using Columns = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// (outputs, words of acquired features)
using Acquired = nb::typed<nb::tuple, NumpyArray<double>, NumpyArray<std::uint64_t>>;

Span<const double> flat(const Columns& array) {
    return {array.data(), static_cast<index_t>(array.shape(0) * array.shape(1))};
}

// Training rows of either kind, with the rule by which predictions acquire features.
template <class Table>
class PyRows {
public:
    const Table& table() const { return table_; }
    const AcquisitionRule& rule() const { return rule_; }

protected:
    Table table_;
    AcquisitionRule rule_;

    void require_shapes(const Vector<double>& weights) {
        require(table_.n_rows > 0 && table_.n_features > 0, "there are no rows or no features");
        require(static_cast<index_t>(weights.shape(0)) == table_.n_rows, "weights: one for each row");
        for (const double weight : span(weights)) require(weight >= 0, "weights: zero or more");
        table_.weights = round_to_grid(span(weights));
        table_.prepare();
        require(table_.total > 0, "weights: not all zero");
    }
};

class PyReferenceRows : public PyRows<ReferenceRows> {
public:
    PyReferenceRows(Columns values, Columns margins, Vector<double> intercepts, double intercept, Vector<double> scale,
                    Vector<double> gap, Vector<std::uint8_t> categorical, Vector<std::uint8_t> votes,
                    const Vector<double>& weights, std::optional<double> n_neighbors, double radius,
                    bool random_order, double alpha, double confidence)
        : kept_{values, margins}, kept_vectors_{intercepts, scale, gap}, kept_flags_{categorical, votes} {
        table_.n_rows = static_cast<index_t>(values.shape(1));
        table_.n_features = static_cast<index_t>(values.shape(0));
        require(static_cast<index_t>(margins.shape(0)) == table_.n_rows &&
                    static_cast<index_t>(margins.shape(1)) == table_.n_features,
                "margins: one for each row and feature");
        table_.values = flat(values);
        table_.margins = flat(margins);
        table_.intercepts = span(intercepts);
        table_.intercept = intercept;
        table_.scale = span(scale);
        table_.missing_distance = span(gap);
        table_.categorical = span(categorical);
        table_.used = span(votes);
        table_.random_order = random_order;
        require(table_.intercepts.size == table_.n_rows, "intercepts: one for each row");
        for (const index_t size :
             {table_.scale.size, table_.missing_distance.size, table_.categorical.size, table_.used.size}) {
            require(size == table_.n_features, "scale, gap, categorical, votes: one for each feature");
        }
        require_shapes(weights);
        if (n_neighbors) {
            require(*n_neighbors > 0, "n_neighbors: above zero");
            table_.min_weight = std::min(*n_neighbors, table_.total);
        }
        require(radius >= 0, "radius: zero or more");
        table_.squared_radius = radius * radius;
        rule_ = {alpha, -std::numeric_limits<double>::infinity(), confidence};
    }

private:
    std::vector<Columns> kept_;
    std::vector<Vector<double>> kept_vectors_;
    std::vector<Vector<std::uint8_t>> kept_flags_;
};

class PyLocalRows : public PyRows<LocalRows> {
public:
    PyLocalRows(Columns values, Vector<double> labels, const Vector<double>& weights, double ridge, double alpha,
                double confidence)
        : kept_(values), kept_labels_(labels) {
        table_.n_rows = static_cast<index_t>(values.shape(0));
        table_.n_features = static_cast<index_t>(values.shape(1));
        table_.values = flat(values);
        table_.labels = span(labels);
        table_.ridge = ridge;
        require(table_.labels.size == table_.n_rows, "labels: one for each row");
        require(ridge > 0, "ridge: above zero");
        require_shapes(weights);
        rule_ = {alpha, 0.0, confidence};
    }

private:
    Columns kept_;
    Vector<double> kept_labels_;
};

// One row of a walk. The Python side keeps the training rows alive.
template <class Holder, class RowModel>
class PyRow {
public:
    PyRow(const Holder& holder, std::int64_t seed) : rule_(holder.rule()), model_(holder.table()) {
        model_.start(static_cast<std::uint64_t>(seed));
        n_features_ = holder.table().n_features;
    }

    // The feature to buy next, -1 if there is none.
    index_t next(const Vector<double>& prices, const Vector<std::uint8_t>& affordable) {
        require(span(prices).size == n_features_ && span(affordable).size == n_features_,
                "prices, affordable: one for each feature");
        if (is_confident(model_, rule_)) return -1;
        return choose_feature(
            model_.gains(), rule_, [&](index_t feature) { return prices.data()[feature]; },
            [&](index_t feature) { return affordable.data()[feature] != 0; });
    }

    void hear(index_t feature, double value, double vote) {
        require(feature >= 0 && feature < n_features_, "no such feature");
        model_.observe(feature, value, vote);
    }

    NumpyArray<double> gains() {
        const Span<const double> gains = model_.gains();
        return to_numpy(std::vector<double>(gains.begin(), gains.end()));
    }

    NumpyArray<double> output() const { return to_numpy(std::vector<double>{model_.vote(), model_.accuracy()}); }

private:
    AcquisitionRule rule_;
    RowModel model_;
    index_t n_features_ = 0;
};

template <class Holder, class RowModel, class T>
Acquired predict(const Holder& holder, const Table<T>& X, const Table<double>& votes,
                 const std::optional<Vector<double>>& budgets, const Vector<std::int64_t>& seeds,
                 const Vector<double>& own, const Vector<double>& shared, const Vector<index_t>& group_of,
                 int n_threads) {
    const std::size_t n = X.shape(0);
    const index_t k = holder.table().n_features;
    require(static_cast<index_t>(X.shape(1)) == k && static_cast<index_t>(votes.shape(1)) == k && votes.shape(0) == n,
            "X, votes: the same rows, and one column for each feature");
    require(!budgets || budgets->shape(0) == n, "budgets: one for each row");
    require(seeds.shape(0) == n, "seeds: one for each row");
    const CostSheet sheet = cost_sheet_of(own, shared, group_of, k);
    const auto words = static_cast<std::size_t>(Bitset::n_words(k));
    std::vector<double> outputs(2 * n);
    std::vector<std::uint64_t> bought(n * words);
    {
        nb::gil_scoped_release unlocked;
        acquire_greedily<RowModel>(holder.table(), holder.rule(), sheet, matrix(X), matrix(votes),
                                   budgets ? span(*budgets) : Span<const double>{}, span(seeds), outputs.data(),
                                   bought.data(), n_threads);
    }
    return {nb::make_tuple(to_numpy(std::move(outputs), {n, 2}), to_numpy(std::move(bought), {n, words}))};
}

template <class Holder, class RowModel>
void bind(nb::class_<Holder>& holder, nb::module_& m, const char* row_name) {
    holder
        .def("predict", &predict<Holder, RowModel, double>, "X"_a.noconvert(), "votes"_a, nb::kw_only(),
             "budgets"_a.none(), "seeds"_a, "own"_a, "shared"_a, "group_of"_a, "n_threads"_a)
        .def("predict", &predict<Holder, RowModel, float>, "X"_a.noconvert(), "votes"_a, nb::kw_only(),
             "budgets"_a.none(), "seeds"_a, "own"_a, "shared"_a, "group_of"_a, "n_threads"_a);
    using Bound = PyRow<Holder, RowModel>;
    nb::class_<Bound>(m, row_name)
        .def(nb::init<const Holder&, std::int64_t>(), nb::keep_alive<1, 2>(), "rows"_a, "seed"_a)
        .def("next", &Bound::next, "prices"_a, "affordable"_a)
        .def("hear", &Bound::hear, "feature"_a, "value"_a, "vote"_a)
        .def("gains", &Bound::gains)
        .def("output", &Bound::output);
}

using Flags = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Losses = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// (features, costs of going on, losses of stopping)
using Planned = nb::typed<nb::tuple, NumpyArray<index_t>, NumpyArray<double>, NumpyArray<double>>;

// Training rows with the losses of a library of sets, which planners share.
class PyPlanRows {
public:
    PyPlanRows(Columns values, Flags codes, Vector<double> scale, Vector<double> gap, Vector<std::uint8_t> categorical,
               Vector<double> weights, Vector<std::uint8_t> half, Losses losses, Flags members, Vector<double> own,
               Vector<double> shared, Vector<index_t> group_of, double n_neighbors, double tradeoff, double shrinkage)
        : values_(values), losses_(losses), flags_{codes, members}, vectors_{scale, gap, weights, own, shared},
          bytes_{categorical, half}, groups_(group_of) {
        rows_.n_features = static_cast<index_t>(values.shape(0));
        rows_.n_rows = static_cast<index_t>(values.shape(1));
        rows_.n_sets = static_cast<index_t>(members.shape(0));
        require(rows_.n_rows > 0 && rows_.n_features > 0 && rows_.n_sets > 0, "there are no rows, features or sets");
        require_table(codes, rows_.n_rows, rows_.n_features, "codes: one for each row and feature");
        require_table(members, rows_.n_sets, rows_.n_features, "members: one for each set and feature");
        require(static_cast<index_t>(losses.shape(0)) == rows_.n_rows &&
                    static_cast<index_t>(losses.shape(1)) == rows_.n_sets,
                "losses: one for each row and set");
        const CostSheet sheet = cost_sheet_of(own, shared, group_of, rows_.n_features);
        rows_.values = flat(values);
        rows_.codes = {codes.data(), rows_.n_rows * rows_.n_features};
        rows_.members = {members.data(), rows_.n_sets * rows_.n_features};
        rows_.losses = {losses.data(), rows_.n_rows * rows_.n_sets};
        rows_.scale = span(scale);
        rows_.gap = span(gap);
        rows_.categorical = span(categorical);
        rows_.weights = span(weights);
        rows_.half = span(half);
        rows_.own = sheet.own;
        rows_.shared = sheet.shared;
        rows_.group_of = sheet.group_of;
        for (const index_t size : {rows_.scale.size, rows_.gap.size, rows_.categorical.size}) {
            require(size == rows_.n_features, "scale, gap, categorical: one for each feature");
        }
        require(rows_.weights.size == rows_.n_rows && rows_.half.size == rows_.n_rows, "weights, half: one for each row");
        for (const double weight : rows_.weights) require(weight > 0, "weights: above zero");
        for (const std::uint8_t half_of : rows_.half) require(half_of < 2, "half: 0 or 1");
        require(n_neighbors > 0 && tradeoff >= 0 && shrinkage >= 0, "n_neighbors, tradeoff, shrinkage: not negative");
        rows_.n_answers = 1 + *std::max_element(rows_.codes.begin(), rows_.codes.end());
        rows_.n_neighbors = n_neighbors;
        rows_.tradeoff = tradeoff;
        rows_.shrinkage = shrinkage;
        rows_.root = SetPlanner(rows_).root_sums();
    }

    // The next feature of each row, -1 if there is none.
    // IN  known (n, n_features): NaN where not heard; heard, owned, affordable (n, n_features); left (n,); skipped (n,).
    Planned choose(const Columns& known, const Flags& heard, const Flags& owned, const Flags& affordable,
                   const Vector<double>& left, const std::optional<Vector<index_t>>& skipped, int n_threads) const {
        const index_t k = rows_.n_features;
        const auto n = static_cast<index_t>(known.shape(0));
        require(static_cast<index_t>(known.shape(1)) == k, "known: one column for each feature");
        require_table(heard, n, k, "heard: one for each row and feature");
        require_table(owned, n, k, "owned: one for each row and feature");
        require_table(affordable, n, k, "affordable: one for each row and feature");
        require(span(left).size == n && (!skipped || span(*skipped).size == n), "left, skipped: one for each row");
        std::vector<index_t> features(static_cast<std::size_t>(n));
        std::vector<double> costs(features.size());
        std::vector<double> stops(features.size());
        {
            nb::gil_scoped_release unlocked;
            Chunks chunks(n, 4);
            on_threads(threads_for(n_threads, n), [&](int) {
                SetPlanner planner(rows_);
                chunks.for_each([&](index_t row) {
                    const PlanState state{{known.data() + row * k, k},   {heard.data() + row * k, k},
                                          {owned.data() + row * k, k},   {affordable.data() + row * k, k},
                                          left.data()[row],              skipped ? skipped->data()[row] : -1};
                    const PlanChoice choice = planner.choose(state);
                    features[row] = choice.feature;
                    costs[row] = choice.cost;
                    stops[row] = choice.stop;
                });
            });
        }
        return {nb::make_tuple(to_numpy(std::move(features)), to_numpy(std::move(costs)), to_numpy(std::move(stops)))};
    }

private:
    PlanRows rows_;
    Columns values_;
    Losses losses_;
    std::vector<Flags> flags_;
    std::vector<Vector<double>> vectors_;
    std::vector<Vector<std::uint8_t>> bytes_;
    Vector<index_t> groups_;

    static void require_table(const Flags& table, index_t n_rows, index_t n_columns, const char* message) {
        require(static_cast<index_t>(table.shape(0)) == n_rows && static_cast<index_t>(table.shape(1)) == n_columns,
                message);
    }
};

}  // namespace

void bind_neighbors(nb::module_& m) {
    nb::class_<PyReferenceRows> kept(m, "KeptRows");
    kept.def(nb::init<Columns, Columns, Vector<double>, double, Vector<double>, Vector<double>, Vector<std::uint8_t>,
                      Vector<std::uint8_t>, const Vector<double>&, std::optional<double>, double, bool, double, double>(),
             nb::kw_only(), "values"_a, "margins"_a, "intercepts"_a, "intercept"_a, "scale"_a, "gap"_a, "categorical"_a,
             "votes"_a, "weights"_a, "n_neighbors"_a.none(), "radius"_a, "random_order"_a, "alpha"_a, "confidence"_a);
    bind<PyReferenceRows, Neighborhood>(kept, m, "Neighborhood");
    nb::class_<PyLocalRows> local(m, "LocalRows");
    local.def(nb::init<Columns, Vector<double>, const Vector<double>&, double, double, double>(), nb::kw_only(),
              "values"_a, "labels"_a, "weights"_a, "ridge"_a, "alpha"_a, "confidence"_a);
    bind<PyLocalRows, LocalRegression>(local, m, "LocalRegression");
    nb::class_<PyPlanRows>(m, "PlanRows")
        .def(nb::init<Columns, Flags, Vector<double>, Vector<double>, Vector<std::uint8_t>, Vector<double>,
                      Vector<std::uint8_t>, Losses, Flags, Vector<double>, Vector<double>, Vector<index_t>, double,
                      double, double>(),
             nb::kw_only(), "values"_a, "codes"_a, "scale"_a, "gap"_a, "categorical"_a, "weights"_a, "half"_a,
             "losses"_a, "members"_a, "own"_a, "shared"_a, "group_of"_a, "n_neighbors"_a, "tradeoff"_a, "shrinkage"_a)
        .def("choose", &PyPlanRows::choose, "known"_a, "heard"_a, "owned"_a, "affordable"_a, "left"_a,
             "skipped"_a.none(), nb::kw_only(), "n_threads"_a);
}

}  // namespace farthing
