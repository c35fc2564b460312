// curtailed_class_vote: a vote on several classes that stops as soon as the remaining votes cannot change its winner.
//
// As in curtailed_vote.hpp, features are asked for in a fixed order. `lead(a, b)` bounds from below how far class a ends
// ahead of class b, whatever the answers still out. A row ends when some class is ahead of all others, where a tie goes
// to the earlier class. Its output is the middle of what is still possible, class by class: that of the winner is the
// largest, since both ends of its range are ahead of those of any other class by at least the lead. Voting weights are
// multiples of one power of two and bounded, so that all sums are exact.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/bits.hpp"
#include "common/bitset.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "predict/forest_view.hpp"

namespace farthing {

// Precomputed bounds, k classes. All stumps on one feature share a bound, because one answer decides them all; any other
// tree has the bound of its current node. Bounds of nodes are in votes, to be multiplied by the weight of the tree.
struct ClassCurtailPlan {
    Span<const index_t> order;           // (p,): the tested features, in the order they are asked for
    Span<const index_t> position;        // (features,): position of a feature in `order`
    Span<const std::uint8_t> stump;      // (trees,)
    Span<const double> weights;          // (trees,): voting weights
    Span<const double> shared_lead;      // (p, k, k)
    Span<const double> shared_sum;       // (p, k): least plus largest sum of a feature's stumps
    Span<const std::int8_t> node_lead;   // (nodes, k, k)
    Span<const std::int8_t> node_sum;    // (nodes, k): least plus largest vote; twice the vote at a leaf
    index_t n_classes = 0;
};

// One row's state. The trees that wait for a feature form a linked list that starts at the feature's position.
class CurtailedClassVote {
public:
    CurtailedClassVote(const ForestView& forest, const ClassCurtailPlan& plan)
        : forest_(forest), plan_(plan), k_(plan.n_classes) {
        start_.lead.assign(static_cast<std::size_t>(k_ * k_), 0.0);
        start_.sum.assign(static_cast<std::size_t>(k_), 0.0);
        start_.queue_head.assign(static_cast<std::size_t>(plan.order.size), -1);
        start_.queue_next.assign(static_cast<std::size_t>(forest.n_trees()), -1);
        start_.node.assign(forest.offsets.data, forest.offsets.data + forest.n_trees());
        start_.pending.assign(static_cast<std::size_t>(Bitset::n_words(plan.order.size)), 0);
        start_.answered.assign(static_cast<std::size_t>(forest.n_features), 0);
        for (index_t t = 0; t < forest.n_trees(); ++t) {
            const index_t root = forest.offsets[t];
            if (forest.feature[root] >= 0) enqueue(start_, t, root);
            if (!plan.stump[t]) add_node(start_, t, root, 1.0);
        }
        for (index_t p = 0; p < plan.order.size; ++p) add_shared(start_, p, 1.0);
        reset();
    }

    void reset() { state_ = start_; }

    // The feature to ask for, -1 at the end.
    index_t next_feature() const {
        if (decided()) return -1;
        for (std::size_t w = 0; w < state_.pending.size(); ++w) {
            const std::uint64_t word = state_.pending[w];
            if (word) return plan_.order[static_cast<index_t>(w) * 64 + count_trailing_zeros(word)];
        }
        return -1;
    }

    // `value_of` returns the value of any feature answered so far, this one included.
    template <class ValueOf>
    void answer(index_t feature, ValueOf value_of) {
        const index_t place = plan_.position[feature];
        state_.answered[feature] = 1;
        add_shared(state_, place, -1.0);
        index_t tree = state_.queue_head[place];
        state_.queue_head[place] = -1;
        state_.pending[place >> 6] &= ~(std::uint64_t{1} << (place & 63));
        while (tree >= 0) {
            const index_t after = state_.queue_next[tree];
            if (!plan_.stump[tree]) add_node(state_, tree, state_.node[tree], -1.0);
            advance(tree, value_of);
            tree = after;
        }
    }

    // OUT outputs (k,).
    void outputs(double* out) const {
        for (index_t c = 0; c < k_; ++c) out[c] = state_.sum[c] / 2;
    }

private:
    struct State {
        std::vector<double> lead;
        std::vector<double> sum;  // least plus largest vote
        std::vector<index_t> queue_head;
        std::vector<index_t> queue_next;
        std::vector<index_t> node;
        std::vector<std::uint64_t> pending;
        std::vector<std::uint8_t> answered;
    };

