// shallow_solver: the best tree of depth 0, 1 or 2 of some rows, by counts alone.
//
// The sums of the gains of labels by pairs of codes of two columns give those of all four leaves of a test of one
// column under a test of the other, hence, for every test at the root, the best test in each of its two children. Rows
// are read once per pair of columns, whatever the number of tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "common/views.hpp"
#include "optimal/column_tests.hpp"
#include "optimal/owned_prices.hpp"
#include "optimal/priced_rows.hpp"

namespace farthing {

using RowNumbers = std::vector<std::int32_t>;

// A test of the rows that were loaded, and what its children cost.
struct RootTest {
    std::int32_t place = -1;  // of the column among those of the rows
    std::int32_t test = 0;
    double weight[2] = {0, 0};  // of the left and of the right child
    double most[2] = {0, 0};    // the gain if every row had its best label
    double leaf[2] = {0, 0};    // cost as a leaf
    double best[2] = {0, 0};    // cost of the best tree found
    int codes[2] = {0, 0};      // of the column, in the child
    bool open = false;          // may be better than what is known
    double value = 0;           // of the test with the best children found
};

// Of some rows.
struct RowTotals {
    double weight = 0;
    double most = 0;  // the gain if every row had its best label
    double leaf = 0;  // cost as a leaf
};

class ShallowSolver {
public:
    explicit ShallowSolver(const PricedRows& rows) : rows_(rows), width_(rows.n_labels()) {
        first_cell_.push_back(0);
        for (index_t place = 0; place < rows.n_columns(); ++place)
            first_cell_.push_back(first_cell_.back() + rows.n_codes(place) * (width_ + 2));
    }

    void load(const RowNumbers& rows) {
        summed_ = false;
        totals_.assign(static_cast<std::size_t>(width_ + 2), 0.0);
        with_labels([&](auto labels) {
            for (const std::int32_t row : rows) add<labels.value, 2>(totals_.data(), rows_.terms(row));
        });
        weight_ = totals_[width_];
        most_ = totals_[width_ + 1];
        leaf_ = most_ - *std::max_element(totals_.begin(), totals_.begin() + width_);
    }

    // The same without reading the rows; the gains of labels are found with the sums of columns.
    void load(const RowTotals& known) {
        summed_ = false;
        totals_.clear();
        weight_ = known.weight;
        most_ = known.most;
        leaf_ = known.leaf;
    }

    double weight() const { return weight_; }
    double leaf() const { return leaf_; }  // the cost of the rows as a leaf, over that of their best labels
    RowTotals totals() const { return {weight_, most_, leaf_}; }

    // Finds the best tree. A value of at least `limit` is only a lower bound. After depth 1 or 2, `tests` and `best`
    // hold the tests of the root; best is null if a leaf is as good.
    // IN whole: the sums of these rows and of those that were summed last, where both are the sides of a test; or null.
    double solve(const RowNumbers& rows, const OwnedPrices& prices, int depth, double limit,
                 const std::vector<double>* whole = nullptr) {
        best_ = -1;
        closed_ = std::numeric_limits<double>::infinity();
        tests_.clear();
        if (depth == 0 || leaf_ == 0) return leaf_;
        view_columns(rows, prices, whole);
        list_tests();
        value_ = leaf_;
        evaluate_stumps(prices);
        if (depth > 1) {
            const double most = std::min(limit, value_);
            if (open_tests(prices, most)) evaluate_pairs(rows, prices);
        }
        choose();
        return value_ < limit ? value_ : std::min(value_, closed_);
    }

    // The sums of columns at affordable prices, of the rows that were loaded if they are `summed`.
    const std::vector<double>& sums() const { return sums_; }
    bool summed() const { return summed_; }
    const std::vector<RootTest>& tests() const { return tests_; }
    const RootTest* best() const { return best_ < 0 ? nullptr : &tests_[best_]; }
    const PresentCodes& codes_of(const RootTest& test) const { return columns_[view_of_[test.place]].codes; }

private:
    struct Column {
        index_t place = 0;
        PresentCodes codes;
        double* sums = nullptr;           // (codes, width + 2): gains of labels, weight, most
        std::uint8_t place_of[256];       // of each code among those that occur
        int common = 0;                   // the place of the code of most weight
        double uncommon = 0;              // the weight of the other codes
        index_t first_test = 0;
        index_t n_tests = 0;
        bool pays = false;                // as the root, with some test
        std::vector<double> left;         // (tests, width), gains on the left
    };

