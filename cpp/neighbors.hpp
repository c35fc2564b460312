// neighbors: the training rows nearest to a row in what is measured of it, and how often the vote of a linear model is
// right on them (FMCC; Nan 2018, chapter 2).
//
//     kept.values   column by column, to add one feature to all distances     feature 0: row 0, row 1, ... | feature 1: ...
//     kept.margins  row by row, to look one step ahead with all features      row 0: feature 0, 1, ... | row 1: ...
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "common.hpp"
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
    std::vector<double> weights;            // (n_rows,): on a grid on which their sums are exact, see on_grid
    double total = 0;                       // of the weights
    double need = 0;                        // what a neighbourhood weighs at least; 0: rows that agree exactly
    bool by_lot = false;                    // the next feature is drawn, whatever it would gain
    bool plain = false;                     // all weights are 1
    std::vector<std::uint8_t> whole;        // (n_features,): whether all values are finite
    std::vector<double> ahead;              // (n_features,): weight of the rows that each feature alone sets right

    void begin() {
        total = std::accumulate(weights.begin(), weights.end(), 0.0);
        plain = std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 1.0; });
        ahead.assign(static_cast<std::size_t>(n_features), 0.0);
        for (index_t row = 0; row < n_rows; ++row) look_ahead(row, intercepts[row], ahead.data());
        whole.clear();
        for (index_t feature = 0; feature < n_features; ++feature) {
            const double* own = values.data + feature * n_rows;
            whole.push_back(std::all_of(own, own + n_rows, [](double x) { return std::isfinite(x); }));
        }
    }

    // Adds the row's weight to each feature that would give it a positive margin on top of `margin`, equation 2.5.
    void look_ahead(index_t row, double margin, double* right) const {
        const double* own = margins.data + row * n_features;
        const double weight = weights[static_cast<std::size_t>(row)];
        for (index_t feature = 0; feature < n_features; ++feature) {
            right[feature] += margin + own[feature] > 0.0 ? weight : 0.0;
        }
    }
};

// One row's neighbourhood, which narrows with each feature that is measured.
class Neighborhood {
public:
    explicit Neighborhood(const KeptRows& kept)
        : kept_(kept), distances_(static_cast<std::size_t>(kept.n_rows)), rows_(distances_.size()),
          margins_(distances_.size()), heard_(static_cast<std::size_t>(kept.n_features)), gains_(heard_.size()),
          right_(heard_.size()), sample_(kSample) {
        start(0);
    }

    void start(std::uint64_t seed) {
        key_ = seed_key(seed);
        order_.clear();
        std::fill(heard_.begin(), heard_.end(), std::uint8_t{0});
        std::fill(distances_.begin(), distances_.end(), 0.0);
        std::iota(rows_.begin(), rows_.end(), index_t{0});
        n_near_ = kept_.n_rows;
        vote_ = kept_.intercept;
        weight_ = kept_.total;
        accuracy_ = 0.0;
    }

    index_t n_heard() const { return static_cast<index_t>(order_.size()); }
    double vote() const { return vote_; }
    // The share of the neighbourhood that the vote so far sets right, equation 2.4; 0 before the first answer.
    double accuracy() const { return accuracy_; }
    Span<const index_t> rows() const { return {rows_.data(), n_near_}; }

