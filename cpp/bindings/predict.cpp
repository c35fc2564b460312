// Python bindings of the predict folder.
#include <cstdint>

#include "bindings/arrays.hpp"
#include "bindings/forest_arrays.hpp"
#include "bindings/predictor.hpp"
#include "common/views.hpp"

namespace farthing {

void bind_predict(nb::module_& m) {
    nb::class_<SparseScores>(m, "SparseScores")
        .def(nb::init<Vector<index_t>, Vector<std::int32_t>, Vector<double>, index_t>(), "starts"_a, "columns"_a,
             "entries"_a, "n_columns"_a);

    nb::class_<ForestArrays>(m, "ForestArrays")
        .def(nb::init<index_t, index_t, Vector<index_t>, Vector<index_t>, Vector<std::int32_t>, Vector<double>,
                      Vector<index_t>, Vector<index_t>, Vector<std::uint8_t>, Vector<index_t>, Vector<std::uint64_t>,
                      Vector<index_t>, bool, bool>(),
             nb::kw_only(), "n_features"_a, "n_outputs"_a, "offsets"_a, "target"_a, "feature"_a, "threshold"_a,
             "left"_a, "right"_a, "missing"_a, "category"_a, "category_words"_a, "category_widths"_a, "strict"_a,
             "single"_a)
        .def("descend", &ForestArrays::descend, "values"_a.noconvert(), "feature_state"_a.noconvert(), "nodes"_a.noconvert(),
             "tree"_a, "end"_a)
        .def("total", &ForestArrays::total<Scores>, "scores"_a.noconvert(), "nodes"_a.noconvert(), "end"_a,
             "single_sums"_a)
        .def("total", &ForestArrays::total<SparseScores>, "scores"_a, "nodes"_a.noconvert(), "end"_a, "single_sums"_a)
        .def("refused_ways", &ForestArrays::refused_ways<Scores>, "scores"_a.noconvert(), "cover"_a.noconvert())
        .def("refused_ways", &ForestArrays::refused_ways<SparseScores>, "scores"_a, "cover"_a.noconvert());

    nb::class_<Predictor>(m, "Predictor")
        .def(nb::init<const ForestArrays&, Scores, bool>(), "arrays"_a, "scores"_a, "single_sums"_a)
        .def(nb::init<const ForestArrays&, const SparseScores&, bool>(), "arrays"_a, "scores"_a, "single_sums"_a)
        .def("predict", &Predictor::predict<double>, "X"_a.noconvert(), "n_threads"_a)
        .def("predict", &Predictor::predict<float>, "X"_a.noconvert(), "n_threads"_a)
        .def("predict_within", &Predictor::predict_within<double>, "X"_a.noconvert(), "budgets"_a, "own"_a, "shared"_a,
             "group_of"_a, "n_threads"_a)
        .def("predict_within", &Predictor::predict_within<float>, "X"_a.noconvert(), "budgets"_a, "own"_a, "shared"_a,
             "group_of"_a, "n_threads"_a)
        .def("advance", &Predictor::advance<double>, "X"_a.noconvert(), "begin"_a, "end"_a, "rows"_a.none(),
             "outputs"_a.noconvert(), "touched"_a.noconvert(), "n_threads"_a)
        .def("advance", &Predictor::advance<float>, "X"_a.noconvert(), "begin"_a, "end"_a, "rows"_a.none(),
             "outputs"_a.noconvert(), "touched"_a.noconvert(), "n_threads"_a)
        .def("advance_within", &Predictor::advance_within<double>, "X"_a.noconvert(), "begin"_a, "end"_a,
             "rows"_a.none(), "outputs"_a.noconvert(), "touched"_a.noconvert(), "refused"_a.noconvert(), "budgets"_a,
             "own"_a, "shared"_a, "group_of"_a, "n_threads"_a)
        .def("advance_within", &Predictor::advance_within<float>, "X"_a.noconvert(), "begin"_a, "end"_a,
             "rows"_a.none(), "outputs"_a.noconvert(), "touched"_a.noconvert(), "refused"_a.noconvert(), "budgets"_a,
             "own"_a, "shared"_a, "group_of"_a, "n_threads"_a);
}

}  // namespace farthing
