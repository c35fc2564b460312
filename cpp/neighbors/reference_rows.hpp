// reference_rows: the training rows that neighbours are searched among, and the linear model that votes on them.
//
//     values   (column-major: a new feature is added to all distances)   feature 0: row 0, row 1, ... | feature 1: ...
//     margins  (row-major: all features are tried for a few rows)        row 0: feature 0, 1, ... | row 1: ...
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "common/simd_pair.hpp"
#include "common/views.hpp"

namespace farthing {

struct ReferenceRows {
    index_t n_rows = 0;
    index_t n_features = 0;
    Span<const double> values;      // (n_features, n_rows), NaN: missing
    Span<const double> margins;     // (n_rows, n_features): label (-1 or 1) times the feature's vote
    Span<const double> intercepts;  // (n_rows,): label times the intercept
    double intercept = 0;
    Span<const double> scale;       // (n_features,): weight of a squared difference
    // (n_features,): the squared distance to a training row without a value
    Span<const double> missing_distance;
    Span<const std::uint8_t> categorical;  // (n_features,)
    Span<const std::uint8_t> used;         // (n_features,): whether the model uses the feature
    std::vector<double> weights;           // (n_rows,): on a grid where sums are exact, see round_to_grid
    double total = 0;                      // of the weights
    double min_weight = 0;                 // minimal weight of a neighbourhood; 0: only exact matches
    double squared_radius = 0;             // all rows within this distance are in it, too
    bool random_order = false;             // features are acquired in random order, whatever their gain
    bool unit_weights = false;             // all weights are 1
    std::vector<std::uint8_t> all_finite;  // (n_features,): whether all values are finite
    // (n_features,): weight of the rows that each feature alone classifies correctly
    std::vector<double> initial_correct;

    void prepare() {
        total = std::accumulate(weights.begin(), weights.end(), 0.0);
        unit_weights = std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 1.0; });
        initial_correct.assign(static_cast<std::size_t>(n_features), 0.0);
        std::vector<index_t> all(static_cast<std::size_t>(n_rows));
        std::iota(all.begin(), all.end(), index_t{0});
        weigh_correct(view(all), intercepts.data, initial_correct.data());
        all_finite.clear();
        for (index_t feature = 0; feature < n_features; ++feature) {
            const double* own = values.data + feature * n_rows;
            all_finite.push_back(std::all_of(own, own + n_rows, [](double x) { return std::isfinite(x); }));
        }
    }

    // The weight of the rows that would have a positive margin with each feature added, equation 2.5.
    // IN  subset (n,): rows; so_far (n,): their margins.   OUT correct (n_features,).
    void weigh_correct(Span<const index_t> subset, const double* so_far, double* correct) const {
        index_t feature = 0;
        for (; feature + 8 <= n_features; feature += 8) weigh_correct<4>(feature, subset, so_far, correct);
        for (; feature + 2 <= n_features; feature += 2) weigh_correct<1>(feature, subset, so_far, correct);
        if (feature == n_features) return;
        correct[feature] = 0.0;
        for (index_t i = 0; i < subset.size; ++i) {
            const double margin = so_far[i] + margins[subset[i] * n_features + feature];
            correct[feature] += margin > 0.0 ? weights[static_cast<std::size_t>(subset[i])] : 0.0;
        }
    }

    // For n_pairs pairs of consecutive features, whose sums stay in registers.
    template <int n_pairs>
    void weigh_correct(index_t feature, Span<const index_t> subset, const double* so_far, double* correct) const {
        SimdPair sums[n_pairs] = {};
        for (index_t i = 0; i < subset.size; ++i) {
            const double* own = margins.data + subset[i] * n_features + feature;
            const SimdPair weight = broadcast(weights[static_cast<std::size_t>(subset[i])]);
            for (int pair = 0; pair < n_pairs; ++pair) {
                const SimdPair margin = load(own + 2 * pair) + broadcast(so_far[i]);
                sums[pair] += select(margin > broadcast(0.0), weight, broadcast(0.0));
            }
        }
        for (int pair = 0; pair < n_pairs; ++pair) store(correct + feature + 2 * pair, sums[pair]);
    }
};

}  // namespace farthing
