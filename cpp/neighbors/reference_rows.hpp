// kept_rows: training rows as neighbours are looked for among them, and the votes of a linear model on them.
//
//     values   column by column, to add one feature to all distances     feature 0: row 0, row 1, ... | feature 1: ...
//     margins  row by row, to look one step ahead with all features      row 0: feature 0, 1, ... | row 1: ...
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

// The training rows that predictions look for their neighbours among, and the linear model that they vote by.
struct KeptRows {
    index_t n_rows = 0;
    index_t n_features = 0;
    Span<const double> values;              // (n_features, n_rows), NaN: missing
    Span<const double> margins;             // (n_rows, n_features): the label, -1 or 1, times the vote of the feature
    Span<const double> intercepts;          // (n_rows,): the label times the intercept
    double intercept = 0;
    Span<const double> scale;               // (n_features,): a squared difference counts this many times
    Span<const double> gap;                 // (n_features,): what a kept row without a value counts
    Span<const std::uint8_t> categorical;   // (n_features,)
    Span<const std::uint8_t> votes;         // (n_features,): whether the model looks at it at all
    std::vector<double> weights;            // (n_rows,): on a grid on which their sums are exact, see on_grid
    double total = 0;                       // of the weights
    double need = 0;                        // what a neighbourhood weighs at least; 0: rows that agree exactly
    bool by_lot = false;                    // the next feature is drawn, whatever it would gain
    bool plain = false;                     // all weights are 1
    std::vector<std::uint8_t> whole;        // (n_features,): whether all values are finite
    std::vector<double> ahead;              // (n_features,): weight of the rows that each feature alone sets right

    void begin() {
        total = std::accumulate(weights.begin(), weights.end(), 0.0);
        plain = std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 1.0; });
        ahead.assign(static_cast<std::size_t>(n_features), 0.0);
        std::vector<index_t> all(static_cast<std::size_t>(n_rows));
        std::iota(all.begin(), all.end(), index_t{0});
        look_ahead(view(all), intercepts.data, ahead.data());
        whole.clear();
        for (index_t feature = 0; feature < n_features; ++feature) {
            const double* own = values.data + feature * n_rows;
            whole.push_back(std::all_of(own, own + n_rows, [](double x) { return std::isfinite(x); }));
        }
    }

    // The weight of the rows that each feature would give a positive margin on top of what they have, equation 2.5.
    // IN  some (n,): rows; so_far (n,): their margins.   OUT right (n_features,).
    void look_ahead(Span<const index_t> some, const double* so_far, double* right) const {
        index_t feature = 0;
        for (; feature + 8 <= n_features; feature += 8) look_ahead<4>(feature, some, so_far, right);
        for (; feature + 2 <= n_features; feature += 2) look_ahead<1>(feature, some, so_far, right);
        if (feature == n_features) return;
        right[feature] = 0.0;
        for (index_t i = 0; i < some.size; ++i) {
            const double margin = so_far[i] + margins[some[i] * n_features + feature];
            right[feature] += margin > 0.0 ? weights[static_cast<std::size_t>(some[i])] : 0.0;
        }
    }

    // For pairs of features from one on, whose sums stay in registers.
    template <int n_pairs>
    void look_ahead(index_t feature, Span<const index_t> some, const double* so_far, double* right) const {
        Pair sums[n_pairs] = {};
        for (index_t i = 0; i < some.size; ++i) {
            const double* own = margins.data + some[i] * n_features + feature;
            const Pair weight = both(weights[static_cast<std::size_t>(some[i])]);
            for (int pair = 0; pair < n_pairs; ++pair) {
                sums[pair] += load(own + 2 * pair) + both(so_far[i]) > 0.0 ? weight : both(0.0);
            }
        }
        for (int pair = 0; pair < n_pairs; ++pair) store(right + feature + 2 * pair, sums[pair]);
    }
};

}  // namespace farthing
