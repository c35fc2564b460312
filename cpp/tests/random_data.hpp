// random_data: random tables, targets and cost sheets, drawn by the core's own counter-based generator.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/counter_rng.hpp"
#include "common/views.hpp"
#include "grow/histogram.hpp"
#include "table/binned_table.hpp"

namespace farthing::tests {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Random {
public:
    explicit Random(std::uint64_t key) : key_(key) {}

    std::uint64_t bits() { return random_bits(key_, counter_++); }
    // An integer from 0 to n - 1.
    index_t below(index_t n) { return static_cast<index_t>(bits() % static_cast<std::uint64_t>(n)); }
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    bool chance(double p) { return uniform() < p; }

private:
    std::uint64_t key_;
    std::uint64_t counter_ = 0;
};

// A row-major table that owns its values.
struct Values {
    index_t n_rows = 0;
    index_t n_columns = 0;
    std::vector<double> data;
    std::vector<index_t> n_categories;

    Matrix<double> matrix() const { return {data.data(), n_rows, n_columns, n_columns, 1}; }
    double& at(index_t row, index_t column) { return data[row * n_columns + column]; }
    double at(index_t row, index_t column) const { return data[row * n_columns + column]; }

    BinnedTable bin(int n_threads = 1, index_t max_bins = 255) const {
        return BinnedTable::make(matrix(), view(n_categories), max_bins, 65536, n_threads);
    }
};

// Column kinds in turn: few values, many values, categories (`n_codes` of them), all missing, constant.
inline Values make_values(index_t n_rows, index_t n_columns, std::uint64_t key, double share_missing = 0.1,
                          index_t n_codes = 10) {
    Random random(key);
    Values values{n_rows, n_columns, {}, {}};
    values.data.resize(static_cast<std::size_t>(n_rows * n_columns));
    for (index_t j = 0; j < n_columns; ++j) {
        const index_t kind = j % 5;
        values.n_categories.push_back(kind == 2 ? n_codes : 0);
        for (index_t i = 0; i < n_rows; ++i) {
            double x = 7;
            if (kind == 0) x = static_cast<double>(random.below(6)) - 2;
            if (kind == 1) x = random.uniform() * 2 - 1;
            if (kind == 2) x = static_cast<double>(random.below(n_codes));
            if (kind == 3 || random.chance(share_missing)) x = kNan;
            values.at(i, j) = x;
        }
    }
    return values;
}

// Own costs 0, 1, 2, ...; features 1 and 2 share a group, as do 4 and 5.
struct Prices {
    std::vector<double> own;
    std::vector<double> shared{1.5, 0.25};
    std::vector<index_t> group_of;

    explicit Prices(index_t n_features) {
        for (index_t j = 0; j < n_features; ++j) {
            own.push_back(static_cast<double>(j % 7));
            group_of.push_back(j == 1 || j == 2 ? 0 : j == 4 || j == 5 ? 1 : -1);
        }
    }
    CostSheet sheet() const { return {view(own), view(shared), view(group_of)}; }
};

inline std::vector<double> make_numbers(index_t n, std::uint64_t key) {
    Random random(key);
    std::vector<double> numbers(static_cast<std::size_t>(n));
    for (double& x : numbers) x = random.uniform() * 2 - 1;
    return numbers;
}

inline std::vector<double> make_weights(index_t n, std::uint64_t key) {
    auto weights = make_numbers(n, key);
    for (double& w : weights) w = std::fabs(w) + 0.01;
    return weights;
}

inline std::vector<index_t> make_labels(index_t n, index_t n_classes, std::uint64_t key) {
    Random random(key);
    std::vector<index_t> labels(static_cast<std::size_t>(n));
    for (index_t& label : labels) label = random.below(n_classes);
    return labels;
}

inline std::vector<index_t> count_up(index_t n) {
    std::vector<index_t> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), index_t{0});
    return numbers;
}

// These two are all that the tests know about the memory layout of a table.
inline index_t bin_at(const BinnedTable& table, index_t row, index_t column) { return table.column(column)[row]; }

template <class Target>
void fill_all(const BinnedTable& table, const Target& target, const std::vector<index_t>& rows, std::int64_t* cells) {
    std::vector<typename Target::Row> targets;
    for (const index_t row : rows) targets.push_back(target.row(row));
    const auto columns = count_up(table.n_columns());
    for (index_t first = 0; first < table.n_columns(); first += kColumnsPerPass) {
        const index_t n = std::min(kColumnsPerPass, table.n_columns() - first);
        fill_histograms(table, target, columns.data() + first, n, rows.data(), targets.data(),
                        static_cast<index_t>(rows.size()), cells);
    }
}

}  // namespace farthing::tests
