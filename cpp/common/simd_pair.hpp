// pairs: two doubles that are worked on at once, with the bits of one at a time.
#pragma once

#include <cstring>

namespace farthing {

typedef double Pair __attribute__((vector_size(16)));

inline Pair both(double x) { return Pair{x, x}; }

inline Pair load(const double* from) {
    Pair loaded;
    std::memcpy(&loaded, from, sizeof(Pair));
    return loaded;
}

inline void store(double* to, Pair pair) { std::memcpy(to, &pair, sizeof(Pair)); }

}  // namespace farthing
