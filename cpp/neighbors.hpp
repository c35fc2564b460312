// neighbors: the training rows nearest to a row in what is measured of it, and how often the vote of a linear model is
// right on them (FMCC; Nan 2018, chapter 2).
//
//     kept.values   column by column, to add one feature to all distances     feature 0: row 0, row 1, ... | feature 1: ...
//     kept.margins  row by row, to look one step ahead with all features      row 0: feature 0, 1, ... | row 1: ...
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "common.hpp"
#include "fixed.hpp"
#include "lots.hpp"
#include "random.hpp"
#include "select.hpp"

namespace farthing {

// The training rows that predictions look for their neighbours among, and the linear model that they vote by.
struct KeptRows {
    index_t n_rows = 0;
    index_t n_features = 0;
    Span<const double> values;              // (n_features, n_rows), NaN: missing
    Span<const double> margins;             // (n_rows, n_features): the label, -1 or 1, times the vote of the feature
    Span<const double> intercepts;          // (n_rows,): the label times the intercept
    double intercept = 0;
    Span<const double> scale;               // (n_features,): a squared difference counts this many times
    Span<const double> gap;                 // (n_features,): what a kept row without a value counts
    Span<const std::uint8_t> categorical;   // (n_features,)
    Span<const std::uint8_t> votes;         // (n_features,): whether the model looks at it at all
    Fixed weights;                          // (n_rows,)
    std::int64_t total = 0;                 // of the weights
    std::int64_t need = 0;                  // what a neighbourhood weighs at least; 0: rows that agree exactly
    bool by_lot = false;                    // the next feature is drawn, whatever it would gain
    std::vector<std::int64_t> ahead;        // (n_features,): weight of the rows that each feature alone sets right

    void begin() {
        total = std::accumulate(weights.values.begin(), weights.values.end(), std::int64_t{0});
        ahead.assign(static_cast<std::size_t>(n_features), 0);
        for (index_t row = 0; row < n_rows; ++row) look_ahead(row, intercepts[row], ahead.data());
    }

    // Adds the row's weight to each feature that would give it a positive margin on top of `margin`, equation 2.5.
    void look_ahead(index_t row, double margin, std::int64_t* right) const {
        const double* own = margins.data + row * n_features;
        const std::int64_t weight = weights.values[static_cast<std::size_t>(row)];
        for (index_t feature = 0; feature < n_features; ++feature) {
            right[feature] += margin + own[feature] > 0.0 ? weight : 0;
        }
    }
};

// One row's neighbourhood, which narrows with each feature that is measured.
class Neighborhood {
public:
    explicit Neighborhood(const KeptRows& kept)
        : kept_(kept), distances_(static_cast<std::size_t>(kept.n_rows)), rows_(distances_.size()),
          margins_(distances_.size()), heard_(static_cast<std::size_t>(kept.n_features)), gains_(heard_.size()),
          right_(heard_.size()) {
        start(0);
    }

    void start(std::uint64_t seed) {
        key_ = seed_key(seed);
        order_.clear();
        std::fill(heard_.begin(), heard_.end(), std::uint8_t{0});
        std::fill(distances_.begin(), distances_.end(), 0.0);
        rows_.resize(static_cast<std::size_t>(kept_.n_rows));
        std::iota(rows_.begin(), rows_.end(), index_t{0});
        vote_ = kept_.intercept;
        weight_ = kept_.total;
        accuracy_ = 0.0;
    }

    index_t n_heard() const { return static_cast<index_t>(order_.size()); }
    double vote() const { return vote_; }
    // The share of the neighbourhood that the vote so far sets right, equation 2.4; 0 before the first answer.
    double accuracy() const { return accuracy_; }
    Span<const index_t> rows() const { return view(rows_); }

    // The share that the vote would set right with one more feature, equation 2.5; NaN for those not to be had.
    Span<const double> gains() {
        if (!kept_.by_lot) count_ahead();
        for (index_t feature = 0; feature < kept_.n_features; ++feature) {
            gains_[feature] = !kept_.votes[feature] || heard_[feature] ? std::numeric_limits<double>::quiet_NaN()
                              : kept_.by_lot                           ? lot(feature)
                                             : static_cast<double>(right_[feature]) / static_cast<double>(weight_);
        }
        return view(gains_);
    }

    // IN  x: the value, NaN if it is missing; vote: what it adds to the vote.
    void hear(index_t feature, double x, double vote) {
        heard_[feature] = 1;
        order_.push_back(feature);
        vote_ += vote;
        if (!std::isnan(x)) {
            if (kept_.need == 0) {
                agree(feature, x);
            } else {
                measure(feature, x);
                find_nearest();
            }
        }
        judge();
    }

private:
    static constexpr index_t kSample = 256;  // distances that the first bound of a search is taken from

