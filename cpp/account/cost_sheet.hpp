// price: what a feature costs somebody who owns some already, and how a gain is weighed against it. Pure functions:
// who owns what goes in, the price comes out; nothing here remembers anything.
#pragma once

#include <cstdint>

#include "common/bitset.hpp"
#include "common/views.hpp"

namespace farthing {

// Own costs by feature, shared costs by group, and each feature's group (-1: none).
struct CostSheet {
    Span<const double> own;          // (k,)
    Span<const double> shared;       // (g,)
    Span<const index_t> group_of;    // (k,)

    index_t n_features() const { return own.size; }
};

// Features in hand, and the groups they touch.
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
    // IN words: the features in hand, 64 a word.
    void assign(const CostSheet& sheet, const std::uint64_t* words) {
        clear();
        for (index_t w = 0; w < Bitset::n_words(sheet.n_features()); ++w) {
            for (std::uint64_t left = words[w]; left != 0; left &= left - 1) add(sheet, w * 64 + __builtin_ctzll(left));
        }
    }
    const std::uint64_t* feature_words() const { return features_.words(); }

private:
    Bitset features_;
    Bitset groups_;
};

// The price of one more feature: nothing if owned; the shared cost only if its group is not yet touched.
inline double price(const CostSheet& sheet, index_t feature, const OwnedFeatures& owned) {
    if (owned.has(feature)) return 0.0;
    double sum = 0.0 + sheet.own[feature];
    const index_t group = sheet.group_of[feature];
    if (group >= 0 && !owned.has_group(group)) sum += sheet.shared[group];
    return sum;
}

// The original cost of a feature, from an empty ledger.
inline double list_price(const CostSheet& sheet, index_t feature) {
    const index_t group = sheet.group_of[feature];
    const double sum = 0.0 + sheet.own[feature];
    return group >= 0 ? sum + sheet.shared[group] : sum;
}

// What all of `owned` costs: own costs in the order of the sheet, then shared costs in the order of the groups.
// The account is this sum, in walks and in array calls alike, so the order of the additions is part of it.
inline double total(const CostSheet& sheet, const OwnedFeatures& owned) {
    double sum = 0.0;
    const std::uint64_t* words = owned.feature_words();
    for (index_t w = 0; w < Bitset::n_words(sheet.n_features()); ++w) {
        for (std::uint64_t left = words[w]; left != 0; left &= left - 1) {
            sum += sheet.own[w * 64 + __builtin_ctzll(left)];
        }
    }
    for (index_t group = 0; group < sheet.shared.size; ++group) {
        if (owned.has_group(group)) sum += sheet.shared[group];
    }
    return sum;
}

inline bool within_budget(double spent, double budget) { return spent <= budget * (1 + 1e-12); }

inline bool affords(const CostSheet& sheet, const OwnedFeatures& owned, index_t feature, double budget) {
    OwnedFeatures more = owned;
    more.add(sheet, feature);
    return within_budget(total(sheet, more), budget);
}

}  // namespace farthing
