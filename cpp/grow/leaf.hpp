// growing: what the parts of the grower share: options, a leaf that may still be split, and memory.
#pragma once

#include <cstdint>
#include <vector>

#include "account/candidate_ranking.hpp"
#include "account/cost_sheet.hpp"
#include "common/bitset.hpp"
#include "common/views.hpp"
#include "grow/split.hpp"

namespace farthing {

// A leaf that may still be split. Its rows are neighbours in Workspace::rows.
struct Leaf {
    index_t node = -1;  // -1: split since
    index_t begin = 0;
    index_t end = 0;
    index_t depth = 0;
    index_t histogram = -1;
    bool counted_for_next_root = false;        // its sums were given to the next tree
    std::uint64_t key = 0;       // of its draws of columns
    std::vector<std::int64_t> sums;
    Bitset constant;             // columns, by place in columns_, known to have one bin only
    OwnedFeatures path;                  // row ledger: what lies on the path
    std::vector<Split> splits;   // by place in columns_; only under the model ledger, whose prices change
    Split split;                 // that of the offer
    Candidate candidate;

    index_t n() const { return end - begin; }
};

}  // namespace farthing
