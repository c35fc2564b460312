// local_regression: locally weighted regression with a Gaussian model of the unmeasured features, and the value of
// one more feature (value of classifier, after Gao and Koller 2011).
//
// Training rows are weighted by their distance in the measured features. Under these weights, all features and the
// label have a mean and a covariance. Given the measured features, the expected label is g; given one more feature,
// it is normal around g. The reward of a belief is |g| up to a constant, so the expected gain of a feature has a
// closed form.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "common/selection.hpp"
#include "common/views.hpp"

namespace farthing {

// The training rows, standardised, without missing values.
struct LocalRows {
    index_t n_rows = 0;
    index_t n_features = 0;
    Span<const double> values;    // (n_rows, n_features)
    Span<const double> labels;    // (n_rows,): -1 or 1
    std::vector<double> weights;  // (n_rows,): on a grid, see round_to_grid
    double total = 0;
    double ridge = 0;             // positive

    void prepare() { total = std::accumulate(weights.begin(), weights.end(), 0.0); }
};

// (E|G| - |g|) / 2 for G normal with mean g and deviation s: s E[(Z - t)+] for a standard normal Z and t = |g| / s.
inline double folded_gain(double g, double s) {
    if (!(s > 0)) return 0.0;
    const double t = std::fabs(g) / s;
    const double density = 0.3989422804014327 * std::exp(-0.5 * t * t);
    return std::max(0.0, s * (density - 0.5 * t * std::erfc(t * 0.7071067811865476)));
}

// The regression of one row, refitted with each measured feature.
class LocalRegression {
public:
    explicit LocalRegression(const LocalRows& rows)
        : rows_(rows), distances_(static_cast<std::size_t>(rows.n_rows)), kernel_(distances_.size()),
          observed_(static_cast<std::size_t>(rows.n_features)), mean_(observed_.size()), centred_(observed_.size()),
          variance_(observed_.size()), label_products_(observed_.size()), gains_(observed_.size()),
          first_gains_(observed_.size()) {
        start(0);
        fit();
        first_gains_ = gains_;
        first_vote_ = vote_;
        start(0);
    }

    void start(std::uint64_t) {
        std::fill(distances_.begin(), distances_.end(), 0.0);
        std::fill(observed_.begin(), observed_.end(), std::uint8_t{0});
        measured_.clear();
        values_.clear();
        n_observed_ = 0;
        gains_ = first_gains_;
        vote_ = first_vote_;
    }

    index_t n_observed() const { return n_observed_; }
    double vote() const { return vote_; }
    double accuracy() const { return 0.5 + 0.5 * std::min(1.0, std::fabs(vote_)); }
    Span<const double> gains() const { return view(gains_); }

    // IN  x: the standardised value; NaN if missing, which changes nothing.
    void observe(index_t feature, double x, double) {
        ++n_observed_;
        observed_[feature] = 1;
        gains_[feature] = std::numeric_limits<double>::quiet_NaN();
        if (std::isnan(x)) return;
        measured_.push_back(feature);
        values_.push_back(x);
        const double* values = rows_.values.data + feature;
        for (index_t row = 0; row < rows_.n_rows; ++row) {
            const double apart = values[row * rows_.n_features] - x;
            distances_[static_cast<std::size_t>(row)] += apart * apart;
        }
        fit();
    }

private:
    const LocalRows& rows_;
    std::vector<double> distances_;       // (n_rows,): squared, over the measured features
    std::vector<double> kernel_;          // (n_rows,): weights of the regression
    std::vector<std::uint8_t> observed_;
    std::vector<index_t> measured_;       // m features, in the order measured
    std::vector<double> values_;          // (m,)
    index_t n_observed_ = 0;
    std::vector<double> mean_;            // (n_features,): weighted means
    std::vector<double> centred_;         // one row minus the means
    std::vector<double> variance_;        // (n_features,): weighted sums of squares
    std::vector<double> label_products_;  // (n_features,): weighted sums of products with the label
    // (m, n_features): sums of products with the measured features; then multiplied by L^-1
    std::vector<double> products_;
    std::vector<double> factor_;     // (m, m): Cholesky factor L of the measured block plus the ridge
    std::vector<double> label_rhs_;  // (m,): L^-1 times the label's products
    std::vector<double> offset_;     // (m,): L^-1 times the measured values minus their means
    std::vector<WeightedValue> sorted_;
    std::vector<double> gains_;
    std::vector<double> first_gains_;
    double vote_ = 0;
    double first_vote_ = 0;

