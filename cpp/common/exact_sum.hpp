// exact_sum: sums of doubles without rounding, so that neither their order nor who adds them matters.
//
// A double is an integer of 53 bits times a power of two. It is added, shifted, to a long integer in digits of 32 bits
// whose lowest bit is 2^-1074. Digits have room for carries, so long integers are added digit by digit.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "common/views.hpp"

namespace farthing {

class ExactSum {
public:
    static constexpr index_t kDigits = 68;
    // After the digits: how many values are infinity, minus infinity, not a number.
    static constexpr index_t kLength = kDigits + 3;

    void add(Span<const double> values) {
        constexpr index_t kBetweenCarries = index_t{1} << 29;
        for (index_t begin = 0; begin < values.size; begin += kBetweenCarries) {
            const index_t end = begin + kBetweenCarries < values.size ? begin + kBetweenCarries : values.size;
            for (index_t i = begin; i < end; ++i) add(values[i]);
            carry();
        }
    }

    const std::array<std::int64_t, kLength>& digits() const { return digits_; }

private:
    std::array<std::int64_t, kLength> digits_{};

    void add(double x) {
        if (!std::isfinite(x)) {
            ++digits_[static_cast<std::size_t>(kDigits + (std::isnan(x) ? 2 : x < 0 ? 1 : 0))];
            return;
        }
        std::uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        const auto exponent = static_cast<index_t>((bits >> 52) & 2047);
        std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
        if (exponent > 0) mantissa |= std::uint64_t{1} << 52;
        const index_t place = exponent > 0 ? exponent - 1 : 0;
        const std::int64_t sign = (bits >> 63) ? -1 : 1;
        // The mantissa, shifted, lies in three digits; its two halves stay within 64 bits.
        const std::uint64_t low = (mantissa & 0xffffffffu) << (place % 32);
        const std::uint64_t high = ((mantissa >> 32) << (place % 32)) + (low >> 32);
        const auto digit = static_cast<std::size_t>(place / 32);
        digits_[digit] += sign * static_cast<std::int64_t>(low & 0xffffffffu);
        digits_[digit + 1] += sign * static_cast<std::int64_t>(high & 0xffffffffu);
        digits_[digit + 2] += sign * static_cast<std::int64_t>(high >> 32);
    }

    void carry() {
        for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(kDigits); ++i) {
            digits_[i + 1] += digits_[i] >> 32;
            digits_[i] &= 0xffffffff;
        }
    }
};

}  // namespace farthing
