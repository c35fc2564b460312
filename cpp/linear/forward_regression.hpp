// forward_regression: forward selection of columns for least squares. What is kept are the products of the terms about
// their means, with each other and with the target, less the parts along the terms taken: what modified Gram-Schmidt
// (QR) would leave, without the rows. So a gain is a quotient and not a fit, and a purchase takes time proportional
// to the square of the number of terms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/views.hpp"

namespace farthing {

// A term with less than this share of its squared norm outside the span of those taken is dependent.
constexpr double kDependent = 1e-10;
// Gains are multiples of 1 / kGainSteps of the variance. The rest is rounding error: where one residual is left, every
// column explains all of it, and which is taken must not depend on the order of the sums.
constexpr double kGainSteps = 1e10;

// Products of t terms with each other and with q outputs.
struct TermProducts {
    index_t n_terms = 0;
    index_t n_outputs = 0;
    std::vector<double> terms;  // (t, t)
    std::vector<double> along;  // (t, q)

    double squares(index_t term) const { return terms[term * n_terms + term]; }

    // Removes the direction of a term from all terms and from the target; returns what it explained of the target.
    double remove(index_t term) {
        const double length = std::sqrt(squares(term));
        std::vector<double> row(static_cast<std::size_t>(n_terms));
        std::vector<double> own(static_cast<std::size_t>(n_outputs));
        for (index_t j = 0; j < n_terms; ++j) row[j] = terms[term * n_terms + j] / length;
        for (index_t o = 0; o < n_outputs; ++o) own[o] = along[term * n_outputs + o] / length;
        for (index_t i = 0; i < n_terms; ++i) {
            for (index_t j = 0; j < n_terms; ++j) terms[i * n_terms + j] -= row[i] * row[j];
            for (index_t o = 0; o < n_outputs; ++o) along[i * n_outputs + o] -= row[i] * own[o];
        }
        double explained = 0;
        for (const double part : own) explained += part * part;
        return explained;
    }

    // The same products of some of the terms.
    TermProducts of(const std::vector<index_t>& some) const {
        TermProducts part{static_cast<index_t>(some.size()), n_outputs, {}, {}};
        for (const index_t i : some) {
            for (const index_t j : some) part.terms.push_back(terms[i * n_terms + j]);
            for (index_t o = 0; o < n_outputs; ++o) part.along.push_back(along[i * n_outputs + o]);
        }
        return part;
    }
};

class ForwardRegression {
public:
    // IN  products: about the means; starts (t,): squares of the terms, not about the means; column_of (t,): the
    //     terms of one column, such as the categories of a feature, are taken together; variance: of the target,
    //     summed over the outputs, 0 if it is rounding error.
    ForwardRegression(TermProducts products, std::vector<double> starts, Span<const index_t> column_of, double variance)
        : products_(std::move(products)), starts_(std::move(starts)), variance_(variance), left_(variance) {
        for (index_t term = 0; term < column_of.size; ++term) {
            const auto column = static_cast<std::size_t>(column_of[term]);
            if (column >= terms_of_.size()) terms_of_.resize(column + 1);
            terms_of_[column].push_back(term);
        }
    }

    index_t n_columns() const { return static_cast<index_t>(terms_of_.size()); }

    // The explained share of the variance, R squared over all outputs; 0 if there is no variance.
    double explained() const { return variance_ > 0 ? 1 - left_ / variance_ : 0.0; }

    // What a column would add to it.
    double gain(index_t column) const {
        if (!(variance_ > 0)) return 0.0;
        const std::vector<index_t>& terms = terms_of_[static_cast<std::size_t>(column)];
        const double gained = terms.size() == 1 ? gain_of_term(terms[0]) : gain_of_block(terms);
        return std::nearbyint(gained / variance_ * kGainSteps) / kGainSteps;
    }

    // Adds a column to those that explain the target. Returns the terms taken: those that are not dependent.
    std::vector<index_t> take(index_t column) {
        std::vector<index_t> taken;
        for (const index_t term : terms_of_[static_cast<std::size_t>(column)]) {
            if (!is_free(products_, term, term)) continue;
            left_ -= products_.remove(term);
            taken.push_back(term);
        }
        return taken;
    }

private:
    TermProducts products_;
    std::vector<double> starts_;
    std::vector<std::vector<index_t>> terms_of_;  // by column
    double variance_;
    double left_;

    // IN  place: the place of the term in `products`.
    bool is_free(const TermProducts& products, index_t place, index_t term) const {
        return products.squares(place) > kDependent * starts_[static_cast<std::size_t>(term)];
    }

    double gain_of_term(index_t term) const {
        if (!is_free(products_, term, term)) return 0.0;
        double sum = 0;
        for (index_t o = 0; o < products_.n_outputs; ++o) {
            const double along = products_.along[term * products_.n_outputs + o];
            sum += along * along;
        }
        return sum / products_.squares(term);
    }

    // Takes the terms of a block one after another, on a copy of their products alone.
    double gain_of_block(const std::vector<index_t>& terms) const {
        TermProducts block = products_.of(terms);
        double sum = 0;
        for (index_t place = 0; place < block.n_terms; ++place) {
            if (is_free(block, place, terms[static_cast<std::size_t>(place)])) sum += block.remove(place);
        }
        return sum;
    }
};

}  // namespace farthing
