// top_class_votes: learners from the top of a list that vote on several classes; see take_top_votes of vote_sampler.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "account/cost_sheet.hpp"
#include "account/row_account.hpp"
#include "boost/learner_votes.hpp"
#include "boost/vote_plan.hpp"
#include "common/bitset.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"

namespace farthing {

// Whether votes that move each sum by at most `reach` cannot change the winner; a tie goes to the earlier class. Exact,
// as sums and reach are on a grid.
inline bool winner_is_certain(const double* sums, index_t n_classes, double reach) {
    const index_t first = std::max_element(sums, sums + n_classes) - sums;
    for (index_t c = 0; c < n_classes; ++c) {
        const double lead = sums[first] - sums[c] - 2 * reach;
        if (c != first && !(first < c ? lead >= 0 : lead > 0)) return false;
    }
    return true;
}

// OUT sums (n_outputs,). Returns the number of learners taken.
template <class Read>
index_t take_top_class_votes(const VotePlan& plan, const TreeVotes& votes, RowAccount& account, Read&& read,
                             double* sums) {
    const index_t n_classes = votes.forest.n_outputs;
    std::fill(sums, sums + n_classes, 0.0);
    index_t taken = 0;
    for (index_t place = 0; place < plan.order.size && taken < plan.max_samples; ++place) {
        // Not before the first purchase: a row that bought nothing gets the prior, which may be another label.
        const bool has_bought = account.version() > account.refusals();
        if (plan.curtail && has_bought && winner_is_certain(sums, n_classes, plan.reach[place])) break;
        const index_t learner = plan.order[place];
        if (!account.affords(plan.features(learner))) continue;
        const double* scores = votes.forest.scores.data + votes.last_node(learner, read) * n_classes;
        for (index_t c = 0; c < n_classes; ++c) sums[c] += plan.grid_vote(learner, scores[c]);
        ++taken;
    }
    return taken;
}

// IN  X (n, n_features), budgets (n,).   OUT outputs (n, n_outputs), acquired (n, words), samples (n,).
template <class T>
void predict_top_classes(const VotePlan& plan, const TreeVotes& votes, const CostSheet& sheet, const Matrix<T>& X,
                         Span<const double> budgets, double* outputs, std::uint64_t* acquired, index_t* samples,
                         int n_threads) {
    const index_t n_words = Bitset::n_words(sheet.n_features());
    Chunks chunks(X.n_rows, 64);
    on_threads(threads_for(n_threads, X.n_rows), [&](int) {
        RowAccount account(sheet);
        chunks.for_each([&](index_t row) {
            account.open(budgets[row]);
            const auto read = [&](index_t feature) {
                account.buy(feature);
                return account.owns(feature) ? static_cast<double>(X(row, feature))
                                             : std::numeric_limits<double>::quiet_NaN();
            };
            samples[row] = take_top_class_votes(plan, votes, account, read, outputs + row * votes.forest.n_outputs);
            std::copy(account.owned().feature_words(), account.owned().feature_words() + n_words,
                      acquired + row * n_words);
        });
    });
}

}  // namespace farthing
