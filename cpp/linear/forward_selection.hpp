// forward_selection: which columns a forward regression buys, in which order: the largest gain per price first.
#pragma once

#include <vector>

#include "account/cost_sheet.hpp"
#include "common/views.hpp"
#include "linear/forward_regression.hpp"

namespace farthing {

// Whether a gain at its price beats another. What is free comes first, the largest gain before the others. Products
// and not quotients, since a price may be zero.
inline bool gains_more_per_price(double gain, double price, double other_gain, double other_price) {
    if (price == 0 || other_price == 0) return other_price > 0 || (price == 0 && gain > other_gain);
    return gain * other_price > other_gain * price;
}

// The affordable column of the largest gain per price, the first of equals; -1 if none gains enough.
inline index_t best_purchase(const ForwardRegression& regression, const CostSheet& sheet, const OwnedFeatures& owned,
                             double budget, double min_gain) {
    index_t best = -1;
    double best_gain = 0;
    double best_price = 0;
    for (index_t column = 0; column < regression.n_columns(); ++column) {
        if (owned.has(column)) continue;
        const double gain = regression.gain(column);
        if (!(gain > 0) || gain < min_gain) continue;
        const double due = price(sheet, column, owned);
        if (best >= 0 && !gains_more_per_price(gain, due, best_gain, best_price)) continue;
        if (!affords(sheet, owned, column, budget)) continue;
        best = column;
        best_gain = gain;
        best_price = due;
    }
    return best;
}

// Buys columns until the budget ends or none gains enough; returns them in the order of purchase.
// INOUT  regression, owned: changed by what is bought.
inline std::vector<index_t> select_columns(ForwardRegression& regression, const CostSheet& sheet, OwnedFeatures& owned,
                                           double budget, double min_gain) {
    std::vector<index_t> bought;
    for (;;) {
        const index_t column = best_purchase(regression, sheet, owned, budget, min_gain);
        if (column < 0) return bought;
        regression.take(column);
        owned.add(sheet, column);
        bought.push_back(column);
    }
}

}  // namespace farthing
