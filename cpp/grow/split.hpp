// split
#pragma once

#include <array>
#include <cstdint>

#include "common/views.hpp"

namespace farthing {

// Where a missing value goes: to a child that training saw missing values go to, or nowhere: the walk of the tree
// ends at this node, with its value, because no row taught it better.
enum class Missing : std::uint8_t { left = 0, right = 1, stay = 2 };

using BinSet = std::array<std::uint64_t, 4>;  // 256 bins

inline bool has_bin(const BinSet& set, index_t bin) { return (set[bin >> 6] >> (bin & 63)) & 1u; }
inline void insert_bin(BinSet& set, index_t bin) { set[bin >> 6] |= std::uint64_t{1} << (bin & 63); }

// Cuts drawn by lot between the lowest and the highest bin that is there, without that of missing values. A cut in a gap is one
// after the last bin before it.
template <class Draw>
BinSet random_cuts(const BinSet& present, index_t n_bins, index_t n_cuts, Draw draw) {
    index_t low = 0;
    while (low < n_bins && !has_bin(present, low)) ++low;
    index_t high = n_bins - 1;
    while (high > low && !has_bin(present, high)) --high;
    BinSet cuts{};
    if (high <= low) {
        if (low < n_bins) insert_bin(cuts, low);  // all that is there against what is missing
        return cuts;
    }
    for (index_t i = 0; i < n_cuts; ++i) {
        index_t bin = low + static_cast<index_t>(draw(i) % static_cast<std::uint64_t>(high - low));
        while (!has_bin(present, bin)) --bin;
        insert_bin(cuts, bin);
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

}  // namespace farthing
