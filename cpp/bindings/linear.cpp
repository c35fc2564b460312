// Python bindings of linear/.
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "account/cost_sheet.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cost_sheet.hpp"
#include "common/views.hpp"
#include "linear/divided_rows.hpp"
#include "linear/forward_regression.hpp"
#include "linear/forward_selection.hpp"
#include "linear/moved_rows.hpp"
#include "linear/ridge.hpp"
#include "linear/row_offsets.hpp"
#include "linear/standardise.hpp"
#include "linear/term_scores.hpp"

namespace farthing {
namespace {

using Rectangle = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<double> copied(const double* from, std::size_t n) { return {from, from + n}; }

void require_within(Span<const index_t> places, index_t n, const char* message) {
    index_t outside = 0;  // negative once a place or what is left of it is; without a branch for each
    for (const index_t place : places) outside |= place | (n - 1 - place);
    require(outside >= 0, message);
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

void require_offsets(const Rectangle& table, const Vector<index_t>& kept, const Vector<index_t>& rows,
                     const Vector<double>& centre) {
    require_within(span(kept), static_cast<index_t>(table.shape(0)), "kept: entries of the table");
    require_within(span(rows), static_cast<index_t>(table.shape(1)), "rows: rows of the table");
    require(centre.shape(0) == kept.shape(0), "centre: one for each entry");
}

NumpyArray<double> offsets_of(const Rectangle& table, const Vector<index_t>& kept, const Vector<index_t>& rows,
                              const Vector<double>& centre) {
    require_offsets(table, kept, rows, centre);
    auto offsets = unwritten<double>(kept.shape(0) * rows.shape(0));
    {
        nb::gil_scoped_release unlocked;
        row_offsets(contiguous_rows(table), span(kept), span(rows), span(centre), offsets.get());
    }
    return to_numpy(std::move(offsets), {kept.shape(0), rows.shape(0)});
}

// (offsets, weighed): without weights both are the same array
using WeighedOffsets = nb::typed<nb::tuple, NumpyArray<double>, NumpyArray<double>>;

WeighedOffsets weighed_of(const Rectangle& table, const Vector<index_t>& kept, const Vector<index_t>& rows,
                          const Vector<double>& centre, const std::optional<Vector<double>>& weights) {
    require_offsets(table, kept, rows, centre);
    require(!weights || weights->shape(0) == rows.shape(0), "weights: one for each row");
    const std::size_t n_entries = kept.shape(0) + 1;
    const std::size_t n_rows = rows.shape(0);
    auto offsets = unwritten<double>(n_entries * n_rows);
    auto weighed = unwritten<double>(weights ? n_entries * n_rows : 0);
    {
        nb::gil_scoped_release unlocked;
        weighed_offsets(contiguous_rows(table), span(kept), span(rows), span(centre),
                        weights ? span(*weights) : Span<const double>{}, offsets.get(), weighed.get());
    }
    const nb::object plain = nb::cast(to_numpy(std::move(offsets), {n_entries, n_rows}));
    if (!weights) return {nb::make_tuple(plain, plain)};
    return {nb::make_tuple(plain, to_numpy(std::move(weighed), {n_entries, n_rows}))};
}

// None if the system is not positive definite.
std::optional<NumpyArray<double>> ridge_of(const Rectangle& products, index_t n_terms, double penalty) {
    const auto width = static_cast<index_t>(products.shape(0));
    require(products.shape(1) == products.shape(0), "products: of all entries with all");
    require(n_terms >= 0 && n_terms <= width, "n_terms: at most the number of entries");
    const auto n_outputs = static_cast<std::size_t>(width - n_terms);
    const auto rows = static_cast<std::size_t>(n_terms);
    auto slopes = unwritten<double>(rows * n_outputs);
    bool solved = false;
    {
        nb::gil_scoped_release unlocked;
        solved = ridge_slopes(products.data(), n_terms, width - n_terms, penalty, slopes.get());
    }
    if (!solved) return std::nullopt;
    return to_numpy(std::move(slopes), {rows, n_outputs});
}

// (lower, upper)
template <class T>
using Divided = nb::typed<nb::tuple, NumpyArray<T>, NumpyArray<T>>;

template <class T>
Divided<T> divided(const Vector<T>& items, const Vector<double>& projection, double threshold) {
    require(items.shape(0) == projection.shape(0), "projection: one for each item");
    const std::size_t n = items.shape(0);
    auto lower = unwritten<T>(n);
    auto upper = unwritten<T>(n);
    const auto n_lower =
        static_cast<std::size_t>(divide(items.data(), span(projection), threshold, lower.get(), upper.get()));
    return {nb::make_tuple(to_numpy(std::move(lower), {n_lower}), to_numpy(std::move(upper), {n - n_lower}))};
}

// (mean, scale, terms)
using StandardTerms = nb::typed<nb::tuple, NumpyArray<double>, NumpyArray<double>, NumpyArray<double>>;

template <class T>
StandardTerms standard_terms(const Table<T>& values, const Vector<index_t>& columns, const Vector<double>& category,
                             const Vector<double>& weights, std::size_t n_more) {
    require_within(span(columns), static_cast<index_t>(values.shape(1)), "columns: columns of the table");
    require(category.shape(0) == columns.shape(0), "category: one for each term");
    require(weights.shape(0) == values.shape(0), "weights: one for each row");
    const std::size_t n_terms = columns.shape(0);
    const std::size_t n_rows = values.shape(0);
    auto mean = unwritten<double>(n_terms);
    auto scale = unwritten<double>(n_terms);
    auto terms = unwritten<double>((n_terms + n_more) * n_rows);
    {
        nb::gil_scoped_release unlocked;
        standardise_terms(matrix(values), span(columns), span(category), span(weights), mean.get(), scale.get(),
                          terms.get());
    }
    return {nb::make_tuple(to_numpy(std::move(mean), {n_terms}), to_numpy(std::move(scale), {n_terms}),
                           to_numpy(std::move(terms), {n_terms + n_more, n_rows}))};
}

NumpyArray<double> scores_of(const Rectangle& by_term, const Vector<index_t>& rows, const Vector<index_t>& places,
                             const Rectangle& coef, const Vector<double>& intercept) {
    require(coef.shape(0) == places.shape(0) && coef.shape(1) == intercept.shape(0), "coef: for each term and output");
    require_within(span(rows), static_cast<index_t>(by_term.shape(1)), "rows: rows of the table");
    require_within(span(places), static_cast<index_t>(by_term.shape(0)), "places: terms of the table");
    const std::size_t n_outputs = intercept.shape(0);
    auto scores = unwritten<double>(n_outputs * rows.shape(0));
    {
        nb::gil_scoped_release unlocked;
        term_scores(contiguous_rows(by_term), span(rows), span(places), coef.data(), span(intercept), scores.get());
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
    m.def("weighed_offsets", &weighed_of, "table"_a, "kept"_a, "rows"_a, "centre"_a, "weights"_a.none());
    m.def("ridge_slopes", &ridge_of, "products"_a, "n_terms"_a, "penalty"_a);
    m.def("divided", &divided<index_t>, "items"_a, "projection"_a, "threshold"_a);
    m.def("divided", &divided<double>, "items"_a, "projection"_a, "threshold"_a);
    m.def("standard_terms", &standard_terms<double>, "values"_a, "columns"_a, "category"_a, "weights"_a, "n_more"_a);
    m.def("standard_terms", &standard_terms<float>, "values"_a, "columns"_a, "category"_a, "weights"_a, "n_more"_a);
    m.def("term_scores", &scores_of, "by_term"_a, "rows"_a, "places"_a, "coef"_a, "intercept"_a);
}

}  // namespace farthing
