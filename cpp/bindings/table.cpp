// Python bindings of table/binned_table.hpp.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "common/views.hpp"
#include "table/binned_table.hpp"
#include "table/column_bins.hpp"

namespace farthing {
namespace {

template <class T>
BinnedTable bin_table(const Table<T>& X, const Vector<index_t>& n_categories, index_t max_bins, index_t n_sample,
                      int n_threads) {
    require(n_categories.shape(0) == X.shape(1), "n_categories: one for each column");
    require(max_bins >= 2 && max_bins <= kMaxBins, "max_bins lies between 2 and 255");
    require(n_sample >= 1 && n_sample < (index_t{1} << 32), "n_sample lies between 1 and 2^32 - 1");
    nb::gil_scoped_release unlocked;
    return BinnedTable::make(matrix(X), span(n_categories), max_bins, n_sample, n_threads);
}

// Edges of each numeric column, empty for a categorical one; bin of each of its categories, empty for a numeric one.
using Edges = std::vector<Vector<double>>;
using BinsOfCodes = std::vector<Vector<std::uint8_t>>;

std::vector<ColumnBins> bins_of(const Edges& edges, const BinsOfCodes& bins_of_codes) {
    require(edges.size() == bins_of_codes.size(), "edges and bins of codes: one for each column");
    std::vector<ColumnBins> columns(edges.size());
    for (std::size_t j = 0; j < columns.size(); ++j) {
        ColumnBins& bins = columns[j];
        bins.categorical = bins_of_codes[j].shape(0) > 0;
        bins.edges.assign(span(edges[j]).begin(), span(edges[j]).end());
        bins.bin_of_code.assign(span(bins_of_codes[j]).begin(), span(bins_of_codes[j]).end());
        bins.n_bins = static_cast<index_t>(bins.edges.size()) + 1;
        for (const std::uint8_t bin : bins.bin_of_code) bins.n_bins = std::max<index_t>(bins.n_bins, bin + 1);
        require(bins.n_bins <= kMaxBins, "a column has at most 255 bins");
    }
    return columns;
}

template <class T>
NumpyArray<std::uint8_t> bin_part(const Table<T>& X, const Edges& edges, const BinsOfCodes& bins_of_codes,
                                  int n_threads) {
    require(edges.size() == X.shape(1), "edges: one array for each column");
    std::vector<std::uint8_t> out;
    {
        nb::gil_scoped_release unlocked;
        const BinnedTable part = BinnedTable::make_part(matrix(X), bins_of(edges, bins_of_codes), n_threads);
        out.resize(static_cast<std::size_t>(part.codes.size()));
        for (index_t j = 0; j < part.n_columns(); ++j) {
            for (index_t row = 0; row < part.n_rows; ++row) out[row * part.n_columns() + j] = part.column(j)[row];
        }
    }
    return to_numpy(std::move(out), {X.shape(0), X.shape(1)});
}

BinnedTable empty_table(index_t n_rows, const Edges& edges, const BinsOfCodes& bins_of_codes) {
    require(n_rows >= 0, "n_rows is not negative");
    return BinnedTable::empty(n_rows, bins_of(edges, bins_of_codes));
}

void set_rows(BinnedTable& table, index_t first, const Table<std::uint8_t>& rows) {
    const Matrix<std::uint8_t> codes = matrix(rows);
    require(codes.n_columns == table.n_columns(), "rows: a code for each column");
    require(first >= 0 && first + codes.n_rows <= table.n_rows, "rows: beyond the end of the table");
    const nb::gil_scoped_release unlocked;
    for (index_t row = 0; row < codes.n_rows; ++row) {
        for (index_t j = 0; j < codes.n_columns; ++j) {
            require(codes(row, j) <= table.columns[j].n_bins, "rows: no such bin");
        }
    }
    table.set_rows(first, codes);
}

NumpyArray<std::uint8_t> codes_of(const BinnedTable& table, index_t begin, index_t end) {
    require(begin >= 0 && begin <= end && end <= table.n_rows, "no such rows");
    std::vector<std::uint8_t> out;
    {
        const nb::gil_scoped_release unlocked;
        out.reserve(static_cast<std::size_t>(table.n_columns() * (end - begin)));
        for (index_t j = 0; j < table.n_columns(); ++j) {
            for (index_t row = begin; row < end; ++row) out.push_back(table.column(j)[row]);
        }
    }
    return to_numpy(std::move(out),
                    {static_cast<std::size_t>(table.n_columns()), static_cast<std::size_t>(end - begin)});
}

NumpyArray<index_t> sampled_rows(index_t n_rows, index_t n_sample) {
    require(n_rows >= 0 && n_sample >= 1 && n_sample < (index_t{1} << 32), "n_sample lies between 1 and 2^32 - 1");
    return to_numpy(sample_rows(n_rows, n_sample));
}

using Distinct = nb::typed<nb::tuple, NumpyArray<index_t>, NumpyArray<index_t>>;

// The distinct values, ascending, and the place of each value among them, by counting; nothing if there are none or
// their range is larger than their number.
std::optional<Distinct> distinct_integers(const Vector<index_t>& values) {
    const Span<const index_t> given = span(values);
    if (given.size == 0) return std::nullopt;
    const auto [least, most] = std::minmax_element(given.begin(), given.end());
    const auto range = static_cast<std::uint64_t>(*most) - static_cast<std::uint64_t>(*least);
    if (range > static_cast<std::uint64_t>(given.size)) return std::nullopt;
    const index_t first = *least;
    std::vector<index_t> places(range + 1, -1);
    for (const index_t value : given) places[value - first] = 0;
    std::vector<index_t> found;
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i] < 0) continue;
        places[i] = static_cast<index_t>(found.size());
        found.push_back(first + static_cast<index_t>(i));
    }
    std::vector<index_t> codes(static_cast<std::size_t>(given.size));
    for (index_t i = 0; i < given.size; ++i) codes[i] = places[given[i] - first];
    return Distinct{nb::make_tuple(to_numpy(std::move(found)), to_numpy(std::move(codes)))};
}

}  // namespace

