// Tests of grow/histogram.hpp, grow/histogram_pool.hpp, the targets and the impurities.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "common/views.hpp"
#include "grow/class_target.hpp"
#include "grow/gradient_target.hpp"
#include "grow/histogram.hpp"
#include "grow/histogram_pool.hpp"
#include "grow/impurity.hpp"
#include "table/binned_table.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

// Sparse columns are counted from their entries; the other columns stay untouched.
template <class Target>
void count_sparse_and_compare(const BinnedTable& table, const Target& target, const std::vector<index_t>& rows,
                              std::vector<std::int64_t> expected) {
    const index_t width = target.width();
    std::vector<typename Target::Row> targets;
    std::vector<std::int64_t> sums(static_cast<std::size_t>(width), 0);
    for (const index_t row : rows) {
        targets.push_back(target.row(row));
        target.add(sums.data(), targets.back());
    }
    std::vector<std::int64_t> found(expected.size(), 99);
    const auto& columns = table.sparse.columns;
    fill_sparse(table, target, columns.data(), static_cast<index_t>(columns.size()), rows.data(), targets.data(),
                static_cast<index_t>(rows.size()), sums.data(), found.data());
    for (index_t j = 0; j < table.n_columns(); ++j) {
        index_t n_default = 0;
        for (index_t row = 0; row < table.n_rows; ++row)
            n_default += bin_at(table, row, j) == table.sparse.default_bin[j];
        if (table.sparse.is_sparse.has(j)) {
            CHECK(8 * n_default >= 7 * table.n_rows);
        } else {
            std::fill(expected.begin() + table.first_bin[j] * width, expected.begin() + table.first_bin[j + 1] * width,
                      99);
        }
    }
    CHECK(found == expected);
}

// Compares every histogram with a naive count, for all rows and for every third row.
template <class Target>
void count_and_compare(const BinnedTable& table, const Target& target) {
    const index_t width = target.width();
    const auto length = static_cast<std::size_t>(table.n_all_bins() * width);
    std::vector<std::int64_t> whole(length, 99);
    std::vector<std::int64_t> part(length, 99);
    for (const index_t step : {1, 3}) {
        std::vector<index_t> rows;
        for (index_t i = 0; i < table.n_rows; i += step) rows.push_back(i);
        std::vector<std::int64_t> expected(length, 0);
        for (const index_t row : rows) {
            for (index_t j = 0; j < table.n_columns(); ++j) {
                target.add(expected.data() + (table.first_bin[j] + bin_at(table, row, j)) * width, target.row(row));
            }
        }
        auto& found = step == 1 ? whole : part;
        fill_all(table, target, rows, found.data());
        CHECK(found == expected);
        count_sparse_and_compare(table, target, rows, expected);
    }
    // Parent minus child is the count of the sibling.
    std::vector<std::int64_t> other(length, 0);
    for (index_t i = 0; i < table.n_rows; ++i) {
        if (i % 3 == 0) continue;
        for (index_t j = 0; j < table.n_columns(); ++j) {
            target.add(other.data() + (table.first_bin[j] + bin_at(table, i, j)) * width, target.row(i));
        }
    }
    for (index_t j = 0; j < table.n_columns(); ++j) subtract_histogram(table, width, j, part.data(), whole.data());
    CHECK(whole == other);
}

inline void histograms_are_counts() {
    for (const index_t n_rows : {1, 2, 1023, 1024, 1025, 3000}) {
        for (const index_t n_columns : {1, 4, 6}) {
            const BinnedTable table = make_values(n_rows, n_columns, 6).bin();
            const auto gradients = make_numbers(n_rows, 7);
            const auto weights = make_weights(n_rows, 8);
            const auto labels = make_labels(n_rows, 3, 9);
            count_and_compare(table, GradientTarget<GradientSums::packed>(view(gradients), {}, 0.0));
            count_and_compare(table, GradientTarget<GradientSums::unit>(view(gradients), {}, 0.0));
            count_and_compare(table, GradientTarget<GradientSums::full>(view(gradients), view(weights), 0.0));
            count_and_compare(table, ClassTarget(view(labels), view(weights), 3, {}));
        }
    }
}

// Columns with two bins are counted together, a word at a time: the counts of one row after another, whatever is
// missing, and nothing is written to columns that are not wanted.
inline void words_of_binary_columns_are_counts() {
    using Target = GradientTarget<GradientSums::full>;
    for (const double share_missing : {0.0, 0.2}) {
        for (const index_t n_rows : {2, 3, 33, 1025}) {
            Random random(11);
            Values values{n_rows, kColumnsPerWord, {}, std::vector<index_t>(kColumnsPerWord, 0)};
            for (index_t i = 0; i < n_rows * kColumnsPerWord; ++i) {
                const double x = random.chance(0.3) ? 1 : 0;
                values.data.push_back(i >= 2 * kColumnsPerWord && random.chance(share_missing) ? kNan : x);
            }
            // The first two rows have both values, so that every column has two bins.
            for (index_t j = 0; j < kColumnsPerWord; ++j) values.at(0, j) = 1 - (values.at(1, j) = j % 2);
            const BinnedTable table = values.bin();
            const auto gradients = make_numbers(n_rows, 7);
            const auto hessians = make_weights(n_rows, 8);
            const Target target(view(gradients), view(hessians), 0.0);
            for (const index_t step : {1, 2}) {
                std::vector<index_t> rows;
                std::vector<Target::Row> targets;
                for (index_t row = 0; row < n_rows; row += step) {
                    rows.push_back(row);
                    targets.push_back(target.row(row));
                }
                const bool live[kColumnsPerWord] = {true, true, false, true, true, true, false, true};
                std::vector<std::int64_t> expected(static_cast<std::size_t>(3 * table.n_all_bins()), 0);
                for (index_t j = 0; j < kColumnsPerWord; ++j) {
                    CHECK(table.columns[j].n_bins == 2);
                    std::int64_t* cells = expected.data() + 3 * table.first_bin[j];
                    if (!live[j]) std::fill(cells, cells + 9, 99);
                    for (const index_t row : rows) {
                        if (live[j]) target.add(cells + 3 * bin_at(table, row, j), target.row(row));
                    }
                }
                std::vector<std::int64_t> found(expected.size(), 99);
                fill_word(table, target, 0, live, rows.data(), targets.data(), static_cast<index_t>(rows.size()),
                          found.data());
                CHECK(found == expected);
                // Without AVX2.
                BinarySums sums[2];
                BinaryTotal total;
                count_binary_plain(table.codes.word(0), 0, targets.data(), static_cast<index_t>(rows.size()),
                                   ListedRows{rows.data()}, sums, total);
                for (index_t j = 0; j < kColumnsPerWord; ++j) {
                    if (!live[j]) continue;
                    const auto lane = static_cast<int>(j % kBinaryLanes);
                    const std::int64_t* second = expected.data() + 3 * (table.first_bin[j] + 1);
                    CHECK(static_cast<std::int64_t>(sums[j / kBinaryLanes].gradients[lane]) == second[0]);
                    CHECK(static_cast<std::int64_t>(sums[j / kBinaryLanes].hessians[lane]) == second[1]);
                    CHECK(static_cast<std::int64_t>(sums[j / kBinaryLanes].rows[lane]) == second[2]);
                }
            }
        }
    }
}

