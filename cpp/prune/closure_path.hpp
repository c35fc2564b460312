// closure_path: the maximum-weight closures of a graph for every rate at once.
//
// As the rate grows, the best closed sets shrink and are nested (Gallo, Grigoriadis, Tarjan, 1989), so all of them
// are found by divide and conquer:
//
//     Let U be the elements in which the best sets of two rates differ. At the rate gain(U) / cost(U) both sets have
//     the same weight. If no set is better there, U leaves in one piece at that rate. Otherwise the better set divides
//     U in two, and each side is solved alone, without the arcs between them; so are its connected components.
//
// Rates are fractions of integers, so ties and breakpoints are exact.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "common/views.hpp"
#include "prune/closure_graph.hpp"
#include "prune/min_cut.hpp"

namespace farthing {

// A part of a problem: its graph, and its elements' indices in the whole problem.
struct SubProblem {
    ClosureGraph graph;
    std::vector<std::int32_t> ids;
};

// Splits a problem by part number, -1 for elements of no part; arcs between parts are dropped.
inline std::vector<SubProblem> split_problem(const SubProblem& whole, const std::vector<std::int32_t>& part,
                                             std::int32_t n_parts) {
    std::vector<SubProblem> parts(n_parts);
    std::vector<std::int32_t> place(part.size());
    for (std::size_t v = 0; v < part.size(); ++v) {
        if (part[v] < 0) continue;
        SubProblem& to = parts[part[v]];
        place[v] = to.graph.n();
        to.graph.gain.push_back(whole.graph.gain[v]);
        to.graph.cost.push_back(whole.graph.cost[v]);
        to.ids.push_back(whole.ids[v]);
    }
    for (SubProblem& to : parts) to.graph.first.reserve(to.graph.gain.size() + 1);
    for (std::size_t u = 0; u < part.size(); ++u) {
        if (part[u] < 0) continue;
        ClosureGraph& to = parts[part[u]].graph;
        to.first.push_back(to.n_arcs());
        for (index_t a = whole.graph.first[u]; a < whole.graph.first[u + 1]; ++a) {
            const std::int32_t v = whole.graph.head[a];
            if (part[v] == part[u]) to.head.push_back(place[v]);
        }
    }
    for (SubProblem& to : parts) to.graph.first.push_back(to.graph.n_arcs());
    return parts;
}

// The connected component of each element, numbered from 0 in the order of the elements; returns their number.
inline std::int32_t connected_components(const ClosureGraph& graph, std::vector<std::int32_t>& part) {
    std::vector<std::int32_t> root(graph.gain.size());
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](std::int32_t v) {
        while (root[v] != v) v = root[v] = root[root[v]];
        return v;
    };
    for (std::int32_t u = 0; u < graph.n(); ++u) {
        for (index_t a = graph.first[u]; a < graph.first[u + 1]; ++a) {
            const std::int32_t x = find(u);
            const std::int32_t y = find(graph.head[a]);
            if (x != y) root[std::max(x, y)] = std::min(x, y);
        }
    }
    part.assign(graph.gain.size(), -1);
    std::int32_t n = 0;
    for (std::int32_t v = 0; v < graph.n(); ++v) {
        const std::int32_t r = find(v);
        part[v] = r == v ? n++ : part[r];  // the root is the smallest element of its component, so its number is known
    }
    return n;
}

struct ClosurePath {
    std::vector<Rate> rates;         // ascending: where the best set shrinks
    std::vector<std::int32_t> drop;  // (n,): v is in the best set up to the drop[v]-th rate; 0: never
    index_t n_cuts = 0;
};

// Called with the share of elements that are decided.
using Progress = std::function<void(double)>;

class ClosureSolver {
public:
    explicit ClosureSolver(Progress progress = {}) : progress_(std::move(progress)) {}

    // Elements outside the largest best set at rate 0 have drop 0; those that no rate removes have rates.size() + 1.
    // Between two rates the set is the largest of the best ones; at a rate it is the next smaller one.
    ClosurePath solve(ClosureGraph&& graph) {
        checked_abs_sum(graph.gain);
        checked_abs_sum(graph.cost);
        n_ = graph.n();
        piece_.assign(n_, kNever);
        SubProblem whole{std::move(graph), std::vector<std::int32_t>(n_)};
        std::iota(whole.ids.begin(), whole.ids.end(), 0);
        fix_free_elements(whole);
        drop_never_chosen(whole);
        std::vector<SubProblem> stack;
        push_components(std::move(whole), stack);
        while (!stack.empty()) {
            SubProblem problem = std::move(stack.back());
            stack.pop_back();
            divide(std::move(problem), stack);
        }
        if (progress_ && reported_ < 1) progress_(reported_ = 1);
        return collect();
    }

private:
    static constexpr std::int32_t kNever = -1;   // outside from the start
    static constexpr std::int32_t kAlways = -2;  // inside at every rate

    struct Piece {
        std::int64_t gain;
        std::int64_t cost;
    };

    Progress progress_;
    std::int32_t n_ = 0;
    index_t n_decided_ = 0;
    index_t n_cuts_ = 0;
    double reported_ = 0;
    std::vector<std::int32_t> piece_;  // (n,): index in pieces_, kNever or kAlways
    std::vector<Piece> pieces_;

