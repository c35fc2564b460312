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
#include <vector>

#include "common/views.hpp"
#include "optimal/column_sums.hpp"
#include "optimal/column_tests.hpp"
#include "optimal/owned_prices.hpp"
#include "optimal/pair_sums.hpp"
#include "optimal/priced_rows.hpp"

namespace farthing {

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

class ShallowSolver {
public:
    explicit ShallowSolver(const PricedRows& rows)
        : rows_(rows), width_(rows.n_labels()), columns_(rows), pairs_(rows, columns_) {}

    ShallowSolver(const ShallowSolver&) = delete;
    ShallowSolver& operator=(const ShallowSolver&) = delete;

    void load(const RowNumbers& rows) { columns_.load(rows); }
    void load(const RowTotals& known) { columns_.load(known); }

    double weight() const { return columns_.known().weight; }
    double leaf() const { return columns_.known().leaf; }  // the cost of the rows as a leaf, over that of their best labels
    RowTotals totals() const { return columns_.known(); }

    // Finds the best tree. A value of at least `limit` is only a lower bound. After depth 1 or 2, `tests` and `best`
    // hold the tests of the root; best is null if a leaf is as good.
    // IN whole: as for `ColumnSums::view`.
    double solve(const RowNumbers& rows, const OwnedPrices& prices, int depth, double limit,
                 const std::vector<double>* whole = nullptr) {
        best_ = -1;
        closed_ = std::numeric_limits<double>::infinity();
        tests_.clear();
        if (depth == 0 || leaf() == 0) return leaf();
        columns_.view(rows, prices, whole);
        list_tests();
        value_ = leaf();
        evaluate_stumps(prices);
        if (depth > 1) {
            const double most = std::min(limit, value_);
            if (open_tests(prices, most)) evaluate_pairs(rows, prices);
        }
        choose();
        return value_ < limit ? value_ : std::min(value_, closed_);
    }

    // The sums of columns at affordable prices, of the rows that were loaded if they are `summed`.
    const std::vector<double>& sums() const { return columns_.sums(); }
    bool summed() const { return columns_.summed(); }
    const std::vector<RootTest>& tests() const { return tests_; }
    const RootTest* best() const { return best_ < 0 ? nullptr : &tests_[best_]; }
    const PresentCodes& codes_of(const RootTest& test) const { return columns_.of_place(test.place).codes; }

private:
    const PricedRows& rows_;
    const index_t width_;
    ColumnSums columns_;
    PairSums pairs_;
    double value_ = 0;
    double closed_ = 0;  // no test that was not tried further costs less
    index_t best_ = -1;
    std::vector<index_t> order_, partners_;  // of views
    std::vector<RootTest> tests_;
    std::vector<double> scratch_;

    void list_tests() {
        const index_t width = width_ + 2;
        scratch_.resize(static_cast<std::size_t>(width));
        for (std::size_t view = 0; view < columns_.n_views(); ++view) {
            ColumnView& column = columns_[view];
            column.first_test = static_cast<index_t>(tests_.size());
            column.n_tests = column.codes.n_tests();
            column.left.resize(static_cast<std::size_t>(column.n_tests * width_));
            for_each_left_sum(column.codes, column.sums, width, scratch_.data(),
                              [&](int number, const double* sums) { add_test(column, number, sums); });
        }
    }

    void add_test(ColumnView& column, int number, const double* sums) {
        RootTest test;
        test.place = static_cast<std::int32_t>(column.place);
        test.test = number;
        const double* totals = columns_.totals();
        double most_left = sums[0];
        double most_right = totals[0] - sums[0];
        for (index_t label = 0; label < width_; ++label) {
            column.left[number * width_ + label] = sums[label];
            most_left = std::max(most_left, sums[label]);
            most_right = std::max(most_right, totals[label] - sums[label]);
        }
        test.weight[0] = sums[width_];
        test.weight[1] = weight() - sums[width_];
        test.most[0] = sums[width_ + 1];
        test.most[1] = columns_.known().most - test.most[0];
        test.leaf[0] = test.best[0] = test.most[0] - most_left;
        test.leaf[1] = test.best[1] = test.most[1] - most_right;
        test.codes[0] = column.codes.n_left(number);
        test.codes[1] = column.codes.n - test.codes[0];
        tests_.push_back(test);
    }

    double cost_of(const RootTest& test, const OwnedPrices& prices) const {
        return rows_.test_cost(weight(), prices.price[test.place]);
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
        for (std::size_t view = 0; view < columns_.n_views(); ++view) {
            ColumnView& column = columns_[view];
            double other = kMostCost;
            for (std::size_t second = 0; second < columns_.n_views(); ++second)
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
    bool may_follow(const ColumnView& first, const ColumnView& second, const OwnedPrices& prices) const {
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
        pairs_.place(rows);
        // Of two columns, the one of which fewer rows are read comes first.
        order_.resize(columns_.n_views());
        std::iota(order_.begin(), order_.end(), index_t{0});
        std::sort(order_.begin(), order_.end(),
                  [&](index_t a, index_t b) { return columns_[a].uncommon < columns_[b].uncommon; });
        for (auto at = order_.begin(); at != order_.end(); ++at) {
            const index_t a = *at;
            ColumnView& first = columns_[a];
            if (first.codes.n > 2 && may_follow(first, first, prices)) {
                pairs_.scan_itself(first);
                improve(first, first, prices, 0);
            }
            partners_.clear();
            std::copy_if(at + 1, order_.end(), std::back_inserter(partners_), [&](index_t b) {
                return may_follow(first, columns_[b], prices) || may_follow(columns_[b], first, prices);
            });
            if (partners_.empty()) continue;
            pairs_.count(rows, a, partners_);
            for (std::size_t j = 0; j < partners_.size(); ++j) {
                ColumnView& second = columns_[partners_[j]];
                pairs_.scan(first, second, j);
                improve(first, second, prices, 0);
                improve(second, first, prices, 2);
            }
        }
        for (RootTest& test : tests_)
            if (test.open) test.value = cost_of(test, prices) + test.best[0] + test.best[1];
    }

    // IN role: 0 if the gains of `first` as the root are gain(0) and gain(1), else 2.
    void improve(const ColumnView& first, const ColumnView& second, const OwnedPrices& prices, int role) {
        const double price = prices.after[first.place * rows_.n_columns() + second.place];
        for (index_t t = 0; t < first.n_tests; ++t) {
            RootTest& test = tests_[first.first_test + t];
            if (!test.open) continue;
            for (int side = 0; side < 2; ++side) {
                const double value = rows_.test_cost(test.weight[side], price) + test.most[side] - pairs_.gain(role + side)[t];
                test.best[side] = std::min(test.best[side], value);
            }
        }
    }

    // The first test of the least value, if that is below the cost of a leaf.
    void choose() {
        value_ = leaf();
        for (std::size_t t = 0; t < tests_.size(); ++t) {
            if (tests_[t].value >= value_) continue;
            value_ = tests_[t].value;
            best_ = static_cast<index_t>(t);
        }
    }
};

}  // namespace farthing
