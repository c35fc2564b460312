// interrupt: lets whoever called the core end long work, such as by Ctrl-C.
//
// The core knows no Python: the bindings set a hook, which throws if the work must end. Loops ask between pieces of
// work that take about as long as a few thousand rows.
#pragma once

#include <atomic>
#include <chrono>

namespace farthing {

using InterruptHook = void (*)();

inline std::atomic<InterruptHook>& interrupt_hook() {
    static std::atomic<InterruptHook> hook{nullptr};
    return hook;
}

// Calls the hook, at most twenty times a second on each thread: it has to wait for the interpreter.
inline void check_interrupt() {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kPause{50};
    thread_local Clock::time_point last = Clock::now();
    const Clock::time_point now = Clock::now();
    if (now - last < kPause) return;
    last = now;
    if (const InterruptHook hook = interrupt_hook().load(std::memory_order_relaxed)) hook();
}

}  // namespace farthing
