// neighbors: the training rows nearest to a row in what is measured of it, and how often the vote of a linear model is
// right on them (FMCC; Nan 2018, chapter 2).
//
// A feature that comes in moves all rows away, each by its own bit. Of the rows that were candidates before, enough stay
// within some distance; all that lie within it are the candidates now, and the nearest of them the neighbourhood.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "common/counter_rng.hpp"
#include "common/keyed_sampling.hpp"
#include "common/selection.hpp"
#include "common/simd_pair.hpp"
#include "common/views.hpp"
#include "neighbors/reference_rows.hpp"

namespace farthing {

// One row's neighbourhood, which narrows with each feature that is measured.
class Neighborhood {
public:
    explicit Neighborhood(const KeptRows& kept)
        : kept_(kept), distances_(static_cast<std::size_t>(kept.n_rows)), rows_(distances_.size()),
          margins_(distances_.size()), close_(distances_.size()), blocks_(distances_.size() / kBlock + 1),
          heard_(static_cast<std::size_t>(kept.n_features)), gains_(heard_.size()), right_(heard_.size()) {
        start(0);
    }

    void start(std::uint64_t seed) {
        key_ = seed_key(seed);
        order_.clear();
        std::fill(heard_.begin(), heard_.end(), std::uint8_t{0});
        std::fill(distances_.begin(), distances_.end(), 0.0);
        std::iota(rows_.begin(), rows_.end(), index_t{0});
        n_near_ = n_close_ = kept_.n_rows;
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
            }
        }
        judge();
    }

