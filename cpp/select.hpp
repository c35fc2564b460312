// select: the value up to which a given weight lies, in linear time.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "common.hpp"
#include "fixed.hpp"

namespace farthing {

using Weighted = std::pair<double, double>;  // a value and its weight

// Weights rounded so that their sums are exact in whatever order.
inline std::vector<double> on_grid(Span<const double> weights) {
    const Fixed fixed = to_fixed(weights, 52);
    std::vector<double> rounded(fixed.values.size());
    for (std::size_t i = 0; i < rounded.size(); ++i) rounded[i] = fixed.back(fixed.values[i]);
    return rounded;
}

// The smallest value such that those up to it weigh `need` or more; the largest if all of them weigh less. The entries,
// at least one, are left in another order.
inline double weighted_select(std::vector<Weighted>& entries, double need) {
    auto low = entries.begin();
    auto high = entries.end();
    while (high - low > 1) {
        const auto middle = low + (high - low) / 2;
        std::nth_element(low, middle, high, [](const Weighted& a, const Weighted& b) { return a.first < b.first; });
        double below = 0.0;
        for (auto entry = low; entry != middle; ++entry) below += entry->second;
        if (below >= need) {
            high = middle;
        } else {
            need -= below;
            low = middle;
        }
    }
    return low->first;
}

}  // namespace farthing
