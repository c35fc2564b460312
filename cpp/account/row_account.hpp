// row_account: the account of one row during prediction: the features it owns, those it was refused, its budget.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/bitset.hpp"
#include "common/views.hpp"

namespace farthing {

class RowAccount {
public:
    explicit RowAccount(const CostSheet& sheet)
        : sheet_(sheet), owned_(sheet), tentative_(sheet), refused_(sheet.n_features()) {}

    void open(double budget) {
        owned_.clear();
        refused_.clear();
        budget_ = budget;
        spent_ = 0.0;
        version_ = 0;
        refusals_ = 0;
    }

    bool owns(index_t feature) const { return owned_.has(feature); }
    bool refused(index_t feature) const { return refused_.has(feature); }
    const OwnedFeatures& owned() const { return owned_; }
    double spent() const { return spent_; }  // stays 0 if there is no budget
    double budget() const { return budget_; }
    index_t version() const { return version_; }  // grows with every purchase and every refusal
    index_t refusals() const { return refusals_; }

    // Removes the budget, if the caller knows that all purchases to come are affordable. Spending is no longer added
    // up.
    void lift_budget() { budget_ = kUnlimited; }

    // Buys the feature if the budget allows it; otherwise refuses it for good. True if it was bought by this call.
    bool buy(index_t feature) {
        if (owned_.has(feature) || refused_.has(feature)) return false;
        ++version_;
        if (budget_ == kUnlimited) {
            owned_.add(sheet_, feature);
            return true;
        }
        tentative_ = owned_;
        tentative_.add(sheet_, feature);
        const double spent = total(sheet_, tentative_);
        if (!within_budget(spent, budget_)) {
            refused_.add(feature);
            ++refusals_;
            return false;
        }
        std::swap(owned_, tentative_);
        spent_ = spent;
        return true;
    }

    // What a set of features would cost on top of the owned ones, refused ones excluded: own costs in the order of
    // the sheet, then shared costs in the order of the groups, as total() adds them.
    // IN features: ascending.
    double unpaid_price(Span<const index_t> features) {
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

    // Whether the whole set can be bought, refused features excluded.
    bool affords(Span<const index_t> features) {
        if (budget_ == kUnlimited) return true;
        tentative_ = owned_;
        bool any_new = false;
        for (const index_t feature : features) {
            if (owned_.has(feature) || refused_.has(feature)) continue;
            tentative_.add(sheet_, feature);
            any_new = true;
        }
        return !any_new || within_budget(total(sheet_, tentative_), budget_);
    }

private:
    static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

    const CostSheet& sheet_;
    OwnedFeatures owned_;
    OwnedFeatures tentative_;  // scratch: the set that would be owned
    Bitset refused_;
    std::vector<index_t> groups_;
    double budget_ = 0.0;
    double spent_ = 0.0;
    index_t version_ = 0;
    index_t refusals_ = 0;
};

}  // namespace farthing
