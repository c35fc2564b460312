// greedy_acquisition: each row repeatedly buys the feature with the largest gain minus weighted price.
//
// The gains come from a row model: an object for one row that observes the measured values and has a vote at any
// time. Walks and array calls use the same object, so they agree bit for bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "account/candidate_ranking.hpp"
#include "account/cost_sheet.hpp"
#include "account/row_account.hpp"
#include "common/bitset.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"

namespace farthing {

struct AcquisitionRule {
    double alpha = 0;         // weight of a price against a gain
    double min_net_gain = 0;  // a feature whose net gain is below this is not bought
    double confidence = 1;    // stop once the estimated accuracy of the vote is above this
};

// The feature to buy next, -1 if there is none.
// IN  gains (n_features,): NaN for unavailable features; price_of, affords: from the account of the row.
template <class PriceOf, class Affords>
index_t choose_feature(Span<const double> gains, const AcquisitionRule& rule, PriceOf&& price_of, Affords&& affords) {
    const CandidateRanking ranking{CostRule::penalty, rule.alpha};
    Candidate best;
    for (index_t feature = 0; feature < gains.size; ++feature) {
        if (std::isnan(gains[feature]) || !affords(feature)) continue;
        Candidate candidate;
        candidate.gain = gains[feature];
        candidate.charge = price_of(feature);
        candidate.feature = feature;
        if (ranking.better(candidate, best)) best = candidate;
    }
    return best.feature >= 0 && ranking.net(best) >= rule.min_net_gain ? best.feature : -1;
}

// Whether a row that has observed something is confident enough to stop.
template <class RowModel>
bool is_confident(const RowModel& model, const AcquisitionRule& rule) {
    return model.n_observed() > 0 && model.accuracy() > rule.confidence;
}

// IN  X (n, n_features); votes (n, n_features): what each entry adds to the vote; budgets (n,) or empty; seeds (n,).
// OUT outputs (n, 2): vote, and the probability that it is correct; acquired (n, words).
template <class RowModel, class Table, class T>
void acquire_greedily(const Table& table, const AcquisitionRule& rule, const CostSheet& sheet, const Matrix<T>& X,
                      const Matrix<double>& votes, Span<const double> budgets, Span<const std::int64_t> seeds,
                      double* outputs, std::uint64_t* acquired, int n_threads) {
    const index_t n_words = Bitset::n_words(sheet.n_features());
    Chunks chunks(X.n_rows, 4);
    on_threads(threads_for(n_threads, X.n_rows), [&](int) {
        RowAccount account(sheet);
        RowModel model(table);
        chunks.for_each([&](index_t row) {
            account.open(budgets.size > 0 ? budgets[row] : std::numeric_limits<double>::infinity());
            model.start(static_cast<std::uint64_t>(seeds[row]));
            const auto price_of = [&](index_t feature) { return price(sheet, feature, account.owned()); };
            const auto affords = [&](index_t feature) { return account.affords({&feature, 1}); };
            while (!is_confident(model, rule)) {
                const index_t feature = choose_feature(model.gains(), rule, price_of, affords);
                if (feature < 0) break;
                account.buy(feature);
                model.observe(feature, static_cast<double>(X(row, feature)), votes(row, feature));
            }
            outputs[2 * row] = model.vote();
            outputs[2 * row + 1] = model.accuracy();
            std::copy(account.owned().feature_words(), account.owned().feature_words() + n_words,
                      acquired + row * n_words);
        });
    });
}

}  // namespace farthing
