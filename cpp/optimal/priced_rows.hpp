// priced_rows: the rows of a tree search, reduced to what can matter for the least total cost.
//
// All costs are multiples of one unit, a power of two, and are held as integers in doubles below 2^52: sums are exact
// in any order, and doubles have fast maxima. A column that cannot pay for itself anywhere is left out, and rows that
// agree on all others are merged, which leaves even fewer columns that can.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/views.hpp"
#include "optimal/column_tests.hpp"

namespace farthing {

// A column cannot cost more than this in one node; sums of a few stay exact.
constexpr double kMostCost = 2251799813685248.0;  // 2^51

// Rounds to an integer; exact below 2^51.
inline double round_steps(double x) {
    constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52
    return (x + magic) - magic;
}

struct SearchColumns {
    Span<const std::uint8_t> codes;         // (k, n), column by column
    Span<const std::uint8_t> kinds;         // (k,), a TestKind
    Span<const index_t> n_codes;            // (k,), missing values included
    Span<const index_t> missing;            // (k,), the code of missing values of ordered columns, or -1
};

// What is minimised: costs of labels plus factor * price plus a penalty for every test.
struct SearchCosts {
    Span<const double> labels;   // (n, n_labels), the cost of each label for each row, with its weight
    Span<const double> weights;  // (n,)
    index_t n_labels = 0;
    CostSheet sheet;
    double factor = 1;
    double budget = std::numeric_limits<double>::infinity();
    double penalty = 0;
    Span<const double> guesses;  // (n,), what each row costs by a guess, with its weight; empty: no guess
};

class PricedRows {
public:
    PricedRows(const SearchColumns& given, const SearchCosts& costs) : n_labels_(costs.n_labels) {
        const index_t n = costs.weights.size;
        choose_unit(costs, n);
        penalty_ = std::min(round_steps(costs.penalty / unit_), kMostCost);
        factor_ = costs.factor / unit_;
        kept_.resize(static_cast<std::size_t>(costs.sheet.n_features()));
        std::iota(kept_.begin(), kept_.end(), index_t{0});
        start(given, costs, n);
        drop_unaffordable(costs);
        merge();
        while (drop_unpaying(costs)) merge();
        finish(given);
    }

    index_t n_rows() const { return static_cast<index_t>(weight_.size()); }
    index_t n_columns() const { return static_cast<index_t>(kept_.size()); }
    index_t n_labels() const { return n_labels_; }
    index_t column(index_t place) const { return kept_[place]; }  // its number in the given table
    const std::uint8_t* codes(index_t place) const { return codes_[place].data(); }
    index_t n_codes(index_t place) const { return n_codes_[place]; }
    // Sets how a column is tested where the codes that occur are known.
    void describe(index_t place, PresentCodes& codes) const {
        codes.kind = kinds_[place];
        codes.missing = is_ordered(codes.kind) && codes.n > 0 && codes.code[codes.n - 1] == missing_[place];
    }
    double weight(index_t row) const { return weight_[row]; }
    // The codes of a row, (k,), side by side.
    const std::uint8_t* row_codes(index_t row) const { return row_codes_.data() + row * n_columns(); }
    // What is summed over rows, (n_labels + 2,): what each label gains over the most expensive one, the weight, and the
    // largest gain.
    const double* terms(index_t row) const { return terms_.data() + row * (n_labels_ + 2); }

    // The cost of a test of some rows, in steps.   IN price: per unit of weight.
    double test_cost(double weight, double price) const {
        return std::min(round_steps(weight * price), kMostCost) + penalty_;
    }
    double factor() const { return factor_; }            // steps per unit of weight and price
    double floor() const { return floor_; }              // steps that no tree avoids
    double to_cost(double steps) const { return steps * unit_; }
    bool has_guesses() const { return !guess_.empty(); }
    double guess(index_t row) const { return guess_[row]; }  // steps over those that no tree avoids

private:
    index_t n_labels_;
    double unit_ = 1;
    double factor_ = 1;
    double penalty_ = 0;
    double floor_ = 0;
    std::vector<index_t> kept_;
    std::vector<std::vector<std::uint8_t>> codes_;  // by kept column
    std::vector<TestKind> kinds_;
    std::vector<index_t> n_codes_;
    std::vector<index_t> missing_;
    std::vector<double> weight_;
    std::vector<double> cost_;  // (n, n_labels) steps
    std::vector<double> guess_;
    std::vector<std::uint8_t> row_codes_;  // (n, k)
    std::vector<double> terms_;            // (n, n_labels + 2)

