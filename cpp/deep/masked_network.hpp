// masked_network: a small network over the columns that a row has bought. What a column adds to the first layer is added
// when it is bought, so a question costs the layers above it alone. All sums run in one order: columns in the order of
// their purchase, then the inputs of a layer in ascending order. So a row has the same bits alone and in a batch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "common/simd_quad.hpp"
#include "common/views.hpp"

namespace farthing {

// Where each column enters the first layer. A numeric column has three rows there: what it adds if it has a value, what
// that adds per standardised unit, and what it adds if it is missing. A categorical one has a row for each category, and
// the last for a missing value.
struct ColumnInputs {
    Span<const index_t> first;             // (k + 1,): the first row of each column; the end of the last
    Span<const std::uint8_t> categorical;  // (k,)
    Span<const double> mean, scale;        // (k,)

    static constexpr double kMostUnits = 10;

    index_t n_columns() const { return categorical.size; }

    // What a value adds: a row, and a multiple of the row after it. The multiple of a row alone is 0.
    struct Entry {
        index_t row;
        bool has_slope;
        float units;
    };
    Entry entry(index_t column, double value) const {
        const index_t begin = first[column];
        const index_t missing = first[column + 1] - 1;
        if (std::isnan(value)) return {missing, false, 0.0f};
        if (!categorical[column]) {
            const double units = (value - mean[column]) / scale[column];
            return {begin, true, static_cast<float>(std::min(std::max(units, -kMostUnits), kMostUnits))};
        }
        const bool known = value >= 0 && value < static_cast<double>(missing - begin);
        return {known ? begin + static_cast<index_t>(value) : missing, false, 0.0f};
    }
};

// Adds multiples of rows to a row, one after the other for each place.
// IN  rows (n,): where each begins; by (n,).   INOUT to (width,).
FARTHING_INLINE void add_rows_to(const float* weights, index_t width, const index_t* rows, const float* by, index_t n,
                                 float* to) {
    index_t i = 0;
    for (; i + 4 <= n; i += 4) {  // four at a time, since the place to add to is loaded and stored once for all of them
        const float* w0 = weights + rows[i];
        const float* w1 = weights + rows[i + 1];
        const float* w2 = weights + rows[i + 2];
        const float* w3 = weights + rows[i + 3];
        const float b0 = by[i], b1 = by[i + 1], b2 = by[i + 2], b3 = by[i + 3];
#pragma omp simd
        for (index_t o = 0; o < width; ++o) to[o] = (((to[o] + b0 * w0[o]) + b1 * w1[o]) + b2 * w2[o]) + b3 * w3[o];
    }
    for (; i < n; ++i) {
        const float* w = weights + rows[i];
        const float b = by[i];
#pragma omp simd
        for (index_t o = 0; o < width; ++o) to[o] += b * w[o];
    }
}

FARTHING_AVX2 inline void add_rows_avx2(const float* weights, index_t width, const index_t* rows, const float* by,
                                        index_t n, float* to) {
    add_rows_to(weights, width, rows, by, n, to);
}

// Wider registers hold more places, each with the same sum: the same bits.
inline void add_rows(const float* weights, index_t width, const index_t* rows, const float* by, index_t n, float* to) {
    if (has_avx2()) {
        add_rows_avx2(weights, width, rows, by, n, to);
    } else {
        add_rows_to(weights, width, rows, by, n, to);
    }
}

// Rectified linear layers: the first over rows of columns, see `ColumnInputs`, the others dense.
class MaskedNetwork {
public:
    MaskedNetwork() = default;

    // IN  widths: rows of the first layer, units of each layer, outputs; weights: for each layer a row for each input,
    //     and then the intercepts.
    MaskedNetwork(Span<const index_t> widths, Span<const float> weights) : weights_(weights) {
        if (widths.size < 3) throw std::invalid_argument("widths: inputs, at least one hidden layer, and outputs");
        index_t end = 0;
        for (index_t layer = 0; layer + 1 < widths.size; ++layer) {
            const index_t n_in = widths[layer];
            const index_t n_out = widths[layer + 1];
            constexpr index_t kMost = index_t{1} << 30;
            if (n_in < 1 || n_out < 1 || n_in > kMost || n_out > kMost || n_in * n_out > kMost) {
                throw std::invalid_argument("widths: at least 1, and not more than memory holds");
            }
            layers_.push_back({n_in, n_out, end});
            end += (n_in + 1) * n_out;
            if (end > weights.size) throw std::invalid_argument("weights: too few for the widths");
        }
        if (end != weights.size) throw std::invalid_argument("weights: more than the widths need");
    }

    index_t n_inputs() const { return layers_.front().n_in; }
    index_t n_first() const { return layers_.front().n_out; }
    index_t n_outputs() const { return layers_.back().n_out; }

    // OUT sums (n_first,): those of a row that has bought nothing.
    void start(std::vector<float>& sums) const {
        const float* intercepts = weights_.data + layers_.front().begin + n_inputs() * n_first();
        sums.assign(intercepts, intercepts + n_first());
    }

    void add(const ColumnInputs::Entry& entry, std::vector<float>& sums) const {
        const index_t rows[2] = {entry.row * n_first(), (entry.row + 1) * n_first()};
        const float by[2] = {1.0f, entry.units};
        add_rows(weights_.data, n_first(), rows, by, entry.has_slope ? 2 : 1, sums.data());
    }

    struct Scratch {
        std::vector<float> from, to, by;
        std::vector<index_t> rows;
    };

    // IN  sums (n_first,).   OUT scratch.to (n_outputs,).
    void evaluate(const std::vector<float>& sums, Scratch& scratch) const {
        scratch.to = sums;
        for (std::size_t number = 1; number < layers_.size(); ++number) {
            const Layer& layer = layers_[number];
            scratch.from.swap(scratch.to);
            scratch.rows.clear();
            scratch.by.clear();
            for (index_t i = 0; i < layer.n_in; ++i) {  // the others are rectified to 0 and add nothing
                if (!(scratch.from[i] > 0)) continue;
                scratch.rows.push_back(i * layer.n_out);
                scratch.by.push_back(scratch.from[i]);
            }
            const float* weights = weights_.data + layer.begin;
            const float* intercepts = weights + layer.n_in * layer.n_out;
            scratch.to.assign(intercepts, intercepts + layer.n_out);
            add_rows(weights, layer.n_out, scratch.rows.data(), scratch.by.data(),
                     static_cast<index_t>(scratch.rows.size()), scratch.to.data());
        }
    }

private:
    struct Layer {
        index_t n_in, n_out, begin;
    };

    Span<const float> weights_;
    std::vector<Layer> layers_;
};

}  // namespace farthing
