// Tests of table/column_bins.hpp and table/binned_table.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "common/views.hpp"
#include "table/binned_table.hpp"
#include "table/column_bins.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

inline void a_midpoint_lies_between() {
    const double lowest = std::numeric_limits<double>::lowest();
    const double tiny = std::numeric_limits<double>::denorm_min();
    const double steps[] = {-kInfinity, lowest,   -1.0, -tiny, 0.0, tiny, 2 * tiny, 1.0, std::nextafter(1.0, 2.0),
                            -lowest,    kInfinity};
    for (const double low : steps) {
        for (const double high : steps) {
            if (low < high) CHECK(midpoint(low, high) >= low && midpoint(low, high) < high);
        }
    }
    CHECK(midpoint(1.0, 2.0) == 1.5);
}

inline void edges_give_each_value_a_bin_if_they_are_few() {
    std::vector<double> values;
    for (index_t i = 0; i < 255; ++i) {
        values.insert(values.end(), static_cast<std::size_t>(1 + i % 3), static_cast<double>(i));
    }
    const auto edges = quantile_edges(values, 255);
    CHECK(edges.size() == 254);
    for (std::size_t i = 0; i < edges.size(); ++i) CHECK(edges[i] == static_cast<double>(i) + 0.5);
    std::vector<double> none;
    CHECK(quantile_edges(none, 255).empty());
}

inline void edges_of_many_values_are_fair() {
    auto values = make_numbers(10000, 1);
    const auto edges = quantile_edges(values, 255);
    CHECK(edges.size() == 254);
    index_t before = 0;
    for (const double edge : edges) {
        const auto below = static_cast<index_t>(std::upper_bound(values.begin(), values.end(), edge) - values.begin());
        CHECK(below - before >= 39 && below - before <= 40);
        before = below;
    }
}

inline void a_heavy_value_has_its_bin_alone() {
    auto values = make_numbers(1000, 2);
    values.insert(values.end(), 5000, 0.5);
    const auto edges = quantile_edges(values, 16);
    const auto first = std::lower_bound(edges.begin(), edges.end(), 0.5);
    CHECK(first != edges.begin() && first != edges.end());
    for (const double x : values) {
        if (x != 0.5 && first != edges.begin() && first != edges.end()) CHECK(x <= *(first - 1) || x > *first);
    }
}

inline void the_search_counts_the_edges_below() {
    for (const index_t n_edges : {0, 1, 2, 127, 128, 253, 254}) {
        std::vector<double> edges(256, kInfinity);
        for (index_t i = 0; i < n_edges; ++i) edges[i] = static_cast<double>(i);
        for (double x = -1.5; x < 260; x += 0.5) {
            index_t below = 0;
            for (index_t i = 0; i < n_edges; ++i) below += edges[i] < x;
            CHECK(bin_of(edges.data(), x) == below);
        }
        CHECK(bin_of(edges.data(), kInfinity) == n_edges);
        CHECK(bin_of(edges.data(), -kInfinity) == 0);
    }
}

inline void samples_ascend_within_the_table() {
    for (const index_t n_rows : {1, 9, 10, 11, 19, 1000}) {
        const auto rows = sample_rows(n_rows, 10);
        CHECK(static_cast<index_t>(rows.size()) == std::min<index_t>(n_rows, 10));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            CHECK(rows[i] >= 0 && rows[i] < n_rows && (i == 0 || rows[i] > rows[i - 1]));
        }
    }
    CHECK(sample_rows(index_t{1} << 62, 3).back() < index_t{1} << 62);
}

inline void every_entry_lies_in_its_bin() {
    for (const index_t n_rows : {1, 2, 511, 513, 3000}) {
        for (const index_t n_columns : {1, 3, 4, 5, 11}) {
            const Values values = make_values(n_rows, n_columns, 3, 0.2, 400);
            const BinnedTable table = values.bin();
            for (index_t j = 0; j < n_columns; ++j) {
                const ColumnBins& bins = table.columns[j];
                CHECK(bins.n_bins >= 1 && bins.n_bins <= 255);
                CHECK(bins.categorical || static_cast<index_t>(bins.edges.size()) == bins.n_bins - 1);
                for (index_t i = 0; i < n_rows; ++i) {
                    const double x = values.at(i, j);
                    const index_t bin = bin_at(table, i, j);
                    if (std::isnan(x)) {
                        CHECK(bin == bins.n_bins);
                    } else if (bins.categorical) {
                        CHECK(bin == bins.bin_of_code[static_cast<std::size_t>(x)] && bin < bins.n_bins);
                    } else {
                        CHECK(bin == 0 || bins.edges[bin - 1] < x);
                        CHECK(bin == bins.n_bins - 1 || x <= bins.edges[bin]);
                    }
                }
            }
        }
    }
}

inline void layouts_and_threads_give_the_same_bins() {
    const Values values = make_values(5000, 11, 4);
    const BinnedTable one = values.bin(1);
    const BinnedTable two = values.bin(2);
    CHECK(one.codes == two.codes && one.first_bin == two.first_bin);
    std::vector<double> by_column(values.data.size());
    for (index_t i = 0; i < values.n_rows; ++i) {
        for (index_t j = 0; j < values.n_columns; ++j) by_column[j * values.n_rows + i] = values.at(i, j);
    }
    const Matrix<double> columns{by_column.data(), values.n_rows, values.n_columns, 1, values.n_rows};
    CHECK(BinnedTable::make(columns, view(values.n_categories), 255, 65536, 2).codes == one.codes);
    const std::vector<float> single(values.data.begin(), values.data.end());
    const std::vector<double> widened(single.begin(), single.end());
    const Matrix<float> floats{single.data(), values.n_rows, values.n_columns, values.n_columns, 1};
    const Matrix<double> doubles{widened.data(), values.n_rows, values.n_columns, values.n_columns, 1};
    CHECK(BinnedTable::make(floats, view(values.n_categories), 255, 65536, 1).codes ==
          BinnedTable::make(doubles, view(values.n_categories), 255, 65536, 1).codes);
}

inline void codes_beyond_the_categories_are_missing() {
    Values values{5, 1, {0.0, 1.0, 2.0, -1.0, 1e300}, {2}};
    const BinnedTable table = values.bin();
    const index_t expected[] = {0, 1, 2, 2, 2};
    for (index_t i = 0; i < 5; ++i) CHECK(bin_at(table, i, 0) == expected[i]);
}

inline void test_binned_table() {
    RUN(a_midpoint_lies_between);
    RUN(edges_give_each_value_a_bin_if_they_are_few);
    RUN(edges_of_many_values_are_fair);
    RUN(a_heavy_value_has_its_bin_alone);
    RUN(the_search_counts_the_edges_below);
    RUN(samples_ascend_within_the_table);
    RUN(every_entry_lies_in_its_bin);
    RUN(layouts_and_threads_give_the_same_bins);
    RUN(codes_beyond_the_categories_are_missing);
}

}  // namespace farthing::tests
