// simd_words: four unsigned integers in one vector of the compiler; sums wrap around, as those of one integer do.
#pragma once

#include <cstdint>

#include "common/bits.hpp"

namespace farthing {

namespace portable {

// The same in plain C++.
class Words {
public:
    Words() = default;
    Words(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) : lanes_{a, b, c, d} {}

    std::uint64_t operator[](int lane) const { return lanes_[lane]; }
    Words& operator+=(const Words& other) { return *this = *this + other; }
    Words& operator-=(const Words& other) { return *this = *this - other; }

    friend Words operator+(const Words& a, const Words& b) {
        return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
    }
    friend Words operator-(const Words& a, const Words& b) {
        return {a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]};
    }
    friend Words operator&(const Words& a, const Words& b) {
        return {a[0] & b[0], a[1] & b[1], a[2] & b[2], a[3] & b[3]};
    }
    friend Words operator>>(const Words& a, const Words& b) {
        return {a[0] >> b[0], a[1] >> b[1], a[2] >> b[2], a[3] >> b[3]};
    }

private:
    std::uint64_t lanes_[4] = {0, 0, 0, 0};
};

}  // namespace portable

#if FARTHING_GNU
typedef std::uint64_t SimdWords __attribute__((vector_size(32)));
#else
using SimdWords = portable::Words;
#endif

}  // namespace farthing
