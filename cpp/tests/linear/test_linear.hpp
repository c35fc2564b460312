// Tests of linear/.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/views.hpp"
#include "linear/divided_rows.hpp"
#include "linear/forward_regression.hpp"
#include "linear/forward_selection.hpp"
#include "linear/moved_rows.hpp"
#include "linear/ridge.hpp"
#include "linear/row_offsets.hpp"
#include "linear/standardise.hpp"
#include "linear/term_scores.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

// Orthogonal terms of lengths 1, 2, 3, ...: a gain is along^2 over the square.
inline ForwardRegression orthogonal_terms(const std::vector<double>& along, const std::vector<index_t>& column_of,
                                          double variance) {
    const auto t = static_cast<index_t>(along.size());
    TermProducts products{t, 1, std::vector<double>(along.size() * along.size(), 0.0), along};
    std::vector<double> starts;
    for (index_t i = 0; i < t; ++i) {
        starts.push_back(static_cast<double>((i + 1) * (i + 1)));
        products.terms[static_cast<std::size_t>(i * t + i)] = starts.back();
    }
    return ForwardRegression(products, starts, view(column_of), variance);
}

inline void a_gain_is_what_a_purchase_explains() {
    // Two correlated terms: the second explains less once the first is taken.
    TermProducts products{2, 1, {4, 2, 2, 4}, {4, 4}};
    const std::vector<index_t> column_of{0, 1};
    ForwardRegression regression(products, {4, 4}, view(column_of), 8);
    CHECK(regression.gain(0) == 0.5);
    CHECK(regression.take(0) == std::vector<index_t>{0});
    CHECK(regression.explained() == 0.5);
    CHECK(std::fabs(regression.gain(1) - 4.0 / 3 / 8) < 1e-9);
    CHECK(regression.gain(0) == 0);
    CHECK(regression.take(0).empty());
}

inline void terms_of_one_column_are_taken_together() {
    ForwardRegression regression = orthogonal_terms({1, 2, 3}, {0, 1, 1}, 4);
    CHECK(regression.n_columns() == 2);
    CHECK(regression.gain(1) == 0.5);
    CHECK(regression.take(1) == (std::vector<index_t>{1, 2}));
    CHECK(regression.explained() == 0.5);
}

inline void the_largest_gain_per_price_is_bought_first() {
    // Gains 0.4, 0.3, 0.2 and 0.1 for 4, 2, 0 and 1.
    const std::vector<double> along{2, 2 * std::sqrt(3.0), 3 * std::sqrt(2.0), 4};
    const std::vector<index_t> column_of{0, 1, 2, 3};
    const std::vector<double> own{4, 2, 0, 1};
    const std::vector<double> shared;
    const std::vector<index_t> group_of{-1, -1, -1, -1};
    const CostSheet sheet{view(own), view(shared), view(group_of)};
    const auto bought = [&](double budget, double min_gain) {
        ForwardRegression regression = orthogonal_terms(along, column_of, 10);
        OwnedFeatures owned(sheet);
        return select_columns(regression, sheet, owned, budget, min_gain);
    };
    CHECK(bought(7, 0) == (std::vector<index_t>{2, 1, 0, 3}));
    CHECK(bought(5, 0) == (std::vector<index_t>{2, 1, 3}));
    CHECK(bought(7, 0.25) == (std::vector<index_t>{1, 0}));
    CHECK(bought(0, 0) == std::vector<index_t>{2});
}

inline void a_selection_pays_a_group_once() {
    const std::vector<index_t> column_of{0, 1, 2};
    const std::vector<double> own{1, 0, 2};
    const std::vector<double> shared{5};
    const std::vector<index_t> group_of{0, 0, -1};
    const CostSheet sheet{view(own), view(shared), view(group_of)};
    ForwardRegression regression = orthogonal_terms({1, 2, 3}, column_of, 3);  // equal gains
    OwnedFeatures owned(sheet);
    CHECK(select_columns(regression, sheet, owned, 8, 0) == (std::vector<index_t>{2, 1, 0}));
}

inline void scores_add_term_by_term() {
    const std::vector<double> table = make_numbers(7 * 20, 3);
    const Matrix<double> by_term{table.data(), 7, 20, 20, 1};
    const std::vector<index_t> rows{0, 3, 3, 19};
    const std::vector<index_t> places{1, 2, 4, 5, 6};
    const std::vector<double> coef = make_numbers(5 * 2, 4);
    const std::vector<double> intercept{0.5, -1};
    std::vector<double> scores(8);
    term_scores(by_term, view(rows), view(places), coef.data(), view(intercept), scores.data());
    for (std::size_t o = 0; o < 2; ++o) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            double expected = intercept[o];
            for (std::size_t k = 0; k < places.size(); ++k) {
                const double part = coef[k * 2 + o] * by_term(places[k], rows[i]);
                expected += part;
            }
            CHECK(scores[o * rows.size() + i] == expected);
        }
    }
}

