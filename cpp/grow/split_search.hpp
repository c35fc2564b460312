// split_search: the best split of one node on one column, by gain alone. All splits on a column cost the same, so
// prices only matter in the choice among columns.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "common/bits.hpp"
#include "common/views.hpp"
#include "grow/monotonic.hpp"
#include "grow/split.hpp"

namespace farthing {

// The width of a target if it is known when compiling, else 0.
template <class Target, class = void>
struct StaticWidth {
    static constexpr index_t value = 0;
};
template <class Target>
struct StaticWidth<Target, std::void_t<decltype(Target::kWidth)>> {
    static constexpr index_t value = Target::kWidth;
};

// The sums of one side of a split. Where the width is known when compiling they are local variables, which the loops
// over bins keep in registers.
template <index_t kWidth>
struct SideSums {
    std::int64_t values[kWidth] = {};

    SideSums(std::int64_t*, index_t, index_t) {}
    static constexpr index_t width(index_t) { return kWidth; }
    std::int64_t* data() { return values; }
    const std::int64_t* data() const { return values; }
};
template <>
struct SideSums<0> {
    std::int64_t* values;

    // The place-th sums of the scratch.
    SideSums(std::int64_t* scratch, index_t place, index_t width) : values(scratch + place * width) {
        std::fill(values, values + width, 0);
    }
    static index_t width(index_t width) { return width; }
    std::int64_t* data() { return values; }
    const std::int64_t* data() const { return values; }
};

// `Target` gives the gain, see target.hpp.
// IN  node (width,): sums of the node; node_score: its score; scratch (4 * width,), for a target whose width is not
// known when compiling; least_gain: splits that certainly gain less are of no use, and none is found if all do;
// constraint: what a split has to keep.
template <class Target>
class SplitSearch {
public:
    SplitSearch(const Target& target, const std::int64_t* node, double node_score, index_t min_rows,
                std::int64_t* scratch, double least_gain = 0, const SplitConstraint& constraint = {})
        : target_(target), node_(node), node_score_(node_score), min_rows_(min_rows), least_gain_(least_gain),
          constraint_(constraint), constrained_(constraint.active()), width_(target.width()), scratch_(scratch),
          n_(target.n_rows(node)) {}

    // IN cells (n_bins + 1, width): sums per bin, missing values last.
    Split numeric(const std::int64_t* cells, index_t n_bins) {
        const index_t width = Side::width(width_);
        Split best;
        Side left = begin(cells, n_bins);
        for (index_t bin = 0; bin < n_bins; ++bin) {
            if (target_.n_rows(cells + bin * width) == 0) continue;  // same split as after the bin before
            if (n_ - add(left, cells + bin * width) < min_rows_) break;
            try_missing_both_ways(best, bin, left);
        }
        return best;
    }

    // The same if only the cells of the bins in `present`, and that of missing values, are valid, and only cuts after
    // the bins in `cuts` are tried.
    Split numeric(const std::int64_t* cells, index_t n_bins, const BinSet& present, const BinSet& cuts) {
        const index_t width = Side::width(width_);
        Split best;
        Side left = begin(cells, n_bins);
        for (index_t word = 0; word < static_cast<index_t>(present.size()); ++word) {
            for (std::uint64_t bits = present[word]; bits != 0; bits &= bits - 1) {
                const index_t bin = word * 64 + count_trailing_zeros(bits);
                if (bin == n_bins) return best;
                if (n_ - add(left, cells + bin * width) < min_rows_) return best;
                if (has_bin(cuts, bin)) try_missing_both_ways(best, bin, left);
            }
        }
        return best;
    }

    // Categories are sorted by a key of the target; each prefix of that order is tried as the left side.
    Split categorical(const std::int64_t* cells, index_t n_bins) {
        // None of these arrays is cleared: that would take longer than the search of a few categories.
        std::array<index_t, 256> present;
        index_t n_present = 0;
        for (index_t bin = 0; bin < n_bins; ++bin) {
            if (target_.n_rows(cells + bin * width_) > 0) present[n_present++] = bin;
        }
        Split best;
        for (index_t order = 0; order < target_.n_orders(); ++order) {
            std::array<double, 256> key;
            for (index_t i = 0; i < n_present; ++i) {
                key[present[i]] = target_.order_key(cells + present[i] * width_, order);
            }
            std::array<index_t, 256> sorted;
            std::copy(present.begin(), present.begin() + n_present, sorted.begin());
            std::sort(sorted.begin(), sorted.begin() + n_present,
                      [&](index_t a, index_t b) { return key[a] != key[b] ? key[a] < key[b] : a < b; });
            Split found;
            Side left = begin(cells, n_bins);
            for (index_t i = 0; i < n_present; ++i) {
                add(left, cells + sorted[i] * width_);
                try_missing_both_ways(found, i, left);
            }
            if (found.gain > best.gain) {
                best = found;
                best.categorical = true;
                for (index_t i = 0; i < n_present; ++i) insert_bin(i <= found.bin ? best.left : best.right, sorted[i]);
            }
        }
        return best;
    }

private:
    using Side = SideSums<StaticWidth<Target>::value>;

    const Target& target_;
    const std::int64_t* node_;
    double node_score_;
    index_t min_rows_;
    double least_gain_;
    SplitConstraint constraint_;
    bool constrained_;
    index_t width_;
    std::int64_t* scratch_;
    const std::int64_t* missing_ = nullptr;
    index_t n_;
    index_t n_missing_ = 0;

    // The left side, without any bin.
    Side begin(const std::int64_t* cells, index_t n_bins) {
        missing_ = cells + n_bins * width_;
        n_missing_ = target_.n_rows(missing_);
        return Side(scratch_, 0, width_);
    }

    // Adds a cell to a side; returns how many rows the side has.
    index_t add(Side& side, const std::int64_t* cell) const {
        for (index_t i = 0; i < Side::width(width_); ++i) side.data()[i] += cell[i];
        return target_.n_rows(side.data());
    }

    void try_missing_both_ways(Split& best, index_t bin, const Side& left) const {
        try_split(best, bin, left, n_missing_ > 0 ? Missing::right : Missing::stay);
        if (n_missing_ == 0) return;
        Side with_missing(scratch_, 2, width_);
        add(with_missing, left.data());
        add(with_missing, missing_);
        try_split(best, bin, with_missing, Missing::left);
    }

    void try_split(Split& best, index_t bin, const Side& left, Missing missing) const {
        const index_t n_left = target_.n_rows(left.data());
        if (n_left < min_rows_ || n_ - n_left < min_rows_) return;
        Side right(scratch_, 1, width_);
        for (index_t i = 0; i < Side::width(width_); ++i) right.data()[i] = node_[i] - left.data()[i];
        // Values within bounds gain no more than others; the slack of the comparison needs a score above zero.
        if (!(node_score_ < 0) &&
            target_.gains_less(left.data(), right.data(), node_score_, std::max(best.gain, least_gain_))) {
            return;
        }
        const double gain = gain_of(left.data(), right.data());
        if (gain > best.gain) {
            best.gain = gain;
            best.bin = bin;
            best.missing = missing;
        }
    }

    double gain_of(const std::int64_t* left, const std::int64_t* right) const {
        if constexpr (Target::kMonotonic) {
            if (constrained_) return target_.gain(left, right, node_score_, constraint_);
        }
        return target_.gain(left, right, node_score_);
    }
};

}  // namespace farthing
