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
#include "common/views.hpp"
#include "neighbors/greedy_acquisition.hpp"
#include "neighbors/local_regression.hpp"
#include "neighbors/neighborhood.hpp"
#include "neighbors/reference_rows.hpp"

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
}

}  // namespace farthing
