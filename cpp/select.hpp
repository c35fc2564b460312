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

// The value that `rank` others come before, of values of zero or more: those in the same one of 64 buckets are sorted out
// among themselves. `bucket` is room to work in.
inline double bucket_select(const std::vector<double>& values, index_t rank, std::vector<double>& bucket) {
    constexpr index_t kBuckets = 64;
    const double top = *std::max_element(values.begin(), values.end());
    const double factor = top > 0 && top < 1e300 ? kBuckets / top : 0.0;
    const auto bucket_of = [=](double x) { return std::min<index_t>(kBuckets - 1, static_cast<index_t>(x * factor)); };
    if (factor == 0.0 || !(factor < 1e300)) {
        bucket = values;
    } else {
        index_t counts[kBuckets] = {};
        for (const double x : values) ++counts[bucket_of(x)];
        index_t chosen = 0;
        for (; rank >= counts[chosen]; ++chosen) rank -= counts[chosen];
        bucket.clear();
        for (const double x : values) {
            if (bucket_of(x) == chosen) bucket.push_back(x);
        }
    }
    std::nth_element(bucket.begin(), bucket.begin() + rank, bucket.end());
    return bucket[static_cast<std::size_t>(rank)];
}

}  // namespace farthing
