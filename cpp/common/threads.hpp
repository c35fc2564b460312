// threads: how many threads a parallel loop gets.
#pragma once

#include <omp.h>

#include "common/views.hpp"

namespace farthing {

inline int threads_for(int asked, index_t tasks) {
    const int most = asked > 0 ? asked : omp_get_max_threads();
    return tasks < most ? static_cast<int>(tasks < 1 ? 1 : tasks) : most;
}

}  // namespace farthing