    const PricedRows& rows_;
    const index_t width_;
    double weight_ = 0;
    double most_ = 0;
    double leaf_ = 0;
    double value_ = 0;
    double closed_ = 0;  // no test that was not tried further costs less
    index_t best_ = -1;
    bool summed_ = false;
    std::vector<index_t> first_cell_;     // (k + 1,), where the sums of each column begin
    std::vector<double> sums_;            // by column and code, (width + 2) each
    std::vector<double> present_;         // the same of the codes that occur
    std::vector<const std::uint8_t*> tables_;  // (views,), the place of each code
    std::vector<std::uint8_t> local_;     // (rows, views), the place of each code
    std::vector<std::int32_t> uncommon_;  // rows that have not the common code of a column
    std::vector<index_t> places_, order_, partners_, cells_;  // of views, of the sums of one
    std::vector<double> totals_;  // (width + 2,), or empty until the columns are summed
    std::vector<Column> columns_;
    std::size_t n_views_ = 0;  // the columns with two codes or more, at an affordable price; others are spare
    std::vector<index_t> view_of_;
    std::vector<RootTest> tests_;
    std::vector<double> scratch_, inner_, joints_, gain_[4];

    // Calls work with the number of labels as a constant, if it is small, else with 0.
    template <class Work>
    void with_labels(Work&& work) {
        switch (width_) {
            case 2: return work(std::integral_constant<int, 2>());
            case 3: return work(std::integral_constant<int, 3>());
            case 4: return work(std::integral_constant<int, 4>());
            default: return work(std::integral_constant<int, 0>());
        }
    }

    // Adds the terms of a row, of which so many more than the labels. All are read first, so that they are added side
    // by side.
    template <int Labels, int More>
    void add(double* sums, const double* terms) const {
        if constexpr (Labels > 0) {
            double added[Labels + More];
            for (int k = 0; k < Labels + More; ++k) added[k] = sums[k] + terms[k];
            for (int k = 0; k < Labels + More; ++k) sums[k] = added[k];
        } else {
            for (index_t k = 0; k < width_ + More; ++k) sums[k] += terms[k];
        }
    }

    void view_columns(const RowNumbers& rows, const OwnedPrices& prices, const std::vector<double>* whole) {
        const index_t k = rows_.n_columns();
        view_of_.assign(static_cast<std::size_t>(k), -1);
        places_.clear();
        cells_.clear();
        for (index_t place = 0; place < k; ++place) {
            if (!(prices.price[place] < kMostCost)) continue;
            places_.push_back(place);
            cells_.push_back(first_cell_[place]);
        }
        n_views_ = places_.size();
        while (columns_.size() < n_views_) columns_.emplace_back();
        sum_columns(rows, whole);
        if (totals_.empty()) add_codes();
        std::size_t kept = 0;
        for (std::size_t view = 0; view < n_views_; ++view) {
            Column& column = columns_[kept];
            column.place = places_[view];
            if (!compact(column)) continue;
            places_[kept] = column.place;
            view_of_[column.place] = static_cast<index_t>(kept++);
        }
        n_views_ = kept;
    }

    // One side of a test is the whole less the other side, where that is less work than to add its rows.
    void sum_columns(const RowNumbers& rows, const std::vector<double>* whole) {
        const auto n_cells = static_cast<std::size_t>(first_cell_.back());
        present_.resize(n_cells);
        if (whole != nullptr && rows.size() * n_views_ * static_cast<std::size_t>(width_ + 2) > n_cells) {
            for (std::size_t i = 0; i < n_cells; ++i) sums_[i] = (*whole)[i] - sums_[i];
        } else {
            sums_.assign(n_cells, 0.0);
            with_labels([&](auto labels) { add_rows<labels.value>(rows); });
        }
        summed_ = true;
    }

    // Rows on the outside: neighbouring sums, of different columns, do not wait for each other.
    template <int Labels>
    void add_rows(const RowNumbers& rows) {
        const index_t width = (Labels > 0 ? Labels : width_) + 2;
        for (const std::int32_t row : rows) {
            const double* terms = rows_.terms(row);
            const std::uint8_t* codes = rows_.row_codes(row);
            for (std::size_t view = 0; view < n_views_; ++view)
                add<Labels, 2>(sums_.data() + cells_[view] + codes[places_[view]] * width, terms);
        }
    }

