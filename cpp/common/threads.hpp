// threads: parallel loops, and how many threads they use.
//
// What a loop computes must not depend on which thread computes it, nor in which order.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "common/thread_pool.hpp"
#include "common/views.hpp"

namespace farthing {

// Asked for once: the operating system reads files to answer, which takes as long as a small tree.
inline int n_cores() {
    static const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    return cores;
}

// IN asked: 0 or less for all cores.   Never more threads than tasks.
inline int threads_for(int asked, index_t tasks) {
    const int most = asked > 0 ? asked : n_cores();
    return tasks < most ? static_cast<int>(tasks < 1 ? 1 : tasks) : most;
}

// Hands out 0 to n - 1 in chunks, each once, to the threads of a loop.
class Chunks {
public:
    Chunks(index_t n, index_t size) : n_(n), size_(size) {}

    // OUT begin, end: the next chunk.   False if there is none.
    bool take(index_t& begin, index_t& end) {
        begin = next_.fetch_add(size_, std::memory_order_relaxed);
        end = std::min(begin + size_, n_);
        return begin < n_;
    }

    // Calls work(i) for every i of the chunks that this thread gets.
    template <class Work>
    void for_each(Work&& work) {
        index_t begin = 0;
        index_t end = 0;
        while (take(begin, end)) {
            for (index_t i = begin; i < end; ++i) work(i);
        }
    }

private:
    const index_t n_;
    const index_t size_;
    std::atomic<index_t> next_{0};
};

// Calls work(thread) once on each of some threads: for loops that need a workspace for each thread, with `Chunks`.
template <class Work>
void on_threads(int threads, Work&& work) {
    ThreadPool::shared().run(threads, std::forward<Work>(work));
}

// Calls work(i) for i from 0 to n - 1, in chunks.
template <class Work>
void parallel_for(index_t n, int threads, index_t chunk, Work&& work) {
    if (threads <= 1) {
        for (index_t i = 0; i < n; ++i) work(i);
        return;
    }
    Chunks chunks(n, chunk);
    on_threads(threads, [&](int) { chunks.for_each(work); });
}

// Calls work(begin, end) for consecutive ranges that cover 0 to n - 1, several for each thread.
template <class Work>
void parallel_ranges(index_t n, int threads, Work&& work) {
    constexpr int kRangesOfThread = 4;  // a thread that is held up holds up a quarter of its share
    if (threads <= 1) {
        if (n > 0) work(index_t{0}, n);
        return;
    }
    const index_t n_ranges = std::min<index_t>(n, index_t{threads} * kRangesOfThread);
    parallel_for(n_ranges, threads, 1, [&](index_t range) {
        work(n * range / n_ranges, n * (range + 1) / n_ranges);
    });
}

}  // namespace farthing
