// cost_sheet: a checked CostSheet from NumPy arrays.
#pragma once

#include "account/cost_sheet.hpp"
#include "bindings/arrays.hpp"
#include "common/views.hpp"

namespace farthing {

inline CostSheet cost_sheet_of(const Vector<double>& own, const Vector<double>& shared, const Vector<index_t>& group_of,
                               index_t n_features) {
    CostSheet sheet{span(own), span(shared), span(group_of)};
    require(sheet.own.size == n_features, "own costs: one for each feature");
    require(sheet.group_of.size == n_features, "group_of: one for each feature");
    for (const index_t group : sheet.group_of) require(group < sheet.shared.size, "group_of names no group");
    return sheet;
}

}  // namespace farthing