    // The totals, as the sums over the codes of one column.
    void add_codes() {
        totals_.assign(static_cast<std::size_t>(width_ + 2), 0.0);
        if (n_views_ == 0) return;  // nothing can be tested
        for (index_t code = 0; code < rows_.n_codes(places_[0]); ++code)
            for (index_t k = 0; k < width_ + 2; ++k) totals_[k] += sums_[cells_[0] + code * (width_ + 2) + k];
    }

    // Numbers the codes that occur; returns whether there are two or more.
    bool compact(Column& view) {
        const index_t width = width_ + 2;
        const index_t n_codes = rows_.n_codes(view.place);
        const double* from = sums_.data() + first_cell_[view.place];
        view.sums = present_.data() + first_cell_[view.place];
        PresentCodes& codes = view.codes;
        codes.n = 0;
        view.common = 0;
        for (index_t code = 0; code < n_codes; ++code) {
            if (!(from[code * width + width_] > 0)) continue;
            std::copy_n(from + code * width, width, view.sums + codes.n * width);
            if (view.sums[codes.n * width + width_] > view.sums[view.common * width + width_]) view.common = codes.n;
            view.place_of[code] = static_cast<std::uint8_t>(codes.n);
            codes.code[codes.n++] = static_cast<std::uint8_t>(code);
        }
        if (codes.n < 2) return false;
        view.uncommon = weight_ - view.sums[view.common * width + width_];
        rows_.describe(view.place, codes);
        return true;
    }

    void list_tests() {
        const index_t width = width_ + 2;
        scratch_.resize(static_cast<std::size_t>(width));
        for (std::size_t view = 0; view < n_views_; ++view) {
            Column& column = columns_[view];
            column.first_test = static_cast<index_t>(tests_.size());
            column.n_tests = column.codes.n_tests();
            column.left.resize(static_cast<std::size_t>(column.n_tests * width_));
            for_each_left_sum(column.codes, column.sums, width, scratch_.data(),
                              [&](int number, const double* sums) { add_test(column, number, sums); });
        }
    }

    void add_test(Column& column, int number, const double* sums) {
        RootTest test;
        test.place = static_cast<std::int32_t>(column.place);
        test.test = number;
        double most_left = sums[0];
        double most_right = totals_[0] - sums[0];
        for (index_t label = 0; label < width_; ++label) {
            column.left[number * width_ + label] = sums[label];
            most_left = std::max(most_left, sums[label]);
            most_right = std::max(most_right, totals_[label] - sums[label]);
        }
        test.weight[0] = sums[width_];
        test.weight[1] = weight_ - sums[width_];
        test.most[0] = sums[width_ + 1];
        test.most[1] = most_ - test.most[0];
        test.leaf[0] = test.best[0] = test.most[0] - most_left;
        test.leaf[1] = test.best[1] = test.most[1] - most_right;
        test.codes[0] = column.codes.n_left(number);
        test.codes[1] = column.codes.n - test.codes[0];
        tests_.push_back(test);
    }

    double cost_of(const RootTest& test, const OwnedPrices& prices) const {
        return rows_.test_cost(weight_, prices.price[test.place]);
    }

    void evaluate_stumps(const OwnedPrices& prices) {
        for (RootTest& test : tests_) {
            test.value = cost_of(test, prices) + test.leaf[0] + test.leaf[1];
            value_ = std::min(value_, test.value);
        }
    }

    // Marks the tests that may cost less than `most` with children of depth 1; returns whether there are any.
    bool open_tests(const OwnedPrices& prices, double most) {
        const index_t k = rows_.n_columns();
        bool any = false;
        for (std::size_t view = 0; view < n_views_; ++view) {
            Column& column = columns_[view];
            double other = kMostCost;
            for (std::size_t second = 0; second < n_views_; ++second)
                if (second != view) other = std::min(other, prices.after[column.place * k + columns_[second].place]);
            column.pays = false;
            for (index_t t = column.first_test; t < column.first_test + column.n_tests; ++t) {
                RootTest& test = tests_[t];
                double bound = cost_of(test, prices);
                for (int side = 0; side < 2; ++side) {
                    const double price = test.codes[side] > 1 ? 0.0 : other;
                    bound += std::min(test.leaf[side], rows_.test_cost(test.weight[side], price));
                }
                test.open = bound < most;
                if (!test.open) closed_ = std::min(closed_, bound);
                column.pays = column.pays || test.open;
            }
            any = any || column.pays;
        }
        return any;
    }