private:
    static constexpr index_t kSample = 256;  // distances that the first bound of a search is taken from
    static constexpr index_t kBlock = 8;     // rows that are looked at together
    static constexpr double kEverywhere = std::numeric_limits<double>::infinity();

    const KeptRows& kept_;
    std::uint64_t key_ = 0;
    std::vector<double> distances_;  // (n_rows,): squared, over what is measured
    std::vector<index_t> rows_;      // the neighbourhood: the first n_near_ of them
    index_t n_near_ = 0;
    std::vector<double> margins_;    // of its rows, over what is measured; equation 2.2
    std::vector<index_t> close_;     // the first n_close_: rows that the neighbourhood was chosen among
    index_t n_close_ = 0;
    std::vector<index_t> blocks_;    // first rows of the blocks that have one of them
    std::vector<index_t> order_;     // the features, as they came in
    std::vector<std::uint8_t> heard_;
    std::vector<double> gains_;
    std::vector<double> right_;
    std::vector<double> far_;        // distances to choose among
    std::vector<double> bucket_;
    std::vector<Weighted> weighted_;
    double vote_ = 0;
    double weight_ = 0;              // of the neighbourhood
    double accuracy_ = 0;

    Span<const index_t> close() const { return {close_.data(), n_close_}; }

    double lot(index_t feature) const {
        return static_cast<double>(random_bits(key_, static_cast<std::uint64_t>(feature)) >> 11) * 0x1p-53;
    }

    void count_ahead() {
        if (order_.empty()) {
            right_ = kept_.ahead;
            return;
        }
        kept_.look_ahead(rows(), margins_.data(), right_.data());
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

    // Adds one feature to all distances, and narrows the neighbourhood.
    void measure(index_t feature, double x) {
        const Pair here = both(x);
        const Pair scale = both(kept_.scale[feature]);
        const Pair gap = both(kept_.gap[feature]);
        const double* values = kept_.values.data + feature * kept_.n_rows;
        if (kept_.categorical[feature]) {
            narrow(values, [=](Pair y) { return y == y ? (y == here ? both(0.0) : scale) : gap; });
        } else if (kept_.whole[static_cast<std::size_t>(feature)]) {
            narrow(values, [=](Pair y) { return (y - here) * (y - here) * scale; });
        } else {
            narrow(values, [=](Pair y) {
                const Pair squared = (y - here) * (y - here) * scale;
                return squared == squared ? squared : gap;  // NaN where the kept row has no value
            });
        }
    }

    // The neighbourhood: the nearest rows that together weigh enough, and all that are as near as the last of them.
    template <class Apart>
    void narrow(const double* values, Apart apart) {
        const auto moved = [=](index_t row) { return distances_[row] + apart(both(values[row]))[0]; };
        // Enough of the last candidates lie within the bound, so none of the nearest can lie beyond it.
        const double bound = n_close_ < kept_.n_rows ? last_needed(moved) : sample_bound(moved);
        add(values, apart, bound);
        if (weigh(close()) < kept_.need) {  // the sample misled
            n_close_ = 0;
            take(0, kept_.n_rows, kEverywhere);
        }
        const double farthest = last_needed([this](index_t row) { return distances_[row]; });
        n_near_ = 0;
        for (index_t i = 0; i < n_close_; ++i) {
            rows_[n_near_] = close_[i];
            n_near_ += distances_[close_[i]] <= farthest;
        }
    }

    // Adds one feature to all distances, and takes the rows within a bound; most blocks have none.
    template <class Apart>
    void add(const double* values, Apart apart, double bound) {
        const index_t whole = kept_.n_rows - kept_.n_rows % kBlock;
        double* distances = distances_.data();
        index_t* blocks = blocks_.data();
        index_t n_blocks = 0;
        for (index_t row = 0; row < whole; row += kBlock) {
            Pair least = both(kEverywhere);
            for (index_t i = row; i < row + kBlock; i += 2) {
                const Pair far = load(distances + i) + apart(load(values + i));
                store(distances + i, far);
                least = far < least ? far : least;
            }
            blocks[n_blocks] = row;
            n_blocks += std::min(least[0], least[1]) <= bound;
        }
        for (index_t row = whole; row < kept_.n_rows; ++row) distances[row] += apart(both(values[row]))[0];
        n_close_ = 0;
        for (index_t i = 0; i < n_blocks; ++i) take(blocks[i], blocks[i] + kBlock, bound);
        take(whole, kept_.n_rows, bound);
    }

    // Takes the rows of a range that lie within a bound, without a branch: who is near is hard to foresee.
    void take(index_t begin, index_t end, double bound) {
        index_t n_close = n_close_;
        for (index_t row = begin; row < end; ++row) {
            close_[n_close] = row;
            n_close += distances_[row] <= bound;
        }
        n_close_ = n_close;
    }

    // A distance within which there are probably enough rows, but not many more, from a sample of them.
    template <class DistanceOf>
    double sample_bound(DistanceOf&& distance_of) {
        const double share = kept_.need / kept_.total * kSample;
        const double rank = share + 3 * std::sqrt(share) + 3;
        if (kept_.n_rows < 4 * kSample || !(rank < kSample)) return kEverywhere;
        const index_t stride = kept_.n_rows / kSample;
        far_.resize(kSample);
        for (index_t i = 0; i < kSample; ++i) far_[i] = distance_of(i * stride);
        const auto place = far_.begin() + static_cast<index_t>(rank);
        std::nth_element(far_.begin(), place, far_.end());
        return *place;
    }

    double weigh(Span<const index_t> rows) const {
        if (kept_.plain) return static_cast<double>(rows.size);
        double sum = 0.0;
        for (const index_t row : rows) sum += kept_.weights[static_cast<std::size_t>(row)];
        return sum;
    }

    // The distance up to which the candidates weigh enough.
    template <class DistanceOf>
    double last_needed(DistanceOf&& distance_of) {
        if (kept_.plain) {
            far_.resize(static_cast<std::size_t>(n_close_));
            for (index_t i = 0; i < n_close_; ++i) far_[i] = distance_of(close_[i]);
            return bucket_select(far_, static_cast<index_t>(std::ceil(kept_.need)) - 1, bucket_);
        }
        weighted_.clear();
        for (const index_t row : close()) {
            weighted_.emplace_back(distance_of(row), kept_.weights[static_cast<std::size_t>(row)]);
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
        weight_ = weigh(rows());
        accuracy_ = right / weight_;
    }
};

}  // namespace farthing
