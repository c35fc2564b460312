// check: a test is a named function; a failed CHECK prints its place, and the test continues.
#pragma once

#include <cstdio>
#include <exception>

namespace farthing::tests {

inline int passed = 0;
inline int failed = 0;
inline bool holds = true;  // no CHECK of the running test has failed

template <class Test>
void run(const char* name, Test test) {
    holds = true;
    try {
        test();
    } catch (const std::exception& error) {
        std::printf("%s: unexpected exception: %s\n", name, error.what());
        holds = false;
    }
    ++(holds ? passed : failed);
    std::printf("%-6s %s\n", holds ? "ok" : "FAILED", name);
}

inline void check(bool condition, const char* text, const char* file, int line) {
    if (condition) return;
    std::printf("%s:%d: CHECK(%s) does not hold\n", file, line, text);
    holds = false;
}

}  // namespace farthing::tests

#define CHECK(...) farthing::tests::check(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define RUN(test) farthing::tests::run(#test, test)
