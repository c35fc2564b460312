// split: the best split of one node on one column, by gain alone. Within a column the price is the same for every
// threshold, so the choice among columns, where prices enter, needs only this one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "common/views.hpp"

namespace farthing {

// Where a missing value goes: to a child that training saw missing values go to, or nowhere: the walk of the tree
// ends at this node, with its value, because no row taught it better.
enum class Missing : std::uint8_t { left = 0, right = 1, stay = 2 };

using BinSet = std::array<std::uint64_t, 4>;  // 256 bins

inline bool in_set(const BinSet& set, index_t bin) { return (set[bin >> 6] >> (bin & 63)) & 1u; }
inline void put_in(BinSet& set, index_t bin) { set[bin >> 6] |= std::uint64_t{1} << (bin & 63); }

// Cuts drawn by lot between the lowest and the highest bin that is there, without that of missing values. A cut in a gap is one
// after the last bin before it.
template <class Draw>
BinSet drawn_cuts(const BinSet& present, index_t n_bins, index_t n_cuts, Draw draw) {
    index_t low = 0;
    while (low < n_bins && !in_set(present, low)) ++low;
    index_t high = n_bins - 1;
    while (high > low && !in_set(present, high)) --high;
    BinSet cuts{};
    if (high <= low) {
        if (low < n_bins) put_in(cuts, low);  // all that is there against what is missing
        return cuts;
    }
    for (index_t i = 0; i < n_cuts; ++i) {
        index_t bin = low + static_cast<index_t>(draw(i) % static_cast<std::uint64_t>(high - low));
        while (!in_set(present, bin)) --bin;
        put_in(cuts, bin);
    }
    return cuts;
}

struct Split {
    double gain = 0;        // 0: there is none
    index_t bin = -1;       // numeric: bins up to this one go left
    bool categorical = false;
    Missing missing = Missing::stay;
    BinSet left{};          // categorical: bins that go left, and right; a bin in neither had no rows here
    BinSet right{};
};

// The search for one column. `Target` gives the gain; `room` is scratch of 4 * width integers.
template <class Target>
class SplitSearch {
public:
    SplitSearch(const Target& target, const std::int64_t* node, double whole, index_t min_rows, std::int64_t* room)
        : target_(target), node_(node), whole_(whole), min_rows_(min_rows), width_(target.width()), left_(room),
          right_(room + width_), with_missing_(room + 2 * width_), n_(target.n_rows(node)) {}

    // IN cells: (n_bins + 1, width) sums by bin, the last that of missing values.
    Split numeric(const std::int64_t* cells, index_t n_bins) {
        Split best;
        begin(cells, n_bins);
        for (index_t bin = 0; bin < n_bins; ++bin) {
            if (target_.n_rows(cells + bin * width_) == 0) continue;  // the same parts as after the bin before
            if (n_ - grow_left(cells + bin * width_) < min_rows_) break;
            try_both(best, bin);
        }
        return best;
    }

    // As above, where only the cells of the bins in `present`, and that of missing values, mean anything, and only cuts
    // after the bins in `cuts` are tried.
    Split numeric(const std::int64_t* cells, index_t n_bins, const BinSet& present, const BinSet& cuts) {
        Split best;
        begin(cells, n_bins);
        for (index_t word = 0; word < static_cast<index_t>(present.size()); ++word) {
            for (std::uint64_t bits = present[word]; bits != 0; bits &= bits - 1) {
                const index_t bin = word * 64 + __builtin_ctzll(bits);
                if (bin == n_bins) return best;
                if (n_ - grow_left(cells + bin * width_) < min_rows_) return best;
                if (in_set(cuts, bin)) try_both(best, bin);
            }
        }
        return best;
    }

    // Categories are put in an order by their means; each prefix of the order is tried as the left part.
    Split categorical(const std::int64_t* cells, index_t n_bins) {
        std::array<index_t, 256> present{};
        index_t n_present = 0;
        for (index_t bin = 0; bin < n_bins; ++bin) {
            if (target_.n_rows(cells + bin * width_) > 0) present[n_present++] = bin;
        }
        Split best;
        for (index_t order = 0; order < target_.n_orders(); ++order) {
            std::array<double, 256> key{};
            for (index_t i = 0; i < n_present; ++i) {
                key[present[i]] = target_.order_key(cells + present[i] * width_, order);
            }
            std::array<index_t, 256> sorted = present;
            std::sort(sorted.begin(), sorted.begin() + n_present, [&](index_t a, index_t b) {
                return key[a] != key[b] ? key[a] < key[b] : a < b;
            });
            Split found;
            begin(cells, n_bins);
            for (index_t i = 0; i < n_present; ++i) {
                grow_left(cells + sorted[i] * width_);
                try_both(found, i);
            }
            if (found.gain > best.gain) {
                best = found;
                best.categorical = true;
                for (index_t i = 0; i < n_present; ++i) put_in(i <= found.bin ? best.left : best.right, sorted[i]);
            }
        }
        return best;
    }

private:
    const Target& target_;
    const std::int64_t* node_;
    double whole_;
    index_t min_rows_;
    index_t width_;
    std::int64_t* left_;
    std::int64_t* right_;
    std::int64_t* with_missing_;
    const std::int64_t* missing_ = nullptr;
    index_t n_;
    index_t n_missing_ = 0;

    void begin(const std::int64_t* cells, index_t n_bins) {
        std::fill(left_, left_ + width_, 0);
        missing_ = cells + n_bins * width_;
        n_missing_ = target_.n_rows(missing_);
    }

    index_t grow_left(const std::int64_t* cell) {
        for (index_t i = 0; i < width_; ++i) left_[i] += cell[i];
        return target_.n_rows(left_);
    }

    void try_both(Split& best, index_t bin) {
        try_parts(best, bin, left_, n_missing_ > 0 ? Missing::right : Missing::stay);
        if (n_missing_ == 0) return;
        for (index_t i = 0; i < width_; ++i) with_missing_[i] = left_[i] + missing_[i];
        try_parts(best, bin, with_missing_, Missing::left);
    }

    void try_parts(Split& best, index_t bin, const std::int64_t* left, Missing missing) {
        const index_t n_left = target_.n_rows(left);
        if (n_left < min_rows_ || n_ - n_left < min_rows_) return;
        for (index_t i = 0; i < width_; ++i) right_[i] = node_[i] - left[i];
        const double gain = target_.gain(left, right_, whole_);
        if (gain > best.gain) {
            best.gain = gain;
            best.bin = bin;
            best.missing = missing;
        }
    }
};

}  // namespace farthing
