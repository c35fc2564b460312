// threads: how many threads a parallel loop uses.
#pragma once

#include <omp.h>

#include "common/views.hpp"

namespace farthing {
// IN asked: 0 or less for all cores.   Never more threads than tasks.

inline int threads_for(int asked, index_t tasks) {
    const int most = asked > 0 ? asked : omp_get_max_threads();
    return tasks < most ? static_cast<int>(tasks < 1 ? 1 : tasks) : most;
}

}  // namespace farthing