    void fit() {
        const double sum = compute_kernel();
        const double label = accumulate_moments(sum);
        factorize();
        const index_t k = rows_.n_features;
        const auto m = static_cast<index_t>(measured_.size());
        vote_ = label;
        for (index_t i = 0; i < m; ++i) vote_ += label_rhs_[i] * offset_[i];
        for (index_t j = 0; j < k; ++j) {
            if (observed_[j]) continue;
            double residual_variance = variance_[j];
            double slope = label_products_[j];
            for (index_t i = 0; i < m; ++i) {
                const double part = products_[i * k + j];
                residual_variance -= part * part;
                slope -= label_rhs_[i] * part;
            }
            residual_variance = std::max(0.0, residual_variance);
            const double deviation =
                std::fabs(slope) / (residual_variance + rows_.ridge) * std::sqrt(residual_variance / sum);
            gains_[j] = folded_gain(vote_, deviation);
        }
    }

    // Gaussian kernel whose bandwidth is the median distance; returns the sum of the weights.
    double compute_kernel() {
        sorted_.resize(distances_.size());
        for (std::size_t row = 0; row < distances_.size(); ++row) {
            sorted_[row] = {distances_[row], rows_.weights[row]};
        }
        const double median = weighted_select(sorted_, rows_.total / 2);
        double sum = 0.0;
        for (std::size_t row = 0; row < distances_.size(); ++row) {
            const double near = median > 0 ? std::exp(-0.5 * distances_[row] / median) : distances_[row] == 0.0;
            kernel_[row] = rows_.weights[row] * near;
            sum += kernel_[row];
        }
        return sum;
    }

    // Weighted means and sums of products; returns the mean label.
    double accumulate_moments(double sum) {
        const index_t k = rows_.n_features;
        const auto m = static_cast<index_t>(measured_.size());
        std::fill(mean_.begin(), mean_.end(), 0.0);
        std::fill(variance_.begin(), variance_.end(), 0.0);
        std::fill(label_products_.begin(), label_products_.end(), 0.0);
        products_.assign(static_cast<std::size_t>(m * k), 0.0);
        double label = 0.0;
        for (index_t row = 0; row < rows_.n_rows; ++row) {
            const double* values = rows_.values.data + row * k;
            const double weight = kernel_[static_cast<std::size_t>(row)];
            for (index_t j = 0; j < k; ++j) mean_[j] += weight * values[j];
            label += weight * rows_.labels[row];
        }
        for (index_t j = 0; j < k; ++j) mean_[j] /= sum;
        label /= sum;
        double* centred = centred_.data();
        for (index_t row = 0; row < rows_.n_rows; ++row) {
            const double* values = rows_.values.data + row * k;
            const double weight = kernel_[static_cast<std::size_t>(row)];
            const double apart = weight * (rows_.labels[row] - label);
            for (index_t j = 0; j < k; ++j) {
                centred[j] = values[j] - mean_[j];
                variance_[j] += weight * centred[j] * centred[j];
                label_products_[j] += apart * centred[j];
            }
            for (index_t i = 0; i < m; ++i) {
                const double factor = weight * centred[measured_[i]];
                double* products = products_.data() + i * k;
                for (index_t j = 0; j < k; ++j) products[j] += factor * centred[j];
            }
        }
        return label;
    }

    // Factorises the measured block plus the ridge as L L^T, and multiplies the right-hand sides by L^-1.
    void factorize() {
        const index_t k = rows_.n_features;
        const auto m = static_cast<index_t>(measured_.size());
        factor_.assign(static_cast<std::size_t>(m * m), 0.0);
        label_rhs_.resize(static_cast<std::size_t>(m));
        offset_.resize(static_cast<std::size_t>(m));
        for (index_t i = 0; i < m; ++i) {
            for (index_t j = 0; j <= i; ++j) {
                double rest = products_[i * k + measured_[j]] + (i == j ? rows_.ridge : 0.0);
                for (index_t l = 0; l < j; ++l) rest -= factor_[i * m + l] * factor_[j * m + l];
                factor_[i * m + j] = i == j ? std::sqrt(std::max(rest, rows_.ridge)) : rest / factor_[j * m + j];
            }
        }
        for (index_t i = 0; i < m; ++i) {
            double* own = products_.data() + i * k;
            label_rhs_[i] = label_products_[measured_[i]];
            offset_[i] = values_[i] - mean_[measured_[i]];
            for (index_t l = 0; l < i; ++l) {
                const double factor = factor_[i * m + l];
                const double* earlier = products_.data() + l * k;
                for (index_t j = 0; j < k; ++j) own[j] -= factor * earlier[j];
                label_rhs_[i] -= factor * label_rhs_[l];
                offset_[i] -= factor * offset_[l];
            }
            for (index_t j = 0; j < k; ++j) own[j] /= factor_[i * m + i];
            label_rhs_[i] /= factor_[i * m + i];
            offset_[i] /= factor_[i * m + i];
        }
    }
};

}  // namespace farthing
