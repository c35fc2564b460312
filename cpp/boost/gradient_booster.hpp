// gradient_booster: an ensemble that grows round by round on the gradients of a loss, and the scores of all rows.
// src/farthing/learning/booster.py defines the same in Python, for any loss; the bits are the same.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "account/cost_sheet.hpp"
#include "boost/boost_loss.hpp"
#include "common/peers.hpp"
#include "common/views.hpp"
#include "grow/gradient_target.hpp"
#include "grow/grow_options.hpp"
#include "grow/grower.hpp"
#include "grow/node_vectors.hpp"
#include "grow/tree.hpp"
#include "grow/vector_leaf_search.hpp"
#include "grow/vector_target.hpp"
#include "grow/workspace.hpp"
#include "table/binned_table.hpp"

namespace farthing {

// What all boosters of one table have in common.
struct BoostProblem {
    const BinnedTable& table;
    CostSheet sheet;
    GrowOptions options;         // the limits of trees; a round sets the prices
    BoostLoss loss;
    Span<const double> weights;  // (n,)
    bool weighted = false;       // whether gradients are multiplied by them; otherwise they are all the same
    double learning_rate = 1;
    double l2 = 0;
    bool multi_output = false;   // whether a round is one tree with a value for each output, or one tree per output

    index_t n_rows() const { return table.n_rows; }  // of this process
    index_t n_outputs() const { return loss.n_outputs; }
    index_t trees_per_round() const { return multi_output ? 1 : n_outputs(); }
};

// The rows that a booster learns from, and what depends on them.
struct LearnedRows {
    std::vector<index_t> rows;  // ascending
    std::vector<double> start;  // (n_outputs,): the scores before the first tree
    double min_hessian = 0;     // least sum of hessians in a leaf
};

// The columns that the trees of a round may test, and what they pay for those that are not owned.
struct RoundRules {
    std::vector<index_t> columns;
    bool must_split = true;  // whether a round none of whose trees has a split is left out
    double tradeoff = 0;
    double budget = std::numeric_limits<double>::infinity();
};

// Memory reused from round to round; each thread has its own.
struct BoostWorkspace {
    Peers* peers = nullptr;  // those that hold further rows, for what this thread adds up; null: none
    Workspace trees;
    std::vector<double> gradients;  // (n_outputs, n); after a tree, those of its output are what it adds to the scores
    std::vector<double> hessians;
    std::vector<index_t> leaf_of_row;
};

class GradientBooster {
public:
    GradientBooster(const BoostProblem& problem, const LearnedRows& learned) : problem_(&problem), learned_(&learned) {
        const auto n = static_cast<std::size_t>(problem.n_rows());
        for (const double start : learned.start) scores_.insert(scores_.end(), n, start);
    }

    const std::vector<double>& scores() const { return scores_; }  // (n_outputs, n)
    const std::vector<Tree>& trees() const { return trees_; }      // round by round
    index_t n_rounds() const { return static_cast<index_t>(trees_.size()) / problem_->trees_per_round(); }

    // Grows a round at no price. Returns whether there is one, see RoundRules.
    bool round(const RoundRules& rules, BoostWorkspace& space) {
        OwnedFeatures owned(problem_->sheet);
        return add(grow_round(rules, owned, space), rules, space);
    }

    // Grows a round that pays for features. Returns whether it bought any; otherwise nothing changes.
    // IN OUT owned: what the model owns.
    bool buy(const RoundRules& rules, OwnedFeatures& owned, BoostWorkspace& space) {
        OwnedFeatures after = owned;
        std::vector<Tree> grown = grow_round(rules, after, space);
        if (after == owned || !add(std::move(grown), rules, space)) return false;
        owned = std::move(after);
        return true;
    }

    // Grows rounds until there are enough or none is left; returns how many were grown.
    index_t rounds(const RoundRules& rules, index_t n_rounds, BoostWorkspace& space) {
        index_t grown = 0;
        while (grown < n_rounds && !rules.columns.empty() && round(rules, space)) ++grown;
        return grown;
    }

private:
    const BoostProblem* problem_;
    const LearnedRows* learned_;
    std::vector<double> scores_;
    std::vector<Tree> trees_;

    // Grows the trees of one round: one for each output, or one for all, on the gradients before the round.
    // IN OUT owned.   OUT space.gradients: what the trees add to the scores.
    std::vector<Tree> grow_round(const RoundRules& rules, OwnedFeatures& owned, BoostWorkspace& space) const {
        const index_t n = problem_->n_rows();
        const BoostLoss& loss = problem_->loss;
        space.gradients.resize(scores_.size());
        if (loss.has_hessians() || problem_->weighted) space.hessians.resize(scores_.size());
        loss.steps(scores_.data(), space.gradients.data(), space.hessians.data());
        if (problem_->weighted) weigh(space);
        const GrowOptions options = options_for(rules, space.peers);
        std::vector<Tree> grown;
        if (problem_->multi_output) {
            grown.push_back(grow_vectors(rules, options, owned, space));
            return grown;
        }
        for (index_t output = 0; output < problem_->n_outputs(); ++output) {
            double* gradients = space.gradients.data() + output * n;
            grown.push_back(grow_tree(gradients, space.hessians.data() + output * n, rules, options, owned, space));
            for (index_t row = 0; row < n; ++row) gradients[row] = grown.back().value[space.leaf_of_row[row]];
        }
        return grown;
    }

