// simd_quad: four doubles in one vector of the compiler. Each lane gives the bits of the scalar operation, whatever
// the registers of the machine: without AVX, two of half the width.
#pragma once

#include "common/simd_pair.hpp"

namespace farthing {

namespace portable {

// The same in plain C++.
class Quad {
public:
    Quad() = default;
    Quad(double x) : lanes_{x, x, x, x} {}  // NOLINT: implicit, as for the vector types of compilers
    Quad(double a, double b, double c, double d) : lanes_{a, b, c, d} {}

    double operator[](int lane) const { return lanes_[lane]; }
    double& operator[](int lane) { return lanes_[lane]; }
    Quad& operator+=(const Quad& other) { return *this = *this + other; }

    friend Quad operator+(const Quad& a, const Quad& b) {
        return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
    }
    friend Quad operator-(const Quad& a, const Quad& b) {
        return {a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]};
    }
    friend Quad operator*(const Quad& a, const Quad& b) {
        return {a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]};
    }
    friend Quad operator/(const Quad& a, const Quad& b) {
        return {a[0] / b[0], a[1] / b[1], a[2] / b[2], a[3] / b[3]};
    }

private:
    double lanes_[4] = {0.0, 0.0, 0.0, 0.0};
};

}  // namespace portable

// FARTHING_INLINE: a function that functions marked FARTHING_AVX2 call: it is compiled once more within each of them.
#if FARTHING_GNU
#define FARTHING_INLINE inline __attribute__((always_inline))
typedef double SimdQuad __attribute__((vector_size(32)));
#else
#define FARTHING_INLINE inline
using SimdQuad = portable::Quad;
#endif

// Adds four floats.
FARTHING_INLINE void add(const float* from, SimdQuad& to) { to += SimdQuad{double(from[0]), double(from[1]), double(from[2]), double(from[3])}; }

FARTHING_INLINE SimdPair low_half(const SimdQuad& of) { return SimdPair{of[0], of[1]}; }
FARTHING_INLINE SimdPair high_half(const SimdQuad& of) { return SimdPair{of[2], of[3]}; }

// has_avx2: whether the machine has the instructions of functions that are marked FARTHING_AVX2.
#if FARTHING_GNU && defined(__x86_64__)
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
