// Tests of common/bits.hpp: what the compiler provides, its twin in plain C++ and a count bit by bit agree.
#pragma once

#include <cstdint>

#include "common/bits.hpp"
#include "common/bitset.hpp"
#include "common/counter_rng.hpp"
#include "common/views.hpp"
#include "tests/check.hpp"

namespace farthing::tests {

inline void bits_are_counted_one_by_one() {
    for (std::uint64_t i = 0; i < 2000; ++i) {
        // From dense words to words with a single bit.
        const std::uint64_t word = (random_bits(3, i) & random_bits(4, i % 7)) | (std::uint64_t{1} << (i % 64));
        int ones = 0;
        int lowest = -1;
        for (int place = 63; place >= 0; --place) {
            if (((word >> place) & 1) == 0) continue;
            ++ones;
            lowest = place;
        }
        CHECK(count_ones(word) == ones && portable::count_ones(word) == ones);
        CHECK(count_trailing_zeros(word) == lowest && portable::count_trailing_zeros(word) == lowest);
    }
    CHECK(count_ones(0) == 0 && portable::count_ones(0) == 0);
    CHECK(count_ones(~std::uint64_t{0}) == 64 && portable::count_ones(~std::uint64_t{0}) == 64);
}

inline void the_first_byte_of_a_word_is_the_lowest() {
    const std::uint8_t bytes[9] = {0, 1, 2, 3, 4, 5, 6, 7, 0xf8};
    CHECK(load_word(bytes) == 0x0706050403020100ULL);
    CHECK(load_word(bytes + 1) == 0xf807060504030201ULL);
}

inline void a_word_is_stored_as_it_is_loaded() {
    std::uint8_t bytes[9] = {};
    store_word(0xf807060504030201ULL, bytes + 1);
    CHECK(bytes[0] == 0 && bytes[1] == 1 && bytes[8] == 0xf8 && load_word(bytes + 1) == 0xf807060504030201ULL);
}

inline void sets_become_flags_one_by_one() {
    for (index_t n = 0; n < 200; ++n) {
        const std::uint64_t words[4] = {random_bits(5, n), random_bits(6, n), ~std::uint64_t{0}, random_bits(7, n)};
        bool flags[201];
        flags[n] = true;
        write_flags(words, n, flags);
        for (index_t i = 0; i < n; ++i) CHECK(flags[i] == (((words[i / 64] >> (i % 64)) & 1) == 1));
        CHECK(flags[n]);
    }
}

inline void equal_sets_have_equal_flags() {
    constexpr index_t n = 100;
    const std::uint64_t words[] = {1, 2, 1, 2, 3, 2, 3, 2, 3, 4, 0, 0};
    bool flags[6 * n] = {};
    write_flags(words, n, 1, 6, flags);
    for (index_t i = 0; i < 6 * n; ++i) {
        const index_t feature = i % n;
        const bool held = ((words[i / n * 2 + feature / 64] >> (feature % 64)) & 1) == 1;
        CHECK(flags[i] == (i >= n && held));
    }
}

inline void test_bits() {
    RUN(bits_are_counted_one_by_one);
    RUN(the_first_byte_of_a_word_is_the_lowest);
    RUN(a_word_is_stored_as_it_is_loaded);
    RUN(sets_become_flags_one_by_one);
    RUN(equal_sets_have_equal_flags);
}

}  // namespace farthing::tests
