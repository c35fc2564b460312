// fold_boosters: the boosters of several folds of a table, side by side, and the loss of the rows that each holds out.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "boost/gradient_booster.hpp"
#include "common/exact_sum.hpp"
#include "common/joined_peers.hpp"
#include "common/peers.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"

namespace farthing {

struct BoostFold {
    LearnedRows learned;
    std::vector<index_t> held_out;  // ascending
};

// The scores of some rows, one output after another.
inline std::vector<double> scores_of(const GradientBooster& booster, const BoostProblem& problem,
                                     const std::vector<index_t>& rows) {
    std::vector<double> scores;
    scores.reserve(rows.size() * static_cast<std::size_t>(problem.n_outputs()));
    for (index_t output = 0; output < problem.n_outputs(); ++output) {
        const double* own = booster.scores().data() + output * problem.n_rows();
        for (const index_t row : rows) scores.push_back(own[row]);
    }
    return scores;
}

// The rows that some fold holds out, in their order, and the weighted mean of their losses.
class HeldOutRows {
public:
    HeldOutRows(const BoostProblem& problem, const std::vector<BoostFold>& folds) : problem_(&problem) {
        for (const BoostFold& fold : folds) rows_.insert(rows_.end(), fold.held_out.begin(), fold.held_out.end());
        std::sort(rows_.begin(), rows_.end());
        std::vector<double> weights;
        for (const index_t row : rows_) weights.push_back(problem.weights[row]);
        total_weight_ = sum(weights, problem.options.peers);
        n_all_ = sum_over(problem.options.peers, size());
    }

    index_t size() const { return static_cast<index_t>(rows_.size()); }
    index_t n_all() const { return n_all_; }  // with those of all peers

    // Writes the losses of the rows that one fold holds out to their places.
    // IN  fold_rows (m,); scores (n_outputs, m).   OUT losses (size(),): those of these rows.
    void losses_of(const std::vector<index_t>& fold_rows, const std::vector<double>& scores, double* losses) const {
        std::vector<double> own(fold_rows.size());
        problem_->loss.values(fold_rows, scores.data(), own.data());
        auto place = rows_.begin();
        for (std::size_t i = 0; i < own.size(); ++i) {
            place = std::lower_bound(place, rows_.end(), fold_rows[i]);
            losses[place - rows_.begin()] = own[i];
        }
    }

    // The weighted mean. It overwrites the losses.
    double mean(std::vector<double>& losses, Peers* peers) const {
        for (index_t i = 0; i < size(); ++i) losses[i] *= problem_->weights[rows_[i]];
        return sum(losses, peers) / total_weight_;
    }

private:
    const BoostProblem* problem_;
    std::vector<index_t> rows_;
    double total_weight_ = 0;
    index_t n_all_ = 0;

    // Over the rows of all peers, rounded once: the same bits whoever has which rows.
    static double sum(const std::vector<double>& values, Peers* peers) {
        ExactSum exact;
        exact.add({values.data(), static_cast<index_t>(values.size())});
        return exact.rounded(peers);
    }
};

// How many boosters may grow side by side among peers: as many as take no more memory than the bins, or 64 MiB. The
// same for all peers, so by their mean rows. On large tables it is one, but there an exchange is a small part.
// IN n_scores: further scores that each of them keeps, per row and output.
inline index_t most_side_by_side(const BoostProblem& problem, const Peers& peers, index_t n_scores) {
    constexpr index_t kMost = 32;
    constexpr index_t kSmall = index_t{64} << 20;
    const index_t n_rows = std::max<index_t>(1, peers.n_rows() / peers.size());
    const index_t of_row = 40 + (16 + 8 * n_scores) * problem.n_outputs();
    const index_t allowed = std::max(kSmall, n_rows * problem.table.n_columns());
    return std::clamp<index_t>(allowed / (of_row * n_rows), 1, kMost);
}

class FoldBoosters {
public:
    // The problem and the folds must stay where they are.
    FoldBoosters(const BoostProblem& problem, const std::vector<BoostFold>& folds)
        : problem_(&problem), folds_(&folds), held_out_(problem, folds) {
        for (const BoostFold& fold : folds) boosters_.emplace_back(problem, fold.learned);
    }

