// closure: the largest set of best worth that is closed under "only with", for every price of its costs at once.
//
// An element v earns gain[v] and costs cost[v] >= 0; an arc u -> v says that u may be taken only with v. At the rate
// p/q the worth of a set is q * gain - p * cost, and the best closed set is one side of a minimum cut (Picard, 1976):
// what is worth something is a source, what costs is a sink, arcs have no capacity limit. As the rate grows the best sets
// shrink, each within the one before (Gallo, Grigoriadis, Tarjan, 1989), so all of them are found by divide and conquer:
//
//     between the best sets of two rates lie the undecided elements U; at the rate gain(U) / cost(U) both sets are worth
//     the same. Is none better there, U leaves in one piece at that very rate. Otherwise the better one parts U in two,
//     and each part goes on alone, without the arcs between them; so do its connected components.
//
// All numbers are integers, so that ties and breakpoints are exact. Flows have 64 bits where all of them fit, 128 elsewhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "common.hpp"

namespace farthing {

using wide_t = __int128;

struct ClosureGraph {
    std::vector<std::int64_t> gain;     // (n,)
    std::vector<std::int64_t> cost;     // (n,), none negative
    std::vector<index_t> first;         // (n + 1,): arcs of u are first[u] to first[u + 1]
    std::vector<std::int32_t> head;     // what u needs

    std::int32_t n() const { return static_cast<std::int32_t>(gain.size()); }
    index_t n_arcs() const { return static_cast<index_t>(head.size()); }
};

struct Rate {
    std::int64_t p = 0;
    std::int64_t q = 1;
};

// The sum of |values|; throws if it does not stay below 2^62, so that no difference of sums can overflow.
inline std::int64_t checked_mass(const std::vector<std::int64_t>& values) {
    wide_t sum = 0;
    for (const std::int64_t v : values) sum += v < 0 ? -static_cast<wide_t>(v) : v;
    if (sum >= (wide_t{1} << 62)) throw std::overflow_error("the sums of a closure problem must stay below 2^62; use a coarser grid");
    return static_cast<std::int64_t>(sum);
}

// A maximum flow by push and relabel: highest label first, gaps, exact labels now and then. Only its first phase is
// run, a maximum preflow, which is all that a cut needs.
template <class Flow>
class Cut {
public:
    Cut(const ClosureGraph& graph, Rate rate) : graph_(graph), n_(graph.n()) {
        index_arcs();
        excess_.resize(n_);
        room_.resize(n_);
        for (std::int32_t v = 0; v < n_; ++v) {
            const Flow worth = static_cast<Flow>(rate.q) * graph.gain[v] - static_cast<Flow>(rate.p) * graph.cost[v];
            excess_[v] = worth > 0 ? worth : 0;
            room_[v] = worth < 0 ? -worth : 0;
        }
        flow_.assign(graph.head.size(), 0);
        label_.assign(n_, 0);
        current_.assign(n_, 0);
        next_.resize(n_);
        previous_.resize(n_);
    }

    // Flags of the largest of the closed sets of greatest worth.
    std::vector<std::uint8_t> largest() {
        relabel_all();
        while (highest_ >= 0) {
            auto& stack = active_[highest_];
            if (stack.empty()) {
                --highest_;
                continue;
            }
            const std::int32_t v = stack.back();
            stack.pop_back();
            if (label_[v] != highest_ || excess_[v] == 0) continue;  // moved since it was put here
            discharge(v);
            if (work_ > 2 * (6 * index_t{n_} + graph_.n_arcs())) relabel_all();
        }
        relabel_all();
        std::vector<std::uint8_t> inside(n_);
        for (std::int32_t v = 0; v < n_; ++v) inside[v] = label_[v] == n_ + 1;
        return inside;
    }

private:
    const ClosureGraph& graph_;
    std::int32_t n_;
    std::vector<index_t> in_first_;          // arcs by head
    std::vector<std::int32_t> in_tail_;
    std::vector<std::uint32_t> in_arc_;
    std::vector<Flow> excess_;
    std::vector<Flow> room_;                 // what may still go to the sink
    std::vector<Flow> flow_;                 // by arc
    std::vector<std::int32_t> label_;        // n + 1: the sink is out of reach
    std::vector<index_t> current_;           // the next arc to try: those out, then those in
    std::vector<std::vector<std::int32_t>> active_;   // by label
    std::vector<std::int32_t> bucket_;       // by label: the first node of a doubly linked list, -1 for none
    std::vector<std::int32_t> next_, previous_;
    std::vector<std::int32_t> queue_;
    std::int32_t highest_ = -1;              // of an active node
    std::int32_t top_ = 0;                   // of any node within reach
    index_t work_ = 0;

