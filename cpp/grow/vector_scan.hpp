// vector_scan: the scores of all cuts of a column, for a block of outputs or two: the inner loop of vector_search.hpp.
#pragma once

#include <cstdint>

#include "common/simd_pair.hpp"
#include "common/simd_quad.hpp"
#include "common/views.hpp"
#include "grow/vector_score.hpp"

namespace farthing {

// A cut after some bin.
struct VectorCut {
    // One way to split there: rows with missing values go right, if there are any, or left.
    struct Side {
        SimdPair score;     // of both sides, summed over blocks
        SimdPair hessians;  // of the left side
        bool tried;         // whether both sides have enough rows; otherwise nothing is summed
    };

    index_t begin;  // of the rows of the bin among the sorted ones
    index_t end;
    Side sides[2];  // missing values to the right, and to the left
};

// Sums: BlockSums or PairSums.
template <class Sums>
struct BlockScan {
    const typename Sums::Row* rows;  // (n,): the block or blocks of each row of the table
    const std::uint32_t* sorted;  // rows by bin
    index_t missing_begin;        // of the rows with missing values among them
    index_t missing_end;
    VectorScore score;
    Sums whole;                   // sums of the node
    index_t skipped;              // the place of a cut: rows of its bin are not read
};

// IN  left: sums of the rows on the left, without missing values.
template <class Sums>
FARTHING_INLINE void add_scores(const BlockScan<Sums>& scan, const Sums& left, const Sums& missing, VectorCut& cut) {
    if (cut.sides[0].tried) {
        scan.score.add_parts(left, scan.whole, cut.sides[0].score);
        cut.sides[0].hessians += left.hessians();
    }
    if (cut.sides[1].tried) {
        Sums with_missing = left;
        with_missing += missing;
        scan.score.add_parts(with_missing, scan.whole, cut.sides[1].score);
        cut.sides[1].hessians += with_missing.hessians();
    }
}

template <class Sums>
FARTHING_INLINE void add_rows(const BlockScan<Sums>& scan, index_t begin, index_t end, Sums& sums) {
    for (index_t at = begin; at < end; ++at) sums += scan.rows[scan.sorted[at]];
}

// Sums over rows are exact, so that from either end they are the same: bins before the skipped one are added from the
// left, those after it from the right, and the largest bin, often most of the rows, not at all.
// OUT cuts: their scores and hessians are increased by those of the block.
template <class Sums>
FARTHING_INLINE void scan_block_any(const BlockScan<Sums>& scan, Span<VectorCut> cuts) {
    Sums missing;
    add_rows(scan, scan.missing_begin, scan.missing_end, missing);
    Sums left;
    for (index_t i = 0; i < scan.skipped; ++i) {
        add_rows(scan, cuts[i].begin, cuts[i].end, left);
        add_scores(scan, left, missing, cuts[i]);
    }
    Sums left_after = scan.whole - missing;
    for (index_t i = cuts.size - 1; i >= scan.skipped; --i) {
        add_scores(scan, left_after, missing, cuts[i]);
        if (i == scan.skipped) break;
        Sums bin;
        add_rows(scan, cuts[i].begin, cuts[i].end, bin);
        left_after = left_after - bin;
    }
}

template <class Sums>
FARTHING_AVX2 void scan_block_avx2(const BlockScan<Sums>& scan, Span<VectorCut> cuts) {
    scan_block_any(scan, cuts);
}
template <class Sums>
void scan_block_plain(const BlockScan<Sums>& scan, Span<VectorCut> cuts) {
    scan_block_any(scan, cuts);
}

// The same bits on every machine.
template <class Sums>
void scan_block(const BlockScan<Sums>& scan, Span<VectorCut> cuts) {
    has_avx2() ? scan_block_avx2(scan, cuts) : scan_block_plain(scan, cuts);
}

}  // namespace farthing
