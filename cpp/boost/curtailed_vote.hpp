// curtailed_vote: a weighted vote that stops as soon as the remaining votes cannot change its sign.
//
// Features are asked for in a fixed order: next is the first feature that an unfinished tree needs. `low` and `high`
// bound the final sum at all times; a row ends when both are on the same side of zero, where a sum of zero counts as
// negative. Scores are multiples of one power of two and their sums are exact, so the bounds are exact, too. With
// thresholds, a row also ends when the sum of its finished votes is so far from zero that the rest is unlikely to
// change its sign (stochastic curtailment).
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

// Precomputed bounds. All stumps on one feature share a bound, because one answer decides them all; any other tree
// has the bound of its current node.
struct CurtailPlan {
    Span<const index_t> order;       // (p,): the tested features, in the order they are asked for
    Span<const index_t> position;    // (k,): position of a feature in `order`; only read for tested features
    Span<const std::uint8_t> stump;  // (trees,)
    Span<const double> shared_low;   // (p,): bounds of the sum of a feature's stumps
    Span<const double> shared_high;
    Span<const double> low;          // (nodes,): bounds of the score that a descent from the node can end with
    Span<const double> high;
    Span<const double> stop_low;   // (p,), or empty: before a feature is asked for, stop at a sum of at most this,
    Span<const double> stop_high;  // or above this
};

// One row's state. The trees that wait for a feature form a linked list that starts at the feature's position.
class CurtailedVote {
public:
    CurtailedVote(const ForestView& forest, const CurtailPlan& plan)
        : forest_(forest), plan_(plan), queue_head_(static_cast<std::size_t>(plan.order.size), -1),
          queue_next_(static_cast<std::size_t>(forest.n_trees()), -1),
          roots_(forest.offsets.data, forest.offsets.data + forest.n_trees()),
          pending_(static_cast<std::size_t>(Bitset::n_words(plan.order.size)), 0) {
        for (index_t t = 0; t < forest.n_trees(); ++t) {
            const index_t root = forest.offsets[t];
            if (forest.feature[root] >= 0) {
                enqueue(t, root, queue_head_, queue_next_, pending_);
            } else {
                decided_ += forest.scores[root];
            }
            if (!plan.stump[t]) {
                low_ += plan.low[root];
                high_ += plan.high[root];
            }
        }
        for (index_t p = 0; p < plan.order.size; ++p) {
            low_ += plan.shared_low[p];
            high_ += plan.shared_high[p];
        }
        reset();
    }

    void reset() {
        state_.decided = decided_;
        state_.low = low_;
        state_.high = high_;
        state_.queue_head = queue_head_;
        state_.queue_next = queue_next_;
        state_.node = roots_;
        state_.pending = pending_;
        state_.answered.assign(static_cast<std::size_t>(forest_.n_features), 0);
    }

    // The feature to ask for, -1 at the end.
    index_t next_feature() const {
        if (state_.low > 0 || state_.high <= 0) return -1;
        const index_t place = next_place();
        if (place < 0) return -1;
        if (plan_.stop_low.size > 0 &&
            (state_.decided <= plan_.stop_low[place] || state_.decided > plan_.stop_high[place])) {
            return -1;
        }
        return plan_.order[place];
    }

    // The position of the first feature that an unfinished tree needs, whether or not the sign is certain; -1 if all
    // are finished.
    index_t next_place() const {
        for (std::size_t w = 0; w < state_.pending.size(); ++w) {
            const std::uint64_t word = state_.pending[w];
            if (word) return static_cast<index_t>(w) * 64 + count_trailing_zeros(word);
        }
        return -1;
    }

    // `value_of` returns the value of any feature answered so far, this one included.
    template <class ValueOf>
    void answer(index_t feature, ValueOf value_of) {
        const index_t place = plan_.position[feature];
        state_.answered[feature] = 1;
        state_.low -= plan_.shared_low[place];
        state_.high -= plan_.shared_high[place];
        index_t tree = state_.queue_head[place];
        state_.queue_head[place] = -1;
        state_.pending[place >> 6] &= ~(std::uint64_t{1} << (place & 63));
        while (tree >= 0) {
            const index_t after = state_.queue_next[tree];
            if (!plan_.stump[tree]) add_bounds(state_.node[tree], -1.0);
            advance(tree, value_of);
            tree = after;
        }
    }

