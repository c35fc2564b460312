// purse: the account of one row while its prediction goes on: what it owns, what it was refused, what it may still buy.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/bitset.hpp"
#include "common/views.hpp"

namespace farthing {

class Purse {
public:
    explicit Purse(const Sheet& sheet)
        : sheet_(sheet), owned_(sheet), with_(sheet), refused_(sheet.n_features()) {}

    void open(double budget) {
        owned_.clear();
        refused_.clear();
        budget_ = budget;
        spent_ = 0.0;
        version_ = 0;
        refusals_ = 0;
    }

    bool owns(index_t feature) const { return owned_.has(feature); }
    const Owned& owned() const { return owned_; }
    double spent() const { return spent_; }  // of no use without a budget
    double budget() const { return budget_; }
    index_t version() const { return version_; }  // grows with every purchase and every refusal
    index_t refusals() const { return refusals_; }

    // No limit from here on, for one who knows that all to come is affordable; then nothing is added up any more.
    void lift() { budget_ = kUnlimited; }

    // Buys what it can afford and refuses what it cannot, once and for all. True if it was bought just now.
    bool take(index_t feature) {
        if (owned_.has(feature) || refused_.has(feature)) return false;
        ++version_;
        if (budget_ == kUnlimited) {
            owned_.add(sheet_, feature);
            return true;
        }
        with_ = owned_;
        with_.add(sheet_, feature);
        const double spent = total(sheet_, with_);
        if (!within(spent, budget_)) {
            refused_.add(feature);
            ++refusals_;
            return false;
        }
        std::swap(owned_, with_);
        spent_ = spent;
        return true;
    }

    // What a set of features would cost on top, without those refused: own costs in the order of the sheet, then
    // shared costs in the order of the groups. The features rise.
    double unpaid(Span<const index_t> features) {
        double sum = 0.0;
        groups_.clear();
        for (const index_t feature : features) {
            if (owned_.has(feature) || refused_.has(feature)) continue;
            sum += sheet_.own[feature];
            const index_t group = sheet_.group_of[feature];
            if (group >= 0 && !owned_.has_group(group)) groups_.push_back(group);
        }
        std::sort(groups_.begin(), groups_.end());
        index_t last = -1;
        for (const index_t group : groups_) {
            if (group != last) sum += sheet_.shared[group];
            last = group;
        }
        return sum;
    }

    // Whether all of a set could be bought, without those refused.
    bool affords(Span<const index_t> features) {
        if (budget_ == kUnlimited) return true;
        with_ = owned_;
        bool more = false;
        for (const index_t feature : features) {
            if (owned_.has(feature) || refused_.has(feature)) continue;
            with_.add(sheet_, feature);
            more = true;
        }
        return !more || within(total(sheet_, with_), budget_);
    }

private:
    static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

    const Sheet& sheet_;
    Owned owned_;
    Owned with_;  // to add up what would be owned
    Bitset refused_;
    std::vector<index_t> groups_;
    double budget_ = 0.0;
    double spent_ = 0.0;
    index_t version_ = 0;
    index_t refusals_ = 0;
};

}  // namespace farthing