    void index_arcs() {
        const index_t m = graph_.n_arcs();
        if (m >= std::numeric_limits<std::uint32_t>::max()) throw std::overflow_error("a closure problem may have 2^32 arcs at most");
        in_first_.assign(static_cast<std::size_t>(n_) + 1, 0);
        for (const std::int32_t v : graph_.head) ++in_first_[v + 1];
        std::partial_sum(in_first_.begin(), in_first_.end(), in_first_.begin());
        in_tail_.resize(m);
        in_arc_.resize(m);
        std::vector<index_t> place(in_first_.begin(), in_first_.end() - 1);
        for (std::int32_t u = 0; u < n_; ++u) {
            for (index_t a = graph_.first[u]; a < graph_.first[u + 1]; ++a) {
                const index_t at = place[graph_.head[a]]++;
                in_tail_[at] = u;
                in_arc_[at] = static_cast<std::uint32_t>(a);
            }
        }
    }

    void grow_to(std::int32_t label) {
        if (static_cast<std::size_t>(label) >= bucket_.size()) {
            bucket_.resize(static_cast<std::size_t>(label) * 2 + 64, -1);
            active_.resize(bucket_.size());
        }
    }

    void enter(std::int32_t v, std::int32_t label) {
        grow_to(label);
        label_[v] = label;
        current_[v] = 0;
        previous_[v] = -1;
        next_[v] = bucket_[label];
        if (next_[v] >= 0) previous_[next_[v]] = v;
        bucket_[label] = v;
        top_ = std::max(top_, label);
    }

    void leave(std::int32_t v) {
        if (previous_[v] >= 0) next_[previous_[v]] = next_[v];
        else bucket_[label_[v]] = next_[v];
        if (next_[v] >= 0) previous_[next_[v]] = previous_[v];
    }

    void activate(std::int32_t v) {
        active_[label_[v]].push_back(v);
        highest_ = std::max(highest_, label_[v]);
    }

    // Labels are the distances to the sink in the residual graph.
    void relabel_all() {
        work_ = 0;
        for (auto& stack : active_) stack.clear();
        std::fill(bucket_.begin(), bucket_.end(), -1);
        highest_ = -1;
        top_ = 0;
        queue_.clear();
        for (std::int32_t v = 0; v < n_; ++v) {
            label_[v] = n_ + 1;
            if (room_[v] > 0) {
                enter(v, 1);
                queue_.push_back(v);
            }
        }
        for (std::size_t at = 0; at < queue_.size(); ++at) {
            const std::int32_t v = queue_[at];
            const std::int32_t label = label_[v] + 1;
            if (excess_[v] > 0) activate(v);
            for (index_t i = in_first_[v]; i < in_first_[v + 1]; ++i) reach(in_tail_[i], label);
            for (index_t a = graph_.first[v]; a < graph_.first[v + 1]; ++a) {
                if (flow_[a] > 0) reach(graph_.head[a], label);
            }
        }
    }

    void reach(std::int32_t v, std::int32_t label) {
        if (label_[v] <= n_) return;
        enter(v, label);
        queue_.push_back(v);
    }

    // v takes `amount`: the sink what it has room for, the rest waits.
    void receive(std::int32_t v, Flow amount) {
        const Flow sunk = std::min(room_[v], amount);
        room_[v] -= sunk;
        if (amount == sunk) return;
        if (excess_[v] == 0) activate(v);
        excess_[v] += amount - sunk;
    }

