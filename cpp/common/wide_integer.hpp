// wide_integer: integers of 128 bits, and products and sums of 64 bits that notice an overflow.
#pragma once

#include <cstdint>
#include <limits>

#include "common/bits.hpp"

namespace farthing {

namespace portable {

// The upper 64 bits of the product, from products of halves.
constexpr std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t kLow = 0xffffffffULL;
    const std::uint64_t low = (a & kLow) * (b & kLow);
    const std::uint64_t cross = (a >> 32) * (b & kLow) + (low >> 32);
    const std::uint64_t other = (a & kLow) * (b >> 32) + (cross & kLow);
    return (a >> 32) * (b >> 32) + (cross >> 32) + (other >> 32);
}

// Two's complement, as the compilers' own: sums and products are modulo 2^128.
class Int128 {
public:
    constexpr Int128() = default;
    constexpr Int128(std::int64_t x)  // NOLINT: implicit, as between the integers of the language
        : high_(x < 0 ? ~std::uint64_t{0} : 0), low_(static_cast<std::uint64_t>(x)) {}

    explicit constexpr operator std::int64_t() const { return static_cast<std::int64_t>(low_); }

    constexpr Int128 operator-() const { return Int128(0) - *this; }
    constexpr Int128& operator+=(const Int128& other) { return *this = *this + other; }
    constexpr Int128& operator-=(const Int128& other) { return *this = *this - other; }

    friend constexpr Int128 operator+(const Int128& a, const Int128& b) {
        const std::uint64_t low = a.low_ + b.low_;
        return {a.high_ + b.high_ + (low < a.low_ ? 1 : 0), low};
    }
    friend constexpr Int128 operator-(const Int128& a, const Int128& b) {
        return {a.high_ - b.high_ - (a.low_ < b.low_ ? 1 : 0), a.low_ - b.low_};
    }
    friend constexpr Int128 operator*(const Int128& a, const Int128& b) {
        return {multiply_high(a.low_, b.low_) + a.high_ * b.low_ + a.low_ * b.high_, a.low_ * b.low_};
    }
    // IN bits: 1 to 63.
    friend constexpr Int128 operator<<(const Int128& a, int bits) {
        return {(a.high_ << bits) | (a.low_ >> (64 - bits)), a.low_ << bits};
    }

    friend constexpr bool operator==(const Int128& a, const Int128& b) {
        return a.high_ == b.high_ && a.low_ == b.low_;
    }
    friend constexpr bool operator!=(const Int128& a, const Int128& b) { return !(a == b); }
    friend constexpr bool operator<(const Int128& a, const Int128& b) {
        // Flipping the sign bit puts two's complement in the order of unsigned integers.
        constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
        return a.high_ == b.high_ ? a.low_ < b.low_ : (a.high_ ^ kSign) < (b.high_ ^ kSign);
    }
    friend constexpr bool operator>(const Int128& a, const Int128& b) { return b < a; }
    friend constexpr bool operator<=(const Int128& a, const Int128& b) { return !(b < a); }
    friend constexpr bool operator>=(const Int128& a, const Int128& b) { return !(a < b); }

private:
    std::uint64_t high_ = 0;
    std::uint64_t low_ = 0;

    constexpr Int128(std::uint64_t high, std::uint64_t low) : high_(high), low_(low) {}
};

}  // namespace portable

#if FARTHING_GNU && defined(__SIZEOF_INT128__)
__extension__ typedef __int128 int128_t;
#else
using int128_t = portable::Int128;
#endif

// The upper 64 bits of the product of two unsigned integers.
inline std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
#if FARTHING_GNU && defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 Wide;
    return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
#else
    return portable::multiply_high(a, b);
#endif
}

// False if x needs more than 64 bits.   OUT narrow: x, unless it does.
inline bool fits(const int128_t& x, std::int64_t& narrow) {
    if (x < int128_t(std::numeric_limits<std::int64_t>::min()) ||
        x > int128_t(std::numeric_limits<std::int64_t>::max()))
        return false;
    narrow = static_cast<std::int64_t>(x);
    return true;
}

}  // namespace farthing