    // The share that the vote would set right with one more feature, equation 2.5; NaN for those not to be had.
    Span<const double> gains() {
        if (!kept_.by_lot) count_ahead();
        for (index_t feature = 0; feature < kept_.n_features; ++feature) {
            const bool open = kept_.votes[feature] && !heard_[feature];
            gains_[feature] = !open          ? std::numeric_limits<double>::quiet_NaN()
                              : kept_.by_lot ? lot(feature)
                                             : right_[feature] / weight_;
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
    typedef double Pair __attribute__((vector_size(16)));
    static constexpr double kEverywhere = std::numeric_limits<double>::infinity();

    const KeptRows& kept_;
    std::uint64_t key_ = 0;
    std::vector<double> distances_;  // (n_rows,): squared, over what is measured
    std::vector<index_t> rows_;      // the neighbourhood: the first n_near_ of them
    index_t n_near_ = 0;
    std::vector<double> margins_;    // of its rows, over what is measured; equation 2.2
    std::vector<index_t> order_;     // the features, as they came in
    std::vector<std::uint8_t> heard_;
    std::vector<double> gains_;
    std::vector<double> right_;
    std::vector<double> sample_;
    std::vector<double> near_;       // distances to choose among
    std::vector<double> bucket_;
    std::vector<Weighted> weighted_;
    double vote_ = 0;
    double weight_ = 0;              // of the neighbourhood
    double accuracy_ = 0;

    static Pair both(double x) { return Pair{x, x}; }
    static Pair load(const double* from) {
        Pair loaded;
        std::memcpy(&loaded, from, sizeof(Pair));
        return loaded;
    }

    double lot(index_t feature) const {
        return static_cast<double>(random_bits(key_, static_cast<std::uint64_t>(feature)) >> 11) * 0x1p-53;
    }

    void count_ahead() {
        if (order_.empty()) {
            right_ = kept_.ahead;
            return;
        }
        std::fill(right_.begin(), right_.end(), 0.0);
        for (index_t i = 0; i < n_near_; ++i) kept_.look_ahead(rows_[i], margins_[i], right_.data());
    }

    // Keeps the rows of the neighbourhood that pass, without a branch: who does is hard to foresee.
    template <class Passes>
    void keep(Passes&& passes) {
        index_t n_kept = 0;
        for (index_t i = 0; i < n_near_; ++i) {
            rows_[n_kept] = rows_[i];
            n_kept += passes(rows_[i]);
        }
        n_near_ = n_kept;
    }

    // Keeps the rows with this very value; all of them if none has it.
    void agree(index_t feature, double x) {
        const double* values = kept_.values.data + feature * kept_.n_rows;
        const auto same = [&](index_t row) { return values[row] == x; };
        if (std::any_of(rows_.begin(), rows_.begin() + n_near_, same)) keep(same);
    }

    // Adds one feature to all distances, and takes the rows that may be among the nearest.
    void measure(index_t feature, double x) {
        const Pair here = both(x);
        const Pair scale = both(kept_.scale[feature]);
        const Pair gap = both(kept_.gap[feature]);
        const double* values = kept_.values.data + feature * kept_.n_rows;
        if (kept_.categorical[feature]) {
            add(values, [=](Pair y) { return y == y ? (y == here ? both(0.0) : scale) : gap; });
        } else if (kept_.whole[static_cast<std::size_t>(feature)]) {
            add(values, [=](Pair y) { return (y - here) * (y - here) * scale; });
        } else {
            add(values, [=](Pair y) {
                const Pair squared = (y - here) * (y - here) * scale;
                return squared == squared ? squared : gap;  // NaN where the kept row has no value
            });
        }
    }

    template <class Apart>
    void add(const double* values, Apart apart) {
        const double bound = sample_bound(values, apart);
        const Pair limit = both(bound);
        double* distances = distances_.data();
        n_near_ = 0;
        index_t row = 0;
        for (; row + 8 <= kept_.n_rows; row += 8) {  // most blocks have no row that is near
            decltype(limit <= limit) near{};
            for (index_t i = row; i < row + 8; i += 2) {
                const Pair far = load(distances + i) + apart(load(values + i));
                std::memcpy(distances + i, &far, sizeof(Pair));
                near |= far <= limit;
            }
            if ((near[0] | near[1]) != 0) take(row, row + 8, bound);
        }
        const index_t rest = row;
        for (; row < kept_.n_rows; ++row) distances[row] += apart(both(values[row]))[0];
        take(rest, kept_.n_rows, bound);
    }

    // Takes the rows of a range that lie within a bound, without a branch: who is near is hard to foresee.
    void take(index_t begin, index_t end, double bound) {
        index_t n_near = n_near_;
        for (index_t row = begin; row < end; ++row) {
            rows_[n_near] = row;
            n_near += distances_[row] <= bound;
        }
        n_near_ = n_near;
    }

    // A distance within which there are probably enough rows, but not many more, from a sample of them.
    template <class Apart>
    double sample_bound(const double* values, Apart apart) {
        const double share = kept_.need / kept_.total * kSample;
        const double rank = share + 3 * std::sqrt(share) + 3;
        if (kept_.n_rows < 4 * kSample || !(rank < kSample)) return kEverywhere;
        const index_t stride = kept_.n_rows / kSample;
        for (index_t i = 0; i < kSample; ++i) sample_[i] = distances_[i * stride] + apart(both(values[i * stride]))[0];
        const auto place = sample_.begin() + static_cast<index_t>(rank);
        if (rank < kSample / 8) {  // a heap of the few smallest is faster
            std::partial_sort(sample_.begin(), place + 1, sample_.end());
        } else {
            std::nth_element(sample_.begin(), place, sample_.end());
        }
        return *place;
    }

    // The neighbourhood: the nearest rows that together weigh enough, and all that are as near as the last of them. If
    // the bound was too tight, the search takes them all.
    void find_nearest() {
        if (weigh() < kept_.need) {
            n_near_ = 0;
            take(0, kept_.n_rows, kEverywhere);
        }
        const double farthest = last_needed();
        keep([&](index_t row) { return distances_[row] <= farthest; });
    }

    double weigh() const {
        if (kept_.plain) return static_cast<double>(n_near_);
        double sum = 0.0;
        for (index_t i = 0; i < n_near_; ++i) sum += kept_.weights[static_cast<std::size_t>(rows_[i])];
        return sum;
    }

    // The distance up to which rows weigh enough.
    double last_needed() {
        if (kept_.plain) {
            near_.resize(static_cast<std::size_t>(n_near_));
            for (index_t i = 0; i < n_near_; ++i) near_[i] = distances_[rows_[i]];
            return bucket_select(near_, static_cast<index_t>(std::ceil(kept_.need)) - 1, bucket_);
        }
        weighted_.clear();
        for (const index_t row : rows()) {
            const auto place = static_cast<std::size_t>(row);
            weighted_.emplace_back(distances_[place], kept_.weights[place]);
        }
        return weighted_select(weighted_, kept_.need);
    }

    void judge() {
        double right = 0.0;
        for (index_t i = 0; i < n_near_; ++i) {
            double margin = kept_.intercepts[rows_[i]];
            const double* own = kept_.margins.data + rows_[i] * kept_.n_features;
            for (const index_t feature : order_) margin += own[feature];
            margins_[i] = margin;
            right += margin > 0.0 ? kept_.weights[static_cast<std::size_t>(rows_[i])] : 0.0;
        }
        weight_ = weigh();
        accuracy_ = right / weight_;
    }
};

}  // namespace farthing
