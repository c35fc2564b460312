// bits: instructions that C++17 has no name for, with a twin in plain C++ for compilers that lack the builtin.
//
// FARTHING_PORTABLE selects the twins everywhere, so that the tests can run on them with any compiler.
#pragma once

#include <cstdint>

#if !defined(FARTHING_PORTABLE) && (defined(__GNUC__) || defined(__clang__))
#define FARTHING_GNU 1
// Vectorise the loop below: its iterations do not depend on each other.
#define FARTHING_SIMD_LOOP _Pragma("omp simd")
#else
#define FARTHING_GNU 0
#define FARTHING_SIMD_LOOP
#endif

#if !defined(FARTHING_PORTABLE) && defined(_MSC_VER) && (defined(_M_X64) || defined(_M_ARM64))
#define FARTHING_MSVC 1
#include <intrin.h>
#else
#define FARTHING_MSVC 0
#endif

namespace farthing {

namespace portable {

// The number of ones, by sums of neighbouring fields of 1, 2 and 4 bits.
inline int count_ones(std::uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555ULL;
    word = (word & 0x3333333333333333ULL) + ((word >> 2) & 0x3333333333333333ULL);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
    return static_cast<int>((word * 0x0101010101010101ULL) >> 56);
}

// The zeros below the lowest one. IN word: not 0.
inline int count_trailing_zeros(std::uint64_t word) { return count_ones((word & (~word + 1)) - 1); }

}  // namespace portable

inline int count_ones(std::uint64_t word) {
#if FARTHING_GNU
    return __builtin_popcountll(word);
#else
    return portable::count_ones(word);
#endif
}

// The place of the lowest one. IN word: not 0.
inline int count_trailing_zeros(std::uint64_t word) {
#if FARTHING_GNU
    return __builtin_ctzll(word);
#elif FARTHING_MSVC
    unsigned long place = 0;
    _BitScanForward64(&place, word);
    return static_cast<int>(place);
#else
    return portable::count_trailing_zeros(word);
#endif
}

// Asks for memory that will be read soon.
inline void prefetch(const void* address) {
#if FARTHING_GNU
    __builtin_prefetch(address);
#elif FARTHING_MSVC && defined(_M_X64)
    _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T0);
#else
    static_cast<void>(address);
#endif
}

// Eight bytes as one word, the first of them the lowest, on any machine. Written out, since GCC makes one load of this
// and not of a loop.
inline std::uint64_t load_word(const std::uint8_t* bytes) {
    const auto at = [bytes](int i) { return static_cast<std::uint64_t>(bytes[i]) << (8 * i); };
    return at(0) | at(1) | at(2) | at(3) | at(4) | at(5) | at(6) | at(7);
}

// The reverse.
inline void store_word(std::uint64_t word, std::uint8_t* bytes) {
    const auto put = [=](int i) { bytes[i] = static_cast<std::uint8_t>(word >> (8 * i)); };
    put(0), put(1), put(2), put(3), put(4), put(5), put(6), put(7);
}

}  // namespace farthing