    void choose_unit(const SearchCosts& costs, index_t n) {
        double total = 0;
        for (index_t row = 0; row < n; ++row) {
            const double* of = costs.labels.data + row * n_labels_;
            total += *std::max_element(of, of + n_labels_);
        }
        unit_ = unit_of(total);
    }

    // The power of two of which a total is less than 2^49.
    static double unit_of(double total) {
        int magnitude = 0;
        std::frexp(total, &magnitude);
        return total > 0 ? std::ldexp(1.0, magnitude - 49) : 1.0;
    }

    void start(const SearchColumns& given, const SearchCosts& costs, index_t n) {
        for (const index_t column : kept_) {
            const std::uint8_t* from = given.codes.data + column * n;
            codes_.emplace_back(from, from + n);
        }
        weight_.assign(costs.weights.begin(), costs.weights.end());
        // Weights on a grid of their own, so that their sums are exact, too.
        const double weight_unit = unit_of(std::accumulate(weight_.begin(), weight_.end(), 0.0));
        for (double& weight : weight_) weight = round_steps(weight / weight_unit) * weight_unit;
        cost_.resize(static_cast<std::size_t>(n * n_labels_));
        for (index_t i = 0; i < n * n_labels_; ++i) cost_[i] = round_steps(costs.labels[i] / unit_);
        for (const double guess : costs.guesses) guess_.push_back(round_steps(guess / unit_));
    }

    template <class Stays>
    bool keep_if(Stays&& stays) {
        index_t n = 0;
        for (index_t place = 0; place < n_columns(); ++place) {
            if (!stays(kept_[place])) continue;
            if (n != place) {
                kept_[n] = kept_[place];
                codes_[n] = std::move(codes_[place]);
            }
            ++n;
        }
        const bool dropped = n < n_columns();
        kept_.resize(static_cast<std::size_t>(n));
        codes_.resize(static_cast<std::size_t>(n));
        return dropped;
    }

    void drop_unaffordable(const SearchCosts& costs) {
        const OwnedFeatures none(costs.sheet);
        keep_if([&](index_t column) { return affords(costs.sheet, none, column, costs.budget); });
    }

    // A test of rows of weight W costs at least W times the least price of its column, and saves at most W times the
    // mean cost of the best label, which a mixture of labels bounds for any set of rows.
    bool drop_unpaying(const SearchCosts& costs) {
        const double most_saved = mean_label_cost() * (1 + 1e-9);
        const double infinity = std::numeric_limits<double>::infinity();
        const CostSheet& sheet = costs.sheet;
        std::vector<double> cheapest(static_cast<std::size_t>(sheet.shared.size), infinity);
        std::vector<int> members(static_cast<std::size_t>(sheet.shared.size), 0);
        for (const index_t column : kept_) {
            const index_t group = sheet.group_of[column];
            if (group < 0) continue;
            cheapest[group] = std::min(cheapest[group], sheet.own[column]);
            ++members[group];
        }
        return keep_if([&](index_t column) {
            const index_t group = sheet.group_of[column];
            double least = sheet.own[column];
            if (group >= 0) {
                // Whichever of the group is bought first pays for it, and all that follows saves no more.
                if ((cheapest[group] + sheet.shared[group]) * factor_ > most_saved) return false;
                if (members[group] == 1) least += sheet.shared[group];
            }
            return least * factor_ <= most_saved;
        });
    }

