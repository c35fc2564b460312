// free_rider_vote: an unbiased estimate of a weighted vote from features drawn without replacement, within a budget.
//
// A unit is a distinct set of features that some learners read. A row draws units; each draw buys the features of a
// unit, and all learners that these features complete vote, weighted by the inverse of their probability to do so. The
// derivation is in farthing/boosting/adaboost_rs/free_rider.py, whose walk adds the same numbers in the same order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "account/row_account.hpp"
#include "boost/vote_plan.hpp"
#include "common/counter_rng.hpp"
#include "common/views.hpp"

namespace farthing {

// Learners that vote now, with their weights.
using WeightedLearners = std::vector<std::pair<index_t, double>>;

// The draws of one row.
class FreeRiderDraws {
public:
    FreeRiderDraws(const VotePlan& plan, RowAccount& account) : plan_(plan), account_(account) {}

    void reset() {
        started_ = false;
        share_ = 1.0;
        draws_ = 0;
    }

    index_t draws() const { return draws_; }

    // The learners that vote next; false at the end. The caller evaluates them before the next call.
    bool next(std::uint64_t key, WeightedLearners& voters) {
        voters.clear();
        if (!started_) {
            started_ = true;
            open_.clear();
            for (index_t unit = 0; unit < units().size(); ++unit) {
                if (account_.affords(units().features(plan_, unit))) open_.push_back(unit);
            }
            for (const index_t learner : units().constants) voters.emplace_back(learner, 1.0);
            if (!voters.empty()) return true;
        }
        if (open_.empty()) return false;
        if (units().additive) {
            look_up();
        } else {
            measure();
        }
        if (take_free(voters)) return true;
        add_up();
        if (take_all(voters)) return true;
        const auto best = static_cast<std::size_t>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
        if (!take_certain(best, voters)) take_drawn(chosen(key), voters);
        ++draws_;
        return true;
    }

private:
    const VotePlan& plan_;
    RowAccount& account_;
    bool started_ = false;
    double share_ = 1.0;  // the weight of what is still to be estimated
    index_t draws_ = 0;
    std::vector<index_t> open_;  // units that may still be drawn, ascending

    // Of each open unit: the features that it lacks, their price, its score.
    std::vector<std::vector<index_t>> lacks_;
    std::vector<double> prices_, scores_;
    std::vector<double> unit_prices_, unit_scores_;  // of all units, if they are additive
    double total_ = 0, worth_ = 0, spread_ = 0, drawn_spread_ = 0, cost_ = 0;  // sums over the open units
    std::vector<index_t> both_;

    const VoteUnits& units() const { return plan_.units; }
    double left() const { return account_.budget() - account_.spent(); }
    index_t draws_left() const { return plan_.max_samples - draws_; }

    void measure() {
        lacks_.resize(std::max(lacks_.size(), open_.size()));
        prices_.resize(open_.size());
        scores_.resize(open_.size());
        for (std::size_t i = 0; i < open_.size(); ++i) {
            lacks_[i].clear();
            for (const index_t feature : units().features(plan_, open_[i])) {
                if (!account_.owns(feature) && !account_.refused(feature)) lacks_[i].push_back(feature);
            }
            prices_[i] = account_.unpaid_price({lacks_[i].data(), static_cast<index_t>(lacks_[i].size())});
            scores_[i] = score_of(open_[i], prices_[i]);
        }
    }

    double score_of(index_t unit, double price) const {
        constexpr double kLeast = 0x1p-900;  // as `in_unit` of the Python side
        return units().spreads[unit] / std::sqrt(std::max(std::ldexp(price, -units().price_exponent), kLeast));
    }

    // Prices of additive units never change: they are looked up.
    void look_up() {
        if (unit_prices_.empty()) {
            for (index_t unit = 0; unit < units().size(); ++unit) {
                unit_prices_.push_back(account_.unpaid_price(units().features(plan_, unit)));
                unit_scores_.push_back(score_of(unit, unit_prices_.back()));
            }
        }
        prices_.resize(open_.size());
        scores_.resize(open_.size());
        for (std::size_t i = 0; i < open_.size(); ++i) {
            prices_[i] = unit_prices_[static_cast<std::size_t>(open_[i])];
            scores_[i] = unit_scores_[static_cast<std::size_t>(open_[i])];
        }
    }

    void add_voters(index_t unit, double weight, WeightedLearners& voters) const {
        for (const index_t learner : units().learners(unit)) voters.emplace_back(learner, weight);
    }

    bool take_free(WeightedLearners& voters) {
        if (*std::min_element(prices_.begin(), prices_.end()) > 0) return false;
        std::vector<index_t> paid;
        for (std::size_t i = 0; i < open_.size(); ++i) {
            if (prices_[i] > 0) {
                paid.push_back(open_[i]);
            } else {
                add_voters(open_[i], share_, voters);
            }
        }
        open_ = paid;
        return true;
    }

    bool take_all(WeightedLearners& voters) {
        if (!plan_.full_vote) return false;
        // Clear cases need no exact sum, which takes far longer.
        if (units().additive && account_.spent() + cost_ > account_.budget() * (1 + 1e-9)) return false;
        both_.clear();
        for (const index_t unit : open_) {
            const Span<const index_t> features = units().features(plan_, unit);
            both_.insert(both_.end(), features.begin(), features.end());
        }
        if (!account_.affords({both_.data(), static_cast<index_t>(both_.size())})) return false;
        for (const index_t unit : open_) add_voters(unit, share_, voters);
        open_.clear();
        return true;
    }

