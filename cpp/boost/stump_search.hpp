// stump_search: the best stump on one column.
//
// Rows carry a signed weight: their weight times their label of +1 or -1. A stump splits one column in two and votes
// +1 on one side and -1 on the other. Its edge is the sum of vote times signed weight over all rows; the search finds
// the largest edge exactly, because the sums are integers (see fixed_point.hpp).
//
// Missing values are a third group, which votes by the sign of its own sum: it goes to the side with that vote, or
// right if the sum is zero. If no training row is missing, a missing value stays at the node.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "common/views.hpp"
#include "grow/split.hpp"
#include "table/column_bins.hpp"

namespace farthing {

struct Stump {
    std::int64_t edge = 0;       // 0: there is none, or it is worthless
    std::int8_t vote = 1;        // of the left side; the right side votes the opposite
    bool missing_apart = false;  // all present values on the left, missing values alone on the right
    // Numeric: bins up to this one go left; categorical: the bin that votes against its own sign, or -1.
    index_t bin = -1;
};

// The target of the histograms (see target.hpp): the sum of signed weights.
struct SignedWeight {
    using Row = std::int64_t;
    static constexpr index_t width() { return 1; }
    static void add(std::int64_t* cell, Row row) { *cell += row; }
};

// The stumps of one column.
class StumpSearch {
public:
    using Target = SignedWeight;
    static constexpr bool kOneOutput = true;

    // IN  sums, counts (n_bins + 1,): signed weight and number of rows per bin, missing values last.
    StumpSearch(const ColumnBins& bins, const std::int64_t* sums, const std::int64_t* counts, index_t /* width */ = 1)
        : bins_(bins), sums_(sums), counts_(counts), missing_(sums[bins.n_bins]), n_missing_(counts[bins.n_bins]) {
        for (index_t bin = 0; bin < bins.n_bins; ++bin) {
            present_ += sums[bin];
            n_present_ += counts[bin];
        }
    }

    Stump best() const {
        const Stump best_cut = bins_.categorical ? by_sign() : by_threshold();
        const std::int64_t edge = n_missing_ > 0 && n_present_ > 0 ? std::abs(present_ - missing_) : 0;
        if (edge <= best_cut.edge) return best_cut;
        return {edge, static_cast<std::int8_t>(present_ > missing_ ? 1 : -1), true, bins_.n_bins - 1};
    }

    // OUT left, right (1,): the votes of both sides.
    void votes(const Stump& stump, std::int8_t* left, std::int8_t* right) const {
        *left = stump.vote;
        *right = static_cast<std::int8_t>(-stump.vote);
    }

    // Which bins go where.
    Split split(const Stump& stump) const {
        Split split;
        split.bin = stump.bin;
        split.missing = n_missing_ == 0                                                               ? Missing::stay
                        : !stump.missing_apart && missing_ != 0 && (missing_ > 0) == (stump.vote > 0) ? Missing::left
                                                                                                      : Missing::right;
        if (!bins_.categorical) return split;
        split.categorical = true;
        for (index_t bin = 0; bin < bins_.n_bins; ++bin) {
            if (counts_[bin] == 0) continue;
            const bool up = (sums_[bin] > 0) != (bin == stump.bin);
            insert_bin(stump.missing_apart || up ? split.left : split.right, bin);
        }
        return split;
    }

private:
    const ColumnBins& bins_;
    const std::int64_t* sums_;
    const std::int64_t* counts_;
    std::int64_t missing_;
    index_t n_missing_;
    std::int64_t present_ = 0;
    index_t n_present_ = 0;

    Stump by_threshold() const {
        Stump best;
        std::int64_t left = 0;
        index_t n_left = 0;
        for (index_t bin = 0; bin < bins_.n_bins; ++bin) {
            if (counts_[bin] == 0) continue;  // same split as after the bin before
            left += sums_[bin];
            n_left += counts_[bin];
            if (n_left == n_present_) break;
            const std::int64_t difference = left - (present_ - left);
            const std::int64_t edge = std::abs(difference) + std::abs(missing_);
            if (edge > best.edge) best = {edge, static_cast<std::int8_t>(difference >= 0 ? 1 : -1), false, bin};
        }
        return best;
    }

    // Each category votes by the sign of its own sum. If all signs agree, the category with the smallest sum votes
    // against its sign: a stump that votes the same everywhere would not need the feature.
    Stump by_sign() const {
        index_t least = -1;
        index_t n_up = 0;
        index_t n_seen = 0;
        std::int64_t edge = std::abs(missing_);
        for (index_t bin = 0; bin < bins_.n_bins; ++bin) {
            if (counts_[bin] == 0) continue;
            ++n_seen;
            n_up += sums_[bin] > 0;
            edge += std::abs(sums_[bin]);
            if (least < 0 || std::abs(sums_[bin]) < std::abs(sums_[least])) least = bin;
        }
        if (n_up > 0 && n_up < n_seen) return {edge, 1, false, -1};
        if (n_seen < 2) return {};
        return {edge - 2 * std::abs(sums_[least]), 1, false, least};
    }
};

}  // namespace farthing
