// workspace: memory reused from tree to tree.
#pragma once

#include <cstdint>
#include <vector>

#include "common/views.hpp"
#include "grow/histogram_pool.hpp"
#include "grow/split.hpp"

namespace farthing {

// Buffers only; no state passes from one tree to the next through it.
struct Workspace {
    std::vector<index_t> rows;          // row indices, leaf by leaf
    std::vector<std::int64_t> targets;  // targets in the order of rows; scratch of the partition between searches
    std::vector<std::int64_t> spare_small;
    std::vector<std::int64_t> spare_large;
    std::vector<std::uint8_t> bins;     // bins of one leaf's rows in one column
    // Of two siblings, the best split of each column, and whether it holds a single bin.
    std::vector<Split> small_splits;
    std::vector<Split> large_splits;
    std::vector<std::uint8_t> small_constant;
    std::vector<std::uint8_t> large_constant;
    HistogramPool pool;
};

}  // namespace farthing
