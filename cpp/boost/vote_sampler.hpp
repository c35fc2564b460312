// sampler: a weighted vote of learners, taken from those that each row can pay for (Reyzin 2011).
//
// A row draws learners by lot until the dearest could be too dear, or takes them from the top of a list. A learner reads
// its features one by one; what it reads is bought. If all that is left is affordable, everybody votes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "account/cost_sheet.hpp"
#include "account/row_account.hpp"
#include "boost/vote_plan.hpp"
#include "common/bitset.hpp"
#include "common/keyed_sampling.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"

namespace farthing {

struct Tally {
    double output = 0;
    index_t samples = 0;  // learners drawn, or taken from the top
};

// The dearest unpaid price of any learner. What is unpaid is never more than the price from an empty ledger, so the
// list by falling price ends where that price is no more than the dearest so far.
inline double dearest_unpaid(const VotePlan& plan, Purse& purse) {
    double dearest = 0.0;
    for (index_t i = 0; i < plan.dear.size && plan.dear_prices[i] > dearest; ++i) {
        dearest = std::max(dearest, purse.unpaid(plan.features(plan.dear[i])));
    }
    return dearest;
}

// One row. `read` buys a feature, or is refused it, and keeps the key in step with the purchases.
template <class Votes, class Read>
Tally draw_votes(const VotePlan& plan, const Votes& votes, Purse& purse, const std::uint64_t& key, Read&& read) {
    double certain = 0.0;
    for (const index_t learner : plan.exact) certain += plan.weighted(learner, votes.vote(learner, read));
    Tally tally;
    double sum = 0.0;
    double dearest = 0.0;
    index_t seen = -1;          // the state of the purse at which the dearest price holds
    index_t refusals_seen = -1;  // purchases move a price from what is left to what is spent, but keep their sum
    while (!plan.urn.empty()) {
        if (plan.full_vote && refusals_seen != purse.refusals()) {
            refusals_seen = purse.refusals();
            if (purse.affords(plan.all_features)) {
                purse.lift();
                double full = 0.0;
                for (index_t learner = 0; learner < plan.n_learners(); ++learner) {
                    full += plan.weighted(learner, votes.vote(learner, read));
                }
                tally.output = full;
                return tally;
            }
        }
        if (seen != purse.version()) {
            seen = purse.version();
            dearest = dearest_unpaid(plan, purse);
        }
        if (tally.samples >= plan.max_samples || !within(purse.spent() + dearest, purse.budget())) break;
        const index_t learner = plan.urn.draw(key, static_cast<std::uint64_t>(tally.samples));
        sum += plan.weights[learner] * votes.vote(learner, read);
        ++tally.samples;
    }
    tally.output = tally.samples > 0 ? certain + plan.scale * sum / static_cast<double>(tally.samples) : certain;
    return tally;
}

template <class Votes, class Read>
Tally take_votes(const VotePlan& plan, const Votes& votes, Purse& purse, Read&& read) {
    Tally tally;
    for (index_t place = 0; place < plan.order.size && tally.samples < plan.max_samples; ++place) {
        const double reach = plan.reach[place];
        // A sum of zero is the first class, as is a negative one.
        if (plan.curtail && (tally.output > reach || tally.output <= -reach)) break;
        const index_t learner = plan.order[place];
        if (!purse.affords(plan.features(learner))) continue;
        tally.output += plan.weighted(learner, votes.vote(learner, read));
        ++tally.samples;
    }
    return tally;
}

// IN  X (n, n_features), budgets (n,), seeds (n,).   OUT outputs (n,), bought (n, words), samples (n,).
template <class T, class Votes>
void sample(const VotePlan& plan, const Votes& votes, const Sheet& sheet, const Matrix<T>& X, Span<const double> budgets,
            Span<const std::int64_t> seeds, double* outputs, std::uint64_t* bought, index_t* samples, int n_threads) {
    const index_t n_words = Bitset::n_words(sheet.n_features());
    #pragma omp parallel num_threads(threads_for(n_threads, X.n_rows))
    {
        Purse purse(sheet);
        #pragma omp for schedule(dynamic, 64)
        for (index_t row = 0; row < X.n_rows; ++row) {
            purse.open(budgets[row]);
            std::uint64_t key = seed_key(static_cast<std::uint64_t>(seeds[row]));
            const auto read = [&](index_t feature) {
                if (purse.take(feature)) key ^= purchase_bits(feature);
                return purse.owns(feature) ? static_cast<double>(X(row, feature))
                                           : std::numeric_limits<double>::quiet_NaN();
            };
            const Tally tally = plan.top ? take_votes(plan, votes, purse, read)
                                         : draw_votes(plan, votes, purse, key, read);
            outputs[row] = tally.output;
            samples[row] = tally.samples;
            std::copy(purse.owned().feature_words(), purse.owned().feature_words() + n_words, bought + row * n_words);
        }
    }
}

}  // namespace farthing