    const ForestView& forest_;
    const ClassCurtailPlan& plan_;
    index_t k_;
    State start_;
    State state_;

    // Only the class with the largest middle can be ahead of all others.
    bool decided() const {
        const index_t first = std::max_element(state_.sum.begin(), state_.sum.end()) - state_.sum.begin();
        const double* lead = state_.lead.data() + first * k_;
        for (index_t c = 0; c < k_; ++c) {
            if (c != first && !(first < c ? lead[c] >= 0 : lead[c] > 0)) return false;
        }
        return true;
    }

    void enqueue(State& state, index_t tree, index_t node) const {
        const index_t place = plan_.position[forest_.feature[node]];
        state.queue_next[tree] = state.queue_head[place];
        state.queue_head[place] = tree;
        state.pending[place >> 6] |= std::uint64_t{1} << (place & 63);
    }

    void add_shared(State& state, index_t place, double sign) const {
        const double* lead = plan_.shared_lead.data + place * k_ * k_;
        const double* sum = plan_.shared_sum.data + place * k_;
        for (index_t i = 0; i < k_ * k_; ++i) state.lead[i] += sign * lead[i];
        for (index_t c = 0; c < k_; ++c) state.sum[c] += sign * sum[c];
    }

    void add_node(State& state, index_t tree, index_t node, double sign) const {
        const double weight = sign * plan_.weights[tree];
        const std::int8_t* lead = plan_.node_lead.data + node * k_ * k_;
        const std::int8_t* sum = plan_.node_sum.data + node * k_;
        for (index_t i = 0; i < k_ * k_; ++i) state.lead[i] += weight * lead[i];
        for (index_t c = 0; c < k_; ++c) state.sum[c] += weight * sum[c];
    }

    template <class ValueOf>
    void advance(index_t tree, ValueOf value_of) {
        index_t node = state_.node[tree];
        while (true) {
            const index_t feature = forest_.feature[node];
            if (feature >= 0 && !state_.answered[feature]) {  // this tree continues later
                state_.node[tree] = node;
                add_node(state_, tree, node, 1.0);
                enqueue(state_, tree, node);
                return;
            }
            const index_t next =
                feature >= 0 ? next_node(forest_, forest_.offsets[tree], node, value_of(feature)) : node;
            if (next == node) break;
            node = next;
        }
        // The row ends here, at a leaf or at an inner node where a missing value stays.
        const double* scores = forest_.scores.data + node * k_;
        for (index_t a = 0; a < k_; ++a) {
            state_.sum[a] += 2 * scores[a];
            for (index_t b = 0; b < k_; ++b) state_.lead[a * k_ + b] += scores[a] - scores[b];
        }
    }
};

// IN  X (n, n_features); budgets (n,), or empty for no limit.   OUT outputs (n, k); touched (n, words).
template <class T>
void predict_curtailed_classes(const ForestView& forest, const ClassCurtailPlan& plan, const CostSheet& sheet,
                               const Matrix<T>& X, Span<const double> budgets, double* outputs, std::uint64_t* touched,
                               int n_threads) {
    const index_t n_words = Bitset::n_words(forest.n_features);
    Chunks chunks(X.n_rows, 64);
    on_threads(threads_for(n_threads, X.n_rows), [&](int) {
        OwnedFeatures owned(sheet);
        CurtailedClassVote vote(forest, plan);
        chunks.for_each([&](index_t row) {
            owned.clear();
            vote.reset();
            const auto value_of = [&](index_t feature) {
                return owned.has(feature) ? static_cast<double>(X(row, feature))
                                          : std::numeric_limits<double>::quiet_NaN();
            };
            for (index_t feature = vote.next_feature(); feature >= 0; feature = vote.next_feature()) {
                if (budgets.size == 0 || affords(sheet, owned, feature, budgets[row])) owned.add(sheet, feature);
                vote.answer(feature, value_of);
            }
            vote.outputs(outputs + row * plan.n_classes);
            std::copy(owned.feature_words(), owned.feature_words() + n_words, touched + row * n_words);
        });
    });
}

}  // namespace farthing
