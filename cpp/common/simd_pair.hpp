// simd_pair: two doubles in one vector register. Each lane gives the bits of the scalar operation.
#pragma once

#include <cstring>

namespace farthing {

typedef double SimdPair __attribute__((vector_size(16)));

inline SimdPair broadcast(double x) { return SimdPair{x, x}; }

inline SimdPair load(const double* from) {
    SimdPair loaded;
    std::memcpy(&loaded, from, sizeof(SimdPair));
    return loaded;
}

inline void store(double* to, SimdPair pair) { std::memcpy(to, &pair, sizeof(SimdPair)); }

}  // namespace farthing