void bind_table(nb::module_& m) {
    nb::class_<BinnedTable>(m, "BinnedTable")
        .def_ro("n_rows", &BinnedTable::n_rows)
        .def_prop_ro("n_columns", &BinnedTable::n_columns)
        .def_prop_ro("nbytes", [](const BinnedTable& t) { return t.codes.size(); })
        .def(
            "n_bins",
            [](const BinnedTable& t, index_t column) {
                require(column >= 0 && column < t.n_columns(), "no such column");
                return t.columns[column].n_bins;
            },
            "column"_a)
        .def(
            "edges",
            [](const BinnedTable& t, index_t column) {
                require(column >= 0 && column < t.n_columns(), "no such column");
                return to_numpy(std::vector<double>(t.columns[column].edges));
            },
            "column"_a)
        .def(
            "bins_of_codes",
            [](const BinnedTable& t, index_t column) {
                require(column >= 0 && column < t.n_columns(), "no such column");
                return to_numpy(std::vector<std::uint8_t>(t.columns[column].bin_of_code));
            },
            "column"_a)
        .def("set_rows", &set_rows, "first"_a, "rows"_a)
        .def("codes", &codes_of, "begin"_a, "end"_a);
    m.def("bin_table", &bin_table<double>, "X"_a.noconvert(), "n_categories"_a, "max_bins"_a, "n_sample"_a,
          "n_threads"_a);
    m.def("bin_table", &bin_table<float>, "X"_a.noconvert(), "n_categories"_a, "max_bins"_a, "n_sample"_a,
          "n_threads"_a);
    m.def("bin_part", &bin_part<double>, "X"_a.noconvert(), "edges"_a, "bins_of_codes"_a, "n_threads"_a);
    m.def("bin_part", &bin_part<float>, "X"_a.noconvert(), "edges"_a, "bins_of_codes"_a, "n_threads"_a);
    m.def("empty_table", &empty_table, "n_rows"_a, "edges"_a, "bins_of_codes"_a);
    m.def("distinct_integers", &distinct_integers, "values"_a);
    m.def("sampled_rows", &sampled_rows, "n_rows"_a, "n_sample"_a);
}

}  // namespace farthing
