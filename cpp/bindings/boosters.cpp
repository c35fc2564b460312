// Python bindings of boost/fold_boosters.hpp and boost/out_of_fold.hpp.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "account/cost_sheet.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cost_sheet.hpp"
#include "bindings/peers.hpp"
#include "bindings/tree_fields.hpp"
#include "boost/boost_loss.hpp"
#include "boost/fold_boosters.hpp"
#include "boost/gradient_booster.hpp"
#include "boost/out_of_fold.hpp"
#include "common/views.hpp"
#include "grow/tree_list.hpp"
#include "table/binned_table.hpp"

namespace farthing {
namespace {

using Columns = std::vector<Vector<index_t>>;
// (what the model owns after a purchase, the trade-off)
using Bought = std::pair<std::optional<NumpyArray<std::uint8_t>>, double>;
// (number of rounds, scores of held-out rows, fields of the forest)
using Grown = nb::typed<nb::tuple, index_t, NumpyArray<double>, Fields>;

std::vector<index_t> indices(const Vector<index_t>& given, index_t n, const char* message) {
    index_t before = -1;
    for (const index_t i : span(given)) {
        require(i > before && i < n, message);
        before = i;
    }
    return {span(given).begin(), span(given).end()};
}

// The arrays of a problem, which views in it refer to.
class PyProblem {
public:
    PyProblem(const BinnedTable& table, Vector<double> own, Vector<double> shared, Vector<index_t> group_of,
              const std::string& loss, index_t n_outputs, Vector<double> target, Vector<double> weights, bool weighted,
              double learning_rate, double l2, bool multi_output, index_t max_depth, index_t max_leaves,
              index_t min_rows_leaf, int n_threads, const nb::object& peers)
        : peers_(peers_of(peers)), own_(own), shared_(shared), group_of_(group_of), target_(target), weights_(weights),
          problem_{table, cost_sheet_of(own, shared, group_of, table.n_columns()), {}, {}, span(weights), weighted,
                   learning_rate, l2, multi_output && n_outputs > 1} {
        require(span(target).size == table.n_rows && span(weights).size == table.n_rows,
                "target and weights: one for each row");
        require(max_depth >= 0 && max_leaves >= 1 && min_rows_leaf >= 1, "limits of trees: too small");
        require(l2 >= 0 && learning_rate > 0 && std::isfinite(learning_rate), "learning_rate is above zero, l2 not below");
        problem_.options.max_depth = max_depth;
        problem_.options.max_leaves = max_leaves;
        problem_.options.min_rows_leaf = min_rows_leaf;
        problem_.options.n_threads = n_threads;
        problem_.options.peers = peers_.get();
        set_loss(loss, n_outputs);
    }

    const BoostProblem& problem() const { return problem_; }

private:
    std::unique_ptr<PyPeers> peers_;
    Vector<double> own_;
    Vector<double> shared_;
    Vector<index_t> group_of_;
    Vector<double> target_;
    Vector<double> weights_;
    std::vector<index_t> codes_;
    BoostProblem problem_;

    void set_loss(const std::string& name, index_t n_outputs) {
        BoostLoss& loss = problem_.loss;
        require(name == "squared" || name == "logistic" || name == "softmax",
                "loss is 'squared', 'logistic' or 'softmax'");
        loss.n_outputs = n_outputs;
        if (name != "softmax") {
            require(n_outputs == 1, "the loss has one output");
            loss.kind = name == "squared" ? LossKind::squared : LossKind::logistic;
            loss.numbers = span(target_);
            return;
        }
        loss.kind = LossKind::softmax;
        for (const double code : span(target_)) {
            require(code >= 0 && code < static_cast<double>(n_outputs), "target: each the code of a class");
            codes_.push_back(static_cast<index_t>(code));
        }
        loss.codes = view(codes_);
    }
};

// The rows that boosters learn from, and those that they hold out.
class PyFolds {
public:
    PyFolds(const PyProblem& problem, const Columns& learn, const Columns& held_out, const std::vector<Vector<double>>& start,
            const std::vector<double>& min_hessian)
        : problem_(problem.problem()) {
        require(!learn.empty() && learn.size() == held_out.size() && learn.size() == start.size() &&
                    learn.size() == min_hessian.size(),
                "folds: rows, scores and a least sum of hessians for each");
        for (std::size_t f = 0; f < learn.size(); ++f) {
            require(span(start[f]).size == problem_.n_outputs(), "start: one score for each output");
            require(problem_.options.peers || learn[f].shape(0) > 0, "there are no rows to learn from");
            const char* message = "rows are chosen by ascending numbers within the table";
            folds_.push_back({{indices(learn[f], problem_.n_rows(), message),
                               {span(start[f]).begin(), span(start[f]).end()},
                               min_hessian[f]},
                              indices(held_out[f], problem_.n_rows(), message)});
        }
    }

