// neighborhood: the training rows nearest to a row in its measured features, and how often a linear model is correct
// on them (FMCC; Nan 2018, chapter 2).
//
// A newly measured feature increases all distances. Enough of the previous candidates stay within some radius; all
// rows within it are the new candidates, and the nearest of them are the neighbourhood.
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

// The neighbourhood of one row, which shrinks with each measured feature.
class Neighborhood {
public:
    explicit Neighborhood(const ReferenceRows& reference)
        : reference_(reference), distances_(static_cast<std::size_t>(reference.n_rows)), rows_(distances_.size()),
          margins_(distances_.size()), candidates_(distances_.size()), blocks_(distances_.size() / kBlock + 1),
          observed_(static_cast<std::size_t>(reference.n_features)), gains_(observed_.size()),
          correct_(observed_.size()) {
        start(0);
    }

    void start(std::uint64_t seed) {
        key_ = seed_key(seed);
        order_.clear();
        std::fill(observed_.begin(), observed_.end(), std::uint8_t{0});
        std::fill(distances_.begin(), distances_.end(), 0.0);
        std::iota(rows_.begin(), rows_.end(), index_t{0});
        n_near_ = n_candidates_ = reference_.n_rows;
        vote_ = reference_.intercept;
        weight_ = reference_.total;
        accuracy_ = 0.0;
    }

    index_t n_observed() const { return static_cast<index_t>(order_.size()); }
    double vote() const { return vote_; }
    // The share of the neighbourhood that the vote so far classifies correctly, equation 2.4; 0 before the first
    // observation.
    double accuracy() const { return accuracy_; }
    Span<const index_t> rows() const { return {rows_.data(), n_near_}; }

    // The share that the vote would classify correctly with one more feature, equation 2.5; NaN for unavailable
    // features.
    Span<const double> gains() {
        if (!reference_.random_order) weigh_all_features();
        for (index_t feature = 0; feature < reference_.n_features; ++feature) {
            const bool open = reference_.used[feature] && !observed_[feature];
            gains_[feature] = !open                     ? std::numeric_limits<double>::quiet_NaN()
                              : reference_.random_order ? random_gain(feature)
                                                        : correct_[feature] / weight_;
        }
        return view(gains_);
    }

    // IN  x: the value, NaN if missing; vote: what it adds to the vote.
    void observe(index_t feature, double x, double vote) {
        observed_[feature] = 1;
        order_.push_back(feature);
        vote_ += vote;
        if (!std::isnan(x)) {
            if (reference_.min_weight == 0) {
                match_exactly(feature, x);
            } else {
                add_feature(feature, x);
            }
        }
        update_accuracy();
    }

private:
    static constexpr index_t kSample = 256;  // distances sampled for the first radius
    static constexpr index_t kBlock = 8;     // rows tested together
    static constexpr double kUnbounded = std::numeric_limits<double>::infinity();

    const ReferenceRows& reference_;
    std::uint64_t key_ = 0;
    std::vector<double> distances_;    // (n_rows,): squared, over the measured features
    std::vector<index_t> rows_;        // the first n_near_ are the neighbourhood
    index_t n_near_ = 0;
    std::vector<double> margins_;      // of its rows, over the measured features; equation 2.2
    std::vector<index_t> candidates_;  // the first n_candidates_: rows that the neighbourhood was chosen from
    index_t n_candidates_ = 0;
    std::vector<index_t> blocks_;      // first rows of the blocks that hold a candidate
    std::vector<index_t> order_;       // the features, in the order measured
    std::vector<std::uint8_t> observed_;
    std::vector<double> gains_;
    std::vector<double> correct_;
    std::vector<double> buffer_;       // distances to select from
    std::vector<double> bucket_;
    std::vector<WeightedValue> weighted_;
    double vote_ = 0;
    double weight_ = 0;                // of the neighbourhood
    double accuracy_ = 0;

    Span<const index_t> candidates() const { return {candidates_.data(), n_candidates_}; }

    double random_gain(index_t feature) const {
        return static_cast<double>(random_bits(key_, static_cast<std::uint64_t>(feature)) >> 11) * 0x1p-53;
    }

    void weigh_all_features() {
        if (order_.empty()) {
            correct_ = reference_.initial_correct;
            return;
        }
        reference_.weigh_correct(rows(), margins_.data(), correct_.data());
    }

    // Keeps the rows of the neighbourhood that pass. No branch: which rows pass is unpredictable.
    template <class Passes>
    void filter_rows(Passes&& passes) {
        index_t n_kept = 0;
        for (index_t i = 0; i < n_near_; ++i) {
            rows_[n_kept] = rows_[i];
            n_kept += passes(rows_[i]);
        }
        n_near_ = n_kept;
    }

    // Keeps the rows with exactly this value; all of them if none has it.
    void match_exactly(index_t feature, double x) {
        const double* values = reference_.values.data + feature * reference_.n_rows;
        const auto same = [&](index_t row) { return values[row] == x; };
        if (std::any_of(rows_.begin(), rows_.begin() + n_near_, same)) filter_rows(same);
    }

