// selection: order statistics, weighted or not, in linear time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/fixed_point.hpp"
#include "common/views.hpp"

namespace farthing {

using WeightedValue = std::pair<double, double>;  // value, weight

// Rounds weights to a grid on which sums are exact in any order.
inline std::vector<double> round_to_grid(Span<const double> weights) {
    const FixedPoint fixed = to_fixed_point(weights, 52);
    std::vector<double> rounded(fixed.values.size());
    for (std::size_t i = 0; i < rounded.size(); ++i) rounded[i] = fixed.to_double(fixed.values[i]);
    return rounded;
}

// The weighted quantile: the smallest value such that the entries up to it weigh at least `target`; the largest value
// if all entries weigh less. Quickselect on weights. There must be at least one entry; the entries are reordered.
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

// Of non-negative values. Four running maxima, because a single one would wait for the previous comparison each time.
inline double max_value(const std::vector<double>& values) {
    double maxima[4] = {};
    std::size_t i = 0;
    for (; i + 4 <= values.size(); i += 4) {
        for (std::size_t lane = 0; lane < 4; ++lane) maxima[lane] = std::max(maxima[lane], values[i + lane]);
    }
    for (; i < values.size(); ++i) maxima[0] = std::max(maxima[0], values[i]);
    return *std::max_element(maxima, maxima + 4);
}

// The value of the given rank (0 is the smallest) among non-negative values: a histogram of 64 buckets finds the
// bucket of that rank, and only its values are sorted out by nth_element.
// OUT bucket: scratch.
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
        // Two counters per bucket, used in turn, so that consecutive increments of one bucket do not wait.
        index_t counts[kBuckets][2] = {};
        for (std::size_t i = 0; i < values.size(); ++i) ++counts[bucket_of(values[i])][i & 1];
        int chosen = 0;
        for (; rank >= counts[chosen][0] + counts[chosen][1]; ++chosen) rank -= counts[chosen][0] + counts[chosen][1];
        for (const double x : values) {  // no branch: whether a value is in the bucket is unpredictable
            *end = x;
            end += bucket_of(x) == chosen;
        }
    }
    std::nth_element(bucket.begin(), bucket.begin() + rank, end);
    return bucket[static_cast<std::size_t>(rank)];
}

}  // namespace farthing