    // Elements that need nothing with a cost are decided by their gains alone: the best closed set of them stays at
    // every rate.
    void fix_free_elements(SubProblem& whole) {
        ClosureGraph& graph = whole.graph;
        // An element is free if it costs nothing and everything it needs is free; iterate to the fixed point.
        std::vector<std::uint8_t> free(graph.gain.size());
        for (std::size_t v = 0; v < free.size(); ++v) free[v] = graph.cost[v] == 0;
        for (bool changed = true; changed;) {
            changed = false;
            for (std::int32_t u = 0; u < graph.n(); ++u) {
                if (!free[u]) continue;
                for (index_t a = graph.first[u]; free[u] && a < graph.first[u + 1]; ++a) free[u] = free[graph.head[a]];
                changed = changed || !free[u];
            }
        }
        std::vector<std::int32_t> part(free.size());
        for (std::size_t v = 0; v < free.size(); ++v) part[v] = free[v] ? 0 : -1;
        const SubProblem free_part = std::move(split_problem(whole, part, 1)[0]);
        if (free_part.ids.empty()) return;
        const std::vector<std::uint8_t> inside = best_closure(free_part.graph, Rate{0, 1});
        std::fill(part.begin(), part.end(), 0);
        for (std::size_t i = 0; i < inside.size(); ++i) {
            if (!inside[i]) continue;
            piece_[free_part.ids[i]] = kAlways;
            part[free_part.ids[i]] = -1;
            ++n_decided_;
        }
        whole = std::move(split_problem(whole, part, 1)[0]);
    }

    // An element outside the best set at rate 0 is in none.
    void drop_never_chosen(SubProblem& whole) {
        const std::vector<std::uint8_t> inside = best_closure(whole.graph, Rate{0, 1});
        std::vector<std::int32_t> part(inside.size());
        for (std::size_t v = 0; v < inside.size(); ++v) {
            part[v] = inside[v] ? 0 : -1;
            n_decided_ += !inside[v];
        }
        whole = std::move(split_problem(whole, part, 1)[0]);
    }

    void divide(SubProblem&& problem, std::vector<SubProblem>& stack) {
        const std::int64_t gain =
            std::accumulate(problem.graph.gain.begin(), problem.graph.gain.end(), std::int64_t{0});
        const std::int64_t cost =
            std::accumulate(problem.graph.cost.begin(), problem.graph.cost.end(), std::int64_t{0});
        const std::int64_t common = std::gcd(gain, cost);
        std::vector<std::uint8_t> inside;
        bool whole = problem.ids.size() == 1;
        if (!whole) {
            ++n_cuts_;
            inside = best_closure(problem.graph, Rate{gain / common, cost / common});
            whole = std::all_of(inside.begin(), inside.end(), [](std::uint8_t flag) { return flag != 0; });
        }
        if (whole) {
            for (const std::int32_t v : problem.ids) piece_[v] = static_cast<std::int32_t>(pieces_.size());
            pieces_.push_back({gain, cost});
            report(static_cast<index_t>(problem.ids.size()));
            return;
        }
        const std::vector<std::int32_t> side(inside.begin(), inside.end());
        std::vector<SubProblem> sides = split_problem(problem, side, 2);
        problem = SubProblem{};
        for (SubProblem& one : sides) push_components(std::move(one), stack);
    }

    void push_components(SubProblem&& problem, std::vector<SubProblem>& stack) {
        if (problem.ids.empty()) return;
        std::vector<std::int32_t> part;
        const std::int32_t n = connected_components(problem.graph, part);
        if (n == 1) {
            stack.push_back(std::move(problem));
            return;
        }
        std::vector<SubProblem> parts = split_problem(problem, part, n);
        problem = SubProblem{};
        for (SubProblem& one : parts) stack.push_back(std::move(one));
    }

    void report(index_t decided) {
        n_decided_ += decided;
        const double share = static_cast<double>(n_decided_) / static_cast<double>(std::max(n_, 1));
        if (progress_ && share >= reported_ + 0.01) progress_(reported_ = share);
    }

    // Sorts the pieces by rate and merges equal rates.
    ClosurePath collect() {
        const auto n_pieces = static_cast<std::int32_t>(pieces_.size());
        std::vector<std::int32_t> order(n_pieces);
        std::iota(order.begin(), order.end(), 0);
        const auto before = [&](std::int32_t a, std::int32_t b) {
            return static_cast<int128_t>(pieces_[a].gain) * pieces_[b].cost <
                   static_cast<int128_t>(pieces_[b].gain) * pieces_[a].cost;
        };
        std::sort(order.begin(), order.end(), before);
        ClosurePath path;
        std::vector<std::int32_t> rank(n_pieces);
        for (std::int32_t i = 0; i < n_pieces; ++i) {
            const Piece& piece = pieces_[order[i]];
            if (i == 0 || before(order[i - 1], order[i])) {
                const std::int64_t common = std::gcd(piece.gain, piece.cost);
                path.rates.push_back({piece.gain / common, piece.cost / common});
            }
            rank[order[i]] = static_cast<std::int32_t>(path.rates.size());
        }
        const auto last = static_cast<std::int32_t>(path.rates.size()) + 1;
        path.drop.resize(piece_.size());
        for (std::size_t v = 0; v < piece_.size(); ++v) {
            path.drop[v] = piece_[v] == kNever ? 0 : piece_[v] == kAlways ? last : rank[piece_[v]];
        }
        path.n_cuts = n_cuts_;
        return path;
    }
};

}  // namespace farthing