    index_t n_folds() const { return static_cast<index_t>(boosters_.size()); }
    const GradientBooster& booster(index_t fold) const { return boosters_[static_cast<std::size_t>(fold)]; }

    // Adds rounds to the booster of every fold; none without a column.
    void boost(const RoundRules& rules, index_t n_rounds) {
        each_alone(n_folds(), [&](index_t fold, BoostWorkspace& space) {
            boosters_[static_cast<std::size_t>(fold)].rounds(rules, n_rounds, space);
        });
    }

    // Adds a round that pays for features to the only booster, see GradientBooster::buy; while none buys any, the
    // trade-off falls. Returns whether one did before the trade-off was below the least one, or the time over.
    // IN OUT rules.tradeoff, owned.
    bool buy(RoundRules& rules, OwnedFeatures& owned, double least, double fall, double end) {
        while (rules.tradeoff >= least) {
            BoostWorkspace& space = spaces(1)[0];
            space.peers = problem_->options.peers;
            if (boosters_[0].buy(rules, owned, space)) return true;
            if (rules.tradeoff == 0) return false;
            rules.tradeoff *= fall;
            const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
            if (now.count() > end) return false;
        }
        return false;
    }

    // The mean loss of the held-out rows.
    double loss() const { return mean_loss(boosters_, problem_->options.peers); }

    // The same after more rounds over some columns, for each of several sets of columns; the rounds are undone.
    std::vector<double> losses_after(const std::vector<RoundRules>& sets, index_t n_rounds) {
        std::vector<double> losses(sets.size());
        each_alone(static_cast<index_t>(sets.size()), [&](index_t set, BoostWorkspace& space) {
            std::vector<GradientBooster> trial = boosters_;
            for (GradientBooster& booster : trial) booster.rounds(sets[static_cast<std::size_t>(set)], n_rounds, space);
            losses[static_cast<std::size_t>(set)] = mean_loss(trial, space.peers);
        });
        return losses;
    }

private:
    const BoostProblem* problem_;
    const std::vector<BoostFold>* folds_;
    HeldOutRows held_out_;
    std::vector<GradientBooster> boosters_;
    std::vector<BoostWorkspace> spaces_;

    double mean_loss(const std::vector<GradientBooster>& boosters, Peers* peers) const {
        std::vector<double> losses(static_cast<std::size_t>(held_out_.size()));
        for (std::size_t fold = 0; fold < boosters.size(); ++fold) {
            const std::vector<index_t>& rows = (*folds_)[fold].held_out;
            held_out_.losses_of(rows, scores_of(boosters[fold], *problem_, rows), losses.data());
        }
        return held_out_.mean(losses, peers);
    }

    std::vector<BoostWorkspace>& spaces(index_t n) {
        if (static_cast<index_t>(spaces_.size()) < n) spaces_.resize(static_cast<std::size_t>(n));
        return spaces_;
    }

    // Calls work(i, workspace) for i from 0 to n - 1, in parallel; with peers side by side, so that their numbers
    // travel together.
    template <class Work>
    void each_alone(index_t n, Work&& work) {
        if (Peers* const peers = problem_->options.peers) return each_with_peers(*peers, n, work);
        const int threads = threads_for(problem_->options.n_threads, n);
        std::vector<BoostWorkspace>& own = spaces(threads);
        Chunks chunks(n, 1);
        on_threads(threads, [&](int thread) {
            chunks.for_each([&](index_t i) { work(i, own[static_cast<std::size_t>(thread)]); });
        });
    }

    template <class Work>
    void each_with_peers(Peers& peers, index_t n, Work&& work) {
        const index_t most = std::min(n, most_side_by_side(*problem_, peers, n_folds()));
        std::vector<BoostWorkspace>& own = spaces(most);
        Gate gate(problem_->options.n_threads);
        for (index_t begin = 0; begin < n; begin += most) {
            JoinedPeers::run(peers, std::min(most, n - begin), gate, [&](index_t i, Peers& joined) {
                own[static_cast<std::size_t>(i)].peers = &joined;
                work(begin + i, own[static_cast<std::size_t>(i)]);
            });
        }
    }
};

}  // namespace farthing
