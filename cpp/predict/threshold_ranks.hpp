// threshold_ranks: the rank of a value among the thresholds of its feature, in a byte.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "common/bits.hpp"
#include "common/views.hpp"

namespace farthing {

// With the thresholds of a feature in ascending order, t_0 < t_1 < ..., the rank of x is the number of thresholds
// below x:
//     x <= t_k   if and only if   rank(x) < k + 1
// so a comparison of doubles becomes one of bytes.
//
// A rank is found by a binary search, which is shorter if a table of buckets of equal width tells where to begin:
//     bucket(x) = (x - low) * scale, cut to an integer and to the ends of the table
// never falls as x grows, rounding included, so the thresholds of earlier buckets are below x, those of later ones
// are not, and only those of x's own bucket are compared.
class ThresholdRanks {
public:
    static constexpr index_t kMaxThresholds = 254;  // per feature: ranks are 0 to 254
    static constexpr std::uint8_t kMissing = 255;   // the rank of NaN

    using Threshold = std::pair<index_t, double>;        // feature, threshold

    explicit ThresholdRanks(index_t n_features) : searches_(static_cast<std::size_t>(n_features)) {}

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
            auto& sorted = searches_[static_cast<std::size_t>(threshold.first)].sorted;
            sorted.insert(sorted.begin() + find(threshold).first, threshold.second);
        }
        return true;
    }

    // Prepares the searches; nothing is admitted afterwards.
    void seal() {
        for (Search& search : searches_) search.seal();
    }

    // The b for which x <= threshold is the same as rank(x) < b; 0 for NaN, which no x is below. It must have been
    // added.
    std::uint8_t bound(const Threshold& threshold) const {
        return std::isnan(threshold.second) ? std::uint8_t{0} : static_cast<std::uint8_t>(find(threshold).first + 1);
    }

    index_t n_thresholds(index_t feature) const { return searches_[static_cast<std::size_t>(feature)].n(); }

    // IN x (kRows,).   OUT ranks (kRows,).   Returns whether any value is missing.
    template <index_t kRows>
    bool rank(index_t feature, const double* x, std::uint8_t* ranks) const {
        const Search& search = searches_[static_cast<std::size_t>(feature)];
        std::int32_t starts[kRows];
        search.find_starts<kRows>(x, starts);
        switch (search.n_steps) {
            case 0: return search.rank<kRows, 0>(x, starts, ranks);
            case 1: return search.rank<kRows, 1>(x, starts, ranks);
            case 2: return search.rank<kRows, 2>(x, starts, ranks);
            case 3: return search.rank<kRows, 3>(x, starts, ranks);
            case 4: return search.rank<kRows, 4>(x, starts, ranks);
            case 5: return search.rank<kRows, 5>(x, starts, ranks);
            case 6: return search.rank<kRows, 6>(x, starts, ranks);
            case 7: return search.rank<kRows, 7>(x, starts, ranks);
            default: return search.rank<kRows, 8>(x, starts, ranks);
        }
    }

private:
    struct Search {
        static constexpr index_t kBucketsOfThreshold = 8;
        static constexpr index_t kMaxBuckets = 2048;

        std::vector<double> sorted;         // sealed: followed by infinities, which no x is above
        std::vector<std::uint8_t> starts;   // per bucket: the thresholds of earlier ones; without a table, empty
        double low = 0.0;
        double scale = 0.0;
        int n_steps = 0;                    // of the binary search: at most 2^n_steps - 1 thresholds are in question
        index_t n_sealed = -1;

        index_t n() const { return n_sealed < 0 ? static_cast<index_t>(sorted.size()) : n_sealed; }

        void seal() {
            n_sealed = static_cast<index_t>(sorted.size());
            n_steps = steps_for(n_sealed);
            add_table();
            sorted.resize(sorted.size() + (std::size_t{1} << n_steps), std::numeric_limits<double>::infinity());
        }

        static int steps_for(index_t n) {
            int steps = 0;
            while ((index_t{1} << steps) - 1 < n) ++steps;
            return steps;
        }

        // The bucket of x in a table of this many, as a double; that of NaN is the first.
        double bucket(double x, double n_buckets) const {
            const double at = (x - low) * scale;
            const double raised = at > 0.0 ? at : 0.0;
            return raised < n_buckets - 1.0 ? raised : n_buckets - 1.0;
        }

        void add_table() {
            if (n_steps < 3) return;
            const index_t n_buckets = std::min(kMaxBuckets, n_sealed * kBucketsOfThreshold);
            low = sorted.front();
            scale = static_cast<double>(n_buckets) / (sorted.back() - low);
            if (!std::isfinite(low) || !std::isfinite(scale) || !(scale > 0.0)) return;
            std::vector<index_t> n_in(static_cast<std::size_t>(n_buckets), 0);
            for (const double t : sorted) ++n_in[static_cast<std::size_t>(bucket(t, static_cast<double>(n_buckets)))];
            const int steps = steps_for(*std::max_element(n_in.begin(), n_in.end()));
            if (steps + 1 >= n_steps) return;  // finding the bucket takes about the time of a step or two
            n_steps = steps;
            index_t before = 0;
            for (const index_t in : n_in) {
                starts.push_back(static_cast<std::uint8_t>(before));
                before += in;
            }
        }

        // OUT begin (kRows,): how many thresholds are below each value for certain.
        template <index_t kRows>
        void find_starts(const double* x, std::int32_t* begin) const {
            if (starts.empty()) {
                std::fill(begin, begin + kRows, 0);
                return;
            }
            const auto n_buckets = static_cast<double>(starts.size());
            FARTHING_SIMD_LOOP
            for (index_t r = 0; r < kRows; ++r) begin[r] = static_cast<std::int32_t>(bucket(x[r], n_buckets));
            const std::uint8_t* from = starts.data();
            for (index_t r = 0; r < kRows; ++r) begin[r] = from[begin[r]];
        }

        template <index_t kRows, int kSteps>
        bool rank(const double* x, const std::int32_t* begin, std::uint8_t* ranks) const {
            const double* from = sorted.data();
            bool missing = false;
            for (index_t r = 0; r < kRows; ++r) {
                std::int32_t below = begin[r];
                for (int step = kSteps - 1; step >= 0; --step) {
                    const std::int32_t half = std::int32_t{1} << step;
                    // By arithmetic: a conditional would compile to a jump, which is unpredictable.
                    below += static_cast<std::int32_t>(from[below + half - 1] < x[r]) << step;
                }
                const bool none = x[r] != x[r];
                missing |= none;
                ranks[r] = none ? kMissing : static_cast<std::uint8_t>(below);
            }
            return missing;
        }
    };

    std::vector<Search> searches_;

    // Position of a threshold, and whether it is present.
    std::pair<index_t, bool> find(const Threshold& threshold) const {
        const Search& search = searches_[static_cast<std::size_t>(threshold.first)];
        const auto begin = search.sorted.begin();
        const auto end = begin + search.n();
        const auto at = std::lower_bound(begin, end, threshold.second);
        return {at - begin, at != end && *at == threshold.second};
    }
};

}  // namespace farthing
