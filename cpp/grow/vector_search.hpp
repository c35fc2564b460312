// vector_search: the best split of a node on one column, for vector_target.hpp, from the node's rows in the order of
// their bins. A histogram would have a long cell per bin; here the sums of four outputs stay in registers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/simd_pair.hpp"
#include "common/views.hpp"
#include "grow/sparse_column_rows.hpp"
#include "grow/split.hpp"
#include "grow/vector_scan.hpp"
#include "grow/vector_target.hpp"
#include "table/bin_codes.hpp"
#include "table/binned_table.hpp"
#include "table/column_bins.hpp"

namespace farthing {

// Reusable buffers: one object for all columns of a node.
class VectorSearch {
public:
    // IN  node (width,): sums of the node; node_score: its score; rows (n,): its rows, or null if the sums of its bins
    // are known already.
    VectorSearch(const VectorTarget& target, const std::int64_t* node, double node_score, index_t min_rows,
                 const index_t* rows, index_t n)
        : target_(target), node_(node), node_score_(node_score), min_rows_(min_rows), rows_(rows), n_(n),
          own_(static_cast<std::size_t>(rows ? n : 0)), codes_(own_.size()) {}

    // IN  sparse: the rows of the node by their bins in sparse columns.   OUT constant: whether all rows share a bin.
    Split find(const BinnedTable& table, index_t column, const SparseColumnRows& sparse, bool& constant) {
        const ColumnBins& bins = table.columns[column];
        if (sparse.lists(column)) {
            take_rows(sparse, column, bins.n_bins);
        } else {
            sort_rows(table.column(column), bins.n_bins);
        }
        return find(bins, constant);
    }

    // The same from the sums of each bin, as with peers.
    // IN  cells (n_bins + 1, width).
    Split find(const std::int64_t* cells, const ColumnBins& bins, bool& constant) {
        take_cells(cells, bins.n_bins);
        return find(bins, constant);
    }

private:
    Split find(const ColumnBins& bins, bool& constant) {
        missing_bin_ = bins.n_bins;
        bins_.resize(static_cast<std::size_t>(bins.n_bins));
        std::size_t n_present = 0;
        for (index_t bin = 0; bin < bins.n_bins; ++bin) {
            bins_[n_present] = bin;
            n_present += n_rows(bin) > 0;
        }
        bins_.resize(n_present);
        constant = bins_.size() + (n_missing() > 0) < 2;
        if (constant) return {};
        if (bins.categorical) return categorical();
        Split best;
        try_cuts(best);
        return best;
    }

    const VectorTarget& target_;
    const std::int64_t* node_;
    double node_score_;
    index_t min_rows_;
    const index_t* rows_;
    index_t n_;
    std::vector<std::uint32_t> own_;       // memory of sorted_, for dense columns
    std::vector<std::uint8_t> codes_;      // the bin of each row
    const std::uint32_t* sorted_ = nullptr;  // the rows, by bin
    std::array<index_t, 257> begin_{};     // where each bin begins among them
    std::array<index_t, 257> n_rows_{};    // the rows of each bin
    const std::int64_t* cells_ = nullptr;  // sums of the bins of a column, if they are known; then a bin is one row
    std::vector<BlockSums> cell_rows_;     // (n_bins + 1,): a block of them
    index_t unlisted_ = -1;                // a bin whose rows are not among them
    index_t missing_bin_ = 0;
    std::vector<index_t> bins_;            // bins that hold rows, in the order in which they go left; not the missing
    std::vector<VectorCut> cuts_;          // one after each of them
    index_t skipped_ = 0;                  // the place of that of the largest bin, or of the one not listed
    SimdPair hessians_ = broadcast(0);     // of the node

    static constexpr std::size_t kMaxOrders = 4;

    index_t n_rows(index_t bin) const { return n_rows_[bin]; }
    index_t n_missing() const { return n_rows(missing_bin_); }
    index_t end_of(index_t bin) const { return begin_[bin] + (cells_ ? 1 : n_rows(bin)); }

    void sort_rows(const CodeColumn& codes, index_t n_bins) {
        std::fill(n_rows_.begin(), n_rows_.begin() + n_bins + 1, 0);
        for (index_t i = 0; i < n_; ++i) {
            codes_[i] = codes[rows_[i]];
            ++n_rows_[codes_[i]];
        }
        std::array<index_t, 257> next;
        index_t before = 0;
        for (index_t bin = 0; bin <= n_bins; ++bin) {
            next[bin] = begin_[bin] = before;
            before += n_rows_[bin];
        }
        for (index_t i = 0; i < n_; ++i) own_[next[codes_[i]]++] = static_cast<std::uint32_t>(rows_[i]);
        sorted_ = own_.data();
        unlisted_ = -1;
    }

