// score_tally: the sum of the trees' scores of one row, updated as trees are pruned.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/views.hpp"
#include "predict/forest_view.hpp"

namespace farthing {

// Scores are rounded to a grid, where sums can be updated without drift.
class ScoreTally {
public:
    // If the best two classes are closer than the rounding can tell, the row is summed again in floating point, tree
    // by tree, as a prediction does.
    explicit ScoreTally(const ForestView& forest)
        : forest_(forest), grid_scores_(static_cast<std::size_t>(forest.scores.size)) {
        double largest = 0;
        for (const double s : forest.scores) largest = std::fmax(largest, std::fabs(s));
        const double steps = largest > 0 ? std::ldexp(1.0, 40) / largest : 0.0;
        for (index_t i = 0; i < forest.scores.size; ++i) grid_scores_[i] = std::llrint(forest.scores[i] * steps);
    }

    void add(std::vector<std::int64_t>& sums, index_t tree, index_t node, std::int64_t sign) const {
        const std::int64_t* from = grid_scores_.data() + node * forest_.width;
        std::int64_t* to = sums.data() + forest_.target[tree];
        for (index_t c = 0; c < forest_.width; ++c) to[c] += sign * from[c];
    }

    index_t predicted_class(const std::vector<std::int64_t>& sums, const std::vector<index_t>& stops,
                            std::vector<double>& exact) const {
        index_t winner = 0;
        std::int64_t second = std::numeric_limits<std::int64_t>::min();
        for (index_t c = 1; c < forest_.n_outputs; ++c) {
            if (sums[c] > sums[winner]) {
                second = sums[winner];
                winner = c;
            } else {
                second = std::max(second, sums[c]);
            }
        }
        if (forest_.n_outputs < 2 || sums[winner] - second > 2 * forest_.n_trees() + (1 << 10)) return winner;
        exact.assign(static_cast<std::size_t>(forest_.n_outputs), 0.0);
        for (index_t t = 0; t < forest_.n_trees(); ++t) {
            for (index_t c = 0; c < forest_.width; ++c)
                exact[forest_.target[t] + c] += forest_.scores[stops[t] * forest_.width + c];
        }
        return std::max_element(exact.begin(), exact.end()) - exact.begin();
    }

private:
    const ForestView& forest_;
    std::vector<std::int64_t> grid_scores_;
};

}  // namespace farthing
