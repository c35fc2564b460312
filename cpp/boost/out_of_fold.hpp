// out_of_fold: boosters on sets of columns, whose number of rounds is the best one for rows that they have not seen.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "boost/fold_boosters.hpp"
#include "boost/gradient_booster.hpp"
#include "common/joined_peers.hpp"
#include "common/peers.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "grow/tree.hpp"

namespace farthing {

struct StoppingRules {
    index_t most_rounds = 0;
    // Rounds without a lower loss of the held-out rows after which a booster stops; none: all rounds are grown.
    std::optional<index_t> patience;
    double end = std::numeric_limits<double>::infinity();  // seconds since the epoch, when to give up
};

// The time is over.
struct EndReached : std::runtime_error {
    EndReached() : std::runtime_error("the time limit was reached") {}
};

inline void check_end(double end) {
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    if (now.count() > end) throw EndReached();
}

struct OutOfFoldBooster {
    index_t n_rounds = 0;          // with the least loss on the held-out rows
    std::vector<double> held_out;  // (n_outputs, n): scores of the held-out rows after these; zero for other rows
    // Of the booster of these rounds on the final rows, or, fold by fold, of those of all folds, whose mean it is.
    std::vector<Tree> trees;
};

// Grows one booster; a workspace for each thread that folds may take. With peers, one for each fold: these grow side by
// side, so that their numbers travel together.
class OutOfFoldRun {
public:
    // IN  final: the rows of the final booster; null for the mean of the boosters of all folds. gate: null without
    // peers.
    OutOfFoldRun(const BoostProblem& problem, const std::vector<BoostFold>& folds, const LearnedRows* final_rows,
                 const StoppingRules& stopping, const HeldOutRows& held_out, Peers* peers, Gate* gate)
        : problem_(problem), folds_(folds), final_(final_rows), stopping_(stopping), held_out_(held_out),
          peers_(peers), gate_(gate) {}

    OutOfFoldBooster operator()(const RoundRules& rules, std::vector<BoostWorkspace>& spaces) {
        std::vector<GradientBooster> boosters;
        for (const BoostFold& fold : folds_) boosters.emplace_back(problem_, fold.learned);
        // Round 0 is the constant alone, which wins if no round lowers the loss.
        std::vector<Passed> passed(folds_.size());
        for (std::size_t f = 0; f < folds_.size(); ++f) passed[f].add(scores_of(boosters[f], problem_, folds_[f].held_out));
        OutOfFoldBooster best;
        best.held_out.resize(boosters[0].scores().size());
        double least = std::numeric_limits<double>::infinity();
        const index_t most = rules.columns.empty() ? 0 : stopping_.most_rounds;
        for (index_t begin = 0, end = 1; begin < end;) {
            for (index_t number = begin; number < end; ++number) {
                const double loss = mean_loss(passed, number - begin);
                if (!(loss < least)) continue;
                least = loss;
                best.n_rounds = number;
                keep(passed, number - begin, best.held_out);
            }
            begin = end;
            if (begin > most) break;
            // Folds grow all rounds that will be looked at in any case, each on its own.
            end = 1 + std::min(most, stopping_.patience ? best.n_rounds + *stopping_.patience : most);
            end = std::min(end, begin + most_kept());
            if (end <= begin) break;
            grow(boosters, rules, end - begin, passed, spaces);
            index_t grown = 0;  // rounds in which some fold still had a split
            for (const Passed& fold : passed) grown = std::max(grown, fold.n_split);
            end = std::min(end, begin + grown);
        }
        if (final_) {
            GradientBooster booster(problem_, *final_);
            spaces[0].peers = peers_;
            for (index_t round = 0; round < best.n_rounds; ++round) {
                check_end(stopping_.end);
                if (!booster.round(rules, spaces[0])) break;
            }
            best.trees = booster.trees();
        } else {
            best.trees = mean_of(boosters, best.n_rounds);
        }
        return best;
    }

private:
    // The scores of the rows that a fold holds out after each of some rounds, (n_outputs, rows) each.
    struct Passed {
        std::vector<std::vector<double>> scores;
        index_t n_split = 1;  // how many of the rounds had a split; the first that has none is the last

        void add(std::vector<double> after) { scores.push_back(std::move(after)); }
        const std::vector<double>& after(index_t round) const {
            // A fold without a split left stays as it is.
            return scores[static_cast<std::size_t>(std::min<index_t>(round, scores.size() - 1))];
        }
    };

    const BoostProblem& problem_;
    const std::vector<BoostFold>& folds_;
    const LearnedRows* final_;
    const StoppingRules& stopping_;
    const HeldOutRows& held_out_;
    Peers* peers_;
    Gate* gate_;

    // Rounds whose scores of held-out rows, of all peers, may be kept at once: 32 MB.
    index_t most_kept() const {
        constexpr index_t kMostScores = index_t{1} << 22;
        return std::max<index_t>(1, kMostScores / std::max<index_t>(1, held_out_.n_all() * problem_.n_outputs()));
    }

