// Python bindings of deep/.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "account/cost_sheet.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cost_sheet.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "deep/greedy_row.hpp"
#include "deep/masked_network.hpp"

namespace farthing {
namespace {

struct PyNetwork {
    Vector<index_t> widths;
    Vector<float> weights;

    MaskedNetwork view() const { return {span(widths), span(weights)}; }
};

// Networks over the arrays of a fitted model, which it keeps alive.
class PyGreedyNetworks {
public:
    PyGreedyNetworks(Vector<index_t> first, Vector<std::uint8_t> categorical, Vector<double> mean, Vector<double> scale,
                     const Vector<index_t>& units, PyNetwork predictor, PyNetwork selector, bool by_value,
                     index_t n_classes, double tradeoff, bool is_blind, Vector<double> own, Vector<double> shared,
                     Vector<index_t> group_of)
        : first_(first), categorical_(categorical), mean_(mean), scale_(scale), predictor_(predictor),
          selector_(selector), own_(own), shared_(shared), group_of_(group_of) {
        const ColumnInputs inputs{span(first_), span(categorical_), span(mean_), span(scale_)};
        const index_t k = inputs.n_columns();
        require(k > 0 && inputs.first.size == k + 1 && inputs.mean.size == k && inputs.scale.size == k,
                "first, mean, scale: one for each column");
        for (index_t j = 0; j < k; ++j) {
            const index_t n_rows = inputs.first[j + 1] - inputs.first[j];
            require(inputs.categorical[j] ? n_rows >= 1 : n_rows == 3, "first: three rows for a number");
            require(inputs.scale[j] > 0, "scale: above zero");
        }
        require(inputs.first[0] == 0, "first: from 0");
        model_.inputs = inputs;
        model_.predictor = predictor_.view();
        model_.selector = selector_.view();
        group_units(units, k);
        const index_t n_outputs = n_classes == 2 ? 1 : n_classes;
        require(n_classes > 0 && model_.predictor.n_outputs() == n_outputs, "predictor: an output for each class");
        require(model_.selector.n_outputs() == model_.n_units(), "selector: an output for each unit");
        require(model_.predictor.n_inputs() == inputs.first[k] && model_.selector.n_inputs() == inputs.first[k],
                "networks: a row for each input of the columns");
        require(tradeoff >= 0, "tradeoff: zero or more");
        model_.kind = by_value ? Selector::value : Selector::policy;
        model_.n_classes = n_classes;
        model_.tradeoff = tradeoff;
        model_.is_blind = is_blind;
        sheet_ = cost_sheet_of(own_, shared_, group_of_, k);
    }
    PyGreedyNetworks(const PyGreedyNetworks&) = delete;
    PyGreedyNetworks& operator=(const PyGreedyNetworks&) = delete;

    const GreedyNetworks& model() const { return model_; }

    std::pair<NumpyArray<double>, NumpyArray<bool>> outputs(const Table<double>& values, const std::optional<Vector<double>>& budgets, int n_threads) const {
        const Matrix<double> table = matrix(values);
        require(table.n_columns == model_.inputs.n_columns(), "values: one column for each feature");
        require(!budgets || span(*budgets).size == table.n_rows, "budgets: one for each row");
        const index_t n_outputs = model_.predictor.n_outputs();
        const index_t n = table.n_rows;
        std::vector<double> outputs(static_cast<std::size_t>(n * n_outputs));
        std::unique_ptr<bool[]> acquired(new bool[static_cast<std::size_t>(n * table.n_columns)]());
        {
            nb::gil_scoped_release unlocked;
            Chunks chunks(n, 16);
            on_threads(threads_for(n_threads, n), [&](int) {
                GreedyWalker walker(model_, sheet_);
                chunks.for_each([&](index_t row) {
                    const double budget = budgets ? span(*budgets)[row] : std::numeric_limits<double>::infinity();
                    walker.walk(table, row, budget, outputs.data() + row * n_outputs,
                                acquired.get() + row * table.n_columns);
                });
            });
        }
        return {
            to_numpy(std::move(outputs), {static_cast<std::size_t>(n), static_cast<std::size_t>(n_outputs)}),
            to_numpy(std::move(acquired),
                     {static_cast<std::size_t>(n), static_cast<std::size_t>(table.n_columns)})};
    }

private:
    Vector<index_t> first_;
    Vector<std::uint8_t> categorical_;
    Vector<double> mean_, scale_;
    PyNetwork predictor_, selector_;
    Vector<double> own_, shared_;
    Vector<index_t> group_of_;
    CostSheet sheet_;
    GreedyNetworks model_;

