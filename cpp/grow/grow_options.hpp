// grow_options
#pragma once

#include <cstdint>
#include <limits>

#include "account/candidate_ranking.hpp"
#include "common/views.hpp"

namespace farthing {

// Who owns what a split buys. Model: all rows, in this tree and in those to come; after each purchase all open leaves
// rank their splits anew. Row: only the rows below the split, which own what lies on their path from the root, or, with a
// RowLedger, on their paths through all trees so far.
enum class LedgerKind { model, row };

struct GrowOptions {
    index_t max_depth = std::numeric_limits<index_t>::max();
    index_t max_leaves = std::numeric_limits<index_t>::max();
    index_t min_rows_leaf = 1;
    LedgerKind ledger = LedgerKind::row;
    CandidateRanking ranking;
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

}  // namespace farthing
