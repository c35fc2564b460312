// leaf: a leaf of a growing tree that may still be split.
#pragma once

#include <cstdint>
#include <vector>

#include "account/candidate_ranking.hpp"
#include "account/cost_sheet.hpp"
#include "common/bitset.hpp"
#include "common/views.hpp"
#include "grow/monotonic.hpp"
#include "grow/split.hpp"

namespace farthing {

// The split of a leaf that was counted before its turn, see count_ahead.hpp. The rows of this process are parted by it.
struct CountedSplit {
    index_t feature = -1;    // -1: none was
    Split split;
    index_t n_left = 0;      // rows of this process that go left
    index_t left_rows = 0;   // of all peers
    index_t histogram = -1;  // of the smaller child
};

// Its rows are Workspace::rows[begin .. end); its peers hold others.
struct Leaf {
    index_t node = -1;                   // node of the tree; -1: has been split
    index_t begin = 0;
    index_t end = 0;
    index_t n_rows = 0;                  // of all peers
    index_t depth = 0;
    index_t histogram = -1;
    bool counted_for_next_root = false;  // its sums are in the next tree's root histogram
    std::uint64_t key = 0;               // random key of its draws
    ValueBounds bounds;                  // of its value and of those below it
    std::vector<std::int64_t> sums;
    Bitset constant;                     // positions of columns known to hold a single bin here
    OwnedFeatures path;                  // row ledger: the features on the path from the root
    // Best split per column position; kept only under the model ledger, whose prices change.
    std::vector<Split> splits;
    Split split;  // the split of the candidate
    Candidate candidate;
    CountedSplit ahead;

    index_t n() const { return end - begin; }  // rows of this process
};

}  // namespace farthing
