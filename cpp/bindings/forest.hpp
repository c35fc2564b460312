// The forest that a Predictor of Python holds, for the other bindings that follow its trees.
#pragma once

#include "../predictor.hpp"
#include "common.hpp"

namespace farthing {

// Valid as long as the Predictor lives; anything else than one is a TypeError.
const ForestView& forest_of(nb::handle predictor);

}  // namespace farthing
