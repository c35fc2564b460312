// Tests of thread_pool.hpp and threads.hpp.
#pragma once

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/threads.hpp"
#include "tests/check.hpp"

namespace farthing::tests {

inline void test_every_part_runs_once() {
    for (const int threads : {1, 2, 5}) {
        for (const index_t n : {0, 1, 7, 1000}) {
            std::vector<std::atomic<int>> runs(static_cast<std::size_t>(n));
            parallel_for(n, threads, 3, [&](index_t i) { ++runs[static_cast<std::size_t>(i)]; });
            for (const auto& count : runs) CHECK(count == 1);
            std::atomic<index_t> covered{0};
            parallel_ranges(n, threads, [&](index_t begin, index_t end) { covered += end - begin; });
            CHECK(covered == n);
        }
    }
}

inline void test_loops_may_be_nested_and_concurrent() {
    std::atomic<index_t> sum{0};
    const auto outer = [&] {
        parallel_for(20, 3, 1, [&](index_t) { parallel_for(50, 3, 4, [&](index_t j) { sum += j; }); });
    };
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) callers.emplace_back(outer);
    for (std::thread& caller : callers) caller.join();
    CHECK(sum == 4 * 20 * (50 * 49 / 2));
}

inline void test_an_exception_reaches_the_caller() {
    std::atomic<int> runs{0};
    bool caught = false;
    try {
        parallel_for(100, 4, 1, [&](index_t i) {
            ++runs;
            if (i == 40) throw std::runtime_error("part 40");
        });
    } catch (const std::runtime_error& error) {
        caught = std::string(error.what()) == "part 40";
    }
    CHECK(caught);
    CHECK(runs > 0);
    test_every_part_runs_once();  // the pool still works
}

inline void test_thread_pool() {
    RUN(test_every_part_runs_once);
    RUN(test_loops_may_be_nested_and_concurrent);
    RUN(test_an_exception_reaches_the_caller);
}

}  // namespace farthing::tests
