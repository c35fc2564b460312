// target
#pragma once

namespace farthing {

// A gain below this share of what there was to gain is rounding, not a gain.
constexpr double kMinRelativeGain = 1e-12;

}  // namespace farthing
