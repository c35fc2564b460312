// workspace
#pragma once

#include <cstdint>
#include <vector>

#include "common/views.hpp"
#include "grow/histogram_pool.hpp"

namespace farthing {

// Memory that growing needs and the next tree can use again. It carries no state from one tree to the next.
struct Workspace {
    std::vector<index_t> rows;           // row numbers, leaf by leaf
    std::vector<std::int64_t> targets;      // targets in the order of rows; between times, scratch of the partition
    std::vector<std::int64_t> spare_small;
    std::vector<std::int64_t> spare_large;
    std::vector<std::uint8_t> bins;      // of the rows of one leaf in one column
    HistogramPool pool;
};

}  // namespace farthing
