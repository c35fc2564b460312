// select: the value up to which a given weight lies, in linear time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "common.hpp"

namespace farthing {

using Weighted = std::pair<double, std::int64_t>;  // a value and its weight

// The smallest value such that those up to it weigh `need` or more; the largest if all of them weigh less. The entries,
// at least one, are left in another order.
inline double weighted_select(std::vector<Weighted>& entries, std::int64_t need) {
    auto low = entries.begin();
    auto high = entries.end();
    while (high - low > 1) {
        const auto middle = low + (high - low) / 2;
        std::nth_element(low, middle, high, [](const Weighted& a, const Weighted& b) { return a.first < b.first; });
        std::int64_t below = 0;
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
