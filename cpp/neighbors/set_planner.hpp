// set_planner: the next feature of a row by plans of sets: one answer ahead, then the set of features that costs least.
//
// The nearest training rows that agree on what is known stand for the row. For each training row and each set of a
// library, the loss is known that a model has which sees only that set. If the row buys feature j and hears the answer,
// it will go on with the set that is best for those neighbours that gave the same answer:
//
//     Q(j) = sum over answers a of  P(a) * min over sets T of  mean loss(T | a) + tradeoff * price of T and j
//
// The set is chosen by one half of the neighbours and judged by the other, so that many sets on few rows do not look
// better than they are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/selection.hpp"
#include "common/views.hpp"

namespace farthing {

// Losses of some neighbours, added up by set, over all of them and by their answer to each feature.
struct PlanSums {
    std::vector<double> all;           // (2, n_sets): of each half
    double weight[2] = {0, 0};
    std::vector<double> cells;         // (n_features, n_answers, 2, n_sets)
    std::vector<double> cell_weights;  // (n_features, n_answers, 2)
};

struct PlanRows {
    index_t n_rows = 0;
    index_t n_features = 0;
    index_t n_sets = 0;
    index_t n_answers = 0;                 // codes are below it
    Span<const double> values;             // (n_features, n_rows), NaN: missing
    Span<const std::uint8_t> codes;        // (n_rows, n_features): the answer of each row, one of a few
    Span<const double> scale;              // (n_features,): weight of a squared difference
    Span<const double> gap;                // (n_features,): squared distance to a training row without a value
    Span<const std::uint8_t> categorical;  // (n_features,)
    Span<const double> weights;            // (n_rows,)
    Span<const std::uint8_t> half;         // (n_rows,): 0 or 1
    Span<const float> losses;              // (n_rows, n_sets)
    Span<const std::uint8_t> members;      // (n_sets, n_features)
    Span<const double> own;                // (n_features,): prices
    Span<const double> shared;             // (n_groups,)
    Span<const index_t> group_of;          // (n_features,), -1: no group
    double n_neighbors = 0;                // least weight of a neighbourhood
    double tradeoff = 0;
    double shrinkage = 0;                  // weight of all neighbours in the choice of a set for some of them
    PlanSums root;                         // of all rows, for a row of which nothing is known

    index_t n_groups() const { return shared.size; }
};

// What a row knows and may do.
struct PlanState {
    Span<const double> known;              // (n_features,): NaN: not heard, or missing
    Span<const std::uint8_t> heard;        // (n_features,): whether an answer came, or a refusal
    Span<const std::uint8_t> owned;        // (n_features,): paid or free
    Span<const std::uint8_t> affordable;   // (n_features,)
    double left = 0;                       // of the budget
    index_t skipped = -1;                  // a training row that is no neighbour
};

struct PlanChoice {
    index_t feature = -1;  // -1: none is left
    double cost = 0;       // expected loss plus weighted price of going on with it
    double stop = 0;       // expected loss of the best set that is known already; infinite if there is none
};

class SetPlanner {
public:
    explicit SetPlanner(const PlanRows& rows)
        : rows_(rows), distances_(static_cast<std::size_t>(rows.n_rows)), near_(distances_.size()),
          prices_(static_cast<std::size_t>(rows.n_sets)), means_(prices_.size()), with_(prices_.size()),
          groups_(static_cast<std::size_t>(rows.n_groups())) {}

    PlanChoice choose(const PlanState& state) {
        bool is_root = true;
        for (const double x : state.known) is_root = is_root && std::isnan(x);
        if (is_root && !rows_.root.all.empty()) return decide(state, rows_.root);
        find_neighbors(state);
        add_up(state, own_);
        return decide(state, own_);
    }

    // The sums of all rows and features: those of a row of which nothing is known.
    PlanSums root_sums() {
        const auto n = static_cast<std::size_t>(rows_.n_features);
        const std::vector<double> known(n, std::numeric_limits<double>::quiet_NaN());
        const std::vector<std::uint8_t> none(n, 0);
        const std::vector<std::uint8_t> all(n, 1);
        const PlanState state{view(known), view(none), view(none), view(all), kNone, -1};
        PlanSums sums;
        find_neighbors(state);
        add_up(state, sums);
        return sums;
    }

    Span<const index_t> neighbors() const { return {near_.data(), n_near_}; }

private:
    static constexpr double kNone = std::numeric_limits<double>::infinity();

