// target: what trees are grown on. A target turns the labels of the rows into integers (see fixed_point.hpp), which
// histograms add up, and scores splits from those sums. A target class provides:
//
//     Row                            the contribution of one row
//     width()                        integers per cell of a histogram
//     row(i), add(cell, row)         fill a cell
//     n_rows(sums), cover(sums)      number and weight of the rows in a cell
//     population(sums)               the share of a population that the rows stand for, up to a factor
//     values(sums, out)              the value of a node
//     node_score(sums)               the score (or impurity) of an unsplit node
//     gain(left, right, node_score)  what a split gains; 0 if it gains nothing
//     can_gain(node_score, gain)     false only if no split of the node gains as much
//     gains_less(left, right, node_score, gain)  whether a split certainly gains less, if that is known cheaply
//     pure(sums)                     whether no split can gain anything
//     order_key(sums, order)         sort key of a category, for each of n_orders() orders to try
//     kCentersCuts, kUpdatesRoot     see grower.hpp and root_histogram_update.hpp
//     kSparseValues                  whether most values of a node may be zero
//     kAddsRows                      whether it has add_rows(sums, rows, n), faster than n times add(sums, row)
//     kMonotonic                     whether values can be constrained (monotonic.hpp); then it also provides
//     level(sums, bounds)            the number that is constrained: the value, within the bounds
//     values(sums, bounds, out), node_score(sums, bounds), gain(left, right, node_score, constraint)
#pragma once

namespace farthing {

// A relative gain below this is rounding noise.
constexpr double kMinRelativeGain = 1e-12;

}  // namespace farthing