    void discharge(std::int32_t v) {
        const index_t n_out = graph_.first[v + 1] - graph_.first[v];
        const index_t n_all = n_out + in_first_[v + 1] - in_first_[v];
        while (label_[v] <= n_) {
            const std::int32_t below = label_[v] - 1;
            for (index_t& at = current_[v]; at < n_all; ++at) {
                if (at < n_out) {
                    const index_t arc = graph_.first[v] + at;
                    const std::int32_t u = graph_.head[arc];
                    if (label_[u] != below) continue;
                    const Flow amount = excess_[v];
                    flow_[arc] += amount;
                    excess_[v] = 0;
                    receive(u, amount);
                    return;
                }
                const index_t in = in_first_[v] + at - n_out;
                const std::int32_t u = in_tail_[in];
                if (label_[u] != below) continue;
                Flow& flow = flow_[in_arc_[in]];
                if (flow == 0) continue;
                const Flow amount = std::min(flow, excess_[v]);
                flow -= amount;
                excess_[v] -= amount;
                receive(u, amount);
                if (excess_[v] == 0) return;
            }
            lift(v, n_out, n_all);
        }
    }

    void lift(std::int32_t v, index_t n_out, index_t n_all) {
        work_ += 12 + n_all;
        std::int32_t lowest = n_;
        for (index_t a = graph_.first[v]; a < graph_.first[v] + n_out; ++a) lowest = std::min(lowest, label_[graph_.head[a]]);
        for (index_t i = in_first_[v]; i < in_first_[v + 1]; ++i) {
            if (label_[in_tail_[i]] < lowest && flow_[in_arc_[i]] > 0) lowest = label_[in_tail_[i]];
        }
        const std::int32_t old = label_[v];
        leave(v);
        if (bucket_[old] < 0) {  // a gap: nothing above it reaches the sink any more
            for (std::int32_t label = old + 1; label <= top_; ++label) {
                for (std::int32_t u = bucket_[label]; u >= 0; u = next_[u]) label_[u] = n_ + 1;
                bucket_[label] = -1;
                active_[label].clear();
            }
            top_ = old - 1;
            label_[v] = n_ + 1;
            return;
        }
        if (lowest >= n_) {
            label_[v] = n_ + 1;
            return;
        }
        enter(v, lowest + 1);
    }
};

// Flags of the largest closed set of greatest worth at one rate.
inline std::vector<std::uint8_t> best_closure(const ClosureGraph& graph, Rate rate) {
    wide_t supply = 0;
    wide_t demand = 0;
    for (std::int32_t v = 0; v < graph.n(); ++v) {
        const wide_t worth = static_cast<wide_t>(rate.q) * graph.gain[v] - static_cast<wide_t>(rate.p) * graph.cost[v];
        (worth > 0 ? supply : demand) += worth > 0 ? worth : -worth;
    }
    if (demand == 0) return std::vector<std::uint8_t>(graph.gain.size(), 1);
    constexpr wide_t kLimit = wide_t{1} << 62;
    if (supply < kLimit && demand < kLimit) return Cut<std::int64_t>(graph, rate).largest();
    return Cut<wide_t>(graph, rate).largest();
}

// A part of a problem: its graph, and the elements of the whole that its own stand for.
struct SubProblem {
    ClosureGraph graph;
    std::vector<std::int32_t> ids;
};

// The parts of a problem by number, -1 for what belongs to none; arcs between parts are dropped.
inline std::vector<SubProblem> take_apart(const SubProblem& whole, const std::vector<std::int32_t>& part, std::int32_t n_parts) {
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

// Each element's connected component, numbered from 0 in the order of the elements.
inline std::int32_t components(const ClosureGraph& graph, std::vector<std::int32_t>& part) {
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
        part[v] = r == v ? n++ : part[r];  // a root comes before the rest of its component
    }
    return n;
}

struct ClosurePath {
    std::vector<Rate> rates;            // ascending: where the best set shrinks
    std::vector<std::int32_t> drop;     // (n,): v is in the best set until the drop[v]-th rate; 0: never
    index_t n_cuts = 0;
};

// Called with the share of elements that are decided.
using Progress = std::function<void(double)>;

class ClosureSolver {
public:
    explicit ClosureSolver(Progress progress = {}) : progress_(std::move(progress)) {}

