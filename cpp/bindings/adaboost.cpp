// Python bindings of boost/adaboost.hpp.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/tree_fields.hpp"
#include "boost/adaboost.hpp"
#include "common/views.hpp"
#include "grow/tree.hpp"
#include "table/binned_table.hpp"

namespace farthing {
namespace {

// (edge, voting weight, whether it made no error)
using Round = nb::typed<nb::tuple, nb::float_, nb::float_, nb::bool_>;

class PyAdaBoost {
public:
    PyAdaBoost(const BinnedTable& table, const Vector<std::int8_t>& labels, const Vector<double>& weights,
               int n_threads)
        : booster_(table, checked(table, labels), checked(table, weights), n_threads) {
        for (const std::int8_t label : span(labels)) require(label == 1 || label == -1, "labels are -1 or +1");
        for (const double weight : span(weights)) require(weight > 0 && weight < HUGE_VAL, "weights are above zero");
    }

    NumpyArray<double> edges() const {
        std::vector<double> out(static_cast<std::size_t>(booster_.n_columns() + 1));
        {
            nb::gil_scoped_release unlocked;
            booster_.edges(out.data());
        }
        return to_numpy(std::move(out));
    }

    Round take(index_t place, index_t max_depth) {
        require(place >= 0 && place <= booster_.n_columns(), "no such candidate");
        require(max_depth >= 1, "max_depth is at least 1");
        BoostingRound round;
        {
            nb::gil_scoped_release unlocked;
            round = booster_.add_round(place - 1, max_depth);
        }
        return {nb::make_tuple(round.edge, round.alpha, round.perfect)};
    }

    // All trees so far, concatenated.
    Fields trees() const {
        Tree all;
        std::vector<index_t> offsets{0};
        for (const Tree& tree : booster_.trees()) {
            const auto words = static_cast<index_t>(all.category_words.size());
            append(all.feature, tree.feature);
            append(all.threshold, tree.threshold);
            append(all.left, tree.left);
            append(all.right, tree.right);
            append(all.missing, tree.missing);
            append(all.category_words, tree.category_words);
            append(all.value, tree.value);
            append(all.cover, tree.cover);
            for (const index_t first : tree.category) all.category.push_back(first < 0 ? -1 : first + words);
            offsets.push_back(all.n_nodes());
        }
        Fields out = fields(std::move(all));
        out["offsets"] = to_numpy(std::move(offsets));
        return out;
    }

    double max_vote_weight() const { return booster_.max_alpha(); }

private:
    AdaBoost booster_;  // the Python object keeps the table alive

    template <class T>
    static Span<const T> checked(const BinnedTable& table, const Vector<T>& values) {
        require(static_cast<index_t>(values.shape(0)) == table.n_rows, "labels and weights: one for each row");
        return span(values);
    }

    template <class T>
    static void append(std::vector<T>& all, const std::vector<T>& some) {
        all.insert(all.end(), some.begin(), some.end());
    }
};

}  // namespace

void bind_boost(nb::module_& m) {
    nb::class_<PyAdaBoost>(m, "Booster")
        .def(nb::init<const BinnedTable&, const Vector<std::int8_t>&, const Vector<double>&, int>(),
             nb::keep_alive<1, 2>(), "table"_a, "labels"_a, "weights"_a, "n_threads"_a)
        .def("edges", &PyAdaBoost::edges)
        .def("take", &PyAdaBoost::take, "place"_a, "max_depth"_a)
        .def("trees", &PyAdaBoost::trees)
        .def_prop_ro("max_vote_weight", &PyAdaBoost::max_vote_weight);
}

}  // namespace farthing
