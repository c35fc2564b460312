// vector_search: the best split of a node on one column, for vector_target.hpp, from the node's rows in the order of
// their bins. A histogram would have a long cell per bin; here the sums of four outputs stay in registers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/bits.hpp"
#include "common/views.hpp"
#include "grow/split.hpp"
#include "grow/vector_score.hpp"
#include "grow/vector_target.hpp"
#include "table/bin_codes.hpp"
#include "table/column_bins.hpp"

namespace farthing {

// Reusable buffers: one object for all columns of a node.
class VectorSearch {
public:
    // IN  node (width,): sums of the node; node_score: its score; rows (n,): its rows.
    VectorSearch(const VectorTarget& target, const std::int64_t* node, double node_score, index_t min_rows,
                 const index_t* rows, index_t n)
        : target_(target), node_(node), node_score_(node_score), min_rows_(min_rows), rows_(rows), n_(n),
          sorted_(static_cast<std::size_t>(n)), codes_(static_cast<std::size_t>(n)),
          whole_(static_cast<std::size_t>(target.n_blocks())), left_(whole_), missing_(whole_), with_missing_(whole_) {
        for (index_t b = 0; b < target.n_blocks(); ++b) whole_[b] = target.block_of(node, b);
    }

    // OUT constant: whether all rows share a bin.
    Split find(const CodeColumn& codes, const ColumnBins& bins, bool& constant) {
        sort_rows(codes, bins.n_bins);
        constant = bins_.size() + (n_missing() > 0) < 2;
        if (constant) return {};
        if (bins.categorical) return categorical();
        Split best;
        try_cuts(best);
        return best;
    }

private:
    const VectorTarget& target_;
    const std::int64_t* node_;
    double node_score_;
    index_t min_rows_;
    const index_t* rows_;
    index_t n_;
    std::vector<index_t> sorted_;          // the rows, by bin
    std::vector<std::uint8_t> codes_;      // the bin of each row
    std::array<index_t, 257> first_{};     // where each bin begins among them
    index_t missing_bin_ = 0;
    std::vector<index_t> bins_;            // bins that hold rows, in the order in which they go left; not the missing
    // (n_blocks,): sums of the node, of the rows that go left, and of those with missing values.
    std::vector<BlockSums> whole_;
    std::vector<BlockSums> left_;
    std::vector<BlockSums> missing_;
    std::vector<BlockSums> with_missing_;  // left_ and missing_ together

    static constexpr std::size_t kMaxOrders = 4;
    static constexpr index_t kAhead = 8;  // prefetch distance in rows

    Span<const index_t> rows_of(index_t bin) const { return {sorted_.data() + first_[bin], n_rows(bin)}; }
    index_t n_rows(index_t bin) const { return first_[bin + 1] - first_[bin]; }
    index_t n_missing() const { return n_rows(missing_bin_); }

    void sort_rows(const CodeColumn& codes, index_t n_bins) {
        std::array<index_t, 257> next{};
        for (index_t i = 0; i < n_; ++i) {
            codes_[i] = codes[rows_[i]];
            ++next[codes_[i] + 1];
        }
        for (index_t bin = 0; bin <= n_bins; ++bin) next[bin + 1] += next[bin];
        first_ = next;
        for (index_t i = 0; i < n_; ++i) sorted_[next[codes_[i]]++] = rows_[i];
        missing_bin_ = n_bins;
        bins_.clear();
        for (index_t bin = 0; bin < n_bins; ++bin) {
            if (n_rows(bin) > 0) bins_.push_back(bin);
        }
    }

    // Tries a cut after each of bins_.
    void try_cuts(Split& best) {
        std::fill(left_.begin(), left_.end(), BlockSums{});
        std::fill(missing_.begin(), missing_.end(), BlockSums{});
        add_rows(missing_bin_, missing_);
        index_t n_left = 0;
        for (std::size_t i = 0; i < bins_.size(); ++i) {
            add_rows(bins_[i], left_);
            n_left += n_rows(bins_[i]);
            if (n_missing() == 0) {
                consider(best, i, n_left, left_, Missing::stay);
                continue;
            }
            consider(best, i, n_left, left_, Missing::right);
            for (std::size_t b = 0; b < left_.size(); ++b) {
                with_missing_[b] = left_[b];
                with_missing_[b] += missing_[b];
            }
            consider(best, i, n_left + n_missing(), with_missing_, Missing::left);
        }
    }