    const BoostProblem& problem() const { return problem_; }
    const std::vector<BoostFold>& folds() const { return folds_; }

    RoundRules rules(const Vector<index_t>& columns, bool must_split) const {
        RoundRules rules;
        rules.columns = indices(columns, problem_.table.n_columns(), "columns: ascending numbers within the table");
        rules.must_split = must_split;
        return rules;
    }
    std::vector<RoundRules> rules(const Columns& sets) const {
        std::vector<RoundRules> all;
        for (const Vector<index_t>& columns : sets) all.push_back(rules(columns, true));
        return all;
    }

    // The fields of a forest of constants and trees, round by round.
    Fields forest(const std::vector<double>& start, const std::vector<Tree>& trees) const {
        TreeList list;
        const index_t n_trees = problem_.trees_per_round();
        const index_t width = problem_.n_outputs() / n_trees;
        for (index_t t = 0; t < n_trees; ++t) list.add_constant({start.data() + t * width, width}, t);
        for (std::size_t t = 0; t < trees.size(); ++t) list.add(trees[t], static_cast<index_t>(t) % n_trees);
        Fields out = fields(std::move(list.nodes));
        out["offsets"] = to_numpy(std::move(list.offsets));
        out["target"] = to_numpy(std::move(list.target));
        return out;
    }

    // None if the time is over.
    std::optional<nb::typed<nb::list, Grown>> out_of_fold(const Columns& sets, index_t most_rounds,
                                                          const std::optional<index_t>& patience,
                                                          const PyFolds* final_rows, double end) const {
        require(most_rounds >= 0 && (!patience || *patience >= 1), "patience is at least one round");
        require(!final_rows || final_rows->folds_.size() == 1, "the final rows are one fold");
        const std::vector<RoundRules> all = rules(sets);
        const LearnedRows* last = final_rows ? &final_rows->folds_[0].learned : nullptr;
        std::vector<OutOfFoldBooster> boosters;
        bool in_time = true;
        {
            nb::gil_scoped_release unlocked;
            try {
                boosters = grow_out_of_fold(problem_, folds_, last, all, {most_rounds, patience, end});
            } catch (const EndReached&) {
                in_time = false;
            }
        }
        if (!in_time) return std::nullopt;
        const std::vector<double> start = last ? last->start : mean_start();
        nb::list found;
        for (OutOfFoldBooster& booster : boosters) {
            Fields forest_fields = forest(start, booster.trees);
            found.append(nb::make_tuple(booster.n_rounds, scores(std::move(booster.held_out)), forest_fields));
        }
        return {found};
    }

    NumpyArray<double> scores(std::vector<double> all) const {
        return to_numpy(std::move(all), {static_cast<std::size_t>(problem_.n_outputs()),
                                         static_cast<std::size_t>(problem_.n_rows())});
    }

private:
    const BoostProblem& problem_;
    std::vector<BoostFold> folds_;

    // The mean of the constants that the boosters of the folds start from.
    std::vector<double> mean_start() const {
        std::vector<double> mean(folds_[0].learned.start.size());
        for (std::size_t output = 0; output < mean.size(); ++output) {
            for (const BoostFold& fold : folds_) mean[output] += fold.learned.start[output];
            mean[output] /= static_cast<double>(folds_.size());
        }
        return mean;
    }
};

class PyBoosters {
public:
    explicit PyBoosters(const PyFolds& folds) : folds_(folds), boosters_(folds.problem(), folds.folds()) {}

    void boost(const Vector<index_t>& columns, index_t n_rounds, bool must_split) {
        const RoundRules rules = folds_.rules(columns, must_split);
        nb::gil_scoped_release unlocked;
        boosters_.boost(rules, n_rounds);
    }

