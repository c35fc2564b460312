// exact_sum: sums of doubles without rounding, so that neither their order nor who adds them matters.
//
// A double is an integer of 53 bits times a power of two. It is added, shifted, to a long integer in digits of 32 bits
// whose lowest bit is 2^-1074. Digits have room for carries, so long integers are added digit by digit.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "common/peers.hpp"
#include "common/views.hpp"

namespace farthing {

class ExactSum {
public:
    static constexpr index_t kDigits = 68;
    // After the digits: how many values are infinity, minus infinity, not a number.
    static constexpr index_t kLength = kDigits + 3;
    static constexpr index_t kUnitBits = 1074;  // the lowest bit is 2^-1074

    void add(Span<const double> values) {
        constexpr index_t kBetweenCarries = index_t{1} << 29;
        for (index_t begin = 0; begin < values.size; begin += kBetweenCarries) {
            const index_t end = begin + kBetweenCarries < values.size ? begin + kBetweenCarries : values.size;
            for (index_t i = begin; i < end; ++i) add(values[i]);
            carry();
        }
    }

    const std::array<std::int64_t, kLength>& digits() const { return digits_; }

    // The sum with that of all peers, rounded once to the nearest double, ties to even.
    double rounded(Peers* peers = nullptr) const {
        std::array<std::int64_t, kLength> sum = digits_;
        if (peers) peers->add(sum.data(), kLength);
        const std::int64_t* special = sum.data() + kDigits;
        if (special[2] || (special[0] && special[1])) return std::numeric_limits<double>::quiet_NaN();
        if (special[0] || special[1]) {
            return special[0] ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
        }
        carry(sum);
        const bool negative = sum[kDigits - 1] < 0;
        if (negative) {
            for (index_t i = 0; i < kDigits; ++i) sum[static_cast<std::size_t>(i)] = -sum[static_cast<std::size_t>(i)];
            carry(sum);
        }
        const double size = nearest(sum);
        return negative ? -size : size;
    }

private:
    using Digits = std::array<std::int64_t, kLength>;

    Digits digits_{};

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

    void carry() { carry(digits_); }

    static void carry(Digits& digits) {
        for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(kDigits); ++i) {
            digits[i + 1] += digits[i] >> 32;
            digits[i] &= 0xffffffff;
        }
    }

    // The nearest double of a sum that is not negative, its digits below 2^32.
    static double nearest(const Digits& digits) {
        index_t top = kDigits - 1;
        while (top > 0 && digits[static_cast<std::size_t>(top)] == 0) --top;
        const auto digit = [&](index_t i) { return i < 0 ? std::uint64_t{0} : static_cast<std::uint64_t>(digits[static_cast<std::size_t>(i)]); };
        index_t n_bits = 0;  // of the highest digit
        while (n_bits < 32 && (digit(top) >> n_bits) != 0) ++n_bits;
        if (n_bits == 0) return 0;
        // The highest 64 bits, and whether any bit below them is set.
        const std::uint64_t window = (digit(top) << (64 - n_bits)) | (digit(top - 1) << (32 - n_bits)) | (digit(top - 2) >> n_bits);
        bool below = (digit(top - 2) & ((std::uint64_t{1} << n_bits) - 1)) != 0;
        for (index_t i = 0; i < top - 2; ++i) below = below || digit(i) != 0;
        std::uint64_t mantissa = window >> 11;
        const std::uint64_t rest = window & 2047;
        if (rest > 1024 || (rest == 1024 && (below || (mantissa & 1)))) ++mantissa;
        return std::ldexp(static_cast<double>(mantissa), static_cast<int>(top * 32 + n_bits - 53 - kUnitBits));
    }
};

}  // namespace farthing