    void take_rows(const SparseColumnRows& sparse, index_t column, index_t n_bins) {
        sorted_ = sparse.sorted();
        unlisted_ = sparse.default_bin(column);
        index_t n_listed = 0;
        for (index_t bin = 0; bin <= n_bins; ++bin) {
            begin_[bin] = sparse.begin(column, bin);
            n_rows_[bin] = sparse.end(column, bin) - begin_[bin];
            n_listed += n_rows_[bin];
        }
        n_rows_[unlisted_] = n_ - n_listed;
    }

    void take_cells(const std::int64_t* cells, index_t n_bins) {
        cells_ = cells;
        own_.resize(static_cast<std::size_t>(n_bins + 1));
        cell_rows_.resize(own_.size());
        for (index_t bin = 0; bin <= n_bins; ++bin) {
            own_[static_cast<std::size_t>(bin)] = static_cast<std::uint32_t>(bin);
            begin_[bin] = bin;
            n_rows_[bin] = target_.n_rows(cells + bin * target_.width());
        }
        sorted_ = own_.data();
        unlisted_ = -1;
    }

    // Tries a cut after each of bins_. The sums of a block stay in registers from bin to bin.
    void try_cuts(Split& best) {
        list_cuts();
        hessians_ = broadcast(0);
        for (index_t b = 0; cells_ && b < target_.n_blocks(); ++b) {
            for (index_t bin = 0; bin <= missing_bin_; ++bin) {
                cell_rows_[static_cast<std::size_t>(bin)] = target_.block_of(cells_ + bin * target_.width(), b);
            }
            scan(cell_rows_.data(), CellSums{target_.block_of(node_, b)});
        }
        for (index_t b = 0; !cells_ && b < target_.n_blocks(); b += 2) {
            const BlockSums first = target_.block_of(node_, b);
            if (b + 1 < target_.n_blocks()) {
                scan(target_.pairs(b), PairSums{first, target_.block_of(node_, b + 1)});
            } else {
                scan(target_.last_block(), first);
            }
        }
        for (std::size_t i = 0; i < cuts_.size(); ++i) {
            consider(best, i, cuts_[i].sides[0], n_missing() == 0 ? Missing::stay : Missing::right);
            consider(best, i, cuts_[i].sides[1], Missing::left);
        }
    }

    // Adds the scores of a block, or of two.
    template <class Sums>
    void scan(const typename Sums::Row* rows, const Sums& whole) {
        hessians_ += whole.hessians();
        scan_block<Sums>({rows, sorted_, begin_[missing_bin_], end_of(missing_bin_), target_.score(),
                          whole, skipped_},
                         {cuts_.data(), static_cast<index_t>(cuts_.size())});
    }

    void list_cuts() {
        cuts_.resize(bins_.size());
        const auto enough = [&](index_t n_left) { return n_left >= min_rows_ && n_ - n_left >= min_rows_; };
        skipped_ = 0;
        index_t n_left = 0;
        for (std::size_t i = 0; i < bins_.size(); ++i) {
            const index_t bin = bins_[i];
            n_left += n_rows(bin);
            const index_t largest = bins_[static_cast<std::size_t>(skipped_)];
            if (largest != unlisted_ && (bin == unlisted_ || n_rows(bin) > n_rows(largest))) {
                skipped_ = static_cast<index_t>(i);
            }
            // Set in place: a copy would read whole words right after their single bytes were written, and wait.
            VectorCut& cut = cuts_[i];
            cut.begin = begin_[bin];
            cut.end = end_of(bin);
            for (VectorCut::Side& side : cut.sides) side.score = side.hessians = broadcast(0);
            cut.sides[0].tried = enough(n_left);
            cut.sides[1].tried = n_missing() > 0 && enough(n_left + n_missing());
        }
    }

    void consider(Split& best, std::size_t place, const VectorCut::Side& side, Missing missing) const {
        if (!side.tried) return;
        const double gain = target_.gain((side.score[0] + side.score[1]) * target_.score().unit(), node_score_);
        if (gain <= best.gain || !has_hessians(side)) return;
        best.gain = gain;
        best.bin = bins_[place];
        best.missing = missing;
    }

    // Whether both sides of a split have the least sum of hessians.
    bool has_hessians(const VectorCut::Side& side) const {
        if (target_.min_hessian() <= 0) return true;
        const double h = target_.hessian(side.hessians);
        return h >= target_.min_hessian() && target_.hessian(hessians_) - h >= target_.min_hessian();
    }

    // Categories are sorted by the mean gradient of an output, for each of the few outputs whose means differ most;
    // each prefix of these orders is tried as the left side. With one output, the best subset is among them.
    Split categorical() {
        const index_t width = target_.width();
        std::vector<std::int64_t> cells(bins_.size() * static_cast<std::size_t>(width), 0);
        for (std::size_t i = 0; i < bins_.size(); ++i) {
            if (cells_) {
                std::copy(cells_ + bins_[i] * width, cells_ + (bins_[i] + 1) * width, cells.data() + i * width);
                continue;
            }
            target_.add_rows(cells.data() + i * width, sorted_ + begin_[bins_[i]], n_rows(bins_[i]));
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
