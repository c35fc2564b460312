// offers: the best split of a leaf at today's prices. It keeps the model's ledger, or asks that of the rows.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "account/candidate_ranking.hpp"
#include "account/cost_sheet.hpp"
#include "account/row_ledger.hpp"
#include "common/views.hpp"
#include "grow/grow_options.hpp"
#include "grow/leaf.hpp"
#include "grow/split.hpp"

namespace farthing {

template <class Target>
class SplitChooser {
public:
    // IN owned: the model's ledger (ignored by the row ledger); ledger: what the rows own, or null.
    SplitChooser(const Target& target, const CostSheet& sheet, const GrowOptions& options, OwnedFeatures owned,
                 RowLedger* ledger)
        : target_(target), sheet_(sheet), options_(options), owned_(std::move(owned)), ledger_(ledger) {}

    const OwnedFeatures& owned() const { return owned_; }

    // The root says what the shares of the rows that pay are shares of.
    void begin_tree(const Leaf& root, const index_t* rows) {
        root_cover_ = target_.cover(root.sums.data());
        if (ledger_) root_weight_ = static_cast<double>(ledger_->weight(rows, root.n()));
    }

    // Buys for the model. Returns whether that changes the prices of other leaves.
    bool buy(index_t feature) {
        if (options_.ledger != LedgerKind::model || owned_.has(feature)) return false;
        owned_.add(sheet_, feature);
        return true;
    }

    // Chooses the leaf's offer among the best splits of all columns.
    void rank(Leaf& leaf, const index_t* rows, const std::vector<index_t>& columns, const std::vector<Split>& splits) {
        begin(leaf, rows);
        for (std::size_t c = 0; c < splits.size(); ++c) consider(leaf, columns[c], splits[c]);
        end(leaf);
    }

    // Or one by one: begin, consider each, end.
    void begin(Leaf& leaf, const index_t* rows) {
        leaf.candidate = Candidate{};
        due_.clear();  // a trade-off of zero asks no prices
        if (ledger_ && options_.ranking.tradeoff > 0) ledger_->due(rows + leaf.begin, leaf.n(), due_);
    }

    // Takes a split for the leaf's offer if it is better.
    void consider(Leaf& leaf, index_t column, const Split& split) const {
        if (!(split.gain > 0)) return;
        const OwnedFeatures& owner = options_.ledger == LedgerKind::model ? owned_ : leaf.path;
        const double share = options_.ledger == LedgerKind::row && root_cover_ > 0
                                 ? target_.cover(leaf.sums.data()) / root_cover_
                                 : 1.0;
        Candidate candidate;
        candidate.gain = split.gain;
        candidate.feature = column;
        candidate.charge = !ledger_ ? price(sheet_, column,
                                            owner) * share : due_.empty() ? 0.0 : due_[column] / root_weight_;
        candidate.list_price = list_price(sheet_, column);
        if (!options_.ranking.better(candidate, leaf.candidate) || !affordable(owner, column)) return;
        leaf.candidate = candidate;
        leaf.split = split;
    }

    bool acceptable(const Leaf& leaf) const { return options_.ranking.acceptable(leaf.candidate); }

    void end(Leaf& leaf) const {
        if (!acceptable(leaf)) leaf.candidate = Candidate{};
    }

    // The heap's order: b comes before a. Equal offers: the older leaf.
    bool ranks_below(const Leaf& a, const Leaf& b) const {
        if (options_.ranking.better(b.candidate, a.candidate)) return true;
        if (options_.ranking.better(a.candidate, b.candidate)) return false;
        return b.node < a.node;
    }

private:
    const Target& target_;
    const CostSheet& sheet_;
    const GrowOptions& options_;
    OwnedFeatures owned_;
    RowLedger* ledger_;
    double root_cover_ = 0;
    double root_weight_ = 0;    // as the row ledger weighs rows
    std::vector<double> due_;  // by all rows of the leaf under consideration, for each feature; row ledger of an ensemble

    bool affordable(const OwnedFeatures& owner, index_t feature) const {
        // What a row of the ledger cannot afford is missing to it.
        return ledger_ || std::isinf(options_.budget) || owner.has(feature) ||
               affords(sheet_, owner, feature, options_.budget);
    }
};

}  // namespace farthing
