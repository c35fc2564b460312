// Tests of prune/min_cut.hpp and prune/closure_path.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/views.hpp"
#include "prune/closure_graph.hpp"
#include "prune/closure_path.hpp"
#include "prune/min_cut.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

// A random problem of n elements, with arcs from later to earlier ones.
inline ClosureGraph random_closure(std::uint64_t seed, std::int32_t n, std::int64_t unit) {
    Random random(seed);
    ClosureGraph graph;
    graph.first.push_back(0);
    for (std::int32_t u = 0; u < n; ++u) {
        graph.gain.push_back((static_cast<std::int64_t>(random.below(9)) - 3) * unit);
        graph.cost.push_back(static_cast<std::int64_t>(random.below(4)) * unit);
        for (std::int32_t v = 0; v < u; ++v) {
            if (random.below(4) == 0) graph.head.push_back(v);
        }
        graph.first.push_back(graph.n_arcs());
    }
    return graph;
}

// Brute force: the maximum weight of a closed set, and the union of all sets that have it.
inline std::vector<std::uint8_t> brute_closure(const ClosureGraph& graph, Rate rate) {
    int128_t best = 0;
    std::uint32_t all = 0;
    for (std::uint32_t set = 0; set < (1u << graph.n()); ++set) {
        int128_t weight = 0;
        bool closed = true;
        for (std::int32_t u = 0; closed && u < graph.n(); ++u) {
            if (!((set >> u) & 1u)) continue;
            weight += static_cast<int128_t>(rate.q) * graph.gain[u] - static_cast<int128_t>(rate.p) * graph.cost[u];
            for (index_t a = graph.first[u]; a < graph.first[u + 1]; ++a)
                closed = closed && ((set >> graph.head[a]) & 1u);
        }
        if (!closed || weight < best) continue;
        all = weight > best ? set : all | set;
        best = weight;
    }
    std::vector<std::uint8_t> inside;
    for (std::int32_t u = 0; u < graph.n(); ++u) inside.push_back((all >> u) & 1u);
    return inside;
}

inline void a_cut_is_the_largest_of_the_best_closed_sets() {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        for (const std::int64_t unit : {std::int64_t{1}, std::int64_t{1} << 55}) {
            const ClosureGraph graph = random_closure(seed, 10, unit);
            for (const Rate rate :
                 {Rate{0, 1}, Rate{1, 1}, Rate{2, 3}, Rate{std::int64_t{1} << 20, (std::int64_t{1} << 20) + 1}}) {
                CHECK(best_closure(graph, rate) == brute_closure(graph, rate));
            }
        }
    }
}

inline void a_path_holds_the_cut_of_every_rate() {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const ClosureGraph graph = random_closure(seed, 40, 1);
        const ClosurePath path = ClosureSolver().solve(ClosureGraph(graph));
        for (std::size_t entry = 0; entry + 1 < path.rates.size(); ++entry) {
            const Rate low = path.rates[entry];
            const Rate high = path.rates[entry + 1];
            CHECK(static_cast<int128_t>(low.p) * high.q < static_cast<int128_t>(high.p) * low.q);
            const std::vector<std::uint8_t> inside = best_closure(graph, Rate{low.p + high.p, low.q + high.q});
            for (std::int32_t v = 0; v < graph.n(); ++v)
                CHECK((path.drop[v] > static_cast<std::int32_t>(entry) + 1) == inside[v]);
        }
    }
}

inline void sums_beyond_the_limit_are_refused() {
    ClosureGraph graph = random_closure(0, 4, 1);
    graph.gain.assign(4, std::int64_t{1} << 61);
    bool refused = false;
    try {
        ClosureSolver().solve(std::move(graph));
    } catch (const std::overflow_error&) {
        refused = true;
    }
    CHECK(refused);
}

inline void test_closure() {
    RUN(a_cut_is_the_largest_of_the_best_closed_sets);
    RUN(a_path_holds_the_cut_of_every_rate);
    RUN(sums_beyond_the_limit_are_refused);
}

}  // namespace farthing::tests