// Packed, separate, and with hessians of one: the same sums.
inline void the_three_kinds_of_sums_agree() {
    const index_t n = 5000;
    std::vector<double> gradients;
    for (const double x : make_numbers(n, 10)) gradients.push_back(std::floor(x * 1000));
    const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
    const GradientTarget<GradientSums::packed> packed(view(gradients), {}, 0.5);
    const GradientTarget<GradientSums::unit> unit(view(gradients), {}, 0.5);
    const GradientTarget<GradientSums::full> full(view(gradients), view(ones), 0.5);
    std::int64_t a[1] = {};
    std::int64_t b[2] = {};
    std::int64_t c[3] = {};
    for (index_t i = 0; i < n; ++i) {
        packed.add(a, packed.row(i));
        unit.add(b, unit.row(i));
        full.add(c, full.row(i));
        if (i % 100 != 0) continue;
        double values[3];
        packed.values(a, values);
        unit.values(b, values + 1);
        full.values(c, values + 2);
        CHECK(values[0] == values[1] && values[1] == values[2]);
        CHECK(packed.n_rows(a) == i + 1 && unit.n_rows(b) == i + 1 && full.n_rows(c) == i + 1);
        CHECK(packed.node_score(a) == unit.node_score(b) && unit.node_score(b) == full.node_score(c));
    }
}

inline void the_pool_lends_as_many_as_it_has() {
    HistogramPool pool;
    pool.reset(100, 3);
    CHECK(pool.acquire() == 0 && pool.acquire() == 1 && pool.acquire() == 2 && pool.acquire() == -1);
    pool.data(2)[99] = 1;
    pool.release(1);
    pool.release(-1);
    CHECK(pool.acquire() == 1 && pool.acquire() == -1);
    pool.reset(100, 2);
    CHECK(pool.acquire() >= 0 && pool.acquire() >= 0 && pool.acquire() == -1);
    pool.reset(500, 4);
    for (int i = 0; i < 4; ++i) {
        const index_t slot = pool.acquire();
        CHECK(slot == i);
        if (slot >= 0) pool.data(slot)[499] = 1;
    }
    CHECK(pool.acquire() == -1);
}

inline void impurities_are_those_of_the_papers() {
    const double counts[] = {3, 1, 0};
    CHECK((ImpurityFunction{Impurity::pairs, 0, 2}(counts, 3) == 6));
    CHECK((ImpurityFunction{Impurity::pairs, 1, 2}(counts, 3) == 0));
    CHECK((ImpurityFunction{Impurity::powers, 0, 3}(counts, 3) == 64 - 27 - 1));
    CHECK((ImpurityFunction{Impurity::gini, 0, 2}(counts, 3) == 1.5));
    const double entropy = -3 * std::log(0.75) - std::log(0.25);
    CHECK((std::fabs(ImpurityFunction{Impurity::entropy, 0, 2}(counts, 3) - entropy) < 1e-12));
    const double none[] = {0, 0, 0};
    Random random(11);
    for (const auto kind : {Impurity::entropy, Impurity::gini, Impurity::pairs, Impurity::powers}) {
        CHECK((ImpurityFunction{kind, 0, 2}(none, 3) == 0));
        for (int i = 0; i < 1000; ++i) {
            const double pure[] = {0, random.uniform(), 0};
            CHECK((ImpurityFunction{kind, 0, 2}(pure, 3) == 0));
        }
    }
}

inline void labels_that_are_no_classes_are_refused() {
    const std::vector<double> weights{1.0, 1.0};
    for (const index_t bad : {-1, 2}) {
        const std::vector<index_t> labels{0, bad};
        bool thrown = false;
        try {
            ClassTarget target(view(labels), view(weights), 2, {});
        } catch (const std::invalid_argument&) {
            thrown = true;
        }
        CHECK(thrown);
    }
}

inline void test_histogram() {
    RUN(histograms_are_counts);
    RUN(words_of_binary_columns_are_counts);
    RUN(the_three_kinds_of_sums_agree);
    RUN(the_pool_lends_as_many_as_it_has);
    RUN(impurities_are_those_of_the_papers);
    RUN(labels_that_are_no_classes_are_refused);
}

}  // namespace farthing::tests
