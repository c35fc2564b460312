// column_sums: what some rows sum up to, in total and by the codes of each column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/views.hpp"
#include "optimal/column_tests.hpp"
#include "optimal/label_terms.hpp"
#include "optimal/owned_prices.hpp"
#include "optimal/priced_rows.hpp"

namespace farthing {

using RowNumbers = std::vector<std::int32_t>;

// Of some rows.
struct RowTotals {
    double weight = 0;
    double most = 0;  // the gain if every row had its best label
    double leaf = 0;  // cost as a leaf
};

// A column of which the rows have two codes or more, at an affordable price.
struct ColumnView {
    index_t place = 0;
    PresentCodes codes;
    double* sums = nullptr;      // (codes, n_labels + 2): gains of labels, weight, most
    std::uint8_t place_of[256];  // of each code among those that occur
    int common = 0;              // the place of the code of most weight
    double uncommon = 0;         // the weight of the other codes
    // Its tests, among those of all columns.
    index_t first_test = 0;
    index_t n_tests = 0;
    bool pays = false;         // as the root, with some test
    std::vector<double> left;  // (tests, n_labels), gains on the left
};

class ColumnSums {
public:
    explicit ColumnSums(const PricedRows& rows) : rows_(rows), width_(rows.n_labels()) {
        first_cell_.push_back(0);
        for (index_t place = 0; place < rows.n_columns(); ++place)
            first_cell_.push_back(first_cell_.back() + rows.n_codes(place) * (width_ + 2));
    }

    void load(const RowNumbers& rows) {
        summed_ = false;
        totals_.assign(static_cast<std::size_t>(width_ + 2), 0.0);
        with_labels(width_, [&](auto labels) {
            for (const std::int32_t row : rows) add_terms<labels.value, 2>(width_, totals_.data(), rows_.terms(row));
        });
        known_.weight = totals_[width_];
        known_.most = totals_[width_ + 1];
        known_.leaf = known_.most - *std::max_element(totals_.begin(), totals_.begin() + width_);
    }

    // The same without reading the rows; the gains of labels are found with the sums of columns.
    void load(const RowTotals& known) {
        summed_ = false;
        totals_.clear();
        known_ = known;
    }

    // Sums the rows that were loaded by the columns at affordable prices.
    // IN whole: the sums of these rows and of those that were summed last, where both are the sides of a test; or null.
    void view(const RowNumbers& rows, const OwnedPrices& prices, const std::vector<double>* whole) {
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
        sum(rows, whole);
        if (totals_.empty()) add_codes();
        std::size_t kept = 0;
        for (std::size_t view = 0; view < n_views_; ++view) {
            ColumnView& column = columns_[kept];
            column.place = places_[view];
            if (!compact(column)) continue;
            places_[kept] = column.place;
            view_of_[column.place] = static_cast<index_t>(kept++);
        }
        n_views_ = kept;
    }

    const RowTotals& known() const { return known_; }
    const double* totals() const { return totals_.data(); }  // (n_labels + 2,), after `view`
    const std::vector<double>& sums() const { return sums_; }
    bool summed() const { return summed_; }  // whether the sums are those of the rows that were loaded
    std::size_t n_views() const { return n_views_; }
    ColumnView& operator[](std::size_t view) { return columns_[view]; }
    const ColumnView& operator[](std::size_t view) const { return columns_[view]; }
    const ColumnView& of_place(index_t place) const { return columns_[view_of_[place]]; }

private:
    const PricedRows& rows_;
    const index_t width_;
    RowTotals known_;
    bool summed_ = false;
    std::vector<index_t> first_cell_;  // (k + 1,), where the sums of each column begin
    std::vector<double> sums_;         // by column and code, (n_labels + 2) each
    std::vector<double> present_;      // the same of the codes that occur
    std::vector<index_t> places_, cells_;  // of the columns, of their sums
    std::vector<double> totals_;           // or empty until the columns are summed
    std::vector<ColumnView> columns_;      // those after n_views_ are spare
    std::size_t n_views_ = 0;
    std::vector<index_t> view_of_;  // (k,), or -1

    // One side of a test is the whole less the other side, where that is less work than to add its rows.
    void sum(const RowNumbers& rows, const std::vector<double>* whole) {
        const auto n_cells = static_cast<std::size_t>(first_cell_.back());
        present_.resize(n_cells);
        if (whole != nullptr && rows.size() * n_views_ * static_cast<std::size_t>(width_ + 2) > n_cells) {
            for (std::size_t i = 0; i < n_cells; ++i) sums_[i] = (*whole)[i] - sums_[i];
        } else {
            sums_.assign(n_cells, 0.0);
            with_labels(width_, [&](auto labels) { add_rows<labels.value>(rows); });
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
                add_terms<Labels, 2>(width_, sums_.data() + cells_[view] + codes[places_[view]] * width, terms);
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
    bool compact(ColumnView& view) {
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
        view.uncommon = known_.weight - view.sums[view.common * width + width_];
        rows_.describe(view.place, codes);
        return true;
    }
};

}  // namespace farthing