    const PlanRows& rows_;
    std::vector<double> distances_;
    std::vector<WeightedValue> sorted_;
    std::vector<index_t> near_;         // the first n_near_
    index_t n_near_ = 0;
    PlanSums own_;
    std::vector<double> prices_;        // (n_sets,): of what the set adds; infinite if the row cannot have it
    std::vector<double> means_;
    std::vector<double> with_;
    std::vector<std::uint8_t> groups_;  // whether the shared price is paid

    void find_neighbors(const PlanState& state) {
        const index_t n = rows_.n_rows;
        std::fill(distances_.begin(), distances_.end(), 0.0);
        for (index_t feature = 0; feature < rows_.n_features; ++feature) {
            const double x = state.known[feature];
            if (!std::isnan(x)) add_distances(feature, x);
        }
        // The distance within which the neighbours weigh enough. Ties of the last one are neighbours, too.
        sorted_.clear();
        for (index_t row = 0; row < n; ++row) {
            if (row != state.skipped) sorted_.emplace_back(distances_[static_cast<std::size_t>(row)], rows_.weights[row]);
        }
        const double farthest = sorted_.empty() ? kNone : weighted_select(sorted_, rows_.n_neighbors);
        n_near_ = 0;
        for (index_t row = 0; row < n; ++row) {
            near_[static_cast<std::size_t>(n_near_)] = row;
            n_near_ += distances_[static_cast<std::size_t>(row)] <= farthest && row != state.skipped;
        }
    }

    void add_distances(index_t feature, double x) {
        const double* values = rows_.values.data + feature * rows_.n_rows;
        const double scale = rows_.scale[feature];
        const double gap = rows_.gap[feature];
        const bool categorical = rows_.categorical[feature] != 0;
        for (index_t row = 0; row < rows_.n_rows; ++row) {
            const double y = values[row];
            double apart = categorical ? (y == x ? 0.0 : scale) : (y - x) * (y - x) * scale;
            // Missing in the training row, or infinite in both.
            if (std::isnan(y) || std::isnan(apart)) apart = gap;
            distances_[static_cast<std::size_t>(row)] += apart;
        }
    }

    void add_up(const PlanState& state, PlanSums& sums) const {
        const index_t n_sets = rows_.n_sets;
        const auto n_cells = static_cast<std::size_t>(rows_.n_features * rows_.n_answers * 2);
        sums.all.assign(static_cast<std::size_t>(2 * n_sets), 0.0);
        sums.cells.assign(n_cells * static_cast<std::size_t>(n_sets), 0.0);
        sums.cell_weights.assign(n_cells, 0.0);
        sums.weight[0] = sums.weight[1] = 0;
        for (index_t i = 0; i < n_near_; ++i) {
            const index_t row = near_[static_cast<std::size_t>(i)];
            const double weight = rows_.weights[row];
            const index_t half = rows_.half[row];
            const float* losses = rows_.losses.data + row * n_sets;
            sums.weight[half] += weight;
            add(losses, weight, sums.all.data() + half * n_sets);
            for (index_t feature = 0; feature < rows_.n_features; ++feature) {
                if (!is_open(state, feature)) continue;
                const index_t cell = cell_of(feature, rows_.codes[row * rows_.n_features + feature], half);
                sums.cell_weights[static_cast<std::size_t>(cell)] += weight;
                add(losses, weight, sums.cells.data() + cell * n_sets);
            }
        }
    }

    void add(const float* losses, double weight, double* sums) const {
        for (index_t set = 0; set < rows_.n_sets; ++set) sums[set] += weight * static_cast<double>(losses[set]);
    }

    index_t cell_of(index_t feature, index_t answer, index_t half) const {
        return (feature * rows_.n_answers + answer) * 2 + half;
    }

    static bool is_open(const PlanState& state, index_t feature) {
        return !state.heard[feature] && state.affordable[feature];
    }

