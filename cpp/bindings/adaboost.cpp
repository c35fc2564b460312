// Python bindings of boost/adaboost.hpp.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/tree_fields.hpp"
#include "boost/adaboost.hpp"
#include "boost/class_stump_search.hpp"
#include "boost/stump_search.hpp"
#include "common/views.hpp"
#include "grow/tree.hpp"
#include "table/binned_table.hpp"

namespace farthing {
namespace {

// (edge, voting weight, whether it made no error)
using Round = nb::typed<nb::tuple, nb::float_, nb::float_, nb::bool_>;

// (fields of the tree, votes of the rows)
using Learner = nb::typed<nb::tuple, Fields, NumpyArray<std::int8_t>>;

template <class Search>
class PyAdaBoost {
public:
    PyAdaBoost(const BinnedTable& table, const Vector<std::int8_t>& labels, const Vector<double>& weights,
               const Vector<double>& covers, int n_threads, index_t width)
        : booster_(table, checked(table, labels, width), checked(table, weights, width), checked(table, covers, 1),
                   n_threads, width) {
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

    std::vector<Round> boost(index_t n_rounds, double room, double least_edge, bool intercept, index_t max_depth) {
        require(max_depth >= 1, "max_depth is at least 1");
        std::vector<BoostingRound> rounds;
        {
            nb::gil_scoped_release unlocked;
            rounds = booster_.boost(n_rounds, room, least_edge, intercept, max_depth);
        }
        std::vector<Round> told;
        for (const BoostingRound& one : rounds) told.push_back({nb::make_tuple(one.edge, one.alpha, one.perfect)});
        return told;
    }

    Learner learner(index_t place, index_t max_depth) const {
        require(place >= 0 && place <= booster_.n_columns(), "no such candidate");
        require(max_depth >= 1, "max_depth is at least 1");
        std::vector<std::int8_t> votes(n_votes());
        Tree tree;
        {
            nb::gil_scoped_release unlocked;
            tree = booster_.learner(place - 1, max_depth, votes.data());
        }
        return {nb::make_tuple(fields(std::move(tree)), to_numpy(std::move(votes)))};
    }

    double edge(const Vector<std::int8_t>& votes) const {
        require(votes.shape(0) == n_votes(), "votes: one for each row and output");
        return booster_.edge(votes.data());
    }

    Round add(const Vector<std::int8_t>& votes) {
        require(votes.shape(0) == n_votes(), "votes: one for each row and output");
        for (const std::int8_t vote : span(votes)) require(vote == 1 || vote == -1, "votes are -1 or +1");
        const BoostingRound round = booster_.add_votes(votes.data());
        return {nb::make_tuple(round.edge, round.alpha, round.perfect)};
    }

    NumpyArray<double> distribution() const { return to_numpy(std::vector<double>(booster_.signed_distribution())); }

    // All trees so far, concatenated.
    Fields trees() const {
        Tree all;
        all.n_values = booster_.width();
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
    AdaBoost<Search> booster_;  // the Python object keeps the table alive

    std::size_t n_votes() const { return static_cast<std::size_t>(booster_.n_rows() * booster_.width()); }

    template <class T>
    static Span<const T> checked(const BinnedTable& table, const Vector<T>& values, index_t width) {
        require(static_cast<index_t>(values.shape(0)) == table.n_rows * width,
                "labels and weights: one for each row and output");
        return span(values);
    }

    template <class T>
    static void append(std::vector<T>& all, const std::vector<T>& some) {
        all.insert(all.end(), some.begin(), some.end());
    }
};

template <class Search>
void bind(nb::module_& m, const char* name) {
    nb::class_<PyAdaBoost<Search>>(m, name)
        .def(nb::init<const BinnedTable&, const Vector<std::int8_t>&, const Vector<double>&, const Vector<double>&, int,
                      index_t>(),
             nb::keep_alive<1, 2>(), "table"_a, "labels"_a, "weights"_a, "covers"_a, "n_threads"_a, "width"_a)
        .def("edges", &PyAdaBoost<Search>::edges)
        .def("take", &PyAdaBoost<Search>::take, "place"_a, "max_depth"_a)
        .def("boost", &PyAdaBoost<Search>::boost, "n_rounds"_a, "room"_a, "least_edge"_a, "intercept"_a, "max_depth"_a)
        .def("learner", &PyAdaBoost<Search>::learner, "place"_a, "max_depth"_a)
        .def("edge", &PyAdaBoost<Search>::edge, "votes"_a)
        .def("add", &PyAdaBoost<Search>::add, "votes"_a)
        .def("distribution", &PyAdaBoost<Search>::distribution)
        .def("trees", &PyAdaBoost<Search>::trees)
        .def_prop_ro("max_vote_weight", &PyAdaBoost<Search>::max_vote_weight);
}

}  // namespace

void bind_boost(nb::module_& m) {
    bind<StumpSearch>(m, "Booster");
    bind<ClassStumpSearch>(m, "ClassBooster");
}

}  // namespace farthing
