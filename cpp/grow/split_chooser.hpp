// split_chooser: chooses the split of a leaf among the best splits of its columns, at current prices.
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
    // IN  owned: what the model owns (ignored under the row ledger); ledger: what the rows own, or null.
    SplitChooser(const Target& target, const CostSheet& sheet, const GrowOptions& options, OwnedFeatures owned,
                 RowLedger* ledger)
        : target_(target), sheet_(sheet), options_(options), owned_(std::move(owned)), ledger_(ledger) {}

    const OwnedFeatures& owned() const { return owned_; }

    // The root defines the whole that the shares of paying rows refer to.
    void begin_tree(const Leaf& root, const index_t* rows) {
        root_cover_ = target_.cover(root.sums.data());
        if (ledger_) root_weight_ = static_cast<double>(ledger_->total_weight(rows, root.n()));
    }

    // Buys a feature for the model. Returns whether that changes the prices of other leaves.
    bool buy(index_t feature) {
        if (options_.ledger != LedgerKind::model || owned_.has(feature)) return false;
        owned_.add(sheet_, feature);
        return true;
    }

    // Chooses the leaf's candidate among the best splits of all columns.
    void rank(Leaf& leaf, const index_t* rows, const std::vector<index_t>& columns, const std::vector<Split>& splits) {
        begin(leaf, rows);
        for (std::size_t c = 0; c < splits.size(); ++c) consider(leaf, columns[c], splits[c]);
        end(leaf);
    }

    // The same one by one: begin, consider each split, end.
    void begin(Leaf& leaf, const index_t* rows) {
        leaf.candidate = Candidate{};
        due_.clear();  // stays empty if the trade-off is zero: prices do not matter
        if (ledger_ && options_.ranking.tradeoff > 0) ledger_->due(rows + leaf.begin, leaf.n(), due_);
    }

    // The gain, up to rounding, that a split on a column needs to become the leaf's candidate.
    double least_gain(const Leaf& leaf, index_t column) const {
        return options_.ranking.least_gain(priced(leaf, column), leaf.candidate);
    }

    // Makes a split the leaf's candidate if it is better than the current one.
    void consider(Leaf& leaf, index_t column, const Split& split) const {
        if (!(split.gain > 0)) return;
        Candidate candidate = priced(leaf, column);
        candidate.gain = split.gain;
        if (!options_.ranking.better(candidate, leaf.candidate) || !affordable(owner(leaf), column)) return;
        leaf.candidate = candidate;
        leaf.split = split;
    }

    bool acceptable(const Leaf& leaf) const { return options_.ranking.acceptable(leaf.candidate); }

    void end(Leaf& leaf) const {
        if (!acceptable(leaf)) leaf.candidate = Candidate{};
    }

    // The order of the heap: whether b comes before a. Ties go to the older leaf, so the order is total and
    // deterministic.
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
    double root_weight_ = 0;   // weight of the root's rows in the row ledger
    std::vector<double> due_;  // per feature: what the leaf's rows would pay together; row ledger of an ensemble

    const OwnedFeatures& owner(const Leaf& leaf) const {
        return options_.ledger == LedgerKind::model ? owned_ : leaf.path;
    }

    // A candidate at current prices, its gain not yet known.
    Candidate priced(const Leaf& leaf, index_t column) const {
        const double share =
            options_.ledger == LedgerKind::row && root_cover_ > 0 ? target_.cover(leaf.sums.data()) / root_cover_ : 1.0;
        Candidate candidate;
        candidate.feature = column;
        candidate.charge = !ledger_       ? price(sheet_, column, owner(leaf)) * share
                           : due_.empty() ? 0.0
                                          : due_[column] / root_weight_;
        candidate.list_price = list_price(sheet_, column);
        return candidate;
    }

    bool affordable(const OwnedFeatures& owner, index_t feature) const {
        // With a row ledger, features that a row cannot afford are already missing in its table.
        return ledger_ || std::isinf(options_.budget) || owner.has(feature) ||
               affords(sheet_, owner, feature, options_.budget);
    }
};

}  // namespace farthing
