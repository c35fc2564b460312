// divided_rows: the rows on both sides of a threshold.
#pragma once

#include "common/views.hpp"

namespace farthing {

// Copies each of n items to the lower or the upper ones, in their order. Every item is written to both, and a place
// advances where it belongs, so that no branch has to guess.
// IN  items (n,), projection (n,).   OUT lower, upper: room for n each.   Returns how many are lower.
template <class T>
index_t divide(const T* items, Span<const double> projection, double threshold, T* lower, T* upper) {
    index_t n_lower = 0;
    index_t n_upper = 0;
    for (index_t i = 0; i < projection.size; ++i) {
        const bool up = projection[i] > threshold;
        lower[n_lower] = items[i];
        upper[n_upper] = items[i];
        n_lower += !up;
        n_upper += up;
    }
    return n_lower;
}

}  // namespace farthing