    // At drop 0 are the elements outside the largest best set at the rate 0; those that no rate removes have the drop
    // rates.size() + 1. Between two rates the set is the largest of the best, at a rate the next one.
    ClosurePath solve(ClosureGraph&& graph) {
        checked_mass(graph.gain);
        checked_mass(graph.cost);
        n_ = graph.n();
        piece_.assign(n_, kNever);
        SubProblem whole{std::move(graph), std::vector<std::int32_t>(n_)};
        std::iota(whole.ids.begin(), whole.ids.end(), 0);
        set_free_apart(whole);
        set_hopeless_apart(whole);
        std::vector<SubProblem> stack;
        connected_parts(std::move(whole), stack);
        while (!stack.empty()) {
            SubProblem problem = std::move(stack.back());
            stack.pop_back();
            part(std::move(problem), stack);
        }
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
    double told_ = 0;
    std::vector<std::int32_t> piece_;   // (n,)
    std::vector<Piece> pieces_;

    // What needs nothing that costs is decided by its gains alone: the best of it stays at every rate.
    void set_free_apart(SubProblem& whole) {
        ClosureGraph& graph = whole.graph;
        // An element is free if it costs nothing and all it needs is free; spread "not free" against the arcs.
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
        const SubProblem gratis = std::move(take_apart(whole, part, 1)[0]);
        if (gratis.ids.empty()) return;
        const std::vector<std::uint8_t> inside = best_closure(gratis.graph, Rate{0, 1});
        std::fill(part.begin(), part.end(), 0);
        for (std::size_t i = 0; i < inside.size(); ++i) {
            if (!inside[i]) continue;
            piece_[gratis.ids[i]] = kAlways;
            part[gratis.ids[i]] = -1;
            ++n_decided_;
        }
        whole = std::move(take_apart(whole, part, 1)[0]);
    }

    // What is not in the best set at the rate 0 is in none.
    void set_hopeless_apart(SubProblem& whole) {
        const std::vector<std::uint8_t> inside = best_closure(whole.graph, Rate{0, 1});
        std::vector<std::int32_t> part(inside.size());
        for (std::size_t v = 0; v < inside.size(); ++v) {
            part[v] = inside[v] ? 0 : -1;
            n_decided_ += !inside[v];
        }
        whole = std::move(take_apart(whole, part, 1)[0]);
    }

    void part(SubProblem&& problem, std::vector<SubProblem>& stack) {
        const std::int64_t gain = std::accumulate(problem.graph.gain.begin(), problem.graph.gain.end(), std::int64_t{0});
        const std::int64_t cost = std::accumulate(problem.graph.cost.begin(), problem.graph.cost.end(), std::int64_t{0});
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
            tell(static_cast<index_t>(problem.ids.size()));
            return;
        }
        const std::vector<std::int32_t> side(inside.begin(), inside.end());
        std::vector<SubProblem> sides = take_apart(problem, side, 2);
        problem = SubProblem{};
        for (SubProblem& one : sides) connected_parts(std::move(one), stack);
    }

    void connected_parts(SubProblem&& problem, std::vector<SubProblem>& stack) {
        if (problem.ids.empty()) return;
        std::vector<std::int32_t> part;
        const std::int32_t n = components(problem.graph, part);
        if (n == 1) {
            stack.push_back(std::move(problem));
            return;
        }
        std::vector<SubProblem> parts = take_apart(problem, part, n);
        problem = SubProblem{};
        for (SubProblem& one : parts) stack.push_back(std::move(one));
    }

    void tell(index_t decided) {
        n_decided_ += decided;
        const double share = static_cast<double>(n_decided_) / static_cast<double>(std::max(n_, 1));
        if (progress_ && share >= told_ + 0.01) progress_(told_ = share);
    }

    // Pieces in the order of their rates, equal rates together.
    ClosurePath collect() {
        const auto n_pieces = static_cast<std::int32_t>(pieces_.size());
        std::vector<std::int32_t> order(n_pieces);
        std::iota(order.begin(), order.end(), 0);
        const auto before = [&](std::int32_t a, std::int32_t b) {
            return static_cast<wide_t>(pieces_[a].gain) * pieces_[b].cost < static_cast<wide_t>(pieces_[b].gain) * pieces_[a].cost;
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
