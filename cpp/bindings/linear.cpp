// Python bindings of linear/.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "account/cost_sheet.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cost_sheet.hpp"
#include "common/views.hpp"
#include "linear/forward_regression.hpp"
#include "linear/forward_selection.hpp"
#include "linear/moved_rows.hpp"
#include "linear/row_offsets.hpp"
#include "linear/term_scores.hpp"

namespace farthing {
namespace {

using Rectangle = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<double> copied(const double* from, std::size_t n) { return {from, from + n}; }

void require_within(Span<const index_t> places, index_t n, const char* message) {
    require(std::all_of(places.begin(), places.end(), [n](index_t p) { return p >= 0 && p < n; }), message);
}

ForwardRegression regression_of(const Rectangle& products, const Rectangle& along, const Vector<double>& starts,
                                const Vector<index_t>& columns, double variance) {
    const std::size_t n_terms = products.shape(0);
    const std::size_t n_outputs = along.shape(1);
    require(products.shape(1) == n_terms && along.shape(0) == n_terms, "products: of all terms with all");
    require(starts.shape(0) == n_terms && columns.shape(0) == n_terms, "starts, columns: one for each term");
    for (const index_t column : span(columns)) require(column >= 0, "columns: at least 0");
    return ForwardRegression({static_cast<index_t>(n_terms), static_cast<index_t>(n_outputs),
                              copied(products.data(), n_terms * n_terms), copied(along.data(), n_terms * n_outputs)},
                             copied(starts.data(), n_terms), span(columns), variance);
}

NumpyArray<double> gains_of(const ForwardRegression& regression) {
    std::vector<double> gains(static_cast<std::size_t>(regression.n_columns()));
    for (index_t column = 0; column < regression.n_columns(); ++column) gains[column] = regression.gain(column);
    return to_numpy(std::move(gains));
}

std::vector<index_t> take(ForwardRegression& regression, index_t column) {
    require(column >= 0 && column < regression.n_columns(), "column: one of the regression");
    return regression.take(column);
}

std::vector<index_t> select(ForwardRegression& regression, const Vector<double>& own, const Vector<double>& shared,
                            const Vector<index_t>& group_of, const std::vector<index_t>& owned_columns, double budget,
                            double min_gain) {
    const CostSheet sheet = cost_sheet_of(own, shared, group_of, static_cast<index_t>(own.shape(0)));
    require(regression.n_columns() <= sheet.n_features(), "own costs: one for each column");
    require_within(view(owned_columns), sheet.n_features(), "owned: columns of the sheet");
    OwnedFeatures owned(sheet);
    for (const index_t column : owned_columns) owned.add(sheet, column);
    nb::gil_scoped_release unlocked;
    return select_columns(regression, sheet, owned, budget, min_gain);
}

Matrix<double> contiguous_rows(const Rectangle& table) {
    const auto n_columns = static_cast<index_t>(table.shape(1));
    return {table.data(), static_cast<index_t>(table.shape(0)), n_columns, n_columns, 1};
}

NumpyArray<double> offsets_of(const Rectangle& table, const Vector<index_t>& kept, const Vector<index_t>& rows,
                              const Vector<double>& centre) {
    require_within(span(kept), static_cast<index_t>(table.shape(0)), "kept: entries of the table");
    require_within(span(rows), static_cast<index_t>(table.shape(1)), "rows: rows of the table");
    require(centre.shape(0) == kept.shape(0), "centre: one for each entry");
    std::vector<double> offsets(kept.shape(0) * rows.shape(0));
    {
        nb::gil_scoped_release unlocked;
        row_offsets(contiguous_rows(table), span(kept), span(rows), span(centre), offsets.data());
    }
    return to_numpy(std::move(offsets), {kept.shape(0), rows.shape(0)});
}

NumpyArray<double> scores_of(const Rectangle& by_term, const Vector<index_t>& rows, const Vector<index_t>& places,
                             const Rectangle& coef, const Vector<double>& intercept) {
    require(coef.shape(0) == places.shape(0) && coef.shape(1) == intercept.shape(0), "coef: for each term and output");
    require_within(span(rows), static_cast<index_t>(by_term.shape(1)), "rows: rows of the table");
    require_within(span(places), static_cast<index_t>(by_term.shape(0)), "places: terms of the table");
    const std::size_t n_outputs = intercept.shape(0);
    std::vector<double> scores(n_outputs * rows.shape(0));
    {
        nb::gil_scoped_release unlocked;
        term_scores(contiguous_rows(by_term), span(rows), span(places), coef.data(), span(intercept), scores.data());
    }
    return to_numpy(std::move(scores), {n_outputs, rows.shape(0)});
}

// (rows, signs)
using MovedRows = nb::typed<nb::tuple, NumpyArray<index_t>, NumpyArray<double>>;

MovedRows moved(const Vector<index_t>& before, const Vector<index_t>& after) {
    std::vector<index_t> rows;
    std::vector<double> signs;
    {
        nb::gil_scoped_release unlocked;
        moved_rows(span(before), span(after), rows, signs);
    }
    return {nb::make_tuple(to_numpy(std::move(rows)), to_numpy(std::move(signs)))};
}

}  // namespace

void bind_linear(nb::module_& m) {
    m.attr("DEPENDENT") = kDependent;
    nb::class_<ForwardRegression>(m, "ForwardRegression")
        .def("__init__",
             [](ForwardRegression* self, const Rectangle& products, const Rectangle& along,
                const Vector<double>& starts, const Vector<index_t>& columns, double variance) {
                 new (self) ForwardRegression(regression_of(products, along, starts, columns, variance));
             },
             "products"_a, "along"_a, "starts"_a, "columns"_a, "variance"_a)
        .def_prop_ro("explained", &ForwardRegression::explained)
        .def("gains", &gains_of)
        .def("take", &take, "column"_a)
        .def("select", &select, "own"_a, "shared"_a, "group_of"_a, "owned"_a, "budget"_a, "min_gain"_a);
    m.def("moved_rows", &moved, "before"_a, "after"_a);
    m.def("row_offsets", &offsets_of, "table"_a, "kept"_a, "rows"_a, "centre"_a);
    m.def("term_scores", &scores_of, "by_term"_a, "rows"_a, "places"_a, "coef"_a, "intercept"_a);
}

}  // namespace farthing