    PlanChoice decide(const PlanState& state, const PlanSums& sums) {
        const double weight = sums.weight[0] + sums.weight[1];
        PlanChoice choice;
        choice.cost = choice.stop = kNone;
        if (!(weight > 0)) return choice;
        find_paid_groups(state);
        double best_open = kNone;
        index_t best_set = -1;
        for (index_t set = 0; set < rows_.n_sets; ++set) {
            means_[set] = (sums.all[set] + sums.all[rows_.n_sets + set]) / weight;
            bool is_known = true;
            prices_[set] = price_of(set, state, is_known);
            if (is_known && means_[set] < choice.stop) choice.stop = means_[set];
            const double cost = means_[set] + rows_.tradeoff * prices_[set];
            if (!is_known && prices_[set] < kNone && cost < best_open) {
                best_open = cost;
                best_set = set;
            }
        }
        for (index_t feature = 0; feature < rows_.n_features; ++feature) {
            if (!is_open(state, feature)) continue;
            double cost = cost_after(feature, state, sums) / weight;
            if (best_set >= 0 && rows_.members[best_set * rows_.n_features + feature]) cost = std::min(cost, best_open);
            if (cost < choice.cost) {
                choice.cost = cost;
                choice.feature = feature;
            }
        }
        return choice;
    }

    void find_paid_groups(const PlanState& state) {
        std::fill(groups_.begin(), groups_.end(), std::uint8_t{0});
        for (index_t feature = 0; feature < rows_.n_features; ++feature) {
            if (state.owned[feature] && rows_.group_of[feature] >= 0) groups_[rows_.group_of[feature]] = 1;
        }
    }

    // The price of what a set adds; infinite if one of its features has no answer, or is over the budget.
    double price_of(index_t set, const PlanState& state, bool& is_known) {
        const std::uint8_t* in = rows_.members.data + set * rows_.n_features;
        double sum = 0;
        for (index_t feature = 0; feature < rows_.n_features; ++feature) {
            if (!in[feature]) continue;
            if (state.heard[feature]) {
                if (std::isnan(state.known[feature])) {
                    is_known = false;
                    return kNone;
                }
                continue;
            }
            is_known = false;
            if (!state.affordable[feature]) return kNone;
            if (!state.owned[feature]) sum += rows_.own[feature] + shared_of(feature, in, state);
        }
        return sum <= state.left ? sum : kNone;
    }

    // The shared price of a feature's group, if it is the first of the set in a group that is not paid.
    double shared_of(index_t feature, const std::uint8_t* in, const PlanState& state) const {
        const index_t group = rows_.group_of[feature];
        if (group < 0 || groups_[group]) return 0;
        for (index_t other = 0; other < feature; ++other) {
            if (in[other] && !state.heard[other] && !state.owned[other] && rows_.group_of[other] == group) return 0;
        }
        return rows_.shared[group];
    }

    // What a feature adds to the price of a set.
    double extra(index_t set, index_t feature, const PlanState& state) const {
        const std::uint8_t* in = rows_.members.data + set * rows_.n_features;
        if (in[feature] || state.owned[feature]) return 0;
        const index_t group = rows_.group_of[feature];
        double shared = group < 0 || groups_[group] ? 0 : rows_.shared[group];
        for (index_t other = 0; shared > 0 && other < rows_.n_features; ++other) {
            if (in[other] && !state.heard[other] && rows_.group_of[other] == group) shared = 0;
        }
        return rows_.own[feature] + shared;
    }

    double cost_after(index_t feature, const PlanState& state, const PlanSums& sums) {
        const index_t n_sets = rows_.n_sets;
        for (index_t set = 0; set < n_sets; ++set) {
            const double price = prices_[set] < kNone ? prices_[set] + extra(set, feature, state) : kNone;
            with_[set] = price < kNone && price <= state.left ? rows_.tradeoff * price : kNone;
        }
        double total = 0;
        for (index_t answer = 0; answer < rows_.n_answers; ++answer) {
            for (index_t half = 0; half < 2; ++half) {
                const index_t judge = cell_of(feature, answer, 1 - half);
                const double judged = sums.cell_weights[static_cast<std::size_t>(judge)];
                if (!(judged > 0)) continue;
                const index_t set = best_for(cell_of(feature, answer, half), sums);
                if (set < 0) return kNone;
                total += sums.cells[static_cast<std::size_t>(judge * n_sets + set)] + judged * with_[set];
            }
        }
        return total;
    }

    // The set of the least cost for the neighbours of a cell, shrunk to all neighbours.
    index_t best_for(index_t cell, const PlanSums& of) const {
        const double* sums = of.cells.data() + cell * rows_.n_sets;
        const double weight = of.cell_weights[static_cast<std::size_t>(cell)] + rows_.shrinkage;
        index_t best = -1;
        double least = kNone;
        for (index_t set = 0; set < rows_.n_sets; ++set) {
            const double cost = sums[set] + rows_.shrinkage * means_[set] + weight * with_[set];
            if (cost < least) {
                least = cost;
                best = set;
            }
        }
        return best;
    }
};

}  // namespace farthing
