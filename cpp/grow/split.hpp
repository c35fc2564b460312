// split: one way to split a node on a column.
#pragma once

#include <array>
#include <cstdint>

#include "common/views.hpp"

namespace farthing {

// Where a missing value goes: to the child that missing values of the training rows went to. If there were none, the
// search leaves it open (stay), and the grower may choose by `unseen_missing`. Where a row stays, prediction ends at
// this node, with its value.
enum class Missing : std::uint8_t { left = 0, right = 1, stay = 2 };

using BinSet = std::array<std::uint64_t, 4>;  // one bit per bin, 256 bins

inline bool has_bin(const BinSet& set, index_t bin) { return (set[bin >> 6] >> (bin & 63)) & 1u; }
inline void insert_bin(BinSet& set, index_t bin) { set[bin >> 6] |= std::uint64_t{1} << (bin & 63); }

// Random thresholds (as in extremely randomised trees) between the lowest and the highest present bin, missing values
// excluded. A cut inside a gap is moved to the last present bin before it.
template <class Draw>
BinSet random_cuts(const BinSet& present, index_t n_bins, index_t n_cuts, Draw draw) {
    index_t low = 0;
    while (low < n_bins && !has_bin(present, low)) ++low;
    index_t high = n_bins - 1;
    while (high > low && !has_bin(present, high)) --high;
    BinSet cuts{};
    if (high <= low) {
        if (low < n_bins) insert_bin(cuts, low);  // present values against missing ones
        return cuts;
    }
    for (index_t i = 0; i < n_cuts; ++i) {
        index_t bin = low + static_cast<index_t>(draw(i) % static_cast<std::uint64_t>(high - low));
        while (!has_bin(present, bin)) --bin;
        insert_bin(cuts, bin);
    }
    return cuts;
}

// Where missing values go that training had none of, such as those that were refused: tree t of an ensemble sends them
// the way of the quantile frac(1/2 + t * golden ratio) of the node's training rows. These quantiles are spread evenly
// over any run of trees, so the share of the trees that sends them left is the share of the rows that went left: a
// descent weighted over both children, at the price of one. A single tree, number 0, sends them to the larger child.
inline Missing unseen_missing(std::uint64_t number, double weight_left, double weight_right) {
    constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15ULL;  // its fraction, in steps of 2^-64
    const double quantile = static_cast<double>((kHalf + number * kGoldenRatio) >> 11) * 0x1p-53;
    return quantile * (weight_left + weight_right) <= weight_left ? Missing::left : Missing::right;
}

struct Split {
    double gain = 0;   // 0: no split found
    index_t bin = -1;  // numeric: bins up to this one go left
    bool categorical = false;
    Missing missing = Missing::stay;
    BinSet left{};     // categorical: bins that go left and right; bins in neither had no rows here
    BinSet right{};
};

// Whether two splits of a column part all rows alike.
inline bool same_split(const Split& a, const Split& b) {
    return a.bin == b.bin && a.categorical == b.categorical && a.missing == b.missing && a.left == b.left &&
           a.right == b.right;
}

}  // namespace farthing
