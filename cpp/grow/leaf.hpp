// growing: what the parts of the grower share: options, a leaf that may still be split, and memory.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/views.hpp"
#include "grow/histogram.hpp"
#include "grow/split_search.hpp"

namespace farthing {

// Who owns what a split buys. Model: all rows, in this tree and in those to come; after each purchase all open leaves
// rank their splits anew. Row: only the rows below the split, which own what lies on their path from the root, or, with a
// RowLedger, on their paths through all trees so far.
enum class Ledger { model, row };

struct GrowOptions {
    index_t max_depth = std::numeric_limits<index_t>::max();
    index_t max_leaves = std::numeric_limits<index_t>::max();
    index_t min_rows_leaf = 1;
    Ledger ledger = Ledger::row;
    Weighing weighing;
    double budget = std::numeric_limits<double>::infinity();  // hard: on all that the ledger's owner pays
    int n_threads = 0;
    // Columns among which the split of a node is sought, drawn anew for each node; only under the row ledger.
    index_t max_features = std::numeric_limits<index_t>::max();
    // Cuts of a numeric column that are tried in a node, drawn anew for each; only under the row ledger.
    index_t max_cuts = std::numeric_limits<index_t>::max();
    double cuts_above = 0;  // nodes of at most this weight try all cuts
    std::uint64_t key = 0;  // of the root's draws
};

// The keys of the draws of a node's children, and of cuts; those of the columns are counted from 0.
constexpr std::uint64_t kLeftDraw = ~std::uint64_t{0};
constexpr std::uint64_t kRightDraw = kLeftDraw - 1;
constexpr std::uint64_t kCutDraw = kLeftDraw - 2;

// A leaf that may still be split. Its rows are neighbours in Workspace::rows.
struct Leaf {
    index_t node = -1;  // -1: split since
    index_t begin = 0;
    index_t end = 0;
    index_t depth = 0;
    index_t histogram = -1;
    bool carried = false;        // its sums were given to the next tree
    std::uint64_t key = 0;       // of its draws of columns
    std::vector<std::int64_t> sums;
    Bitset constant;             // columns, by place in columns_, known to have one bin only
    Owned path;                  // row ledger: what lies on the path
    std::vector<Split> splits;   // by place in columns_; only under the model ledger, whose prices change
    Split split;                 // that of the offer
    Offer offer;

    index_t n() const { return end - begin; }
};

// Memory that growing needs and the next tree can use again. It carries no state from one tree to the next.
struct Workspace {
    std::vector<index_t> rows;           // row numbers, leaf by leaf
    std::vector<std::int64_t> room;      // targets in the order of rows; between times, scratch of the partition
    std::vector<std::int64_t> spare_small;
    std::vector<std::int64_t> spare_large;
    std::vector<std::uint8_t> bins;      // of the rows of one leaf in one column
    HistogramPool pool;
};

}  // namespace farthing