    // Grows some rounds of all folds.
    // OUT passed: their scores after each round.
    void grow(std::vector<GradientBooster>& boosters, const RoundRules& rules, index_t n_rounds,
              std::vector<Passed>& passed, std::vector<BoostWorkspace>& spaces) const {
        const auto n_folds = static_cast<index_t>(folds_.size());
        const auto grow_fold = [&](index_t f, BoostWorkspace& space) {
            Passed& fold = passed[static_cast<std::size_t>(f)];
            fold.scores.erase(fold.scores.begin(), fold.scores.end() - 1);
            GradientBooster& booster = boosters[static_cast<std::size_t>(f)];
            const std::vector<index_t>& rows = folds_[static_cast<std::size_t>(f)].held_out;
            for (fold.n_split = 0; fold.n_split < n_rounds; ++fold.n_split) {
                check_end(stopping_.end);
                if (!booster.round(rules, space)) break;
                fold.add(scores_of(booster, problem_, rows));
            }
            // The scores before these rounds, unless there are no others.
            if (fold.n_split > 0) fold.scores.erase(fold.scores.begin());
        };
        if (peers_) {
            const auto most = static_cast<index_t>(spaces.size());
            for (index_t begin = 0; begin < n_folds; begin += most) {
                JoinedPeers::run(*peers_, std::min(most, n_folds - begin), *gate_, [&](index_t i, Peers& joined) {
                    spaces[static_cast<std::size_t>(i)].peers = &joined;
                    grow_fold(begin + i, spaces[static_cast<std::size_t>(i)]);
                });
            }
            return;
        }
        const int threads = threads_for(static_cast<int>(spaces.size()), n_folds);
        Chunks chunks(n_folds, 1);
        on_threads(threads, [&](int thread) {
            chunks.for_each([&](index_t f) { grow_fold(f, spaces[static_cast<std::size_t>(thread)]); });
        });
    }

    // The first rounds of all boosters, with values that add up to the mean of their scores.
    std::vector<Tree> mean_of(const std::vector<GradientBooster>& boosters, index_t n_rounds) const {
        std::vector<Tree> all;
        for (const GradientBooster& booster : boosters) {
            const std::vector<Tree>& trees = booster.trees();
            const index_t n_trees = std::min<index_t>(n_rounds * problem_.trees_per_round(), trees.size());
            all.insert(all.end(), trees.begin(), trees.begin() + n_trees);
        }
        if (boosters.size() > 1) {
            for (Tree& tree : all) tree.scale(1.0 / static_cast<double>(boosters.size()));
        }
        return all;
    }

    double mean_loss(const std::vector<Passed>& passed, index_t round) const {
        std::vector<double> losses(static_cast<std::size_t>(held_out_.size()));
        for (std::size_t f = 0; f < folds_.size(); ++f) {
            held_out_.losses_of(folds_[f].held_out, passed[f].after(round), losses.data());
        }
        return held_out_.mean(losses, peers_);
    }

    // Writes the scores of held-out rows after a round to their places.
    void keep(const std::vector<Passed>& passed, index_t round, std::vector<double>& scores) const {
        for (std::size_t f = 0; f < folds_.size(); ++f) {
            const std::vector<index_t>& rows = folds_[f].held_out;
            const double* from = passed[f].after(round).data();
            for (index_t output = 0; output < problem_.n_outputs(); ++output) {
                double* to = scores.data() + output * problem_.n_rows();
                for (const index_t row : rows) to[row] = *from++;
            }
        }
    }
};

// One booster for each set of columns, side by side. With fewer sets than threads, the folds of a set are side by side,
// too. With peers, as many sets as memory allows, and all their folds: see joined_peers.hpp.
inline std::vector<OutOfFoldBooster> grow_out_of_fold(const BoostProblem& problem, const std::vector<BoostFold>& folds,
                                                      const LearnedRows* final_rows,
                                                      const std::vector<RoundRules>& sets,
                                                      const StoppingRules& stopping) {
    const auto n_sets = static_cast<index_t>(sets.size());
    const auto n_folds = static_cast<index_t>(folds.size());
    const int all = threads_for(problem.options.n_threads, std::numeric_limits<index_t>::max());
    Peers* const peers = problem.options.peers;
    const int threads = threads_for(all, n_sets);
    const int fold_threads = threads_for(std::max(1, all / std::max(1, threads)), n_folds);
    BoostProblem own = problem;
    own.options.n_threads = peers ? all : std::max(1, all / (threads * fold_threads));
    const HeldOutRows held_out(own, folds);
    std::vector<OutOfFoldBooster> boosters(sets.size());
    // The largest sets first, so that no thread is left with one of them at the end.
    std::vector<std::size_t> order(sets.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return sets[a].columns.size() > sets[b].columns.size();
    });
    if (peers) {
        Gate gate(all);
        const index_t most = most_side_by_side(own, *peers, 1);
        const index_t n_spaces = std::min(most, n_folds);
        const index_t n_together = std::min(n_sets, std::max<index_t>(1, most / n_spaces));
        for (index_t begin = 0; begin < n_sets; begin += n_together) {
            JoinedPeers::run(*peers, std::min(n_together, n_sets - begin), gate, [&](index_t i, Peers& joined) {
                std::vector<BoostWorkspace> spaces(static_cast<std::size_t>(n_spaces));
                const std::size_t set = order[static_cast<std::size_t>(begin + i)];
                boosters[set] =
                    OutOfFoldRun(own, folds, final_rows, stopping, held_out, &joined, &gate)(sets[set], spaces);
            });
        }
        return boosters;
    }
    Chunks chunks(n_sets, 1);
    on_threads(threads, [&](int) {
        std::vector<BoostWorkspace> spaces(static_cast<std::size_t>(fold_threads));
        chunks.for_each([&](index_t i) {
            const std::size_t set = order[static_cast<std::size_t>(i)];
            boosters[set] =
                OutOfFoldRun(own, folds, final_rows, stopping, held_out, nullptr, nullptr)(sets[set], spaces);
        });
    });
    return boosters;
}

}  // namespace farthing
