// Python bindings of table/binned_table.hpp.
#include <cstddef>
#include <cstdint>
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
        .def("codes", [](const BinnedTable& t) {
            std::vector<std::uint8_t> out;
            out.reserve(static_cast<std::size_t>(t.codes.size()));
            for (index_t j = 0; j < t.n_columns(); ++j) {
                for (index_t row = 0; row < t.n_rows; ++row) out.push_back(t.column(j)[row]);
            }
            return to_numpy(std::move(out),
                            {static_cast<std::size_t>(t.n_columns()), static_cast<std::size_t>(t.n_rows)});
        });
    m.def("bin_table", &bin_table<double>, "X"_a.noconvert(), "n_categories"_a, "max_bins"_a, "n_sample"_a,
          "n_threads"_a);
    m.def("bin_table", &bin_table<float>, "X"_a.noconvert(), "n_categories"_a, "max_bins"_a, "n_sample"_a,
          "n_threads"_a);
}

}  // namespace farthing
