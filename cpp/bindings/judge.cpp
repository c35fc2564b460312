// Python bindings of predict/judge.hpp.
#include "predict/judge.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/forest_arrays.hpp"
#include "common/views.hpp"

namespace farthing {
namespace {

template <class Kind>
Kind one_of(const std::map<std::string, Kind>& kinds, const std::string& name) {
    const auto found = kinds.find(name);
    require(found != kinds.end(), "link, labels: one of those known");
    return found->second;
}

// The ways out of a node: an answer that takes each, and its share of the rows.
struct Ways {
    Ways(std::vector<double> given_answers, std::vector<double> given_weights)
        : answers(std::move(given_answers)), weights(std::move(given_weights)) {
        require(answers.size() == weights.size() && !answers.empty(), "answers, weights: as many of each, some");
    }
    std::vector<double> answers;
    std::vector<double> weights;
};

// The rules of one model, with its scores; the Python side keeps its arrays alive.
class SplitJudge {
public:
    SplitJudge(Scores scores, const std::string& link, const std::string& labels, std::optional<Scores> counts,
               double learning_rate, Vector<double> prior, std::vector<index_t> exits, double threshold,
               bool single_sums)
        : scores_(scores), counts_(counts), prior_(prior), exits_(std::move(exits)), single_sums_(single_sums) {
        rules_.link = one_of<BeliefLink>({{"identity", BeliefLink::identity},
                                          {"normalise", BeliefLink::normalise},
                                          {"sigmoid", BeliefLink::sigmoid},
                                          {"softmax", BeliefLink::softmax}},
                                         link);
        rules_.labels = one_of<LabelRule>({{"none", LabelRule::none},
                                           {"belief", LabelRule::belief},
                                           {"counts", LabelRule::counts},
                                           {"values", LabelRule::values},
                                           {"shares", LabelRule::shares}},
                                          labels);
        rules_.learning_rate = learning_rate;
        rules_.prior = span(prior_);
        rules_.exits = {exits_.data(), static_cast<index_t>(exits_.size())};
        rules_.threshold = threshold;
        require(std::is_sorted(exits_.begin(), exits_.end()), "exits: ascending");
        require(rules_.prior.size > 0, "prior: one for each output");
        require(rules_.link != BeliefLink::sigmoid || rules_.prior.size == 1, "sigmoid: one output");
        require(learning_rate > 0, "learning_rate: above zero");
        require(rules_.labels != LabelRule::counts || counts_.has_value(), "counts: those of each node");
        if (counts_) {
            require(counts_->shape(0) == scores_.shape(0) && counts_->shape(1) == prior_.shape(0),
                    "counts: one row for each node, a column for each output");
            rules_.counts = counts_->data();
        }
    }

    // What the answers would do, see judge_answers. The trees may be those of the model with other ways for refused
    // values.
    Judged judge(const ForestArrays& arrays, const Vector<double>& values, const Vector<std::uint8_t>& states,
                 const Vector<index_t>& nodes, index_t tree, index_t end, bool looked, std::int32_t column,
                 const Ways& ways) const {
        const ForestView forest = arrays.with_scores(scores_, single_sums_);
        const index_t n_trees = forest.n_trees();
        require(forest.n_outputs == rules_.prior.size, "forest: the outputs of the prior");
        require(span(values).size == forest.n_features && span(states).size == forest.n_features,
                "values, states: one for each feature");
        require(0 <= column && column < forest.n_features, "column: one of the features");
        require(span(nodes).size == n_trees && 0 <= tree && end <= n_trees, "nodes: one for each tree");
        require(exits_.empty() || exits_.back() <= n_trees, "exits: within the trees");
        for (index_t t = 0; t < n_trees; ++t) {
            const index_t node = nodes.data()[t];
            require(forest.offsets[t] <= node && node < forest.offsets[t + 1], "nodes: each in its own tree");
            require(forest.target[t] + forest.width <= forest.n_outputs, "scores: too wide");
        }
        const auto n = static_cast<index_t>(ways.answers.size());
        return judge_answers(forest, rules_, values.data(), states.data(), nodes.data(), tree, end, looked, column,
                             {ways.answers.data(), n}, {ways.weights.data(), n});
    }

private:
    Scores scores_;
    std::optional<Scores> counts_;
    Vector<double> prior_;
    std::vector<index_t> exits_;
    bool single_sums_;
    JudgeRules rules_;
};

}  // namespace

void bind_judge(nb::module_& m) {
    nb::class_<Ways>(m, "Ways").def(nb::init<std::vector<double>, std::vector<double>>(), "answers"_a, "weights"_a);
    nb::class_<Judged>(m, "Judged")
        .def_ro("risk", &Judged::risk)
        .def_ro("fall", &Judged::fall)
        .def_ro("labels_known", &Judged::labels_known)
        .def_ro("is_clear", &Judged::is_clear)
        .def_ro("columns", &Judged::columns)
        .def_prop_ro(
            "outputs",
            [](const Judged& judged) -> NumpyArray<double> {
                const std::size_t n = judged.columns.size();
                return to_numpy(std::vector<double>(judged.outputs), {n, judged.outputs.size() / n});
            },
            nb::rv_policy::move);
    nb::class_<SplitJudge>(m, "SplitJudge")
        .def(nb::init<Scores, const std::string&, const std::string&, std::optional<Scores>, double, Vector<double>,
                      std::vector<index_t>, double, bool>(),
             "scores"_a.noconvert(), "link"_a, "labels"_a, "counts"_a.none(), "learning_rate"_a, "prior"_a, "exits"_a,
             "threshold"_a, "single_sums"_a)
        .def("judge", &SplitJudge::judge, "forest"_a, "values"_a.noconvert(), "states"_a.noconvert(),
             "nodes"_a.noconvert(), "tree"_a, "end"_a, "looked"_a, "column"_a, "ways"_a);
}

}  // namespace farthing
