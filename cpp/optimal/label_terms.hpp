// label_terms: sums of the terms of rows, with the number of labels as a constant where it is small.
#pragma once

#include <type_traits>

#include "common/views.hpp"

namespace farthing {

// Calls work with the number of labels as a constant, if it is small, else with 0.
template <class Work>
inline void with_labels(index_t n_labels, Work&& work) {
    switch (n_labels) {
        case 2: return work(std::integral_constant<int, 2>());
        case 3: return work(std::integral_constant<int, 3>());
        case 4: return work(std::integral_constant<int, 4>());
        default: return work(std::integral_constant<int, 0>());
    }
}

// Adds the terms of a row, of which so many more than the labels. All are read first, so that they are added side by
// side.   IN Labels: their number, or 0 for `n_labels`.
template <int Labels, int More>
inline void add_terms(index_t n_labels, double* sums, const double* terms) {
    if constexpr (Labels > 0) {
        double added[Labels + More];
        for (int k = 0; k < Labels + More; ++k) added[k] = sums[k] + terms[k];
        for (int k = 0; k < Labels + More; ++k) sums[k] = added[k];
    } else {
        for (index_t k = 0; k < n_labels + More; ++k) sums[k] += terms[k];
    }
}

}  // namespace farthing
