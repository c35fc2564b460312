// lots: draws that depend on a seed, on what was bought so far and on the number of the draw, and on nothing else.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/counter_rng.hpp"
#include "common/views.hpp"

namespace farthing {

// The key of a row that has bought nothing.
inline std::uint64_t seed_key(std::uint64_t seed) { return random_bits(0x6661727468696e67ULL, seed); }

// What the purchase of a feature flips in the key: so a key is that of a set, in whatever order it was bought.
inline std::uint64_t purchase_bits(index_t feature) {
    return random_bits(0x7075726368617365ULL, static_cast<std::uint64_t>(feature));
}

// Things to draw, each with a share that is a whole number; a share of zero is never drawn.
struct DiscreteDistribution {
    Span<const std::uint64_t> cumulative;  // (n,): the sum of the shares up to and with each thing

    bool empty() const { return cumulative.size == 0 || cumulative[cumulative.size - 1] == 0; }

    // 64 random bits times the sum of the shares, over 2^64: all in integers, so nothing rounds.
    index_t draw(std::uint64_t key, std::uint64_t counter) const {
        __extension__ using Wide = unsigned __int128;
        const std::uint64_t all = cumulative[cumulative.size - 1];
        const auto place = static_cast<std::uint64_t>((static_cast<Wide>(random_bits(key, counter)) * all) >> 64);
        return std::upper_bound(cumulative.begin(), cumulative.end(), place) - cumulative.begin();
    }
};

}  // namespace farthing
