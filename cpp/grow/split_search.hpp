// split_search: the best split of one node on one column, by gain alone. All splits on a column cost the same, so
// prices only matter in the choice among columns.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/views.hpp"
#include "grow/split.hpp"

namespace farthing {

// `Target` gives the gain, see target.hpp.
// IN  node (width,): sums of the node; node_score: its score; scratch (4 * width,); least_gain: splits that certainly
// gain less are of no use, and none is found if all do.
template <class Target>
class SplitSearch {
public:
    SplitSearch(const Target& target, const std::int64_t* node, double node_score, index_t min_rows,
                std::int64_t* scratch, double least_gain = 0)
        : target_(target), node_(node), node_score_(node_score), min_rows_(min_rows), least_gain_(least_gain),
          width_(target.width()),
          left_(scratch), right_(scratch + width_), with_missing_(scratch + 2 * width_), n_(target.n_rows(node)) {}

    // IN cells (n_bins + 1, width): sums per bin, missing values last.
    Split numeric(const std::int64_t* cells, index_t n_bins) {
        Split best;
        begin(cells, n_bins);
        for (index_t bin = 0; bin < n_bins; ++bin) {
            if (target_.n_rows(cells + bin * width_) == 0) continue;  // same split as after the bin before
            if (n_ - add_to_left(cells + bin * width_) < min_rows_) break;
            try_missing_both_ways(best, bin);
        }
        return best;
    }

    // The same if only the cells of the bins in `present`, and that of missing values, are valid, and only cuts after
    // the bins in `cuts` are tried.
    Split numeric(const std::int64_t* cells, index_t n_bins, const BinSet& present, const BinSet& cuts) {
        Split best;
        begin(cells, n_bins);
        for (index_t word = 0; word < static_cast<index_t>(present.size()); ++word) {
            for (std::uint64_t bits = present[word]; bits != 0; bits &= bits - 1) {
                const index_t bin = word * 64 + __builtin_ctzll(bits);
                if (bin == n_bins) return best;
                if (n_ - add_to_left(cells + bin * width_) < min_rows_) return best;
                if (has_bin(cuts, bin)) try_missing_both_ways(best, bin);
            }
        }
        return best;
    }

    // Categories are sorted by a key of the target; each prefix of that order is tried as the left side.
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
            std::sort(sorted.begin(), sorted.begin() + n_present,
                      [&](index_t a, index_t b) { return key[a] != key[b] ? key[a] < key[b] : a < b; });
            Split found;
            begin(cells, n_bins);
            for (index_t i = 0; i < n_present; ++i) {
                add_to_left(cells + sorted[i] * width_);
                try_missing_both_ways(found, i);
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
    const Target& target_;
    const std::int64_t* node_;
    double node_score_;
    index_t min_rows_;
    double least_gain_;
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

    index_t add_to_left(const std::int64_t* cell) {
        for (index_t i = 0; i < width_; ++i) left_[i] += cell[i];
        return target_.n_rows(left_);
    }

    void try_missing_both_ways(Split& best, index_t bin) {
        try_split(best, bin, left_, n_missing_ > 0 ? Missing::right : Missing::stay);
        if (n_missing_ == 0) return;
        for (index_t i = 0; i < width_; ++i) with_missing_[i] = left_[i] + missing_[i];
        try_split(best, bin, with_missing_, Missing::left);
    }

    void try_split(Split& best, index_t bin, const std::int64_t* left, Missing missing) {
        const index_t n_left = target_.n_rows(left);
        if (n_left < min_rows_ || n_ - n_left < min_rows_) return;
        for (index_t i = 0; i < width_; ++i) right_[i] = node_[i] - left[i];
        if (target_.gains_less(left, right_, node_score_, std::max(best.gain, least_gain_))) return;
        const double gain = target_.gain(left, right_, node_score_);
        if (gain > best.gain) {
            best.gain = gain;
            best.bin = bin;
            best.missing = missing;
        }
    }
};

}  // namespace farthing