    // Whether a test of the second column may improve a child of an open test of the first.
    bool may_follow(const Column& first, const Column& second, const OwnedPrices& prices) const {
        if (!first.pays) return false;
        const double price = prices.after[first.place * rows_.n_columns() + second.place];
        for (index_t t = first.first_test; t < first.first_test + first.n_tests; ++t) {
            const RootTest& test = tests_[t];
            if (!test.open) continue;
            for (int side = 0; side < 2; ++side)
                if (test.best[side] > rows_.test_cost(test.weight[side], price)) return true;
        }
        return false;
    }

    void evaluate_pairs(const RowNumbers& rows, const OwnedPrices& prices) {
        place_rows(rows);
        // Of two columns, the one of which fewer rows are read comes first.
        order_.resize(n_views_);
        std::iota(order_.begin(), order_.end(), index_t{0});
        std::sort(order_.begin(), order_.end(),
                  [&](index_t a, index_t b) { return columns_[a].uncommon < columns_[b].uncommon; });
        for (auto at = order_.begin(); at != order_.end(); ++at) {
            const index_t a = *at;
            Column& first = columns_[a];
            if (first.codes.n > 2 && may_follow(first, first, prices)) pair_with_itself(first, prices);
            partners_.clear();
            std::copy_if(at + 1, order_.end(), std::back_inserter(partners_), [&](index_t b) {
                return may_follow(first, columns_[b], prices) || may_follow(columns_[b], first, prices);
            });
            if (partners_.empty()) continue;
            with_labels([&](auto labels) { count_pairs<labels.value>(rows, a); });
            for (std::size_t j = 0; j < partners_.size(); ++j) {
                Column& second = columns_[partners_[j]];
                scan_pair(first, second, joints_.data() + cells_[j]);
                improve(first, second, prices, 0);
                improve(second, first, prices, 2);
            }
        }
        for (RootTest& test : tests_)
            if (test.open) test.value = cost_of(test, prices) + test.best[0] + test.best[1];
    }

    void place_rows(const RowNumbers& rows) {
        tables_.resize(n_views_);
        for (std::size_t view = 0; view < n_views_; ++view) tables_[view] = columns_[view].place_of;
        local_.resize(rows.size() * n_views_);
        std::uint8_t* local = local_.data();
        const std::size_t n_views = n_views_;
        const std::uint8_t* const* tables = tables_.data();
        const index_t* places = places_.data();
        for (const std::int32_t row : rows) {
            const std::uint8_t* codes = rows_.row_codes(row);
            for (std::size_t view = 0; view < n_views; ++view) local[view] = tables[view][codes[places[view]]];
            local += n_views;
        }
    }

    // Sums of gains by the codes of a column and of each of its partners, (codes, codes of the partner, width), one
    // after another from `cells_`. Rows with the common code of the column are not read: their sums are what is left.
    template <int Labels>
    void count_pairs(const RowNumbers& rows, index_t a) {
        const index_t width = Labels > 0 ? Labels : width_;
        const std::size_t n_partners = partners_.size();
        const Column& first = columns_[a];
        uncommon_.resize(rows.size());
        std::size_t n_uncommon = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            uncommon_[n_uncommon] = static_cast<std::int32_t>(i);
            n_uncommon += local_[i * n_views_ + a] != first.common;
        }
        // By code of the column and partner, where its sums begin.
        cells_.resize(first.codes.n * n_partners);
        index_t n_cells = 0;
        for (std::size_t j = 0; j < n_partners; ++j) {
            const index_t row = columns_[partners_[j]].codes.n * width;
            for (int code = 0; code < first.codes.n; ++code, n_cells += row) cells_[code * n_partners + j] = n_cells;
        }
        joints_.assign(static_cast<std::size_t>(n_cells), 0.0);
        for (std::size_t i = 0; i < n_uncommon; ++i) {
            const std::uint8_t* local = local_.data() + uncommon_[i] * n_views_;
            const double* terms = rows_.terms(rows[uncommon_[i]]);
            const index_t* cells = cells_.data() + local[a] * n_partners;
            for (std::size_t j = 0; j < n_partners; ++j)
                add<Labels, 0>(joints_.data() + cells[j] + local[partners_[j]] * width, terms);
        }
        for (std::size_t j = 0; j < n_partners; ++j) subtract_from_sums<Labels>(first, columns_[partners_[j]], j);
    }

