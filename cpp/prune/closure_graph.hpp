// closure_graph: the input of a maximum-weight closure problem.
//
// Element v earns gain[v] and costs cost[v] >= 0. An arc u -> v means that u may only be chosen together with v; a
// set that obeys all arcs is closed. At the rate p/q, a set has the weight q * gain - p * cost. All numbers are
// integers, so ties are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "common/views.hpp"
#include "common/wide_integer.hpp"

namespace farthing {

struct ClosureGraph {
    std::vector<std::int64_t> gain;  // (n,)
    std::vector<std::int64_t> cost;  // (n,), non-negative
    std::vector<index_t> first;      // (n + 1,): arcs of u are first[u] to first[u + 1]
    std::vector<std::int32_t> head;  // the elements that u needs

    std::int32_t n() const { return static_cast<std::int32_t>(gain.size()); }
    index_t n_arcs() const { return static_cast<index_t>(head.size()); }
};

struct Rate {
    std::int64_t p = 0;
    std::int64_t q = 1;
};

// The sum of |values|; throws unless it is below 2^62, so that no difference of sums can overflow.
inline std::int64_t checked_abs_sum(const std::vector<std::int64_t>& values) {
    int128_t sum = 0;
    for (const std::int64_t v : values) sum += v < 0 ? -static_cast<int128_t>(v) : v;
    if (sum >= (int128_t{1} << 62))
        throw std::overflow_error("the sums of a closure problem must stay below 2^62; use a coarser grid");
    return static_cast<std::int64_t>(sum);
}

// Arcs in any order, sorted by their tails (CSR) once all are known.
struct ArcList {
    std::vector<std::int32_t> tail;
    std::vector<std::int32_t> head;

    void add(std::int32_t u, std::int32_t v) {
        tail.push_back(u);
        head.push_back(v);
    }

    void fill(ClosureGraph& graph) const {
        graph.first.assign(graph.gain.size() + 1, 0);
        for (const std::int32_t u : tail) ++graph.first[u + 1];
        std::partial_sum(graph.first.begin(), graph.first.end(), graph.first.begin());
        graph.head.resize(head.size());
        std::vector<index_t> place(graph.first.begin(), graph.first.end() - 1);
        for (std::size_t a = 0; a < tail.size(); ++a) graph.head[place[tail[a]]++] = head[a];
    }
};

}  // namespace farthing
