// bit_counts: column sums of a bit matrix, with 64 counters advanced by one logical operation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bits.hpp"
#include "common/views.hpp"

namespace farthing {

// Adds to counts[b] the number of listed rows whose set has bit b.
// IN  flags: the first word of row 0; stride: words from row to row; rows (n,).
// IN OUT counts (n_words * 64,).
inline void count_bits(const std::uint64_t* flags, index_t stride, index_t n_words, const index_t* rows, index_t n,
                       std::int64_t* counts) {
    // The counters are stored transposed: plane p of word w holds bit p of 64 counters. A carry-save adder tree adds
    // eight rows at a time to the three lowest planes, and its carry ripples through the higher ones.
    //
    //     8 rows -> plane 0 (ones) -> 4 carries -> plane 1 (twos) -> 2 carries -> plane 2 (fours) -> carry -> plane 3
    constexpr int kPlanes = 20;
    constexpr index_t kMost = (index_t{1} << kPlanes) - 8;
    std::vector<std::uint64_t> planes(static_cast<std::size_t>(n_words * kPlanes), 0);
    const auto flush = [&](int n_planes) {
        for (index_t w = 0; w < n_words; ++w) {
            std::uint64_t* plane = planes.data() + w * kPlanes;
            for (int p = 0; p < n_planes; ++p) {
                for (std::uint64_t left = plane[p]; left != 0; left &= left - 1) {
                    counts[w * 64 + count_trailing_zeros(left)] += std::int64_t{1} << p;
                }
                plane[p] = 0;
            }
        }
    };
    // Full adder: sum += a + b per bit; returns the carries.
    const auto add = [](std::uint64_t& sum, std::uint64_t a, std::uint64_t b) {
        const std::uint64_t half = sum ^ a;
        const std::uint64_t carry = (sum & a) | (half & b);
        sum = half ^ b;
        return carry;
    };
    index_t i = 0;
    while (i < n) {
        // Flush before a counter of kPlanes bits could overflow.
        const index_t end = std::min(n, i + kMost);
        for (; i + 8 <= end; i += 8) {
            const std::uint64_t* row[8];
            for (int r = 0; r < 8; ++r) row[r] = flags + rows[i + r] * stride;
            for (index_t w = 0; w < n_words; ++w) {
                std::uint64_t* plane = planes.data() + w * kPlanes;
                const std::uint64_t two_a = add(plane[0], row[0][w], row[1][w]);
                const std::uint64_t two_b = add(plane[0], row[2][w], row[3][w]);
                const std::uint64_t two_c = add(plane[0], row[4][w], row[5][w]);
                const std::uint64_t two_d = add(plane[0], row[6][w], row[7][w]);
                const std::uint64_t four_a = add(plane[1], two_a, two_b);
                const std::uint64_t four_b = add(plane[1], two_c, two_d);
                std::uint64_t carry = add(plane[2], four_a, four_b);
                for (int p = 3; carry != 0; ++p) {
                    const std::uint64_t next = plane[p] & carry;
                    plane[p] ^= carry;
                    carry = next;
                }
            }
        }
        for (; i < end && end - i < 8; ++i) {
            for (index_t w = 0; w < n_words; ++w) {
                std::uint64_t* plane = planes.data() + w * kPlanes;
                std::uint64_t carry = flags[rows[i] * stride + w];
                for (int p = 0; carry != 0; ++p) {
                    const std::uint64_t next = plane[p] & carry;
                    plane[p] ^= carry;
                    carry = next;
                }
            }
        }
        flush(kPlanes);
    }
}

}  // namespace farthing
