// Tests of joined_peers.hpp: pieces of work side by side, whose numbers travel together.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/joined_peers.hpp"
#include "common/peers.hpp"
#include "tests/check.hpp"

namespace farthing::tests {

// A peer with the same numbers; a maximum grows by one, so that it shows.
class Twin final : public Peers {
public:
    index_t n_exchanges = 0;
    index_t last = -1;  // the exchange that fails, if not negative

    index_t size() const override { return 2; }
    index_t n_rows() const override { return 100; }
    void add(std::int64_t* numbers, index_t n) override {
        check();
        for (index_t i = 0; i < n; ++i) numbers[i] *= 2;
    }
    void largest(double* numbers, index_t n) override {
        check();
        for (index_t i = 0; i < n; ++i) numbers[i] += 1;
    }

private:
    void check() {
        if (n_exchanges++ == last) throw std::runtime_error("a peer is lost");
    }
};

inline void numbers_travel_together() {
    for (const int n_threads : {1, 3}) {
        Twin twin;
        Gate gate(n_threads);
        std::atomic<int> n_working{0};
        std::atomic<int> most_working{0};
        std::vector<std::int64_t> sums(6, 0);
        JoinedPeers::run(twin, 6, gate, [&](index_t i, Peers& peers) {
            // The i-th takes i + 1 steps, of arrays of different lengths.
            for (index_t step = 0; step <= i; ++step) {
                const int working = ++n_working;
                for (int most = most_working; working > most && !most_working.compare_exchange_weak(most, working);) {}
                std::vector<std::int64_t> numbers(static_cast<std::size_t>(i + step + 1), 10 * i + step);
                --n_working;
                add_up(&peers, numbers);
                for (const std::int64_t number : numbers) sums[static_cast<std::size_t>(i)] += number;
            }
        });
        for (index_t i = 0; i < 6; ++i) {
            std::int64_t expected = 0;
            for (index_t step = 0; step <= i; ++step) expected += 2 * (10 * i + step) * (i + step + 1);
            CHECK(sums[static_cast<std::size_t>(i)] == expected);
        }
        CHECK(twin.n_exchanges == 6 && most_working <= n_threads);
    }
}

inline void sums_and_maxima_may_meet() {
    Twin twin;
    Gate gate(2);
    std::vector<double> found(4);
    JoinedPeers::run(twin, 4, gate, [&](index_t i, Peers& peers) {
        found[static_cast<std::size_t>(i)] = i % 2 ? largest_of(&peers, static_cast<double>(i))
                                                   : static_cast<double>(sum_over(&peers, i));
    });
    CHECK(found == (std::vector<double>{0, 2, 4, 4}) && twin.n_exchanges == 2);
    // Trees of different sizes: all of them begin together.
    twin.n_exchanges = 0;
    JoinedPeers::run(twin, 3, gate, [&](index_t i, Peers& peers) {
        for (index_t tree = 0; tree < 4; ++tree) {
            largest_of(&peers, 1.0);
            for (index_t node = 0; node <= (i + tree) % 3; ++node) sum_over(&peers, node);
        }
    });
    CHECK(twin.n_exchanges == 4 * (1 + 3));
}

inline void joined_peers_may_be_nested() {
    Twin twin;
    Gate gate(1);
    std::vector<index_t> sums(12);
    JoinedPeers::run(twin, 3, gate, [&](index_t set, Peers& outer) {
        JoinedPeers::run(outer, 4, gate, [&](index_t fold, Peers& inner) {
            index_t sum = 4 * set + fold;
            for (int step = 0; step < 5; ++step) sum = sum_over(&inner, sum);
            sums[static_cast<std::size_t>(4 * set + fold)] = sum;
        });
        sum_over(&outer, index_t{1});
    });
    for (index_t i = 0; i < 12; ++i) CHECK(sums[static_cast<std::size_t>(i)] == 32 * i);
    CHECK(twin.n_exchanges == 6);
}

inline void what_one_throws_ends_all() {
    for (const index_t lost : {-1, 2}) {
        Twin twin;
        twin.last = lost;
        Gate gate(2);
        std::string what;
        try {
            JoinedPeers::run(twin, 3, gate, [&](index_t set, Peers& outer) {
                JoinedPeers::run(outer, 2, gate, [&](index_t fold, Peers& inner) {
                    for (int step = 0; step < 1000; ++step) {
                        sum_over(&inner, index_t{1});
                        if (step == 7 && set == 1 && fold == 1) throw std::runtime_error("the time is over");
                    }
                });
            });
        } catch (const std::runtime_error& error) {
            what = error.what();
        }
        CHECK(what == (lost < 0 ? "the time is over" : "a peer is lost"));
        CHECK(twin.n_exchanges <= 10);
    }
}

inline void test_joined_peers() {
    RUN(numbers_travel_together);
    RUN(sums_and_maxima_may_meet);
    RUN(joined_peers_may_be_nested);
    RUN(what_one_throws_ends_all);
}

}  // namespace farthing::tests
