// pair_sums: the gains of labels by pairs of codes of two columns, and the most that they allow in the four leaves of a
// test of one column under a test of the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/views.hpp"
#include "optimal/column_sums.hpp"
#include "optimal/column_tests.hpp"
#include "optimal/label_terms.hpp"
#include "optimal/priced_rows.hpp"

namespace farthing {

class PairSums {
public:
    PairSums(const PricedRows& rows, const ColumnSums& columns)
        : rows_(rows), columns_(columns), width_(rows.n_labels()) {}

    // Notes the place of each code of some rows.
    void place(const RowNumbers& rows) {
        const std::size_t n = rows.size();
        local_.resize(n * columns_.n_views());
        for (std::size_t view = 0; view < columns_.n_views(); ++view) {
            const std::uint8_t* place_of = columns_[view].place_of;
            const std::uint8_t* codes = rows_.codes(columns_[view].place);
            const std::int32_t* row = rows.data();
            std::uint8_t* local = local_.data() + view * n;
            for (std::size_t i = 0; i < n; ++i) local[i] = place_of[codes[row[i]]];
        }
    }

    // Counts a column with each of some partners; `scan` then takes them by their number.
    void count(const RowNumbers& rows, index_t a, const std::vector<index_t>& partners) {
        with_labels(width_, [&](auto labels) { count_labels<labels.value>(rows, a, partners); });
    }

    // The most that labels gain below each test: of a if its left (0) or right (1) child has the best test of b, of b
    // if its left (2) or right (3) child has the best of a.   IN j: the number of the partner b.
    void scan(const ColumnView& a, const ColumnView& b, std::size_t j) { scan_joint(a, b, joints_.data() + cells_[j]); }

    // The same of a column under itself.
    void scan_itself(const ColumnView& column) {
        const index_t n = column.codes.n;
        joints_.assign(static_cast<std::size_t>(n * n * width_), 0.0);
        for (index_t c = 0; c < n; ++c)
            std::copy_n(column.sums + c * (width_ + 2), width_, joints_.data() + (c * n + c) * width_);
        scan_joint(column, column, joints_.data());
    }

    const std::vector<double>& gain(int which) const { return gain_[which]; }  // (tests,)

private:
    const PricedRows& rows_;
    const ColumnSums& columns_;
    const index_t width_;
    std::vector<std::uint8_t> local_;     // (views, rows), the place of each code
    std::vector<const std::uint8_t*> partner_places_;  // (partners,), those of each
    std::vector<std::int32_t> uncommon_;  // rows that have not the common code of a column
    std::vector<index_t> cells_;          // by code of the column and partner, where its sums begin
    std::vector<double> joints_;          // (codes, codes of the partner, n_labels), one after another
    std::vector<double> scratch_, inner_, gain_[4];

    // Rows with the common code of the column are not read: their sums are what is left.
    template <int Labels>
    void count_labels(const RowNumbers& rows, index_t a, const std::vector<index_t>& partners) {
        const index_t width = Labels > 0 ? Labels : width_;
        const std::size_t n_partners = partners.size();
        const ColumnView& first = columns_[a];
        const std::uint8_t* places = local_.data() + a * static_cast<index_t>(rows.size());
        uncommon_.resize(rows.size());
        std::size_t n_uncommon = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            uncommon_[n_uncommon] = static_cast<std::int32_t>(i);
            n_uncommon += places[i] != first.common;
        }
        partner_places_.clear();
        for (const index_t b : partners) partner_places_.push_back(local_.data() + b * static_cast<index_t>(rows.size()));
        cells_.resize(first.codes.n * n_partners);
        index_t n_cells = 0;
        for (std::size_t j = 0; j < n_partners; ++j) {
            const index_t row = columns_[partners[j]].codes.n * width;
            for (int code = 0; code < first.codes.n; ++code, n_cells += row) cells_[code * n_partners + j] = n_cells;
        }
        joints_.assign(static_cast<std::size_t>(n_cells), 0.0);
        for (std::size_t i = 0; i < n_uncommon; ++i) {
            const std::int32_t at = uncommon_[i];
            const double* terms = rows_.terms(rows[at]);
            const index_t* cells = cells_.data() + places[at] * n_partners;
            for (std::size_t j = 0; j < n_partners; ++j)
                add_terms<Labels, 0>(width_, joints_.data() + cells[j] + partner_places_[j][at] * width, terms);
        }
        for (std::size_t j = 0; j < n_partners; ++j)
            subtract_from_sums<Labels>(first, columns_[partners[j]], cells_.data() + j, n_partners);
    }

    // IN cells: of each code of the first column, `step` apart.
    template <int Labels>
    void subtract_from_sums(const ColumnView& first, const ColumnView& second, const index_t* cells, std::size_t step) {
        const index_t width = Labels > 0 ? Labels : width_;
        double* left = joints_.data() + cells[first.common * step];
        for (index_t code = 0; code < second.codes.n; ++code)
            std::copy_n(second.sums + code * (width + 2), width, left + code * width);
        for (int code = 0; code < first.codes.n; ++code) {
            if (code == first.common) continue;
            const double* taken = joints_.data() + cells[code * step];
            for (index_t k = 0; k < second.codes.n * width; ++k) left[k] -= taken[k];
        }
    }

    // IN joint: (codes of a, codes of b, n_labels), sums of gains.
    void scan_joint(const ColumnView& a, const ColumnView& b, const double* joint) {
        for (int i = 0; i < 2; ++i) gain_[i].resize(static_cast<std::size_t>(a.n_tests));
        for (int i = 2; i < 4; ++i) gain_[i].assign(static_cast<std::size_t>(b.n_tests), 0.0);
        scratch_.resize(static_cast<std::size_t>(b.codes.n * width_));
        inner_.resize(static_cast<std::size_t>(width_));
        with_labels(width_, [&](auto labels) { scan_labels<labels.value>(a, b, joint); });
    }

    template <int Labels>
    void scan_labels(const ColumnView& a, const ColumnView& b, const double* joint) {
        const index_t width = Labels > 0 ? Labels : width_;
        const double* totals = columns_.totals();
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
};

}  // namespace farthing
