// judge: what each answer to a question would do to the belief of a row, and what that says of the risk, in one pass.
// One row at a time, and a few answers: in NumPy this would be some fifty operations on a handful of numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "common/views.hpp"
#include "predict/forest_view.hpp"
#include "predict/lazy_descent.hpp"
#include "predict/reasons.hpp"

namespace farthing {

// From sums over trees to probabilities or a value.
enum class BeliefLink { identity, normalise, sigmoid, softmax };

// What the nodes where a row stands say of the labels of such rows: nothing; the belief itself; the mean of the shares
// of their counts; the value, or the shares of classes, that the last round of boosting was fitted to.
enum class LabelRule { none, belief, counts, values, shares };

struct JudgeRules {
    BeliefLink link = BeliefLink::identity;
    LabelRule labels = LabelRule::none;
    const double* counts = nullptr;  // (nodes, outputs), of LabelRule::counts
    double learning_rate = 1;        // of LabelRule::values and shares
    Span<const double> prior;        // (outputs,): the sums of a row that has bought nothing
    Span<const index_t> exits;       // after how many trees a row may leave, ascending; none if it passes all
    double threshold = 1;            // above which probability of the top class it leaves

    index_t n_beliefs() const { return link == BeliefLink::sigmoid ? 2 : prior.size; }
};

// What was found for the answers to one question.
struct Judged {
    double risk = 0;
    double fall = 0;
    bool labels_known = false;
    bool is_clear = true;               // false if rounding decides whether a row leaves at an exit: nothing is said then
    std::vector<double> outputs;        // (answers, outputs)
    std::vector<std::int32_t> columns;  // (answers,): what is asked for next, or -1
};

// IN  outputs.   OUT belief (n_beliefs,).
inline void link_row(BeliefLink link, index_t n_outputs, const double* outputs, double* belief) {
    switch (link) {
    case BeliefLink::identity: std::copy(outputs, outputs + n_outputs, belief); break;
    case BeliefLink::normalise: normalise_rows({outputs, 1, n_outputs, n_outputs, 1}, belief); break;
    case BeliefLink::sigmoid:
        belief[0] = 1 / (1 + std::exp(outputs[0]));
        belief[1] = 1 / (1 + std::exp(-outputs[0]));
        break;
    case BeliefLink::softmax: {
        const double largest = *std::max_element(outputs, outputs + n_outputs);
        for (index_t c = 0; c < n_outputs; ++c) belief[c] = std::exp(outputs[c] - largest);
        normalise_rows({belief, 1, n_outputs, n_outputs, 1}, belief);
    }
    }
}

// The labels of rows that stand at some nodes; false if nothing is known of them.
// IN  forest; nodes: of the first n_walked trees; outputs, belief.   OUT labels (n_beliefs,), zero at first.
inline bool labels_at(const ForestView& forest, const JudgeRules& rules, const index_t* nodes, index_t n_walked,
                      const double* outputs, const double* belief, double* labels) {
    const index_t n_beliefs = rules.n_beliefs();
    switch (rules.labels) {
    case LabelRule::none: return false;
    case LabelRule::belief: std::copy(belief, belief + n_beliefs, labels); return true;
    case LabelRule::counts:
        if (n_walked == 0) return false;
        mean_shares(rules.counts, n_beliefs, {nodes, n_walked}, labels);
        return true;
    default: break;
    }
    const index_t n_outputs = forest.n_outputs;
    const index_t n_last = std::min(n_walked, n_outputs / forest.width);
    std::vector<index_t> trees(static_cast<std::size_t>(n_last));
    std::iota(trees.begin(), trees.end(), n_walked - n_last);
    std::vector<double> before(outputs, outputs + n_outputs);
    std::vector<double> steps(static_cast<std::size_t>(n_outputs), 0.0);
    std::vector<std::uint8_t> walked(static_cast<std::size_t>(n_outputs), 0);
    undo_round(forest, {nodes + n_walked - n_last, n_last}, {trees.data(), n_last}, rules.learning_rate,
               before.data(), steps.data(), walked.data());
    if (rules.labels == LabelRule::values) {
        for (index_t c = 0; c < n_outputs; ++c) labels[c] = before[c] + steps[c];
        return true;
    }
    std::vector<double> shares(static_cast<std::size_t>(n_beliefs));
    link_row(rules.link, n_outputs, before.data(), shares.data());
    if (rules.link == BeliefLink::sigmoid) {  // one log-odds, that of the second class
        steps = {steps[0], steps[0]};
        walked = {0, walked[0]};
    }
    boosted_shares(n_beliefs, shares.data(), steps.data(), walked.data(), labels);
    return true;
}

// Judges the answers to the question for a column.
// IN  values, states (n_features,); nodes (trees,), tree, end: where the row stands; looked: whether it has bought
//     anything; answers, weights: the ways out of the node, and their shares of its rows.
inline Judged judge_answers(const ForestView& forest, const JudgeRules& rules, const double* values,
                            const std::uint8_t* states, const index_t* nodes, index_t tree, index_t end, bool looked,
                            std::int32_t column, Span<const double> answers, Span<const double> weights) {
    const auto size = [](index_t n) { return static_cast<std::size_t>(n); };
    const index_t n_outputs = forest.n_outputs;
    const index_t n_beliefs = rules.n_beliefs();
    // Close to the threshold of an exit the walk decides, whose exponentials may round differently.
    const double unclear = 1e-9;
    Judged found;
    found.outputs.assign(size(answers.size * n_outputs), 0.0);
    std::vector<double> now(size(n_beliefs)), after(size(answers.size * n_beliefs)), labels(after.size(), 0.0);
    if (looked) {
        std::vector<double> sums(size(n_outputs), 0.0);
        add_scores(forest, nodes, end, sums.data());
        link_row(rules.link, n_outputs, sums.data(), now.data());
    } else {
        link_row(rules.link, n_outputs, rules.prior.data, now.data());
    }
    std::vector<double> known(values, values + forest.n_features);
    std::vector<std::uint8_t> told(states, states + forest.n_features);
    told[size(column)] = FeatureState::known;
    std::vector<index_t> moved(size(forest.n_trees()));
    found.labels_known = true;
    for (index_t a = 0; a < answers.size; ++a) {
        known[size(column)] = answers[a];
        std::copy(nodes, nodes + forest.n_trees(), moved.begin());
        index_t first = tree;
        index_t last = end;
        double* sums = found.outputs.data() + a * n_outputs;
        double* belief = after.data() + a * n_beliefs;
        for (;;) {
            const std::int32_t asked =
                descend_known(forest, known.data(), told.data(), moved.data(), first, last, [](std::int32_t) {});
            std::fill(sums, sums + n_outputs, 0.0);
            add_scores(forest, moved.data(), last, sums);
            link_row(rules.link, n_outputs, sums, belief);
            const index_t* further = std::upper_bound(rules.exits.begin(), rules.exits.end(), last);
            if (asked >= 0 || further == rules.exits.end()) {
                found.columns.push_back(asked);
                break;
            }
            const double top = *std::max_element(belief, belief + n_beliefs);
            found.is_clear = found.is_clear && std::fabs(top - rules.threshold) > unclear;
            if (top > rules.threshold) {
                found.columns.push_back(-1);
                break;
            }
            last = *further;
        }
        index_t n_walked = std::min(first, last);
        if (n_walked < last && moved[size(n_walked)] != forest.offsets[n_walked]) ++n_walked;
        const bool known_here =
            labels_at(forest, rules, moved.data(), n_walked, sums, belief, labels.data() + a * n_beliefs);
        found.labels_known = found.labels_known && known_here;
    }
    const Fall expected = expected_fall(n_beliefs, now.data(), after.data(),
                                        found.labels_known ? labels.data() : after.data(), weights);
    found.risk = expected.risk;
    found.fall = expected.fall;
    return found;
}

}  // namespace farthing
