// counter_rng: a counter-based random number generator. Draw n of a key is a pure function of (key, n), so draws need
// no state, no order and no lock, and results do not depend on the number of threads.
#pragma once

#include <cstdint>

namespace farthing {

// SplitMix64: its finalizer, applied twice over a Weyl sequence of the counter.
inline std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

inline std::uint64_t random_bits(std::uint64_t key, std::uint64_t counter) {
    return mix(mix(key + 0x9e3779b97f4a7c15ULL) + (counter + 1) * 0x9e3779b97f4a7c15ULL);
}

}  // namespace farthing