    GrowOptions options_for(const RoundRules& rules, Peers* peers) const {
        GrowOptions options = problem_->options;
        options.peers = peers;
        options.ranking.tradeoff = rules.tradeoff;
        options.budget = rules.budget;
        // Where nothing has a price, it does not matter who owns what; the row ledger has less to keep.
        const bool free = rules.tradeoff == 0 && std::isinf(rules.budget);
        options.ledger = free ? LedgerKind::row : LedgerKind::model;
        return options;
    }

    // Multiplies gradients and hessians by the weights of the rows.
    void weigh(BoostWorkspace& space) const {
        const index_t n = problem_->n_rows();
        for (index_t i = 0; i < n * problem_->n_outputs(); ++i) {
            const double weight = problem_->weights[i % n];
            space.gradients[i] *= weight;
            space.hessians[i] = problem_->loss.has_hessians() ? space.hessians[i] * weight : weight;
        }
    }

    // OUT space.leaf_of_row: the leaf of every row, learned from or not.
    Tree grow_tree(const double* gradients, const double* hessians, const RoundRules& rules, const GrowOptions& options,
                   OwnedFeatures& owned, BoostWorkspace& space) const {
        const index_t n = problem_->n_rows();
        const double l2 = problem_->l2;
        const double step = problem_->learning_rate;
        const int n_threads = options.n_threads;
        Peers* const peers = options.peers;
        if (problem_->weighted || problem_->loss.has_hessians()) {
            return grow_on(GradientTarget<GradientSums::full>({gradients, n}, {hessians, n}, l2, learned_->min_hessian,
                                                              n_threads, step, false, peers),
                           rules, options, owned, space);
        }
        if (can_pack(all_rows(peers, n))) {
            return grow_on(
                GradientTarget<GradientSums::packed>({gradients, n}, {}, l2, 0, n_threads, step, true, peers), rules,
                options, owned, space);
        }
        return grow_on(GradientTarget<GradientSums::unit>({gradients, n}, {}, l2, 0, n_threads, step, true, peers),
                       rules, options, owned, space);
    }

    // Grows a tree for all outputs; its values overwrite the gradients.
    Tree grow_vectors(const RoundRules& rules, const GrowOptions& options, OwnedFeatures& owned,
                      BoostWorkspace& space) const {
        const index_t n = problem_->n_rows();
        const index_t n_outputs = problem_->n_outputs();
        const bool has_hessians = problem_->weighted || problem_->loss.has_hessians();
        const Span<const double> gradients{space.gradients.data(), n_outputs * n};
        const Span<const double> hessians{space.hessians.data(), has_hessians ? n_outputs * n : 0};
        const VectorTarget target(gradients, hessians, n_outputs,
                                  top_outputs(gradients, n_outputs, learned_->rows, options.peers), problem_->l2,
                                  has_hessians ? learned_->min_hessian : 0.0, options.n_threads, options.peers);
        Tree tree = grow_on(target, rules, options, owned, space, [&](Tree& grown) {
            fill_node_vectors(gradients, hessians, learned_->rows, space.leaf_of_row, problem_->l2,
                              problem_->learning_rate, options.n_threads, options.peers, grown);
        });
        for (index_t k = 0; k < n_outputs; ++k) {
            const double* values = tree.value.data() + k;
            double* out = space.gradients.data() + k * n;
            for (index_t row = 0; row < n; ++row) out[row] = values[space.leaf_of_row[row] * n_outputs];
        }
        return tree;
    }

    struct LeaveValues {
        void operator()(Tree&) const {}
    };

    // IN  fill_values(tree): sets the values of nodes that the target leaves open; the leaves of training rows are known.
    template <class Target, class FillValues = LeaveValues>
    Tree grow_on(const Target& target, const RoundRules& rules, const GrowOptions& options, OwnedFeatures& owned,
                 BoostWorkspace& space, FillValues fill_values = {}) const {
        space.trees.rows = learned_->rows;
        Grower<Target> grower(problem_->table, target, problem_->sheet, options, rules.columns, std::move(owned),
                              space.trees);
        Tree tree = grower.grow();
        const index_t n = problem_->n_rows();
        space.leaf_of_row.assign(static_cast<std::size_t>(n), -1);
        grower.leaves_of_rows({space.leaf_of_row.data(), n});
        fill_values(tree);
        if (static_cast<index_t>(learned_->rows.size()) < n) {
            grower.route_other_rows(tree, {space.leaf_of_row.data(), n});
        }
        owned = grower.owned();
        return tree;
    }

    // Adds the trees of a round to the ensemble and the scores.
    bool add(std::vector<Tree> grown, const RoundRules& rules, const BoostWorkspace& space) {
        bool splits = !rules.must_split;
        for (const Tree& tree : grown) splits = splits || tree.n_nodes() > 1;
        if (!splits) return false;
        for (std::size_t i = 0; i < scores_.size(); ++i) scores_[i] += space.gradients[i];
        for (Tree& tree : grown) trees_.push_back(std::move(tree));
        return true;
    }
};

}  // namespace farthing
