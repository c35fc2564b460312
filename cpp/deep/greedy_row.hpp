// greedy_row: one row that buys what a network says is best next, until nothing is worth its price or affordable.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/views.hpp"
#include "deep/masked_network.hpp"

namespace farthing {

enum class Selector {
    policy,  // a score for each unit; the highest is bought
    value,   // the log-odds of the share of the entropy that each unit is expected to remove
};

// Units are what is bought together: single columns, or all columns of a group that are free once it is paid.
struct GreedyNetworks {
    ColumnInputs inputs;
    MaskedNetwork predictor, selector;
    Selector kind = Selector::policy;
    index_t n_classes = 0;
    double tradeoff = 0;    // nats that a unit of price is worth
    bool is_blind = false;  // whether prices do not count
    std::vector<index_t> begins;   // (n_units + 1,): where the columns of each unit begin in `columns`
    std::vector<index_t> columns;  // (k,)
    std::vector<index_t> unit_of;  // (k,)

    index_t n_units() const { return static_cast<index_t>(begins.size()) - 1; }
};

// In nats, of the probabilities of scores: one log-odds for two classes, or a score for each. Classes in their order.
inline double entropy_of(const std::vector<float>& scores, index_t n_classes) {
    if (n_classes == 1) return 0.0;
    const bool binary = n_classes == 2;
    double largest = binary ? 0.0 : static_cast<double>(scores[0]);
    for (const float score : scores) largest = std::max(largest, static_cast<double>(score));
    double sum = binary ? std::exp(-largest) : 0.0;
    double moment = binary ? -largest * sum : 0.0;
    for (const float score : scores) {
        const double shifted = static_cast<double>(score) - largest;
        const double e = std::exp(shifted);
        sum += e;
        moment += shifted * e;
    }
    return std::log(sum) - moment / sum;
}

class GreedyRow {
public:
    explicit GreedyRow(const GreedyNetworks& model) : model_(&model) { start(); }

    void start() {
        model_->predictor.start(predicted_);
        model_->selector.start(selected_);
        asked_.assign(static_cast<std::size_t>(model_->inputs.n_columns()), 0);
        open_ = -1;
    }

    void hear(index_t column, double value) {
        const ColumnInputs::Entry entry = model_->inputs.entry(column, value);
        model_->predictor.add(entry, predicted_);
        model_->selector.add(entry, selected_);
        skip(column);
    }

    // Refused: as if it were not there, but not asked again.
    void skip(index_t column) {
        asked_[column] = 1;
        open_ = model_->unit_of[column];
    }

    // The next column; -1 if there is none.
    // IN  price(column), affords(column): for what the row owns.
    template <class Price, class Affords>
    index_t next(Price&& price, Affords&& affords) {
        if (model_->n_classes == 1) return -1;
        if (open_ >= 0) {
            const index_t column = column_of(open_, affords);
            if (column >= 0) return column;
            open_ = -1;
        }
        model_->selector.evaluate(selected_, scratch_);
        const bool wants_entropy = model_->kind == Selector::value || model_->tradeoff > 0;
        scores_.swap(scratch_.to);
        double entropy = 0;
        if (wants_entropy) {
            model_->predictor.evaluate(predicted_, scratch_);
            entropy = entropy_of(scratch_.to, model_->n_classes);
        }
        Choice best;
        for (index_t unit = 0; unit < model_->n_units(); ++unit) {
            const index_t column = column_of(unit, affords);
            if (column < 0) continue;
            const double due = model_->is_blind ? 1.0 : price(column);
            const double score = scores_[unit];
            // A network whose sums overflow says nothing.
            if (std::isnan(score)) continue;
            const Choice one{column, model_->kind == Selector::value ? gain(score, entropy) : score, due};
            if (is_better(one, best)) best = one;
        }
        if (best.column < 0) return -1;
        // The entropy is the most that any question may gain.
        const double gain = model_->kind == Selector::value ? best.score : entropy;
        const double least = model_->is_blind ? 0.0 : model_->tradeoff * best.price;
        return wants_entropy && !(gain > least) ? -1 : best.column;
    }