    // Adds one feature to all distances and shrinks the neighbourhood.
    void add_feature(index_t feature, double x) {
        const SimdPair here = broadcast(x);
        const SimdPair scale = broadcast(reference_.scale[feature]);
        const SimdPair missing_distance = broadcast(reference_.missing_distance[feature]);
        const double* values = reference_.values.data + feature * reference_.n_rows;
        if (reference_.categorical[feature]) {
            narrow(values, [=](SimdPair y) {
                return select(y == y, select(y == here, broadcast(0.0), scale), missing_distance);
            });
        } else if (reference_.all_finite[static_cast<std::size_t>(feature)]) {
            narrow(values, [=](SimdPair y) { return (y - here) * (y - here) * scale; });
        } else {
            narrow(values, [=](SimdPair y) {
                const SimdPair squared = (y - here) * (y - here) * scale;
                // NaN where the training row has no value.
                return select(squared == squared, squared, missing_distance);
            });
        }
    }

    // The neighbourhood: the nearest rows that weigh enough together, all ties of the last one, and the rows within
    // the radius of the reference rows.
    template <class Difference>
    void narrow(const double* values, Difference squared_difference) {
        const auto moved = [=](index_t row) { return distances_[row] + squared_difference(broadcast(values[row]))[0]; };
        // Enough previous candidates lie within the bound, so none of the nearest rows can lie beyond it.
        const double bound = n_candidates_ < reference_.n_rows ? radius(moved) : sample_bound(moved);
        add_distances(values, squared_difference, std::max(bound, reference_.squared_radius));
        if (weigh(candidates()) < reference_.min_weight) {  // the sample was misleading
            n_candidates_ = 0;
            add_candidates(0, reference_.n_rows, kUnbounded);
        }
        const double farthest =
            std::max(radius([this](index_t row) { return distances_[row]; }), reference_.squared_radius);
        n_near_ = 0;
        for (index_t i = 0; i < n_candidates_; ++i) {
            rows_[n_near_] = candidates_[i];
            n_near_ += distances_[candidates_[i]] <= farthest;
        }
    }

    // Adds one feature to all distances and collects the rows within the bound. Most blocks of rows hold none.
    template <class Difference>
    void add_distances(const double* values, Difference squared_difference, double bound) {
        const index_t whole = reference_.n_rows - reference_.n_rows % kBlock;
        double* distances = distances_.data();
        index_t* blocks = blocks_.data();
        index_t n_blocks = 0;
        for (index_t row = 0; row < whole; row += kBlock) {
            SimdPair least = broadcast(kUnbounded);
            for (index_t i = row; i < row + kBlock; i += 2) {
                const SimdPair far = load(distances + i) + squared_difference(load(values + i));
                store(distances + i, far);
                least = select(far < least, far, least);
            }
            blocks[n_blocks] = row;
            n_blocks += std::min(least[0], least[1]) <= bound;
        }
        for (index_t row = whole; row < reference_.n_rows; ++row) {
            distances[row] += squared_difference(broadcast(values[row]))[0];
        }
        n_candidates_ = 0;
        for (index_t i = 0; i < n_blocks; ++i) add_candidates(blocks[i], blocks[i] + kBlock, bound);
        add_candidates(whole, reference_.n_rows, bound);
    }

    // Collects the rows of a range that lie within the bound. No branch: which rows do is unpredictable.
    void add_candidates(index_t begin, index_t end, double bound) {
        index_t n_candidates = n_candidates_;
        for (index_t row = begin; row < end; ++row) {
            candidates_[n_candidates] = row;
            n_candidates += distances_[row] <= bound;
        }
        n_candidates_ = n_candidates;
    }

    // A radius that probably contains enough rows, but not many more, estimated from a sample: three standard
    // deviations above the expected rank.
    template <class DistanceOf>
    double sample_bound(DistanceOf&& distance_of) {
        const double share = reference_.min_weight / reference_.total * kSample;
        const double rank = share + 3 * std::sqrt(share) + 3;
        if (reference_.n_rows < 4 * kSample || !(rank < kSample)) return kUnbounded;
        const index_t stride = reference_.n_rows / kSample;
        buffer_.resize(kSample);
        for (index_t i = 0; i < kSample; ++i) buffer_[i] = distance_of(i * stride);
        const auto place = buffer_.begin() + static_cast<index_t>(rank);
        std::nth_element(buffer_.begin(), place, buffer_.end());
        return *place;
    }

    double weigh(Span<const index_t> rows) const {
        if (reference_.unit_weights) return static_cast<double>(rows.size);
        double sum = 0.0;
        for (const index_t row : rows) sum += reference_.weights[static_cast<std::size_t>(row)];
        return sum;
    }

    // The distance within which the candidates weigh enough.
    template <class DistanceOf>
    double radius(DistanceOf&& distance_of) {
        if (reference_.unit_weights) {
            buffer_.resize(static_cast<std::size_t>(n_candidates_));
            for (index_t i = 0; i < n_candidates_; ++i) buffer_[i] = distance_of(candidates_[i]);
            return bucket_select(buffer_, static_cast<index_t>(std::ceil(reference_.min_weight)) - 1, bucket_);
        }
        weighted_.clear();
        for (const index_t row : candidates()) {
            weighted_.emplace_back(distance_of(row), reference_.weights[static_cast<std::size_t>(row)]);
        }
        return weighted_select(weighted_, reference_.min_weight);
    }

    void update_accuracy() {
        double correct = 0.0;
        for (index_t i = 0; i < n_near_; ++i) {
            double margin = reference_.intercepts[rows_[i]];
            const double* own = reference_.margins.data + rows_[i] * reference_.n_features;
            for (const index_t feature : order_) margin += own[feature];
            margins_[i] = margin;
            correct += margin > 0.0 ? reference_.weights[static_cast<std::size_t>(rows_[i])] : 0.0;
        }
        weight_ = weigh(rows());
        accuracy_ = correct / weight_;
    }
};

}  // namespace farthing