    // Units are numbered from 0, without gaps; the columns of each in ascending order.
    void group_units(const Vector<index_t>& units, index_t k) {
        const Span<const index_t> of = span(units);
        require(of.size == k, "units: one for each column");
        index_t n_units = 0;
        for (const index_t unit : of) {
            require(unit >= 0 && unit < k, "units: from 0 to the number of columns");
            n_units = std::max(n_units, unit + 1);
        }
        model_.begins.assign(static_cast<std::size_t>(n_units + 1), 0);
        for (const index_t unit : of) ++model_.begins[unit + 1];
        for (index_t unit = 0; unit < n_units; ++unit) {
            require(model_.begins[unit + 1] > 0, "units: without gaps");
            model_.begins[unit + 1] += model_.begins[unit];
        }
        std::vector<index_t> next(model_.begins.begin(), model_.begins.end() - 1);
        model_.columns.resize(static_cast<std::size_t>(k));
        for (index_t j = 0; j < k; ++j) model_.columns[next[of[j]]++] = j;
        model_.unit_of.assign(of.begin(), of.end());
    }
};

// A row on its way.
class PyGreedyRow {
public:
    explicit PyGreedyRow(const PyGreedyNetworks& networks) : model_(networks.model()), row_(model_) {}

    void hear(index_t column, double value) {
        require_column(column);
        row_.hear(column, value);
    }
    void skip(index_t column) {
        require_column(column);
        row_.skip(column);
    }
    index_t next(const Vector<double>& prices, const Vector<bool>& affordable) {
        const index_t k = model_.inputs.n_columns();
        require(span(prices).size == k && span(affordable).size == k, "prices, affordable: one for each column");
        return row_.next([&](index_t column) { return prices.data()[column]; },
                         [&](index_t column) { return affordable.data()[column]; });
    }
    NumpyArray<double> scores() {
        std::vector<double> scores(static_cast<std::size_t>(model_.n_units()));
        row_.score(scores.data());
        return to_numpy(std::move(scores));
    }
    NumpyArray<double> output() {
        std::vector<double> outputs(static_cast<std::size_t>(model_.predictor.n_outputs()));
        row_.output(outputs.data());
        return to_numpy(std::move(outputs));
    }

private:
    const GreedyNetworks& model_;
    GreedyRow row_;

    void require_column(index_t column) const {
        require(column >= 0 && column < model_.inputs.n_columns(), "column: one of the table");
    }
};

}  // namespace

void bind_deep(nb::module_& m) {
    nb::class_<PyNetwork>(m, "MaskedNetwork").def(
        "__init__",
        [](PyNetwork* self, Vector<index_t> widths, Vector<float> weights) {
            new (self) PyNetwork{widths, weights};
            self->view();  // raises if they do not fit together
        },
        "widths"_a, "weights"_a);
    nb::class_<PyGreedyNetworks>(m, "GreedyNetworks")
        .def(nb::init<Vector<index_t>, Vector<std::uint8_t>, Vector<double>, Vector<double>, const Vector<index_t>&,
                      PyNetwork, PyNetwork, bool, index_t, double, bool, Vector<double>, Vector<double>,
                      Vector<index_t>>(),
             nb::kw_only(), "first"_a, "categorical"_a, "mean"_a, "scale"_a, "units"_a, "predictor"_a, "selector"_a,
             "by_value"_a, "n_classes"_a, "tradeoff"_a, "is_blind"_a, "own"_a, "shared"_a, "group_of"_a)
        .def("outputs", &PyGreedyNetworks::outputs, "values"_a, "budgets"_a.none(), nb::kw_only(), "n_threads"_a);
    nb::class_<PyGreedyRow>(m, "GreedyRow")
        .def(nb::init<const PyGreedyNetworks&>(), nb::keep_alive<1, 2>(), "networks"_a)
        .def("hear", &PyGreedyRow::hear, "column"_a, "value"_a)
        .def("skip", &PyGreedyRow::skip, "column"_a)
        .def("next", &PyGreedyRow::next, "prices"_a, "affordable"_a)
        .def("scores", &PyGreedyRow::scores)
        .def("output", &PyGreedyRow::output);
}

}  // namespace farthing
