// huge_pages: large arrays in large pages, which are touched for the first time many times faster.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace farthing {

// Asks the system to back large memory by huge pages, as NumPy does for its own arrays; a wish, not a demand.
inline void wish_huge_pages([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t n_bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr std::size_t kLarge = std::size_t{1} << 22;
    constexpr std::uintptr_t kPage = 4096;
    if (n_bytes < kLarge) return;
    const auto first = (reinterpret_cast<std::uintptr_t>(begin) + kPage - 1) / kPage * kPage;
    const std::size_t skipped = first - reinterpret_cast<std::uintptr_t>(begin);
    madvise(reinterpret_cast<void*>(first), n_bytes - skipped, MADV_HUGEPAGE);
#endif
}

}  // namespace farthing