inline void moved_rows_are_signed() {
    const std::vector<index_t> before{0, 2, 3, 7};
    const std::vector<index_t> after{1, 2, 7, 8, 9};
    std::vector<index_t> rows;
    std::vector<double> signs;
    moved_rows(view(before), view(after), rows, signs);
    CHECK(rows == (std::vector<index_t>{0, 1, 3, 8, 9}));
    CHECK(signs == (std::vector<double>{-1, 1, -1, 1, 1}));
}

inline void offsets_are_less_a_centre() {
    const std::vector<double> table{1, 2, 3, 4, 5, 6};
    const std::vector<index_t> kept{1, 0};
    const std::vector<index_t> rows{2, 0};
    const std::vector<double> centre{1, 10};
    std::vector<double> offsets(4);
    row_offsets({table.data(), 2, 3, 3, 1}, view(kept), view(rows), view(centre), offsets.data());
    CHECK(offsets == (std::vector<double>{5, 3, -7, -9}));
}

inline void weighed_offsets_sum_to_moments() {
    const std::vector<double> table{1, 2, 3, 4, 5, 6};
    const std::vector<index_t> kept{1, 0};
    const std::vector<index_t> rows{2, 0};
    const std::vector<double> centre{1, 10};
    const std::vector<double> weights{2, -1};
    std::vector<double> offsets(6);
    std::vector<double> weighed(6);
    weighed_offsets({table.data(), 2, 3, 3, 1}, view(kept), view(rows), view(centre), view(weights), offsets.data(),
                    weighed.data());
    CHECK(offsets == (std::vector<double>{5, 3, -7, -9, 1, 1}));
    CHECK(weighed == (std::vector<double>{10, -3, -14, 9, 2, -1}));
}

inline void ridge_slopes_solve_a_system() {
    const std::vector<double> products{3, 2, 8, 2, 3, 7, 8, 7, 30};  // two terms and an output
    std::vector<double> slopes(2);
    CHECK(ridge_slopes(products.data(), 2, 1, 1, slopes.data()));
    CHECK(std::fabs(slopes[0] - 1.5) < 1e-12 && std::fabs(slopes[1] - 1) < 1e-12);
    CHECK(!ridge_slopes(products.data(), 2, 1, -3, slopes.data()));
}

inline void items_are_divided_by_a_threshold() {
    const std::vector<index_t> items{5, 6, 7, 8};
    const std::vector<double> projection{1, 3, 2, 2};
    std::vector<index_t> lower(4);
    std::vector<index_t> upper(4);
    CHECK(divide(items.data(), view(projection), 2.0, lower.data(), upper.data()) == 3);
    CHECK(lower[0] == 5 && lower[1] == 7 && lower[2] == 8 && upper[0] == 6);
}

inline void terms_are_standardised() {
    const std::vector<double> values{1, 0, 3, 1, std::nan(""), 2};  // (3, 2): a number and a category
    const std::vector<index_t> columns{0, 1};
    const std::vector<double> category{std::nan(""), 1};
    const std::vector<double> weights{1, 1, 2};
    std::vector<double> mean(2);
    std::vector<double> scale(2);
    std::vector<double> terms(6);
    standardise_terms<double>({values.data(), 3, 2, 2, 1}, view(columns), view(category), view(weights), mean.data(),
                              scale.data(), terms.data());
    CHECK(mean == (std::vector<double>{2, 0.25}));
    CHECK(scale[0] == 1 && std::fabs(scale[1] - std::sqrt(3.0) / 4) < 1e-15);
    CHECK(terms[0] == -1 && terms[1] == 1 && terms[2] == 0 && terms[4] == 0.75 / scale[1]);
}

inline void test_linear() {
    RUN(weighed_offsets_sum_to_moments);
    RUN(ridge_slopes_solve_a_system);
    RUN(items_are_divided_by_a_threshold);
    RUN(terms_are_standardised);
    RUN(a_gain_is_what_a_purchase_explains);
    RUN(terms_of_one_column_are_taken_together);
    RUN(the_largest_gain_per_price_is_bought_first);
    RUN(a_selection_pays_a_group_once);
    RUN(scores_add_term_by_term);
    RUN(moved_rows_are_signed);
    RUN(offsets_are_less_a_centre);
}

}  // namespace farthing::tests