    void add_up() {
        total_ = worth_ = spread_ = drawn_spread_ = cost_ = 0.0;
        for (std::size_t i = 0; i < open_.size(); ++i) {
            total_ += scores_[i];
            worth_ += scores_[i] * prices_[i];
            spread_ += units().spreads[open_[i]];
            drawn_spread_ += scores_[i] * units().spreads[open_[i]];
            cost_ += prices_[i];
        }
    }

    // Whether the features of unit i are those of unit u, or some of them.
    bool unlocks(std::size_t u, std::size_t i) const {
        if (units().additive) return u == i;
        return std::includes(lacks_[u].begin(), lacks_[u].end(), lacks_[i].begin(), lacks_[i].end());
    }

    // Whether the budget covers unit i after unit u. Half of the slack of the budget is left to rounding, as purchases
    // are added up in another order.
    bool fits(std::size_t u, std::size_t i) {
        if (account_.budget() == std::numeric_limits<double>::infinity()) return true;
        const double limit = account_.budget() * (1 + 5e-13);
        // The price of both is at most the sum of the two, and equal to it for additive units.
        if (account_.spent() + (prices_[u] + prices_[i]) <= limit) return true;
        if (units().additive) return false;
        both_.clear();
        std::set_union(lacks_[u].begin(), lacks_[u].end(), lacks_[i].begin(), lacks_[i].end(),
                       std::back_inserter(both_));
        const double price = account_.unpaid_price({both_.data(), static_cast<index_t>(both_.size())});
        return account_.spent() + price <= limit;
    }

    bool take_certain(std::size_t best, WeightedLearners& voters) {
        if (!plan_.full_vote || draws_left() < 2 || left() * scores_[best] < worth_) return false;
        for (std::size_t i = 0; i < open_.size(); ++i) {
            if (!unlocks(best, i) && !fits(best, i)) return false;
        }
        std::vector<index_t> others;
        for (std::size_t i = 0; i < open_.size(); ++i) {
            if (unlocks(best, i)) {
                add_voters(open_[i], share_, voters);
            } else {
                others.push_back(open_[i]);
            }
        }
        open_ = others;
        return true;
    }

    std::size_t chosen(std::uint64_t key) const {
        const std::uint64_t bits = random_bits(key, static_cast<std::uint64_t>(draws_));
        const double place = static_cast<double>(bits >> 11) * 0x1p-53 * total_;
        double sum = 0.0;
        for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
            sum += scores_[i];
            if (sum > place) return i;
        }
        return open_.size() - 1;
    }

    // The weight of what is left to estimate after this draw: any number would do for an unbiased estimate.
    double deferred() const {
        const double others = static_cast<double>(open_.size() - 1);
        if (others == 0) return 1.0;
        const double price = worth_ / total_;
        const double rest = cost_ - price;
        double part = rest > 0 ? std::min(std::max((left() - price) / rest, 0.0), 1.0) : 1.0;
        double more = std::min(part * others, static_cast<double>(draws_left() - 1));
        part = more / others;
        more = std::max(more, 1.0);
        return more * spread_ / ((spread_ - drawn_spread_ / total_) * (1.0 - part) + more * spread_);
    }

    void take_drawn(std::size_t drawn, WeightedLearners& voters) {
        const bool last = draws_left() == 1;
        const double deferral = deferred();
        std::vector<index_t> others;
        for (std::size_t i = 0; i < open_.size(); ++i) {
            if (!unlocks(drawn, i)) {
                if (!last && fits(drawn, i)) others.push_back(open_[i]);
                continue;
            }
            double chance = 0.0;
            double later = 0.0;  // the chance that it is left for a later draw
            for (std::size_t u = 0; u < open_.size(); ++u) {
                if (unlocks(u, i)) {
                    chance += scores_[u];
                } else if (!last && fits(u, i)) {
                    later += scores_[u];
                }
            }
            add_voters(open_[i], share_ * ((total_ - deferral * later) / chance), voters);
        }
        share_ *= deferral;
        open_ = others;
    }
};

// The estimate of one row. A vote of weight one is exact, and its mean vote leaves the sum of those not known.
class FreeRiderSum {
public:
    explicit FreeRiderSum(const VotePlan& plan) : plan_(plan) { reset(); }

    void reset() {
        known_ = estimate_ = 0.0;
        means_ = plan_.units.mean_total;
    }

    void add(index_t learner, double weight, double vote) {
        const double weighted = plan_.grid_vote(learner, vote);
        const double mean = plan_.units.means[learner];
        if (weight == 1.0) {
            known_ += weighted;
            means_ -= mean;
        } else {
            estimate_ += weight * (weighted - mean);
        }
    }

    double total() const { return known_ + means_ + estimate_; }

private:
    const VotePlan& plan_;
    double known_ = 0, means_ = 0, estimate_ = 0;
};

// What a row drew. Where each unit is a single feature, draws do not depend on values: rows of the same seed and
// budget draw the same, so the draws of the last row are used again.
struct FreeRiderPath {
    bool valid = false;  // whether it holds for the current row
    WeightedLearners voters;
    index_t draws = 0;
    std::vector<std::uint64_t> owned;

    bool has(std::int64_t seed, double budget) const { return kept_ && seed == seed_ && budget == budget_; }
    void keep(std::int64_t seed, double budget, const std::uint64_t* words, index_t n_words) {
        kept_ = true;
        seed_ = seed;
        budget_ = budget;
        owned.assign(words, words + n_words);
    }

private:
    bool kept_ = false;
    std::int64_t seed_ = 0;
    double budget_ = 0;
};

}  // namespace farthing
