// exit_thresholds: thresholds of the stages of a cascade, optimised for a trade-off between errors and costs on
// held-out rows. src/farthing/learning/exits.py says what is optimised, and why.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "common/pairwise_sum.hpp"
#include "common/views.hpp"

namespace farthing {

// Thresholds at which no row stops, and at which all do.
constexpr double kNeverStop = -std::numeric_limits<double>::infinity();
constexpr double kAlwaysStop = std::numeric_limits<double>::infinity();

class ExitThresholds {
public:
    // IN  costs (n_stages,): total cost up to each stage; risks, errors (n_stages, n); weights (n,), of sum 1. Views.
    ExitThresholds(Span<const double> costs, Span<const double> risks, Span<const double> errors,
                   Span<const double> weights)
        : costs_(costs), risks_(risks), errors_(errors), weights_(weights), n_(weights.size) {
        for (index_t stage = 0; stage < n_stages(); ++stage) {
            const double* risk = risks.data + stage * n_;
            std::vector<index_t> order(static_cast<std::size_t>(n_));
            std::iota(order.begin(), order.end(), index_t{0});
            std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return risk[a] < risk[b]; });
            std::vector<double> sorted;
            for (const index_t row : order) sorted.push_back(risk[row]);
            orders_.push_back(std::move(order));
            sorted_.push_back(std::move(sorted));
        }
    }

    index_t n_stages() const { return costs_.size; }

    // The thresholds of one trade-off, by dynamic programming from the last stage back.
    // OUT thresholds (n_stages,).
    void solve(double tradeoff, double* thresholds) const {
        const index_t last = n_stages() - 1;
        thresholds[last] = kAlwaysStop;
        // Cost-to-go of each row: the Lagrangian from here on, under the thresholds of later stages.
        std::vector<double> value(errors_.data + last * n_, errors_.data + (last + 1) * n_);
        for (index_t stage = last - 1; stage >= 0; --stage) {
            const double* error = errors_.data + stage * n_;
            const double* risk = risks_.data + stage * n_;
            const double price = tradeoff * (costs_[stage + 1] - costs_[stage]);
            for (double& later : value) later += price;
            thresholds[stage] = best_cut(stage, value);
            for (index_t row = 0; row < n_; ++row) {
                if (risk[row] <= thresholds[stage]) value[row] = error[row];
            }
        }
    }

    // Thresholds between those of two budgets, by rank.
    // IN  low, high (n_stages,); part: the position between the two, 0 to 1.   OUT thresholds (n_stages,): from the
    // stage on where all rows stop at the lower budget, those of the higher one.
    void between(const double* low, const double* high, double part, double* thresholds) const {
        std::copy(high, high + n_stages(), thresholds);
        for (index_t stage = 0; stage < n_stages() - 1; ++stage) {
            const index_t few = n_stopped(stage, low[stage]);
            const index_t many = n_stopped(stage, high[stage]);
            const double rank = (1 - part) * static_cast<double>(few) + part * static_cast<double>(many);
            thresholds[stage] = threshold(stage, static_cast<index_t>(std::nearbyint(rank)));
            // At the lower budget no row passes this stage, so its later thresholds are arbitrary.
            if (few == n_) break;
        }
    }

    // Mean spend and mean error of the rows.
    void evaluate(const double* thresholds, double& spend, double& error) const {
        std::vector<double> spends(static_cast<std::size_t>(n_));
        std::vector<double> errors(static_cast<std::size_t>(n_));
        for (index_t row = 0; row < n_; ++row) {
            index_t stage = 0;
            while (stage < n_stages() - 1 && !(risks_[stage * n_ + row] <= thresholds[stage])) ++stage;
            spends[row] = costs_[stage] * weights_[row];
            errors[row] = errors_[stage * n_ + row] * weights_[row];
        }
        spend = pairwise_sum(spends.data(), n_);
        error = pairwise_sum(errors.data(), n_);
    }

private:
    Span<const double> costs_;
    Span<const double> risks_;
    Span<const double> errors_;
    Span<const double> weights_;
    index_t n_;
    // Of each stage: rows by ascending risk, and these risks.
    std::vector<std::vector<index_t>> orders_;
    std::vector<std::vector<double>> sorted_;

    // The threshold at which the stopped rows gain most in total over what they would have later.
    double best_cut(index_t stage, const std::vector<double>& later) const {
        const std::vector<index_t>& order = orders_[static_cast<std::size_t>(stage)];
        const std::vector<double>& risks = sorted_[static_cast<std::size_t>(stage)];
        const double* error = errors_.data + stage * n_;
        double sum = 0;
        double most = kNeverStop;
        index_t n_stop = 0;
        for (index_t i = 0; i < n_; ++i) {
            const index_t row = order[i];
            sum += (later[row] - error[row]) * weights_[row];
            const bool tied = i + 1 < n_ && risks[i + 1] <= risks[i];  // rows of the same risk stop together
            if (!tied && sum > most) {
                most = sum;
                n_stop = i + 1;
            }
        }
        // On a tie the rows stop: the Lagrangian is the same and the spend is lower.
        return most >= 0 ? threshold(stage, n_stop) : kNeverStop;
    }

    index_t n_stopped(index_t stage, double limit) const {
        const std::vector<double>& risks = sorted_[static_cast<std::size_t>(stage)];
        return std::upper_bound(risks.begin(), risks.end(), limit) - risks.begin();
    }

    // A threshold that stops the rows of the lowest risks, as many as asked for.
    double threshold(index_t stage, index_t n_stop) const {
        if (n_stop == 0) return kNeverStop;
        if (n_stop == n_) return kAlwaysStop;
        // Midway, so that new rows with nearly the same risk stop, too.
        const std::vector<double>& risks = sorted_[static_cast<std::size_t>(stage)];
        return (risks[n_stop - 1] + risks[n_stop]) / 2;
    }
};

}  // namespace farthing
