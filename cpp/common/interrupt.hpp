// interrupt: lets whoever called the core end long work, such as by Ctrl-C.
//
// The core knows no Python: the bindings set a hook, which throws if the work must end. Loops ask between pieces of
// work that take about as long as a few thousand rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace farthing {

using InterruptHook = void (*)();

inline std::atomic<InterruptHook>& interrupt_hook() {
    static std::atomic<InterruptHook> hook{nullptr};
    return hook;
}

// Calls the hook, at most twenty times a second on each thread: it has to wait for the interpreter. Where calls follow
// each other fast, only some of them look at the clock, which takes as long as a small piece of work.
inline void check_interrupt() {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kPause{50};
    constexpr std::chrono::milliseconds kFast{1};
    constexpr int kMostPassed = 15;
    struct State {
        int passed = 0;  // calls that do not look at the clock between two that do
        int left = 0;
        Clock::time_point looked = Clock::now();
        Clock::time_point asked = looked;
    };
    thread_local State state;
    if (state.left-- > 0) return;
    const Clock::time_point now = Clock::now();
    state.passed = now - state.looked < kFast ? std::min(2 * state.passed + 1, kMostPassed) : 0;
    state.left = state.passed;
    state.looked = now;
    if (now - state.asked < kPause) return;
    state.asked = now;
    if (const InterruptHook hook = interrupt_hook().load(std::memory_order_relaxed)) hook();
}

}  // namespace farthing
