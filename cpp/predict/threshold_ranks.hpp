// threshold_ranks: the rank of a value among the thresholds of its feature, in a byte.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/views.hpp"

namespace farthing {

// With the thresholds of a feature in ascending order, t_0 < t_1 < ..., the rank of x is the number of thresholds
// below x:
//     x <= t_k   if and only if   rank(x) < k + 1
// so a comparison of doubles becomes one of bytes.
class ThresholdRanks {
public:
    static constexpr index_t kMaxThresholds = 254;  // per feature: ranks are 0 to 254
    static constexpr std::uint8_t kMissing = 255;   // the rank of NaN

    using Threshold = std::pair<index_t, double>;        // feature, threshold

    explicit ThresholdRanks(index_t n_features) : thresholds_(static_cast<std::size_t>(n_features)) {}

    // Adds the thresholds of a tree, or none of them if a feature would have too many. NaN is not stored.
    bool admit(std::vector<Threshold> added) {
        const auto known = [&](const Threshold& threshold) {
            return std::isnan(threshold.second) || find(threshold).second;
        };
        added.erase(std::remove_if(added.begin(), added.end(), known), added.end());
        std::sort(added.begin(), added.end());
        added.erase(std::unique(added.begin(), added.end()), added.end());
        index_t run = 0;
        for (std::size_t i = 0; i < added.size(); ++i) {
            run = i > 0 && added[i].first == added[i - 1].first ? run + 1 : 1;
            if (n_thresholds(added[i].first) + run > kMaxThresholds) return false;
        }
        for (const Threshold& threshold : added) {
            auto& sorted = thresholds_[static_cast<std::size_t>(threshold.first)];
            sorted.insert(sorted.begin() + find(threshold).first, threshold.second);
        }
        return true;
    }

    // The b for which x <= threshold is the same as rank(x) < b; 0 for NaN, which no x is below. It must have been
    // added.
    std::uint8_t bound(const Threshold& threshold) const {
        return std::isnan(threshold.second) ? std::uint8_t{0} : static_cast<std::uint8_t>(find(threshold).first + 1);
    }

    index_t n_thresholds(index_t feature) const {
        return static_cast<index_t>(thresholds_[static_cast<std::size_t>(feature)].size());
    }

    // IN x (kRows,).   OUT ranks (kRows,).   Returns whether any value is missing. The binary searches of all rows
    // advance together.
    template <index_t kRows>
    bool rank(index_t feature, const double* x, std::uint8_t* ranks) const {
        const double* sorted = thresholds_[static_cast<std::size_t>(feature)].data();
        std::int32_t below[kRows] = {};
        index_t left = n_thresholds(feature);
        for (; left > 1; left -= left / 2) {
            const auto half = static_cast<std::int32_t>(left / 2);
            for (index_t r = 0; r < kRows; ++r) {
                below[r] += -static_cast<std::int32_t>(sorted[below[r] + half - 1] < x[r]) & half;
            }
        }
        bool missing = false;
        for (index_t r = 0; r < kRows; ++r) {
            if (left == 1) below[r] += static_cast<std::int32_t>(sorted[below[r]] < x[r]);
            const bool none = x[r] != x[r];
            missing |= none;
            ranks[r] = none ? kMissing : static_cast<std::uint8_t>(below[r]);
        }
        return missing;
    }

private:
    std::vector<std::vector<double>> thresholds_;

    // Position of a threshold, and whether it is present.
    std::pair<index_t, bool> find(const Threshold& threshold) const {
        const auto& sorted = thresholds_[static_cast<std::size_t>(threshold.first)];
        const auto at = std::lower_bound(sorted.begin(), sorted.end(), threshold.second);
        return {at - sorted.begin(), at != sorted.end() && *at == threshold.second};
    }
};

}  // namespace farthing
