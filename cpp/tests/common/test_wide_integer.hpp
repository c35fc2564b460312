// Tests of common/wide_integer.hpp: the twin in plain C++ has the arithmetic of the compiler's own type.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "common/counter_rng.hpp"
#include "common/wide_integer.hpp"
#include "tests/check.hpp"

namespace farthing::tests {

// Small and large numbers of both signs, and the limits.
inline std::vector<std::int64_t> numbers_to_multiply() {
    std::vector<std::int64_t> numbers = {0, 1, -1, std::numeric_limits<std::int64_t>::min(),
                                         std::numeric_limits<std::int64_t>::max()};
    for (std::uint64_t i = 0; i < 40; ++i) {
        numbers.push_back(static_cast<std::int64_t>(random_bits(11, i)) >> (random_bits(12, i) % 64));
    }
    return numbers;
}

inline void products_keep_all_bits() {
    using portable::Int128;
    for (const std::int64_t a : numbers_to_multiply()) {
        for (const std::int64_t b : numbers_to_multiply()) {
            // (a + 1) * (b - 1) = a * b - a + b - 1, however large the product is.
            const Int128 product = Int128(a) * b;
            const Int128 expanded = product - Int128(a) + b - 1;
            CHECK((Int128(a) + 1) * (Int128(b) - 1) == expanded);
            CHECK((product < 0) == (a != 0 && b != 0 && (a < 0) != (b < 0)));
            CHECK(-product == Int128(b) * -Int128(a));
            CHECK((Int128(a) < Int128(b)) == (a < b) && (Int128(a) >= Int128(b)) == (a >= b));
            CHECK(static_cast<std::int64_t>(Int128(a) + b - b) == a);
            const auto low = static_cast<std::uint64_t>(a);
            const auto other = static_cast<std::uint64_t>(b);
            CHECK(multiply_high(low, other) == portable::multiply_high(low, other));
        }
    }
    CHECK((Int128(1) << 62) == Int128(std::int64_t{1} << 62));
    CHECK((Int128(-3) << 63) == Int128(-3) * (std::int64_t{1} << 62) * 2);
}

#ifdef __SIZEOF_INT128__
inline void products_order_as_those_of_the_compiler() {
    __extension__ typedef __int128 Wide;
    const std::vector<std::int64_t> numbers = numbers_to_multiply();
    for (std::size_t i = 0; i + 3 < numbers.size(); ++i) {
        const std::int64_t* x = numbers.data() + i;
        CHECK((static_cast<Wide>(x[0]) * x[1] < static_cast<Wide>(x[2]) * x[3]) ==
              (portable::Int128(x[0]) * x[1] < portable::Int128(x[2]) * x[3]));
        CHECK(static_cast<std::uint64_t>((static_cast<Wide>(x[0]) * x[1]) >> 64) ==
              portable::multiply_high(static_cast<std::uint64_t>(x[0]), static_cast<std::uint64_t>(x[1])) -
                  (x[0] < 0 ? static_cast<std::uint64_t>(x[1]) : 0) -
                  (x[1] < 0 ? static_cast<std::uint64_t>(x[0]) : 0));
    }
}
#endif

inline void an_overflow_is_noticed() {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    std::int64_t narrow = 7;
    CHECK(!fits(int128_t(kMost) + 1, narrow) && narrow == 7);
    CHECK(!fits(int128_t(-kMost) - 2, narrow) && narrow == 7);
    CHECK(!fits(int128_t(std::int64_t{1} << 32) * (std::int64_t{1} << 31), narrow));
    CHECK(fits(int128_t(std::int64_t{1} << 31) * (std::int64_t{1} << 31), narrow) && narrow == std::int64_t{1} << 62);
    CHECK(fits(int128_t(-kMost) - 1, narrow) && narrow == -kMost - 1);
}

inline void test_wide_integer() {
    RUN(products_keep_all_bits);
#ifdef __SIZEOF_INT128__
    RUN(products_order_as_those_of_the_compiler);
#endif
    RUN(an_overflow_is_noticed);
}

}  // namespace farthing::tests