    void add_rows(index_t bin, std::vector<BlockSums>& sums) const {
        const auto n_blocks = static_cast<index_t>(sums.size());
        for (index_t at = first_[bin]; at < first_[bin + 1]; ++at) {
            if (at + kAhead < n_) prefetch(target_.blocks(sorted_[at + kAhead]));
            const RowBlock* row = target_.blocks(sorted_[at]);
            for (index_t b = 0; b < n_blocks; ++b) sums[b] += row[b];
        }
    }

    void consider(Split& best, std::size_t place, index_t n_left, const std::vector<BlockSums>& left,
                  Missing missing) const {
        if (n_left < min_rows_ || n_ - n_left < min_rows_) return;
        const VectorScore score = target_.score();
        SimdPair parts = broadcast(0);
        for (std::size_t b = 0; b < left.size(); ++b) parts += score.of_parts(left[b], whole_[b] - left[b]);
        const double gain = target_.gain((parts[0] + parts[1]) * score.unit(), node_score_);
        if (gain <= best.gain || !has_hessians(left)) return;
        best.gain = gain;
        best.bin = bins_[place];
        best.missing = missing;
    }

    // Whether both sides of a split have the least sum of hessians.
    bool has_hessians(const std::vector<BlockSums>& left) const {
        if (target_.min_hessian() <= 0) return true;
        const double h = target_.hessian(left);
        return h >= target_.min_hessian() && target_.hessian(whole_) - h >= target_.min_hessian();
    }

    // Categories are sorted by the mean gradient of an output, for each of the few outputs whose means differ most;
    // each prefix of these orders is tried as the left side. With one output, the best subset is among them.
    Split categorical() {
        const index_t width = target_.width();
        std::vector<std::int64_t> cells(bins_.size() * static_cast<std::size_t>(width), 0);
        for (std::size_t i = 0; i < bins_.size(); ++i) {
            for (const index_t row : rows_of(bins_[i])) target_.add(cells.data() + i * width, {row});
        }
        const std::vector<index_t> present = bins_;
        Split best;
        for (const index_t output : differing_outputs(cells)) {
            std::array<double, 256> mean{};
            for (std::size_t i = 0; i < present.size(); ++i) {
                mean[present[i]] = target_.mean(cells.data() + i * width, output);
            }
            bins_ = present;
            std::sort(bins_.begin(), bins_.end(),
                      [&](index_t a, index_t b) { return mean[a] != mean[b] ? mean[a] < mean[b] : a < b; });
            Split found;
            try_cuts(found);
            if (found.gain <= best.gain) continue;
            best = found;
            best.categorical = true;
            bool left = true;
            for (const index_t bin : bins_) {
                insert_bin(left ? best.left : best.right, bin);
                left = left && bin != found.bin;
            }
        }
        return best;
    }

    // The outputs whose score grows most if each category is a node of its own, the first of ties.
    std::vector<index_t> differing_outputs(const std::vector<std::int64_t>& cells) const {
        std::vector<std::pair<double, index_t>> growths;
        for (index_t output = 0; output < target_.n_searched(); ++output) {
            double growth = -target_.score_of(node_, output);
            for (std::size_t i = 0; i < bins_.size(); ++i) {
                growth += target_.score_of(cells.data() + i * target_.width(), output);
            }
            growths.emplace_back(-growth, output);
        }
        std::sort(growths.begin(), growths.end());
        growths.resize(std::min(growths.size(), kMaxOrders));
        std::vector<index_t> outputs;
        for (const auto& [growth, output] : growths) outputs.push_back(output);
        return outputs;
    }
};

}  // namespace farthing
