// Neighbourhoods and local regressions for Python.
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

// (outputs, words of bought features)
using Acquired = nb::typed<nb::tuple, Owning<double>, Owning<std::uint64_t>>;

Span<const double> flat(const Columns& array) {
    return {array.data(), static_cast<index_t>(array.shape(0) * array.shape(1))};
}

// Training rows of either kind, with the terms on which predictions buy.
template <class Table>
class Held {
public:
    const Table& table() const { return table_; }
    const Terms& terms() const { return terms_; }

protected:
    Table table_;
    Terms terms_;

    void require_shapes(const Vector<double>& weights) {
        require(table_.n_rows > 0 && table_.n_features > 0, "there are no rows or no features");
        require(static_cast<index_t>(weights.shape(0)) == table_.n_rows, "weights: one for each row");
        for (const double weight : span(weights)) require(weight >= 0, "weights: zero or more");
        table_.weights = on_grid(span(weights));
        table_.begin();
        require(table_.total > 0, "weights: not all zero");
    }
};

class Kept : public Held<KeptRows> {
public:
    Kept(Columns values, Columns margins, Vector<double> intercepts, double intercept, Vector<double> scale,
         Vector<double> gap, Vector<std::uint8_t> categorical, Vector<std::uint8_t> votes, const Vector<double>& weights,
         std::optional<double> n_neighbors, bool by_lot, double alpha, double confidence)
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
        table_.gap = span(gap);
        table_.categorical = span(categorical);
        table_.votes = span(votes);
        table_.by_lot = by_lot;
        require(table_.intercepts.size == table_.n_rows, "intercepts: one for each row");
        for (const index_t size : {table_.scale.size, table_.gap.size, table_.categorical.size, table_.votes.size}) {
            require(size == table_.n_features, "scale, gap, categorical, votes: one for each feature");
        }
        require_shapes(weights);
        if (n_neighbors) {
            require(*n_neighbors > 0, "n_neighbors: above zero");
            table_.need = std::min(*n_neighbors, table_.total);
        }
        terms_ = {alpha, -std::numeric_limits<double>::infinity(), confidence};
    }

private:
    std::vector<Columns> kept_;
    std::vector<Vector<double>> kept_vectors_;
    std::vector<Vector<std::uint8_t>> kept_flags_;
};

class Local : public Held<LocalRows> {
public:
    Local(Columns values, Vector<double> labels, const Vector<double>& weights, double ridge, double alpha,
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
        terms_ = {alpha, 0.0, confidence};
    }

private:
    Columns kept_;
    Vector<double> kept_labels_;
};

// One row of a walk. The Python side keeps the training rows alive.
template <class Holder, class Method>
class Row {
public:
    Row(const Holder& holder, std::int64_t seed) : terms_(holder.terms()), method_(holder.table()) {
        method_.start(static_cast<std::uint64_t>(seed));
        n_features_ = holder.table().n_features;
    }

    // The feature to buy next, -1 if there is none.
    index_t next(const Vector<double>& prices, const Vector<std::uint8_t>& affordable) {
        require(span(prices).size == n_features_ && span(affordable).size == n_features_,
                "prices, affordable: one for each feature");
        if (is_sure(method_, terms_)) return -1;
        return choose(
            method_.gains(), terms_, [&](index_t feature) { return prices.data()[feature]; },
            [&](index_t feature) { return affordable.data()[feature] != 0; });
    }

    void hear(index_t feature, double value, double vote) {
        require(feature >= 0 && feature < n_features_, "no such feature");
        method_.hear(feature, value, vote);
    }

    Owning<double> gains() {
        const Span<const double> gains = method_.gains();
        return give(std::vector<double>(gains.begin(), gains.end()));
    }

    Owning<double> output() const { return give(std::vector<double>{method_.vote(), method_.accuracy()}); }

private:
    Terms terms_;
    Method method_;
    index_t n_features_ = 0;
};

template <class Holder, class Method, class T>
Acquired predict(const Holder& holder, const Table<T>& X, const Table<double>& votes,
                 const std::optional<Vector<double>>& budgets, const Vector<std::int64_t>& seeds,
                 const Vector<double>& own, const Vector<double>& shared, const Vector<index_t>& group_of, int n_threads) {
    const std::size_t n = X.shape(0);
    const index_t k = holder.table().n_features;
    require(static_cast<index_t>(X.shape(1)) == k && static_cast<index_t>(votes.shape(1)) == k && votes.shape(0) == n,
            "X, votes: the same rows, and one column for each feature");
    require(!budgets || budgets->shape(0) == n, "budgets: one for each row");
    require(seeds.shape(0) == n, "seeds: one for each row");
    const Sheet sheet = sheet_of(own, shared, group_of, k);
    const auto words = static_cast<std::size_t>(Bitset::n_words(k));
    std::vector<double> outputs(2 * n);
    std::vector<std::uint64_t> bought(n * words);
    {
        nb::gil_scoped_release unlocked;
        acquire<Method>(holder.table(), holder.terms(), sheet, matrix(X), matrix(votes),
                        budgets ? span(*budgets) : Span<const double>{}, span(seeds), outputs.data(), bought.data(),
                        n_threads);
    }
    return {nb::make_tuple(give(std::move(outputs), {n, 2}), give(std::move(bought), {n, words}))};
}

template <class Holder, class Method>
void bind(nb::class_<Holder>& holder, nb::module_& m, const char* row_name) {
    holder
        .def("predict", &predict<Holder, Method, double>, "X"_a.noconvert(), "votes"_a, nb::kw_only(), "budgets"_a.none(),
             "seeds"_a, "own"_a, "shared"_a, "group_of"_a, "n_threads"_a)
        .def("predict", &predict<Holder, Method, float>, "X"_a.noconvert(), "votes"_a, nb::kw_only(), "budgets"_a.none(),
             "seeds"_a, "own"_a, "shared"_a, "group_of"_a, "n_threads"_a);
    using One = Row<Holder, Method>;
    nb::class_<One>(m, row_name)
        .def(nb::init<const Holder&, std::int64_t>(), nb::keep_alive<1, 2>(), "rows"_a, "seed"_a)
        .def("next", &One::next, "prices"_a, "affordable"_a)
        .def("hear", &One::hear, "feature"_a, "value"_a, "vote"_a)
        .def("gains", &One::gains)
        .def("output", &One::output);
}

}  // namespace

void bind_neighbors(nb::module_& m) {
    nb::class_<Kept> kept(m, "KeptRows");
    kept.def(nb::init<Columns, Columns, Vector<double>, double, Vector<double>, Vector<double>, Vector<std::uint8_t>,
                      Vector<std::uint8_t>, const Vector<double>&, std::optional<double>, bool, double, double>(),
             nb::kw_only(), "values"_a, "margins"_a, "intercepts"_a, "intercept"_a, "scale"_a, "gap"_a, "categorical"_a,
             "votes"_a, "weights"_a, "n_neighbors"_a.none(), "by_lot"_a, "alpha"_a, "confidence"_a);
    bind<Kept, Neighborhood>(kept, m, "Neighborhood");
    nb::class_<Local> local(m, "LocalRows");
    local.def(nb::init<Columns, Vector<double>, const Vector<double>&, double, double, double>(), nb::kw_only(),
              "values"_a, "labels"_a, "weights"_a, "ridge"_a, "alpha"_a, "confidence"_a);
    bind<Local, LocalRegression>(local, m, "LocalRegression");
}

}  // namespace farthing
