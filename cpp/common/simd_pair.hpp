// simd_pair: two doubles in one vector register. Each lane gives the bits of the scalar operation.
#pragma once

#include <cstring>

#include "common/bits.hpp"

namespace farthing {

namespace portable {

// The same in plain C++: optimisers put the two lanes in one register where they can.
struct Mask {
    bool lanes[2];
};

class Pair {
public:
    Pair() = default;
    Pair(double x) : lanes_{x, x} {}  // NOLINT: implicit, as for the vector types of compilers
    Pair(double first, double second) : lanes_{first, second} {}

    double operator[](int lane) const { return lanes_[lane]; }
    Pair& operator+=(const Pair& other) { return *this = *this + other; }

    friend Pair operator+(const Pair& a, const Pair& b) { return {a[0] + b[0], a[1] + b[1]}; }
    friend Pair operator-(const Pair& a, const Pair& b) { return {a[0] - b[0], a[1] - b[1]}; }
    friend Pair operator*(const Pair& a, const Pair& b) { return {a[0] * b[0], a[1] * b[1]}; }
    friend Pair operator/(const Pair& a, const Pair& b) { return {a[0] / b[0], a[1] / b[1]}; }
    friend Mask operator==(const Pair& a, const Pair& b) { return {{a[0] == b[0], a[1] == b[1]}}; }
    friend Mask operator<(const Pair& a, const Pair& b) { return {{a[0] < b[0], a[1] < b[1]}}; }
    friend Mask operator>(const Pair& a, const Pair& b) { return b < a; }

private:
    double lanes_[2] = {0.0, 0.0};
};

inline Pair select(const Mask& mask, const Pair& yes, const Pair& no) {
    return {mask.lanes[0] ? yes[0] : no[0], mask.lanes[1] ? yes[1] : no[1]};
}

}  // namespace portable

#if FARTHING_GNU
typedef double SimdPair __attribute__((vector_size(16)));
using SimdMask = decltype(SimdPair{} == SimdPair{});

// Lane by lane, one or the other.
inline SimdPair select(SimdMask mask, SimdPair yes, SimdPair no) { return mask ? yes : no; }
#else
using SimdPair = portable::Pair;
using portable::select;
#endif

inline SimdPair broadcast(double x) { return SimdPair{x, x}; }

inline SimdPair load(const double* from) {
    SimdPair loaded;
    std::memcpy(static_cast<void*>(&loaded), from, sizeof(SimdPair));
    return loaded;
}

inline void store(double* to, SimdPair pair) { std::memcpy(to, &pair, sizeof(SimdPair)); }

}  // namespace farthing
