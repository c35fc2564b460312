// min_cut: the largest maximum-weight closure at one rate, see closure_graph.hpp.
//
// The best closed set is one side of a minimum cut (Picard, 1976): elements of positive weight are fed by the source,
// elements of negative weight drain to the sink, and arcs have infinite capacity. Flows use 64 bits if all of them
// fit, else 128.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "common/views.hpp"
#include "prune/closure_graph.hpp"

namespace farthing {

// Maximum flow by push-relabel: highest label first, gap heuristic, periodic global relabelling. Only the first phase
// is run, a maximum preflow, which is all that a cut needs.
template <class Flow>
class MinCut {
public:
    MinCut(const ClosureGraph& graph, Rate rate) : graph_(graph), n_(graph.n()) {
        index_arcs();
        excess_.resize(n_);
        sink_capacity_.resize(n_);
        for (std::int32_t v = 0; v < n_; ++v) {
            const Flow weight = static_cast<Flow>(rate.q) * graph.gain[v] - static_cast<Flow>(rate.p) * graph.cost[v];
            excess_[v] = weight > 0 ? weight : 0;
            sink_capacity_[v] = weight < 0 ? -weight : 0;
        }
        flow_.assign(graph.head.size(), 0);
        label_.assign(n_, 0);
        current_.assign(n_, 0);
        next_.resize(n_);
        previous_.resize(n_);
    }

    // Flags of the largest closed set of maximum weight: the elements that cannot reach the sink in the residual
    // graph.
    std::vector<std::uint8_t> largest_closure() {
        global_relabel();
        while (highest_active_ >= 0) {
            auto& stack = active_[highest_active_];
            if (stack.empty()) {
                --highest_active_;
                continue;
            }
            const std::int32_t v = stack.back();
            stack.pop_back();
            if (label_[v] != highest_active_ || excess_[v] == 0) continue;  // stale entry: relabelled since
            discharge(v);
            if (work_ > 2 * (6 * index_t{n_} + graph_.n_arcs())) global_relabel();
        }
        global_relabel();
        std::vector<std::uint8_t> inside(n_);
        for (std::int32_t v = 0; v < n_; ++v) inside[v] = label_[v] == n_ + 1;
        return inside;
    }

private:
    const ClosureGraph& graph_;
    std::int32_t n_;
    std::vector<index_t> in_first_;                  // incoming arcs, by head
    std::vector<std::int32_t> in_tail_;
    std::vector<std::uint32_t> in_arc_;
    std::vector<Flow> excess_;
    std::vector<Flow> sink_capacity_;                // residual capacity to the sink
    std::vector<Flow> flow_;                         // by arc
    std::vector<std::int32_t> label_;                // n + 1: the sink is unreachable
    std::vector<index_t> current_;                   // next arc to try: outgoing ones, then incoming ones
    std::vector<std::vector<std::int32_t>> active_;  // by label
    std::vector<std::int32_t> bucket_;               // by label: head of a doubly linked list of nodes, -1 if empty
    std::vector<std::int32_t> next_, previous_;
    std::vector<std::int32_t> queue_;
    std::int32_t highest_active_ = -1;               // highest label of an active node
    std::int32_t max_label_ = 0;                     // highest label of a node that reaches the sink
    index_t work_ = 0;

