// owned_prices: the prices of all columns for rows that own some of them, made once for each set that is owned.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/views.hpp"
#include "optimal/priced_rows.hpp"

namespace farthing {

// Prices in steps per unit of weight; infinite if the budget does not allow the column.
struct OwnedPrices {
    index_t number = 0;
    OwnedFeatures owned;
    std::vector<double> price;     // (k,)
    std::vector<double> after;     // (k, k), of the second column after the first
    double cheapest = 0;           // the least price of any test
    std::vector<std::atomic<const OwnedPrices*>> next;  // (k,), by the column that is bought

    // The least price of a test of any other column than one; a column of two values that is owned has no test left.
    double cheapest_but(index_t place, const PricedRows& rows) const {
        double least = std::numeric_limits<double>::infinity();
        for (index_t a = 0; a < static_cast<index_t>(price.size()); ++a)
            if (a != place && (!owned.has(rows.column(a)) || rows.n_codes(a) > 2)) least = std::min(least, price[a]);
        return least;
    }

    // Whether each column at an affordable price is so for other rows, too.
    bool allows_no_more(const OwnedPrices& other) const {
        for (std::size_t a = 0; a < price.size(); ++a)
            if (price[a] < kMostCost && !(other.price[a] < kMostCost)) return false;
        return true;
    }

    explicit OwnedPrices(index_t n_columns) : next(static_cast<std::size_t>(n_columns)) {}
};

class OwnedSets {
public:
    OwnedSets(const PricedRows& rows, const CostSheet& sheet, double budget)
        : rows_(rows), sheet_(sheet), budget_(budget), none_(add(OwnedFeatures(sheet))) {}

    const OwnedPrices& none() const { return *none_; }

    // IN place: of the column among those of the rows.
    const OwnedPrices& with(const OwnedPrices& before, index_t place) {
        auto& next = const_cast<std::atomic<const OwnedPrices*>&>(before.next[place]);
        const OwnedPrices* known = next.load(std::memory_order_acquire);
        if (known != nullptr) return *known;
        const std::lock_guard<std::mutex> lock(mutex_);
        OwnedFeatures owned = before.owned;
        owned.add(sheet_, rows_.column(place));
        const OwnedPrices* found = add(std::move(owned));
        next.store(found, std::memory_order_release);
        return *found;
    }

private:
    static constexpr double kNoBudget = std::numeric_limits<double>::infinity();

    const PricedRows& rows_;
    const CostSheet& sheet_;
    double budget_;
    std::mutex mutex_;
    std::map<std::vector<std::uint64_t>, std::unique_ptr<OwnedPrices>> sets_;
    const OwnedPrices* none_;

    double price_of(const OwnedFeatures& owned, index_t place) const {
        const index_t column = rows_.column(place);
        if (!affords(sheet_, owned, column, budget_)) return std::numeric_limits<double>::infinity();
        return price(sheet_, column, owned) * rows_.factor();
    }

    // Adds the prices of all columns after one.
    void add_prices_after(index_t place, const OwnedFeatures& owned, OwnedPrices& entry) const {
        const index_t group = sheet_.group_of[rows_.column(place)];
        const auto first = static_cast<index_t>(entry.after.size());
        entry.after.insert(entry.after.end(), entry.price.begin(), entry.price.end());
        entry.after[first + place] = 0;
        // Without a budget, a column changes no price but its own and those of its group.
        if (group < 0 && !(budget_ < kNoBudget)) return;
        OwnedFeatures more = owned;
        more.add(sheet_, rows_.column(place));
        for (index_t b = 0; b < rows_.n_columns(); ++b)
            if (budget_ < kNoBudget || sheet_.group_of[rows_.column(b)] == group)
                entry.after[first + b] = price_of(more, b);
    }

    const OwnedPrices* add(OwnedFeatures owned) {
        const std::uint64_t* words = owned.feature_words();
        std::vector<std::uint64_t> key(words, words + Bitset::n_words(sheet_.n_features()));
        std::unique_ptr<OwnedPrices>& entry = sets_[key];
        if (entry) return entry.get();
        const index_t k = rows_.n_columns();
        entry = std::make_unique<OwnedPrices>(k);
        entry->number = static_cast<index_t>(sets_.size()) - 1;
        for (index_t a = 0; a < k; ++a) entry->price.push_back(price_of(owned, a));
        entry->after.reserve(static_cast<std::size_t>(k * k));
        for (index_t a = 0; a < k; ++a) add_prices_after(a, owned, *entry);
        entry->owned = std::move(owned);
        entry->cheapest = entry->cheapest_but(-1, rows_);
        return entry.get();
    }
};

}  // namespace farthing
