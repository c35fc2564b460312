// vote_sampler: the weighted vote of the learners that each row can pay for (AdaBoostRS, Reyzin 2011).
//
// A row samples learners until the most expensive one might exceed its budget, draws sets of features without
// replacement (free_rider_vote), or takes learners from the top of a list. A learner reads its features one by one and
// the row buys them. If all remaining features are affordable, all learners vote.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "account/cost_sheet.hpp"
#include "account/row_account.hpp"
#include "boost/free_rider_vote.hpp"
#include "boost/vote_plan.hpp"
#include "common/bitset.hpp"
#include "common/keyed_sampling.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"

namespace farthing {

struct VoteResult {
    double output = 0;
    index_t samples = 0;  // learners sampled, or taken from the top
};

// The largest unpaid price of any learner. An unpaid price never exceeds the price with nothing owned, so the scan in
// descending order of those can stop at the first one that is not above the maximum so far.
inline double max_unpaid_price(const VotePlan& plan, RowAccount& account) {
    double max_unpaid = 0.0;
    for (index_t i = 0; i < plan.by_price.size && plan.descending_prices[i] > max_unpaid; ++i) {
        max_unpaid = std::max(max_unpaid, account.unpaid_price(plan.features(plan.by_price[i])));
    }
    return max_unpaid;
}

// One row. `read` buys a feature or refuses it, and updates the key with each purchase.
template <class Votes, class Read>
VoteResult sample_votes(const VotePlan& plan, const Votes& votes, RowAccount& account, const std::uint64_t& key,
                        Read&& read) {
    double exact_sum = 0.0;
    for (const index_t learner : plan.exact) exact_sum += plan.grid_vote(learner, votes.vote(learner, read));
    VoteResult result;
    double sum = 0.0;
    double max_unpaid = 0.0;
    index_t priced_at = -1;  // version of the account that max_unpaid belongs to
    // Refusals at the last check of the full vote: purchases do not change whether it is affordable.
    index_t checked_at = -1;
    while (!plan.distribution.empty()) {
        if (plan.full_vote && checked_at != account.refusals()) {
            checked_at = account.refusals();
            if (account.affords(plan.all_features)) {
                account.lift_budget();
                double full = 0.0;
                for (index_t learner = 0; learner < plan.n_learners(); ++learner) {
                    full += plan.grid_vote(learner, votes.vote(learner, read));
                }
                result.output = full;
                return result;
            }
        }
        if (priced_at != account.version()) {
            priced_at = account.version();
            max_unpaid = max_unpaid_price(plan, account);
        }
        if (result.samples >= plan.max_samples || !within_budget(account.spent() + max_unpaid, account.budget())) break;
        const index_t learner = plan.distribution.draw(key, static_cast<std::uint64_t>(result.samples));
        sum += plan.weights[learner] * votes.vote(learner, read);
        ++result.samples;
    }
    result.output = result.samples > 0 ? exact_sum + plan.scale * sum / static_cast<double>(result.samples) : exact_sum;
    return result;
}

// OUT trace (learners,), if given: the sum before each position, NaN before the first purchase.
template <class Votes, class Read>
VoteResult take_top_votes(const VotePlan& plan, const Votes& votes, RowAccount& account, Read&& read,
                          double* trace = nullptr) {
    VoteResult result;
    const bool stops = plan.stop_low.size > 0;
    for (index_t place = 0; place < plan.order.size && result.samples < plan.max_samples; ++place) {
        const double reach = plan.reach[place];
        // A sum of zero is the first class, as is a negative one. Not before the first purchase: a row that bought
        // nothing gets the prior, which may be the other label.
        const bool has_bought = account.version() > account.refusals();
        if (trace) trace[place] = has_bought ? result.output : std::numeric_limits<double>::quiet_NaN();
        if (plan.curtail && has_bought && (result.output > reach || result.output <= -reach)) break;
        if (stops && has_bought && (result.output <= plan.stop_low[place] || result.output > plan.stop_high[place])) {
            break;
        }
        const index_t learner = plan.order[place];
        if (!account.affords(plan.features(learner))) continue;
        result.output += plan.grid_vote(learner, votes.vote(learner, read));
        ++result.samples;
    }
    return result;
}

// `read` as in sample_votes; `plain_read` reads without an account, where the purchases are known.
template <class Votes, class Read, class PlainRead>
VoteResult estimate_votes(const VotePlan& plan, const Votes& votes, FreeRiderDraws& draws, FreeRiderPath& path,
                          const std::uint64_t& key, Read&& read, PlainRead&& plain_read) {
    FreeRiderSum sum(plan);
    if (path.valid) {
        for (const auto& [learner, weight] : path.voters) sum.add(learner, weight, votes.vote(learner, plain_read));
        return {sum.total(), path.draws};
    }
    draws.reset();
    path.voters.clear();
    for (WeightedLearners voters; draws.next(key, voters);) {
        for (const auto& [learner, weight] : voters) sum.add(learner, weight, votes.vote(learner, read));
        path.voters.insert(path.voters.end(), voters.begin(), voters.end());
    }
    path.draws = draws.draws();
    return {sum.total(), path.draws};
}

// IN  X (n, n_features), budgets (n,), seeds (n,).   OUT outputs (n,), acquired (n, words), samples (n,); traces
// (n, learners) of votes from the top, or null.
template <class T, class Votes>
void predict_sampled(const VotePlan& plan, const Votes& votes, const CostSheet& sheet, const Matrix<T>& X,
                     Span<const double> budgets, Span<const std::int64_t> seeds, double* outputs,
                     std::uint64_t* acquired, index_t* samples, int n_threads, double* traces = nullptr) {
    const index_t n_words = Bitset::n_words(sheet.n_features());
    Chunks chunks(X.n_rows, 64);
    on_threads(threads_for(n_threads, X.n_rows), [&](int) {
        RowAccount account(sheet);
        FreeRiderDraws draws(plan, account);
        FreeRiderPath path;
        chunks.for_each([&](index_t row) {
            account.open(budgets[row]);
            std::uint64_t key = seed_key(static_cast<std::uint64_t>(seeds[row]));
            const auto read = [&](index_t feature) {
                if (account.buy(feature)) key ^= purchase_bits(feature);
                return account.owns(feature) ? static_cast<double>(X(row, feature))
                                             : std::numeric_limits<double>::quiet_NaN();
            };
            VoteResult result;
            if (plan.free_rider) {
                path.valid = plan.units.single && path.has(seeds[row], budgets[row]);
                const auto plain_read = [&](index_t feature) { return static_cast<double>(X(row, feature)); };
                result = estimate_votes(plan, votes, draws, path, key, read, plain_read);
                if (!path.valid) path.keep(seeds[row], budgets[row], account.owned().feature_words(), n_words);
            } else if (plan.top) {
                double* trace = traces ? traces + row * plan.order.size : nullptr;
                result = take_top_votes(plan, votes, account, read, trace);
            } else {
                result = sample_votes(plan, votes, account, key, read);
            }
            outputs[row] = result.output;
            samples[row] = result.samples;
            const std::uint64_t* owned = plan.free_rider ? path.owned.data() : account.owned().feature_words();
            std::copy(owned, owned + n_words, acquired + row * n_words);
        });
    });
}

}  // namespace farthing