    void index_arcs() {
        const index_t m = graph_.n_arcs();
        if (m >= std::numeric_limits<std::uint32_t>::max())
            throw std::overflow_error("a closure problem may have 2^32 arcs at most");
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

    void reserve_labels(std::int32_t label) {
        if (static_cast<std::size_t>(label) >= bucket_.size()) {
            bucket_.resize(static_cast<std::size_t>(label) * 2 + 64, -1);
            active_.resize(bucket_.size());
        }
    }

    void set_label(std::int32_t v, std::int32_t label) {
        reserve_labels(label);
        label_[v] = label;
        current_[v] = 0;
        previous_[v] = -1;
        next_[v] = bucket_[label];
        if (next_[v] >= 0) previous_[next_[v]] = v;
        bucket_[label] = v;
        max_label_ = std::max(max_label_, label);
    }

    void unlink(std::int32_t v) {
        if (previous_[v] >= 0) next_[previous_[v]] = next_[v];
        else bucket_[label_[v]] = next_[v];
        if (next_[v] >= 0) previous_[next_[v]] = previous_[v];
    }

    void activate(std::int32_t v) {
        active_[label_[v]].push_back(v);
        highest_active_ = std::max(highest_active_, label_[v]);
    }

    // Sets all labels to the exact distances to the sink in the residual graph, by a breadth-first search from the
    // sink.
    void global_relabel() {
        work_ = 0;
        for (auto& stack : active_) stack.clear();
        std::fill(bucket_.begin(), bucket_.end(), -1);
        highest_active_ = -1;
        max_label_ = 0;
        queue_.clear();
        for (std::int32_t v = 0; v < n_; ++v) {
            label_[v] = n_ + 1;
            if (sink_capacity_[v] > 0) {
                set_label(v, 1);
                queue_.push_back(v);
            }
        }
        for (std::size_t at = 0; at < queue_.size(); ++at) {
            const std::int32_t v = queue_[at];
            const std::int32_t label = label_[v] + 1;
            if (excess_[v] > 0) activate(v);
            for (index_t i = in_first_[v]; i < in_first_[v + 1]; ++i) visit(in_tail_[i], label);
            for (index_t a = graph_.first[v]; a < graph_.first[v + 1]; ++a) {
                if (flow_[a] > 0) visit(graph_.head[a], label);
            }
        }
    }

    void visit(std::int32_t v, std::int32_t label) {
        if (label_[v] <= n_) return;
        set_label(v, label);
        queue_.push_back(v);
    }

    // v receives `amount`: the sink absorbs what its capacity allows, the rest becomes excess.
    void receive(std::int32_t v, Flow amount) {
        const Flow absorbed = std::min(sink_capacity_[v], amount);
        sink_capacity_[v] -= absorbed;
        if (amount == absorbed) return;
        if (excess_[v] == 0) activate(v);
        excess_[v] += amount - absorbed;
    }

    void discharge(std::int32_t v) {
        const index_t n_out = graph_.first[v + 1] - graph_.first[v];
        const index_t n_all = n_out + in_first_[v + 1] - in_first_[v];
        while (label_[v] <= n_) {
            const std::int32_t below = label_[v] - 1;
            for (index_t& at = current_[v]; at < n_all; ++at) {
                if (at < n_out) {
                    // Outgoing arcs have no capacity limit: all excess goes to the first admissible one.
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
            relabel(v, n_out, n_all);
        }
    }

    void relabel(std::int32_t v, index_t n_out, index_t n_all) {
        work_ += 12 + n_all;
        std::int32_t lowest = n_;
        for (index_t a = graph_.first[v]; a < graph_.first[v] + n_out; ++a)
            lowest = std::min(lowest, label_[graph_.head[a]]);
        for (index_t i = in_first_[v]; i < in_first_[v + 1]; ++i) {
            if (label_[in_tail_[i]] < lowest && flow_[in_arc_[i]] > 0) lowest = label_[in_tail_[i]];
        }
        const std::int32_t old = label_[v];
        unlink(v);
        if (bucket_[old] < 0) {  // gap: nothing above this label can reach the sink any more
            for (std::int32_t label = old + 1; label <= max_label_; ++label) {
                for (std::int32_t u = bucket_[label]; u >= 0; u = next_[u]) label_[u] = n_ + 1;
                bucket_[label] = -1;
                active_[label].clear();
            }
            max_label_ = old - 1;
            label_[v] = n_ + 1;
            return;
        }
        if (lowest >= n_) {
            label_[v] = n_ + 1;
            return;
        }
        set_label(v, lowest + 1);
    }
};

// Flags of the largest closed set of maximum weight at one rate.
inline std::vector<std::uint8_t> best_closure(const ClosureGraph& graph, Rate rate) {
    int128_t supply = 0;
    int128_t demand = 0;
    for (std::int32_t v = 0; v < graph.n(); ++v) {
        const int128_t weight =
            static_cast<int128_t>(rate.q) * graph.gain[v] - static_cast<int128_t>(rate.p) * graph.cost[v];
        (weight > 0 ? supply : demand) += weight > 0 ? weight : -weight;
    }
    if (demand == 0) return std::vector<std::uint8_t>(graph.gain.size(), 1);
    constexpr int128_t kLimit = int128_t{1} << 62;
    if (supply < kLimit && demand < kLimit) return MinCut<std::int64_t>(graph, rate).largest_closure();
    return MinCut<int128_t>(graph, rate).largest_closure();
}

}  // namespace farthing
