// column_bins: how the values of one column map to bins.
//
// A numeric column has ascending `edges`; bin b holds the values x with edges[b-1] < x <= edges[b], so a split after
// bin b is the test x <= edges[b]. A categorical column holds codes 0, 1, ...; if there are more than 255 categories,
// the 254 most frequent have their own bin and the rest share one. The bin after the last one holds missing values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/radix_sort.hpp"
#include "common/views.hpp"

namespace farthing {

constexpr index_t kMaxBins = 255;

// A number m with low <= m < high: the midpoint if it can be represented, else low. Halving first cannot overflow.
inline double midpoint(double low, double high) {
    const double middle = low / 2 + high / 2;
    return (middle >= low && middle < high) ? middle : low;
}

struct ColumnBins {
    std::vector<double> edges;              // numeric only; n_bins - 1 of them
    std::vector<std::uint8_t> bin_of_code;  // categorical only
    index_t n_bins = 1;                     // not counting the bin of missing values
    bool categorical = false;

    // Among the edges first to last, the one nearest to the midpoint of those two; the lower one of a tie.
    index_t middle_edge(index_t first, index_t last) const {
        const double goal = midpoint(edges[first], edges[last]);
        const auto begin = edges.begin() + first;
        const auto above = std::lower_bound(begin, edges.begin() + last, goal);
        const bool lower = above != begin && goal - *(above - 1) <= *above - goal;
        return static_cast<index_t>(above - edges.begin()) - (lower ? 1 : 0);
    }
};

// Collects the distinct values in ascending order; false if there are more than a handful. Binary columns are thus
// never sorted.
inline bool collect_distinct(const std::vector<double>& values, std::vector<double>& distinct) {
    constexpr std::size_t kFew = 16;
    distinct.clear();
    for (const double x : values) {
        std::size_t place = 0;
        while (place < distinct.size() && distinct[place] < x) ++place;
        if (place < distinct.size() && distinct[place] == x) continue;
        if (distinct.size() == kFew) return false;
        distinct.insert(distinct.begin() + static_cast<std::ptrdiff_t>(place), x);
    }
    return true;
}

// Edges for the values of one column, in any order and without NaN. If the distinct values are few, each gets a bin.
// Otherwise bins have nearly equal counts, and a value that would fill a bin alone gets its own.
// OUT values: sorted, or as they were if the distinct values are few.
inline std::vector<double> quantile_edges(std::vector<double>& values, index_t max_bins) {
    std::vector<double> distinct_values;
    if (collect_distinct(values, distinct_values) && static_cast<index_t>(distinct_values.size()) <= max_bins) {
        std::vector<double> edges_between;
        for (std::size_t i = 1; i < distinct_values.size(); ++i) {
            edges_between.push_back(midpoint(distinct_values[i - 1], distinct_values[i]));
        }
        return edges_between;
    }
    sort_values(values);
    std::vector<index_t> ends;  // one past the last of each run of equal values
    const auto n = static_cast<index_t>(values.size());
    for (index_t i = 1; i <= n; ++i) {
        if (i == n || values[i] != values[i - 1]) ends.push_back(i);
    }
    const auto n_distinct = static_cast<index_t>(ends.size());
    std::vector<double> edges;
    index_t bin_start = 0;
    index_t bins_left = max_bins;
    for (index_t run = 0; run + 1 < n_distinct && bins_left > 1; ++run) {
        bool close = n_distinct <= max_bins;
        if (!close) {
            const double fair_share = static_cast<double>(n - bin_start) / static_cast<double>(bins_left);
            const auto here = static_cast<double>(ends[run] - bin_start);
            const auto next = static_cast<double>(ends[run + 1] - ends[run]);
            close = here >= fair_share || next >= fair_share;
        }
        if (close) {
            edges.push_back(midpoint(values[ends[run] - 1], values[ends[run]]));
            bin_start = ends[run];
            --bins_left;
        }
    }
    return edges;
}

// The bin of x: the number of edges below it. `edges` is padded to 255 entries with infinity, so the binary search
// always takes eight steps and has no branch; the processor overlaps the searches of several rows.
inline std::uint8_t bin_of(const double* edges, double x) {
    index_t low = 0;
    for (index_t step = 128; step >= 1; step /= 2) low += edges[low + step - 1] < x ? step : 0;
    return static_cast<std::uint8_t>(low);
}

}  // namespace farthing
