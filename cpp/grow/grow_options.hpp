// grow_options: limits and rules of growing one tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "account/candidate_ranking.hpp"
#include "common/peers.hpp"
#include "common/views.hpp"

namespace farthing {

// Who owns a purchased feature. Model: all rows, in this tree and in later ones; after each purchase all open leaves
// rerank their splits. Row: only the rows below the split. They own what lies on their path from the root or, with a
// RowLedger, on their paths through all trees so far.
enum class LedgerKind { model, row };

// Number of random thresholds tried per numeric column in nodes of more than some weight.
struct CutRule {
    double above = 0;
    index_t n_cuts = 0;
};

struct GrowOptions {
    index_t max_depth = std::numeric_limits<index_t>::max();
    index_t max_leaves = std::numeric_limits<index_t>::max();
    index_t min_rows_leaf = 1;
    LedgerKind ledger = LedgerKind::row;
    CandidateRanking ranking;
    double budget = std::numeric_limits<double>::infinity();  // hard limit on what the ledger's owner pays in total
    int n_threads = 0;
    // Number of columns sampled per node to find its split among; row ledger only.
    index_t max_features = std::numeric_limits<index_t>::max();
    // By descending weight: the first rule that holds for a node is its own; without one it tries all thresholds. Row
    // ledger only.
    std::vector<CutRule> cuts;
    std::uint64_t key = 0;  // random key of the root
    // Trees before this one in its ensemble: see `unseen_missing`. None: missing values that training had none of stay.
    std::optional<std::uint64_t> number;
    Peers* peers = nullptr;  // who else grows this tree, on other rows
    // Per column of the table: whether values rise (1) or fall (-1) with it, see monotonic.hpp. Empty: no constraint.
    std::vector<std::int8_t> monotonic;

    std::int8_t direction(index_t column) const {
        return monotonic.empty() ? std::int8_t{0} : monotonic[static_cast<std::size_t>(column)];
    }
};

// Counters that derive the keys of a node's children, and of thresholds, from the key of the node. Draws of columns
// count up from 0, so these count down from the top.
constexpr std::uint64_t kLeftDraw = ~std::uint64_t{0};
constexpr std::uint64_t kRightDraw = kLeftDraw - 1;
constexpr std::uint64_t kCutDraw = kLeftDraw - 2;

}  // namespace farthing