    template <int Labels>
    void subtract_from_sums(const Column& first, const Column& second, std::size_t j) {
        const index_t width = Labels > 0 ? Labels : width_;
        const std::size_t n_partners = partners_.size();
        double* left = joints_.data() + cells_[first.common * n_partners + j];
        for (index_t code = 0; code < second.codes.n; ++code)
            std::copy_n(second.sums + code * (width + 2), width, left + code * width);
        for (int code = 0; code < first.codes.n; ++code) {
            if (code == first.common) continue;
            const double* taken = joints_.data() + cells_[code * n_partners + j];
            for (index_t k = 0; k < second.codes.n * width; ++k) left[k] -= taken[k];
        }
    }

    void pair_with_itself(Column& column, const OwnedPrices& prices) {
        const index_t n = column.codes.n;
        joints_.assign(static_cast<std::size_t>(n * n * width_), 0.0);
        for (index_t c = 0; c < n; ++c)
            std::copy_n(column.sums + c * (width_ + 2), width_, joints_.data() + (c * n + c) * width_);
        scan_pair(column, column, joints_.data());
        improve(column, column, prices, 0);
    }

    // The most that labels gain in the leaves below each test: gain_[0] and gain_[1] by test of a, if its left or
    // right child has the best test of b; gain_[2] and gain_[3] with the columns swapped.
    // IN joint: (codes of a, codes of b, width), sums of gains.
    void scan_pair(const Column& a, const Column& b, const double* joint) {
        for (int i = 0; i < 2; ++i) gain_[i].resize(static_cast<std::size_t>(a.n_tests));
        for (int i = 2; i < 4; ++i) gain_[i].assign(static_cast<std::size_t>(b.n_tests), 0.0);
        scratch_.resize(static_cast<std::size_t>(b.codes.n * width_));
        inner_.resize(static_cast<std::size_t>(width_));
        with_labels([&](auto labels) { scan_labels<labels.value>(a, b, joint); });
    }

    template <int Labels>
    void scan_labels(const Column& a, const Column& b, const double* joint) {
        const index_t width = Labels > 0 ? Labels : width_;
        const double* totals = totals_.data();
        for_each_left_sum(a.codes, joint, b.codes.n * width, scratch_.data(), [&](int i, const double* row) {
            const double* left_a = a.left.data() + i * width;
            double best_left = 0;
            double best_right = 0;
            for_each_left_sum(b.codes, row, width, inner_.data(), [&](int j, const double* both) {
                const double* left_b = b.left.data() + j * width;
                double most[4] = {both[0], left_a[0] - both[0], left_b[0] - both[0],
                                  totals[0] - left_a[0] - left_b[0] + both[0]};
                for (index_t label = 1; label < width; ++label) {
                    const double x = both[label];
                    most[0] = std::max(most[0], x);
                    most[1] = std::max(most[1], left_a[label] - x);
                    most[2] = std::max(most[2], left_b[label] - x);
                    most[3] = std::max(most[3], totals[label] - left_a[label] - left_b[label] + x);
                }
                best_left = std::max(best_left, most[0] + most[1]);
                best_right = std::max(best_right, most[2] + most[3]);
                gain_[2][j] = std::max(gain_[2][j], most[0] + most[2]);
                gain_[3][j] = std::max(gain_[3][j], most[1] + most[3]);
            });
            gain_[0][i] = best_left;
            gain_[1][i] = best_right;
        });
    }

    // IN role: 0 if the gains of `first` as the root are gain_[0] and gain_[1], else 2.
    void improve(const Column& first, const Column& second, const OwnedPrices& prices, int role) {
        const double price = prices.after[first.place * rows_.n_columns() + second.place];
        for (index_t t = 0; t < first.n_tests; ++t) {
            RootTest& test = tests_[first.first_test + t];
            if (!test.open) continue;
            for (int side = 0; side < 2; ++side) {
                const double value = rows_.test_cost(test.weight[side], price) + test.most[side] - gain_[role + side][t];
                test.best[side] = std::min(test.best[side], value);
            }
        }
    }

    // The first test of the least value, if that is below the cost of a leaf.
    void choose() {
        value_ = leaf_;
        for (std::size_t t = 0; t < tests_.size(); ++t) {
            if (tests_[t].value >= value_) continue;
            value_ = tests_[t].value;
            best_ = static_cast<index_t>(t);
        }
    }
};

}  // namespace farthing
