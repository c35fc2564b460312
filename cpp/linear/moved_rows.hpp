// moved_rows: what differs between two sets of rows.
#pragma once

#include <vector>

#include "common/views.hpp"

namespace farthing {

// IN  before, after: rows in ascending order.
// OUT rows, signs: those in one of them only, in ascending order; 1 if it came, -1 if it left.
inline void moved_rows(Span<const index_t> before, Span<const index_t> after, std::vector<index_t>& rows,
                       std::vector<double>& signs) {
    const auto moved = [&](index_t row, double sign) {
        rows.push_back(row);
        signs.push_back(sign);
    };
    index_t i = 0;
    index_t j = 0;
    while (i < before.size && j < after.size) {
        if (before[i] == after[j]) {
            ++i;
            ++j;
        } else if (before[i] < after[j]) {
            moved(before[i++], -1.0);
        } else {
            moved(after[j++], 1.0);
        }
    }
    while (i < before.size) moved(before[i++], -1.0);
    while (j < after.size) moved(after[j++], 1.0);
}

}  // namespace farthing
