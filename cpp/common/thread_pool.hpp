// thread_pool: threads that run the parts of a loop, and sleep when there is nothing to do.
//
// A thread that waits for work spins for some microseconds, so that the next of many short loops finds it awake, and
// then sleeps, so that it takes no time from other programs. Whoever starts a loop works on it as well, and takes
// every part that no other thread has begun: threads that other programs keep off the cores delay it by the parts that
// they are in, not by their share. So loops may be nested, and several callers share the same threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>

#ifndef _WIN32
#include <pthread.h>
#endif
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace farthing {

class ThreadPool {
public:
    // The pool of the process. It is never destroyed: at the end of the process its threads may still sleep in it.
    static ThreadPool& shared() {
        ThreadPool* pool = current().load(std::memory_order_acquire);
        if (pool != nullptr) return *pool;
        static std::once_flag made;
        std::call_once(made, [] {
            current().store(new ThreadPool, std::memory_order_release);
#ifndef _WIN32
            // A forked process has no other threads than the one that forked, so it begins with a new pool.
            pthread_atfork(nullptr, nullptr, [] { current().store(new ThreadPool, std::memory_order_release); });
#endif
        });
        return *current().load(std::memory_order_acquire);
    }

    // Calls work(0) to work(n_parts - 1), each once, on at most n_parts threads; returns when all are done. If some of
    // them throw, the first exception is thrown here.
    template <class Work>
    void run(int n_parts, Work&& work) {
        if (n_parts <= 1) {
            if (n_parts == 1) work(0);
            return;
        }
        Batch batch;
        batch.context = &work;
        batch.call = [](void* context, int part) { (*static_cast<std::remove_reference_t<Work>*>(context))(part); };
        batch.n_parts = n_parts;
        open(batch);
        batch.take_parts();
        close(batch);
        if (batch.error) std::rethrow_exception(batch.error);
    }

private:
    static constexpr int kMostThreads = 256;
    static constexpr std::chrono::microseconds kSpin{50};

    struct Batch {
        void* context = nullptr;
        void (*call)(void*, int) = nullptr;
        int n_parts = 0;
        std::atomic<int> next{0};     // the first part that nobody has begun
        std::atomic<int> helpers{0};  // threads that may still use this batch
        std::mutex error_mutex;
        std::exception_ptr error;

        void take_parts() {
            for (int part = next++; part < n_parts; part = next++) {
                try {
                    call(context, part);
                } catch (...) {
                    const std::lock_guard<std::mutex> lock(error_mutex);
                    if (!error) error = std::current_exception();
                }
            }
        }
    };

    std::mutex mutex_;
    std::condition_variable opened_;
    std::condition_variable left_;
    std::deque<Batch*> batches_;            // those that may have parts left
    std::atomic<unsigned> n_opened_{0};     // counts batches, so that a spinning thread sees a new one
    int n_threads_ = 0;
    int n_asleep_ = 0;

    static std::atomic<ThreadPool*>& current() {
        static std::atomic<ThreadPool*> pool{nullptr};
        return pool;
    }

    static void relax() {
#if defined(__x86_64__) || defined(_M_X64)
        _mm_pause();
#else
        std::this_thread::yield();
#endif
    }

    // Spins until done() or until the time is over; returns done().
    template <class Done>
    static bool spin_until(Done&& done) {
        const auto end = std::chrono::steady_clock::now() + kSpin;
        do {
            for (int turn = 0; turn < 32; ++turn) {
                if (done()) return true;
                relax();
            }
        } while (std::chrono::steady_clock::now() < end);
        return done();
    }

    void open(Batch& batch) {
        const int wanted = std::min(batch.n_parts - 1, kMostThreads);
        bool wake = false;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            for (; n_threads_ < wanted; ++n_threads_) std::thread([this] { serve(); }).detach();
            batches_.push_back(&batch);
            n_opened_.fetch_add(1, std::memory_order_release);
            wake = n_asleep_ > 0;
        }
        if (!wake) return;
        if (wanted == 1) {
            opened_.notify_one();
        } else {
            opened_.notify_all();
        }
    }

    // No thread joins the batch after this; those that have joined are waited for.
    void close(Batch& batch) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            batches_.erase(std::find(batches_.begin(), batches_.end(), &batch));
        }
        const auto alone = [&] { return batch.helpers.load(std::memory_order_acquire) == 0; };
        if (spin_until(alone)) return;
        std::unique_lock<std::mutex> lock(mutex_);
        left_.wait(lock, alone);
    }

    [[noreturn]] void serve() {
        unsigned seen = 0;
        for (;;) {
            const bool fresh =
                spin_until([&] { return n_opened_.load(std::memory_order_acquire) != seen; });
            Batch* batch = nullptr;
            {
                std::unique_lock<std::mutex> lock(mutex_);
                if (!fresh) {
                    ++n_asleep_;
                    opened_.wait(lock, [&] { return n_opened_.load(std::memory_order_relaxed) != seen; });
                    --n_asleep_;
                }
                batch = joined();
                // If there is another batch to join, this thread comes back before it waits.
                if (batch == nullptr) seen = n_opened_.load(std::memory_order_relaxed);
            }
            if (batch == nullptr) continue;
            batch->take_parts();
            // The batch may be gone as soon as nobody helps; the lock keeps its owner from missing the message.
            if (batch->helpers.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                { const std::lock_guard<std::mutex> lock(mutex_); }
                left_.notify_all();
            }
        }
    }

    // Joins the first batch that has parts left; null if there is none. The mutex is held.
    Batch* joined() {
        for (Batch* batch : batches_) {
            const int begun = batch->next.load(std::memory_order_relaxed);
            if (begun < batch->n_parts) {
                batch->helpers.fetch_add(1, std::memory_order_relaxed);
                return batch;
            }
        }
        return nullptr;
    }
};

}  // namespace farthing