    // Tries rounds that pay for features at falling trade-offs, from `tradeoff` down to `least`, until one buys any or
    // the time is over. Returns what the model owns, None if no round bought anything, and the trade-off that was
    // reached.
    Bought buy(const Vector<index_t>& columns, const Vector<std::uint8_t>& owned, const std::optional<double>& budget,
               double tradeoff, double least, double fall, double end) {
        const CostSheet& sheet = folds_.problem().sheet;
        require(boosters_.n_folds() == 1, "purchases need a single fold");
        require(span(owned).size == sheet.n_features(), "owned: one for each column");
        require(tradeoff >= 0 && (!budget || *budget >= 0), "tradeoff and budget are not negative");
        require(least >= 0 && fall > 0 && fall < 1, "least is not negative, and fall between 0 and 1");
        RoundRules rules = folds_.rules(columns, false);
        rules.tradeoff = tradeoff;
        rules.budget = budget.value_or(std::numeric_limits<double>::infinity());
        OwnedFeatures model(sheet);
        for (index_t j = 0; j < sheet.n_features(); ++j) {
            if (span(owned)[j]) model.add(sheet, j);
        }
        bool bought = false;
        {
            nb::gil_scoped_release unlocked;
            bought = boosters_.buy(rules, model, least, fall, end);
        }
        if (!bought) return {std::nullopt, rules.tradeoff};
        std::vector<std::uint8_t> flags(static_cast<std::size_t>(sheet.n_features()));
        for (index_t j = 0; j < sheet.n_features(); ++j) flags[static_cast<std::size_t>(j)] = model.has(j);
        return {to_numpy(std::move(flags)), rules.tradeoff};
    }

    double loss() const {
        nb::gil_scoped_release unlocked;
        return boosters_.loss();
    }

    std::vector<double> losses_after(const Columns& sets, index_t n_rounds) {
        const std::vector<RoundRules> all = folds_.rules(sets);
        nb::gil_scoped_release unlocked;
        return boosters_.losses_after(all, n_rounds);
    }

    NumpyArray<double> scores(index_t fold) const {
        require(fold >= 0 && fold < boosters_.n_folds(), "fold: a number of one");
        return folds_.scores(boosters_.booster(fold).scores());
    }

    Fields forest(index_t fold) const {
        require(fold >= 0 && fold < boosters_.n_folds(), "fold: a number of one");
        return folds_.forest(folds_.folds()[static_cast<std::size_t>(fold)].learned.start,
                             boosters_.booster(fold).trees());
    }

private:
    const PyFolds& folds_;
    FoldBoosters boosters_;
};

}  // namespace

void bind_boosters(nb::module_& m) {
    nb::class_<PyProblem>(m, "BoostProblem")
        .def(nb::init<const BinnedTable&, Vector<double>, Vector<double>, Vector<index_t>, const std::string&, index_t,
                      Vector<double>, Vector<double>, bool, double, double, bool, index_t, index_t, index_t, int,
                      const nb::object&>(),
             nb::keep_alive<1, 2>(), "table"_a, "own"_a, "shared"_a, "group_of"_a, nb::kw_only(), "loss"_a,
             "n_outputs"_a, "target"_a, "weights"_a, "weighted"_a, "learning_rate"_a, "l2"_a,
             "multi_output"_a, "max_depth"_a, "max_leaves"_a, "min_rows_leaf"_a, "n_threads"_a,
             "peers"_a.none() = nb::none());

    nb::class_<PyFolds>(m, "BoostFolds")
        .def(nb::init<const PyProblem&, const Columns&, const Columns&, const std::vector<Vector<double>>&,
                      const std::vector<double>&>(),
             nb::keep_alive<1, 2>(), "problem"_a, nb::kw_only(), "learn"_a, "held_out"_a, "start"_a, "min_hessian"_a)
        .def("out_of_fold", &PyFolds::out_of_fold, "sets"_a, nb::kw_only(), "most_rounds"_a, "patience"_a.none(),
             "final_rows"_a.none(), "end"_a);

    nb::class_<PyBoosters>(m, "FoldBoosters")
        .def(nb::init<const PyFolds&>(), nb::keep_alive<1, 2>(), "folds"_a)
        .def("boost", &PyBoosters::boost, "columns"_a, "n_rounds"_a, "must_split"_a)
        .def("buy", &PyBoosters::buy, "columns"_a, "owned"_a, "budget"_a.none(), "tradeoff"_a, "least"_a,
             "fall"_a, "end"_a)
        .def("loss", &PyBoosters::loss)
        .def("losses_after", &PyBoosters::losses_after, "sets"_a, "n_rounds"_a)
        .def("scores", &PyBoosters::scores, "fold"_a)
        .def("forest", &PyBoosters::forest, "fold"_a);
}

}  // namespace farthing
