// keyed_sampling: random draws that depend only on a seed, the set of features bought so far and the number of the
// draw. A draw therefore does not depend on the order of rows, on other rows or on threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/counter_rng.hpp"
#include "common/views.hpp"
#include "common/wide_integer.hpp"

namespace farthing {

// The key of a row that has bought nothing.
inline std::uint64_t seed_key(std::uint64_t seed) { return random_bits(0x6661727468696e67ULL, seed); }

// The bits of the key that buying a feature flips. XOR commutes, so the key depends on the set of purchases and not
// on their order.
inline std::uint64_t purchase_bits(index_t feature) {
    return random_bits(0x7075726368617365ULL, static_cast<std::uint64_t>(feature));
}

// A distribution over n items with integer weights; an item of weight zero is never drawn.
struct DiscreteDistribution {
    Span<const std::uint64_t> cumulative;  // (n,): the running sum of the weights, each item's own included

    bool empty() const { return cumulative.size == 0 || cumulative[cumulative.size - 1] == 0; }

    // Inverse transform sampling: 64 random bits times the total weight, divided by 2^64. Integers only, so nothing
    // rounds.
    index_t draw(std::uint64_t key, std::uint64_t counter) const {
        const std::uint64_t place = multiply_high(random_bits(key, counter), cumulative[cumulative.size - 1]);
        return std::upper_bound(cumulative.begin(), cumulative.end(), place) - cumulative.begin();
    }
};

}  // namespace farthing
