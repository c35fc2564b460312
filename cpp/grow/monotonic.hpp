// monotonic: values of nodes that only rise, or only fall, with a feature, whatever the other features are.
//
// A split on a constrained feature whose two sides are in the wrong order gains nothing. The middle of their values
// bounds those of all nodes below: no value on one side is above it, none on the other side below. So do scikit-learn's
// histogram boosting and LightGBM's method "basic". Inner nodes keep the bounds as leaves do, because a prediction may
// end there. The constraint is on present values: a missing one goes either way.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "common/views.hpp"

namespace farthing {

struct ValueBounds {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();

    double clip(double value) const { return std::min(std::max(value, lower), upper); }
    bool contain(double value) const { return lower <= value && value <= upper; }
    bool finite() const { return std::isfinite(lower) || std::isfinite(upper); }
};

// What a split of a node has to keep.
struct SplitConstraint {
    ValueBounds bounds;          // of both sides
    std::int8_t direction = 0;   // 1: the right side is not below the left one; -1: not above; 0: any

    bool active() const { return direction != 0 || bounds.finite(); }
    bool ordered(double left, double right) const {
        return direction == 0 || (direction > 0 ? left <= right : left >= right);
    }
};

// The bounds below a split with these values of its sides, which are in order.
inline void bound_sides(const SplitConstraint& constraint, double left_value, double right_value, ValueBounds& left,
                        ValueBounds& right) {
    left = right = constraint.bounds;
    if (constraint.direction == 0) return;
    const auto [low, high] = std::minmax(left_value, right_value);
    const double middle = std::min(std::max(low / 2 + high / 2, low), high);
    (constraint.direction > 0 ? left : right).upper = middle;
    (constraint.direction > 0 ? right : left).lower = middle;
}

}  // namespace farthing
