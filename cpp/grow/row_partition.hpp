// row_partition: splits the rows of a node between its children, keeping their order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/threads.hpp"
#include "common/views.hpp"
#include "grow/split.hpp"
#include "table/bin_codes.hpp"

namespace farthing {

// For each bin of the column: whether it goes left.
inline std::array<std::uint8_t, 256> goes_left(const Split& split, index_t n_bins) {
    std::array<std::uint8_t, 256> table{};
    for (index_t bin = 0; bin < n_bins; ++bin) {
        table[bin] = split.categorical ? has_bin(split.left, bin) : bin <= split.bin;
    }
    table[n_bins] = split.missing == Missing::left;
    return table;
}

// Blocks are partitioned in parallel, then copied to offsets given by the counts of the blocks before. The result is
// the stable partition for any number of threads.
// IN OUT rows (n,); scratch (n,).   Returns the number of rows that went left.
inline index_t partition_rows(const CodeColumn& codes, const std::array<std::uint8_t, 256>& left, index_t* rows,
                              index_t n, index_t* scratch, int n_threads) {
    constexpr index_t kBlock = 8192;
    if (n <= kBlock) {
        index_t n_left = 0;
        index_t n_right = 0;
        // Both places are written and only one index advances: no unpredictable branch.
        for (index_t i = 0; i < n; ++i) {
            const index_t row = rows[i];
            const index_t goes = left[codes[row]];
            rows[n_left] = row;  // never past i
            scratch[n_right] = row;
            n_left += goes;
            n_right += 1 - goes;
        }
        std::copy(scratch, scratch + n_right, rows + n_left);
        return n_left;
    }
    const index_t n_blocks = (n + kBlock - 1) / kBlock;
    std::vector<index_t> start(static_cast<std::size_t>(n_blocks + 1), 0);
    const int threads = threads_for(n_threads, n_blocks);
    parallel_for(n_blocks, threads, 1, [&](index_t block) {
        const index_t begin = block * kBlock;
        const index_t end = std::min(begin + kBlock, n);
        index_t front = begin;  // rows that go left, from the front
        index_t back = end;     // rows that go right, from the back, reversed
        for (index_t i = begin; i < end; ++i) {
            const index_t row = rows[i];
            const index_t goes = left[codes[row]];
            scratch[front] = row;
            scratch[back - 1] = row;
            front += goes;
            back -= 1 - goes;
        }
        start[block + 1] = front - begin;
    });
    for (index_t block = 0; block < n_blocks; ++block) start[block + 1] += start[block];
    parallel_for(n_blocks, threads, 1, [&](index_t block) {
        const index_t begin = block * kBlock;
        const index_t n_here = start[block + 1] - start[block];
        index_t* middle = scratch + begin + n_here;
        std::copy(scratch + begin, middle, rows + start[block]);
        std::reverse_copy(middle, scratch + std::min(begin + kBlock, n),
                          rows + start[n_blocks] + begin - start[block]);
    });
    return start[n_blocks];
}

}  // namespace farthing