    // What the selector says of each unit, whether it may be bought or not: its score, or the expected fall of the
    // log loss in nats.
    // OUT scores (n_units,).
    void score(double* scores) {
        model_->predictor.evaluate(predicted_, scratch_);
        const double entropy = entropy_of(scratch_.to, model_->n_classes);
        model_->selector.evaluate(selected_, scratch_);
        for (index_t unit = 0; unit < model_->n_units(); ++unit) {
            scores[unit] = model_->kind == Selector::value ? gain(scratch_.to[unit], entropy) : scratch_.to[unit];
        }
    }

    // OUT outputs (n_outputs,).
    void output(double* outputs) {
        model_->predictor.evaluate(predicted_, scratch_);
        std::copy(scratch_.to.begin(), scratch_.to.end(), outputs);
    }

private:
    struct Choice {
        index_t column = -1;
        double score = 0;
        double price = 0;
    };

    const GreedyNetworks* model_;
    std::vector<float> predicted_, selected_, scores_;
    std::vector<std::uint8_t> asked_;
    index_t open_ = -1;  // the unit that is being bought
    MaskedNetwork::Scratch scratch_;

    // The share of the entropy that log-odds say.
    static double gain(double score, double entropy) { return entropy / (1 + std::exp(-score)); }

    // The first column of a unit that was not asked; -1 if there is none, or it is too expensive.
    template <class Affords>
    index_t column_of(index_t unit, Affords&& affords) const {
        for (index_t i = model_->begins[unit]; i < model_->begins[unit + 1]; ++i) {
            const index_t column = model_->columns[i];
            if (!asked_[column]) return affords(column) ? column : -1;
        }
        return -1;
    }

    // The earlier of equals stays.
    bool is_better(const Choice& one, const Choice& best) const {
        if (best.column < 0) return true;
        if (model_->kind == Selector::policy) {
            // Its scores have learned from prices, but what is free comes first.
            const bool free = one.price == 0;
            if (free != (best.price == 0)) return free;
            return one.score > best.score;
        }
        // Gain for its price, by cross-multiplication, since a price may be 0.
        const double left = one.score * best.price;
        const double right = best.score * one.price;
        if (left != right) return left > right;
        return one.score != best.score ? one.score > best.score : one.price < best.price;
    }
};

// Walks many rows to their end.
// IN  values (n, k); budgets (n,), or empty for no limit.   OUT outputs (n, n_outputs); acquired (n, k), zero before.
class GreedyWalker {
public:
    GreedyWalker(const GreedyNetworks& model, const CostSheet& sheet)
        : model_(model), sheet_(sheet), row_(model), owned_(sheet) {}

    void walk(const Matrix<double>& values, index_t place, double budget, double* outputs, bool* acquired) {
        row_.start();
        owned_.clear();
        const bool is_limited = !std::isinf(budget);
        while (true) {
            const double spent = is_limited ? total(sheet_, owned_) : 0.0;
            const auto price_of = [&](index_t column) { return price(sheet_, column, owned_); };
            const auto affords_it = [&](index_t column) {
                if (!is_limited) return true;
                // The exact sum is formed only where rounding could matter.
                const double due = spent + price(sheet_, column, owned_);
                if (due <= budget * (1 - 1e-9)) return true;
                return due <= budget * (1 + 1e-9) && affords(sheet_, owned_, column, budget);
            };
            const index_t column = row_.next(price_of, affords_it);
            if (column < 0) break;
            owned_.add(sheet_, column);
            acquired[column] = true;
            row_.hear(column, values(place, column));
        }
        row_.output(outputs);
    }

private:
    const GreedyNetworks& model_;
    const CostSheet& sheet_;
    GreedyRow row_;
    OwnedFeatures owned_;
};

}  // namespace farthing
