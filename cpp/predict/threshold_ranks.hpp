// ranks: where a value stands among the thresholds of its feature, in a byte.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/views.hpp"

namespace farthing {

// The thresholds of each feature, ascending: t_0 < t_1 < ... The rank of x is how many of them are below x, so that
//     x <= t_k   if and only if   rank(x) < k + 1,
// and a test of floats is one of bytes.
class Ranks {
public:
    static constexpr index_t kMost = 254;           // thresholds of a feature: ranks are 0 to 254
    static constexpr std::uint8_t kMissing = 255;   // the rank of NaN

    using Test = std::pair<index_t, double>;        // feature, threshold

    explicit Ranks(index_t n_features) : thresholds_(static_cast<std::size_t>(n_features)) {}

    // Takes the thresholds of some tests in, all or none: none if a feature would have too many. NaN is no threshold.
    bool admit(std::vector<Test> tests) {
        const auto known = [&](const Test& test) { return std::isnan(test.second) || find(test).second; };
        tests.erase(std::remove_if(tests.begin(), tests.end(), known), tests.end());
        std::sort(tests.begin(), tests.end());
        tests.erase(std::unique(tests.begin(), tests.end()), tests.end());
        index_t run = 0;
        for (std::size_t i = 0; i < tests.size(); ++i) {
            run = i > 0 && tests[i].first == tests[i - 1].first ? run + 1 : 1;
            if (n_thresholds(tests[i].first) + run > kMost) return false;
        }
        for (const Test& test : tests) {
            auto& sorted = thresholds_[static_cast<std::size_t>(test.first)];
            sorted.insert(sorted.begin() + find(test).first, test.second);
        }
        return true;
    }

    // The b for which x <= threshold exactly if rank(x) < b; 0 for NaN, which no x is below. Its test was admitted.
    std::uint8_t bound(const Test& test) const {
        return std::isnan(test.second) ? std::uint8_t{0} : static_cast<std::uint8_t>(find(test).first + 1);
    }

    index_t n_thresholds(index_t feature) const {
        return static_cast<index_t>(thresholds_[static_cast<std::size_t>(feature)].size());
    }

    // IN x (kRows,).   OUT ranks (kRows,).   Whether any value is missing. All rows take each step of the search together.
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

    // The place of a threshold, and whether it is there.
    std::pair<index_t, bool> find(const Test& test) const {
        const auto& sorted = thresholds_[static_cast<std::size_t>(test.first)];
        const auto at = std::lower_bound(sorted.begin(), sorted.end(), test.second);
        return {at - sorted.begin(), at != sorted.end() && *at == test.second};
    }
};

}  // namespace farthing
