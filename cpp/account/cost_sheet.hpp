// cost_sheet: what a feature costs, given the features already owned. Pure functions of the sheet and the owned set;
// nothing here keeps state.
#pragma once

#include <cstdint>

#include "common/bits.hpp"
#include "common/bitset.hpp"
#include "common/views.hpp"

namespace farthing {

// Own costs per feature, shared costs per group, and the group of each feature.
struct CostSheet {
    Span<const double> own;        // (k,)
    Span<const double> shared;     // (g,)
    Span<const index_t> group_of;  // (k,), -1: no group

    index_t n_features() const { return own.size; }
};

// The owned features, and the groups they belong to, whose shared cost is paid.
class OwnedFeatures {
public:
    OwnedFeatures() = default;
    explicit OwnedFeatures(const CostSheet& sheet) : features_(sheet.n_features()), groups_(sheet.shared.size) {}

    bool has(index_t feature) const { return features_.has(feature); }
    bool has_group(index_t group) const { return groups_.has(group); }
    void add(const CostSheet& sheet, index_t feature) {
        features_.add(feature);
        if (sheet.group_of[feature] >= 0) groups_.add(sheet.group_of[feature]);
    }
    void clear() {
        features_.clear();
        groups_.clear();
    }
    // IN words: a set of features, 64 per word.
    void assign(const CostSheet& sheet, const std::uint64_t* words) {
        clear();
        for (index_t w = 0; w < Bitset::n_words(sheet.n_features()); ++w) {
            for (std::uint64_t left = words[w]; left != 0; left &= left - 1) add(sheet, w * 64 + count_trailing_zeros(left));
        }
    }
    const std::uint64_t* feature_words() const { return features_.words(); }
    bool operator==(const OwnedFeatures& other) const { return features_ == other.features_; }

private:
    Bitset features_;
    Bitset groups_;
};

// The price of one more feature: nothing if it is owned; the shared cost only if no feature of its group is owned.
inline double price(const CostSheet& sheet, index_t feature, const OwnedFeatures& owned) {
    if (owned.has(feature)) return 0.0;
    double sum = 0.0 + sheet.own[feature];
    const index_t group = sheet.group_of[feature];
    if (group >= 0 && !owned.has_group(group)) sum += sheet.shared[group];
    return sum;
}

// The price of a feature with nothing owned.
inline double list_price(const CostSheet& sheet, index_t feature) {
    const index_t group = sheet.group_of[feature];
    const double sum = 0.0 + sheet.own[feature];
    return group >= 0 ? sum + sheet.shared[group] : sum;
}

// The cost of an owned set: own costs in the order of the sheet, then shared costs in the order of the groups. Walks
// and array calls report exactly this sum, so the order of the additions is part of the contract.
inline double total(const CostSheet& sheet, const OwnedFeatures& owned) {
    double sum = 0.0;
    const std::uint64_t* words = owned.feature_words();
    for (index_t w = 0; w < Bitset::n_words(sheet.n_features()); ++w) {
        for (std::uint64_t left = words[w]; left != 0; left &= left - 1) {
            sum += sheet.own[w * 64 + count_trailing_zeros(left)];
        }
    }
    for (index_t group = 0; group < sheet.shared.size; ++group) {
        if (owned.has_group(group)) sum += sheet.shared[group];
    }
    return sum;
}

// The tolerance absorbs rounding: a budget equal to the sum of some prices, added in another order, still affords
// them.
inline bool within_budget(double spent, double budget) { return spent <= budget * (1 + 1e-12); }

inline bool affords(const CostSheet& sheet, const OwnedFeatures& owned, index_t feature, double budget) {
    OwnedFeatures more = owned;
    more.add(sheet, feature);
    return within_budget(total(sheet, more), budget);
}

}  // namespace farthing
