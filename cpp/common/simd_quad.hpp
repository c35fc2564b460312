// simd_quad: four doubles in one vector of the compiler. Each lane gives the bits of the scalar operation, whatever
// the registers of the machine: without AVX, two of half the width.
#pragma once

#include "common/simd_pair.hpp"

namespace farthing {

// A function that functions marked FARTHING_AVX2 call: it is compiled once more within each of them.
#define FARTHING_INLINE inline __attribute__((always_inline))

typedef double SimdQuad __attribute__((vector_size(32)));

// Adds four floats.
FARTHING_INLINE void add(const float* from, SimdQuad& to) { to += SimdQuad{from[0], from[1], from[2], from[3]}; }

FARTHING_INLINE SimdPair low_half(const SimdQuad& of) { return SimdPair{of[0], of[1]}; }
FARTHING_INLINE SimdPair high_half(const SimdQuad& of) { return SimdPair{of[2], of[3]}; }

// has_avx2: whether the machine has the instructions of functions that are marked FARTHING_AVX2.
#if defined(__x86_64__) && defined(__GNUC__)
#define FARTHING_AVX2 __attribute__((target("avx2")))
inline bool has_avx2() {
    static const bool has = __builtin_cpu_supports("avx2");
    return has;
}
#else
#define FARTHING_AVX2
inline bool has_avx2() { return false; }
#endif

}  // namespace farthing
