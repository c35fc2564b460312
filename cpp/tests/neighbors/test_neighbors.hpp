// Tests of neighbors/neighborhood.hpp, neighbors/local_regression.hpp and neighbors/greedy_acquisition.hpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/views.hpp"
#include "neighbors/greedy_acquisition.hpp"
#include "neighbors/local_regression.hpp"
#include "neighbors/neighborhood.hpp"
#include "neighbors/reference_rows.hpp"
#include "tests/check.hpp"

namespace farthing::tests {

// Figure 2.1 of the thesis: three binary features, eight rows.
struct Eight {
    std::vector<double> values;
    std::vector<double> margins;
    std::vector<double> intercepts;
    std::vector<double> ones = std::vector<double>(3, 1.0);
    std::vector<std::uint8_t> no = std::vector<std::uint8_t>(3, 0);
    std::vector<std::uint8_t> yes = std::vector<std::uint8_t>(3, 1);
    ReferenceRows reference;

    explicit Eight(double need) {
        const double rows[8][3] = {{1, -1, -1}, {1, -1, -1}, {-1, 1, 1}, {-1, 1, 1},
                                   {-1, 1, -1}, {1, 1, 1},   {1, 1, 1},  {1, 1, 1}};
        const double slopes[3] = {0.9995, 1.4998, -0.5002};
        for (int j = 0; j < 3; ++j) {
            for (const auto& row : rows) values.push_back(row[j]);
        }
        for (int i = 0; i < 8; ++i) {
            const double label = i < 4 ? -1 : 1;
            for (int j = 0; j < 3; ++j) margins.push_back(label * slopes[j] * rows[i][j]);
            intercepts.push_back(label * -0.9997);
        }
        reference.n_rows = 8;
        reference.n_features = 3;
        reference.values = view(values);
        reference.margins = view(margins);
        reference.intercepts = view(intercepts);
        reference.intercept = -0.9997;
        reference.scale = view(ones);
        reference.missing_distance = view(ones);
        reference.categorical = view(no);
        reference.used = view(yes);
        reference.weights.assign(8, 1.0);
        reference.min_weight = need;
        reference.prepare();
    }
};

inline void the_eight_points_of_the_thesis() {
    for (const double need : {0.0, 2.0}) {  // exact matches; the two nearest and ties
        const Eight eight(need);
        Neighborhood row(eight.reference);
        CHECK(row.gains()[0] == 4.0 / 8 && row.gains()[1] == 6.0 / 8 && row.gains()[2] == 4.0 / 8);
        row.observe(1, 1.0, 1.4998);
        CHECK(row.rows().size == 6);
        CHECK(row.gains()[0] == 5.0 / 6 && row.gains()[2] == 3.0 / 6 && std::isnan(row.gains()[1]));
        row.start(0);
        row.observe(1, -1.0, -1.4998);
        CHECK(row.rows().size == 2 && row.accuracy() == 1.0);
    }
}

inline void what_nobody_shares_and_what_is_missing_changes_no_neighbourhood() {
    const Eight eight(0.0);
    Neighborhood row(eight.reference);
    row.observe(1, 1.0, 1.0);
    row.observe(0, 7.0, 1.0);
    CHECK(row.rows().size == 6);
    row.observe(2, std::numeric_limits<double>::quiet_NaN(), 0.0);
    CHECK(row.rows().size == 6 && row.n_observed() == 3);
}

inline void budgets_hold_while_rows_buy() {
    const Eight eight(0.0);
    const std::vector<double> own{1, 2, 4};
    const std::vector<index_t> group_of{-1, -1, -1};
    const CostSheet sheet{view(own), {}, view(group_of)};
    const std::vector<double> X{1, 1, 1, 1, 1, 1};
    const std::vector<double> votes{0.9995, 1.4998, -0.5002, 0.9995, 1.4998, -0.5002};
    const std::vector<double> budgets{3, 0.5};
    const std::vector<std::int64_t> seeds{0, 0};
    std::vector<double> outputs(4);
    std::vector<std::uint64_t> bought(2);
    const Matrix<double> table{X.data(), 2, 3, 3, 1};
    acquire_greedily<Neighborhood>(eight.reference, AcquisitionRule{0, -1, 1}, sheet, table,
                                   Matrix<double>{votes.data(), 2, 3, 3, 1}, view(budgets), view(seeds), outputs.data(),
                                   bought.data(), 2);
    CHECK(bought[0] == 3 && bought[1] == 0);  // x2, then x1
    CHECK(std::fabs(outputs[0] - (0.9995 + 1.4998 - 0.9997)) < 1e-12 && outputs[1] == 1.0);
    CHECK(outputs[2] == -0.9997 && outputs[3] == 0.0);
}

inline void a_local_regression_of_one_feature_is_a_ridge_regression() {
    const std::vector<double> values{-1, 1, -1, 1};
    const std::vector<double> labels{-1, 1, 1, 1};
    LocalRows rows;
    rows.n_rows = 4;
    rows.n_features = 1;
    rows.values = view(values);
    rows.labels = view(labels);
    rows.weights.assign(4, 1.0);
    rows.ridge = 1.0;
    rows.prepare();
    LocalRegression row(rows);
    CHECK(row.vote() == 0.5 && row.gains().size == 1);
    // The slope over all rows is 2 / (4 + 1) and the deviation is 1: G is normal around 0.5 with deviation 0.4.
    CHECK(std::fabs(row.gains()[0] - folded_gain(0.5, 0.4)) < 1e-15);
    row.observe(0, 1.0, 1.0);  // half of the rows are at distance 0, so only they count
    CHECK(std::fabs(row.vote() - 1.0) < 1e-15 && std::isnan(row.gains()[0]));
    CHECK(folded_gain(0.0, 0.0) == 0.0 &&
          std::fabs(folded_gain(0.0, 2.0) - 2.0 / std::sqrt(2 * 3.141592653589793)) < 1e-12);
}

inline void test_neighbors() {
    RUN(the_eight_points_of_the_thesis);
    RUN(what_nobody_shares_and_what_is_missing_changes_no_neighbourhood);
    RUN(budgets_hold_while_rows_buy);
    RUN(a_local_regression_of_one_feature_is_a_ridge_regression);
}

}  // namespace farthing::tests