    const KeptRows& kept_;
    std::uint64_t key_ = 0;
    std::vector<double> distances_;  // (n_rows,): squared, over what is measured
    std::vector<index_t> rows_;      // the neighbourhood
    std::vector<double> margins_;    // of its rows, over what is measured; equation 2.2
    std::vector<index_t> order_;     // the features, as they came in
    std::vector<std::uint8_t> heard_;
    std::vector<double> gains_;
    std::vector<std::int64_t> right_;
    std::vector<double> sample_;
    std::vector<Weighted> near_;
    double vote_ = 0;
    std::int64_t weight_ = 0;        // of the neighbourhood
    double accuracy_ = 0;

    double lot(index_t feature) const {
        return static_cast<double>(random_bits(key_, static_cast<std::uint64_t>(feature)) >> 11) * 0x1p-53;
    }

    void count_ahead() {
        if (order_.empty()) {
            right_ = kept_.ahead;
            return;
        }
        std::fill(right_.begin(), right_.end(), std::int64_t{0});
        for (std::size_t i = 0; i < rows_.size(); ++i) kept_.look_ahead(rows_[i], margins_[i], right_.data());
    }

    // Keeps the rows with this very value; all of them if none has it.
    void agree(index_t feature, double x) {
        const double* values = kept_.values.data + feature * kept_.n_rows;
        const auto others = [&](index_t row) { return values[row] != x; };
        if (std::all_of(rows_.begin(), rows_.end(), others)) return;
        rows_.erase(std::remove_if(rows_.begin(), rows_.end(), others), rows_.end());
    }

    // Adds one feature to all distances.
    void measure(index_t feature, double x) {
        const double* values = kept_.values.data + feature * kept_.n_rows;
        const double scale = kept_.scale[feature];
        const double gap = kept_.gap[feature];
        double* distances = distances_.data();
        if (kept_.categorical[feature]) {
            for (index_t row = 0; row < kept_.n_rows; ++row) {
                const double apart = values[row] == x ? 0.0 : scale;
                distances[row] += values[row] == values[row] ? apart : gap;
            }
            return;
        }
        for (index_t row = 0; row < kept_.n_rows; ++row) {
            const double apart = values[row] - x;
            const double squared = apart * apart * scale;
            distances[row] += squared == squared ? squared : gap;  // NaN where the kept row has no value
        }
    }

    // The neighbourhood: the nearest rows that together weigh enough, and all that are as near as the last of them. A
    // bound from a sample leaves few to choose among; if it was too tight, the search takes them all.
    void find_nearest() {
        double bound = sample_bound();
        if (gather(bound) < kept_.need) gather(bound = std::numeric_limits<double>::infinity());
        const double farthest = weighted_select(near_, kept_.need);
        if (farthest == bound) return;
        const auto beyond = [&](index_t row) { return distances_[static_cast<std::size_t>(row)] > farthest; };
        rows_.erase(std::remove_if(rows_.begin(), rows_.end(), beyond), rows_.end());
    }

    double sample_bound() {
        const double share = static_cast<double>(kept_.need) / static_cast<double>(kept_.total) * kSample;
        const double rank = share + 3 * std::sqrt(share) + 3;
        if (kept_.n_rows < 4 * kSample || !(rank < kSample)) return std::numeric_limits<double>::infinity();
        const index_t stride = kept_.n_rows / kSample;
        sample_.resize(kSample);
        for (index_t i = 0; i < kSample; ++i) sample_[static_cast<std::size_t>(i)] = distances_[static_cast<std::size_t>(i * stride)];
        const auto place = sample_.begin() + static_cast<index_t>(rank);
        std::nth_element(sample_.begin(), place, sample_.end());
        return *place;
    }

    // Takes all rows within a bound; returns what they weigh.
    std::int64_t gather(double bound) {
        rows_.resize(static_cast<std::size_t>(kept_.n_rows));
        const double* distances = distances_.data();
        std::size_t n_near = 0;
        for (index_t row = 0; row < kept_.n_rows; ++row) {  // without a branch: who is near is hard to foresee
            rows_[n_near] = row;
            n_near += distances[row] <= bound;
        }
        rows_.resize(n_near);
        near_.resize(n_near);
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < n_near; ++i) {
            const auto row = static_cast<std::size_t>(rows_[i]);
            near_[i] = {distances_[row], kept_.weights.values[row]};
            sum += kept_.weights.values[row];
        }
        return sum;
    }

    void judge() {
        std::int64_t right = 0;
        weight_ = 0;
        margins_.resize(rows_.size());
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            double margin = kept_.intercepts[rows_[i]];
            const double* own = kept_.margins.data + rows_[i] * kept_.n_features;
            for (const index_t feature : order_) margin += own[feature];
            margins_[i] = margin;
            const std::int64_t weight = kept_.weights.values[static_cast<std::size_t>(rows_[i])];
            weight_ += weight;
            right += margin > 0.0 ? weight : 0;
        }
        accuracy_ = static_cast<double>(right) / static_cast<double>(weight_);
    }
};

}  // namespace farthing
