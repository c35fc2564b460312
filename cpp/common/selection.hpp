// select: the value up to which a given weight lies, in linear time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/fixed_point.hpp"
#include "common/views.hpp"

namespace farthing {

using WeightedValue = std::pair<double, double>;  // a value and its weight

// Weights rounded so that their sums are exact in whatever order.
inline std::vector<double> round_to_grid(Span<const double> weights) {
    const FixedPoint fixed = to_fixed_point(weights, 52);
    std::vector<double> rounded(fixed.values.size());
    for (std::size_t i = 0; i < rounded.size(); ++i) rounded[i] = fixed.to_double(fixed.values[i]);
    return rounded;
}

// The smallest value such that those up to it weigh `need` or more; the largest if all of them weigh less. The entries,
// at least one, are left in another order.
inline double weighted_select(std::vector<WeightedValue>& entries, double target) {
    auto low = entries.begin();
    auto high = entries.end();
    while (high - low > 1) {
        const auto middle = low + (high - low) / 2;
        std::nth_element(low, middle, high,
                         [](const WeightedValue& a, const WeightedValue& b) { return a.first < b.first; });
        double below = 0.0;
        for (auto entry = low; entry != middle; ++entry) below += entry->second;
        if (below >= target) {
            high = middle;
        } else {
            target -= below;
            low = middle;
        }
    }
    return low->first;
}

// Of values of zero or more; four maxima side by side, since each waits for the one before.
inline double max_value(const std::vector<double>& values) {
    double maxima[4] = {};
    std::size_t i = 0;
    for (; i + 4 <= values.size(); i += 4) {
        for (std::size_t lane = 0; lane < 4; ++lane) maxima[lane] = std::max(maxima[lane], values[i + lane]);
    }
    for (; i < values.size(); ++i) maxima[0] = std::max(maxima[0], values[i]);
    return *std::max_element(maxima, maxima + 4);
}

// The value that `rank` others come before, of values of zero or more: those in the same one of 64 buckets are sorted out
// among themselves. `bucket` is room to work in.
inline double bucket_select(const std::vector<double>& values, index_t rank, std::vector<double>& bucket) {
    constexpr int kBuckets = 64;
    const double top = max_value(values);
    const double factor = top > 0 && top < 1e300 ? kBuckets / top : 0.0;
    const auto bucket_of = [=](double x) { return std::min(kBuckets - 1, static_cast<int>(x * factor)); };
    bucket.resize(values.size());
    auto end = bucket.begin();
    if (factor == 0.0 || !(factor < 1e300)) {
        end = std::copy(values.begin(), values.end(), end);
    } else {
        index_t counts[kBuckets][2] = {};  // two of each bucket in turn: one more waits for the one before
        for (std::size_t i = 0; i < values.size(); ++i) ++counts[bucket_of(values[i])][i & 1];
        int chosen = 0;
        for (; rank >= counts[chosen][0] + counts[chosen][1]; ++chosen) rank -= counts[chosen][0] + counts[chosen][1];
        for (const double x : values) {  // without a branch: who is in it is hard to foresee
            *end = x;
            end += bucket_of(x) == chosen;
        }
    }
    std::nth_element(bucket.begin(), bucket.begin() + rank, end);
    return bucket[static_cast<std::size_t>(rank)];
}

}  // namespace farthing