    double decided() const { return state_.decided; }

private:
    struct State {
        double decided = 0;
        double low = 0;
        double high = 0;
        std::vector<index_t> queue_head;
        std::vector<index_t> queue_next;
        std::vector<index_t> node;
        std::vector<std::uint64_t> pending;
        std::vector<std::uint8_t> answered;
    };

    const ForestView& forest_;
    const CurtailPlan& plan_;
    double decided_ = 0;
    double low_ = 0;
    double high_ = 0;
    std::vector<index_t> queue_head_;
    std::vector<index_t> queue_next_;
    std::vector<index_t> roots_;
    std::vector<std::uint64_t> pending_;
    State state_;

    void enqueue(index_t tree, index_t node, std::vector<index_t>& queue_head, std::vector<index_t>& queue_next,
                 std::vector<std::uint64_t>& pending) const {
        const index_t place = plan_.position[forest_.feature[node]];
        queue_next[tree] = queue_head[place];
        queue_head[place] = tree;
        pending[place >> 6] |= std::uint64_t{1} << (place & 63);
    }

    void add_bounds(index_t node, double sign) {
        state_.low += sign * plan_.low[node];
        state_.high += sign * plan_.high[node];
    }

    template <class ValueOf>
    void advance(index_t tree, ValueOf value_of) {
        index_t node = state_.node[tree];
        while (true) {
            const index_t feature = forest_.feature[node];
            if (feature >= 0 && !state_.answered[feature]) {  // this tree continues later
                state_.node[tree] = node;
                add_bounds(node, 1.0);
                enqueue(tree, node, state_.queue_head, state_.queue_next, state_.pending);
                return;
            }
            const index_t next =
                feature >= 0 ? next_node(forest_, forest_.offsets[tree], node, value_of(feature)) : node;
            if (next == node) break;
            node = next;
        }
        const double score = forest_.scores[node];
        state_.decided += score;
        state_.low += score;
        state_.high += score;
    }
};

// IN  X (n, n_features); budgets (n,), or empty for no limit.   OUT outputs (n,); touched (n, words).
template <class T>
void predict_curtailed(const ForestView& forest, const CurtailPlan& plan, const CostSheet& sheet, const Matrix<T>& X,
                       Span<const double> budgets, double* outputs, std::uint64_t* touched, int n_threads) {
    const index_t n_words = Bitset::n_words(forest.n_features);
    Chunks chunks(X.n_rows, 64);
    on_threads(threads_for(n_threads, X.n_rows), [&](int) {
        OwnedFeatures owned(sheet);
        CurtailedVote vote(forest, plan);
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
            outputs[row] = vote.decided();
            std::copy(owned.feature_words(), owned.feature_words() + n_words, touched + row * n_words);
        });
    });
}

// The sum of the finished votes before each feature is asked for, if nothing ends a row early.
// IN  X (n, n_features).   OUT sums (n, p), NaN for features that a row does not need; finals (n,), the full votes.
template <class T>
void trace_votes(const ForestView& forest, const CurtailPlan& plan, const Matrix<T>& X, double* sums, double* finals,
                 int n_threads) {
    const index_t p = plan.order.size;
    Chunks chunks(X.n_rows, 64);
    on_threads(threads_for(n_threads, X.n_rows), [&](int) {
        CurtailedVote vote(forest, plan);
        chunks.for_each([&](index_t row) {
            vote.reset();
            std::fill(sums + row * p, sums + (row + 1) * p, std::numeric_limits<double>::quiet_NaN());
            const auto value_of = [&](index_t feature) { return static_cast<double>(X(row, feature)); };
            for (index_t place = vote.next_place(); place >= 0; place = vote.next_place()) {
                sums[row * p + place] = vote.decided();
                vote.answer(plan.order[place], value_of);
            }
            finals[row] = vote.decided();
        });
    });
}

}  // namespace farthing