    // A bound on the mean excess cost, per weight, of the best label of any rows: that of a mixture of labels.
    double mean_label_cost() const {
        std::vector<double> worst(static_cast<std::size_t>(n_labels_), 0.0);
        std::vector<double> excess(cost_.size());  // (n, n_labels), costs over that of the best label, per weight
        for (index_t row = 0; row < n_rows(); ++row) {
            const double* of = cost_.data() + row * n_labels_;
            double* over = excess.data() + row * n_labels_;
            const double* best = std::min_element(of, of + n_labels_);
            double most = 0;
            for (index_t label = 0; label < n_labels_; ++label) {
                over[label] = (of[label] - *best) / weight_[row];
                most = std::max(most, over[label]);
            }
            worst[best - of] = std::max(worst[best - of], most);
        }
        std::vector<index_t> order;
        for (index_t label = 0; label < n_labels_; ++label)
            if (worst[label] > 0) order.push_back(label);
        std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return worst[a] > worst[b]; });
        double least = bound_of(std::vector<double>(worst.size(), 1.0 / static_cast<double>(n_labels_)), excess);
        // If errors on class k cost e_k, the shares 1 - v / e_k of the labels make all classes cost v.
        double inverse = 0;
        for (std::size_t m = 0; m < order.size(); ++m) {
            inverse += 1 / worst[order[m]];
            const double value = static_cast<double>(m) / inverse;
            std::vector<double> shares(worst.size(), 0.0);
            double sum = 0;
            for (std::size_t i = 0; i <= m; ++i)
                sum += shares[order[i]] = std::max(0.0, 1 - value / worst[order[i]]);
            for (double& share : shares) share /= sum;
            least = std::min(least, bound_of(shares, excess));
        }
        return least;
    }

    static double bound_of(const std::vector<double>& shares, const std::vector<double>& excess) {
        double bound = 0;
        for (auto of = excess.begin(); of != excess.end(); of += static_cast<index_t>(shares.size()))
            bound = std::max(bound, std::inner_product(shares.begin(), shares.end(), of, 0.0));
        return bound;
    }

    // Joins rows that agree on all columns that are kept, in the order of their first row.
    void merge() {
        const index_t n = n_rows();
        std::size_t size = 16;
        while (size < 2 * static_cast<std::size_t>(n)) size *= 2;
        std::vector<std::int32_t> slots(size, -1);
        index_t n_merged = 0;
        const auto same = [&](index_t a, index_t b) {
            for (const auto& column : codes_)
                if (column[a] != column[b]) return false;
            return true;
        };
        for (index_t row = 0; row < n; ++row) {
            std::uint64_t hash = 1469598103934665603u;
            for (const auto& column : codes_) hash = (hash ^ column[row]) * 1099511628211u;
            hash ^= hash >> 29;
            std::size_t slot = hash & (size - 1);
            while (slots[slot] >= 0 && !same(slots[slot], row)) slot = (slot + 1) & (size - 1);
            if (slots[slot] < 0) {
                slots[slot] = static_cast<std::int32_t>(n_merged);
                move_row(row, n_merged++);
                continue;
            }
            const index_t to = slots[slot];
            weight_[to] += weight_[row];
            if (has_guesses()) guess_[to] += guess_[row];
            for (index_t label = 0; label < n_labels_; ++label)
                cost_[to * n_labels_ + label] += cost_[row * n_labels_ + label];
        }
        for (auto& column : codes_) column.resize(static_cast<std::size_t>(n_merged));
        weight_.resize(static_cast<std::size_t>(n_merged));
        if (has_guesses()) guess_.resize(static_cast<std::size_t>(n_merged));
        cost_.resize(static_cast<std::size_t>(n_merged * n_labels_));
    }

    void move_row(index_t from, index_t to) {
        if (from == to) return;
        for (auto& column : codes_) column[to] = column[from];
        weight_[to] = weight_[from];
        if (has_guesses()) guess_[to] = guess_[from];
        std::copy_n(cost_.begin() + from * n_labels_, n_labels_, cost_.begin() + to * n_labels_);
    }

    void finish(const SearchColumns& given) {
        for (const index_t column : kept_) {
            kinds_.push_back(static_cast<TestKind>(given.kinds[column]));
            n_codes_.push_back(given.n_codes[column]);
            missing_.push_back(given.missing[column]);
        }
        const index_t k = n_columns();
        row_codes_.resize(static_cast<std::size_t>(n_rows() * k));
        terms_.resize(static_cast<std::size_t>(n_rows() * (n_labels_ + 2)));
        for (index_t row = 0; row < n_rows(); ++row) {
            for (index_t place = 0; place < k; ++place) row_codes_[row * k + place] = codes_[place][row];
            const double* of = cost_.data() + row * n_labels_;
            const auto [least, worst] = std::minmax_element(of, of + n_labels_);
            floor_ += *least;
            if (has_guesses()) guess_[row] = std::max(0.0, guess_[row] - *least);
            double* terms = terms_.data() + row * (n_labels_ + 2);
            for (index_t label = 0; label < n_labels_; ++label) terms[label] = *worst - of[label];
            terms[n_labels_] = weight_[row];
            terms[n_labels_ + 1] = *worst - *least;
        }
    }
};

}  // namespace farthing
