// class_stump_search: the best stump on one column when a leaf casts a vote on each of several classes.
//
// Rows carry a signed weight per class: their weight there, positive for the row's own class and negative for the
// others. A stump splits one column in two, and each side votes +1 or -1 on each class. Its edge is the sum of vote
// times signed weight over all rows and classes. Given the sides, each vote has the sign of its own sum; if both sides
// agree on all classes, the vote of the smallest sum is turned, because a stump that votes the same everywhere would
// not need the feature. With a single class this is the search of stump_search.hpp.
//
// The search over thresholds is exact. Missing values go to the side that gives the larger edge, or stay at the node
// if no training row is missing. Sets of categories are searched by moving one category at a time to the other side, from
// as many starts as there are classes: a local optimum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "common/views.hpp"
#include "grow/split.hpp"
#include "table/column_bins.hpp"

namespace farthing {

// The target of the histograms (see target.hpp): the sums of signed weights, one per class.
struct SignedWeights {
    using Row = const std::int64_t*;
    index_t n_classes;
    index_t width() const { return n_classes; }
    void add(std::int64_t* cell, Row row) const {
        for (index_t k = 0; k < n_classes; ++k) cell[k] += row[k];
    }
};

struct ClassStump {
    std::int64_t edge = 0;  // 0: there is none, or it is worthless
    index_t bin = -1;       // numeric: bins up to this one go left
    bool missing_left = false;
    BinSet left{};          // categorical: bins that go left
};

class ClassStumpSearch {
public:
    using Target = SignedWeights;
    static constexpr bool kOneOutput = false;

    // IN  sums (n_bins + 1, width), counts (n_bins + 1,): signed weights and number of rows per bin, missing values
    // last.
    ClassStumpSearch(const ColumnBins& bins, const std::int64_t* sums, const std::int64_t* counts, index_t width)
        : bins_(bins), sums_(sums), counts_(counts), width_(width) {}

    ClassStump best() const { return bins_.categorical ? by_sets() : by_threshold(); }

    // OUT left, right (width,): the votes of both sides.
    void votes(const ClassStump& stump, std::int8_t* left, std::int8_t* right) const {
        const Sides sides = sides_of(stump);
        bool agree = true;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        std::int8_t* weakest = left;
        for (index_t k = 0; k < width_; ++k) {
            left[k] = sides.left[k] > 0 ? 1 : -1;
            right[k] = sides.right[k] > 0 ? 1 : -1;
            agree = agree && left[k] == right[k];
            for (const bool is_left : {true, false}) {
                const std::int64_t size = std::abs((is_left ? sides.left : sides.right)[k]);
                if (size >= least) continue;
                least = size;
                weakest = (is_left ? left : right) + k;
            }
        }
        if (agree) *weakest = static_cast<std::int8_t>(-*weakest);
    }

    // Which bins go where.
    Split split(const ClassStump& stump) const {
        Split split;
        split.bin = stump.bin;
        split.missing = counts_[bins_.n_bins] == 0 ? Missing::stay
                        : stump.missing_left       ? Missing::left
                                                   : Missing::right;
        if (!bins_.categorical) return split;
        split.categorical = true;
        for (index_t bin = 0; bin < bins_.n_bins; ++bin) {
            if (counts_[bin] > 0) insert_bin(has_bin(stump.left, bin) ? split.left : split.right, bin);
        }
        return split;
    }

private:
    using Sums = std::vector<std::int64_t>;  // (width,)
    struct Sides {
        Sums left;
        Sums right;
    };

    const ColumnBins& bins_;
    const std::int64_t* sums_;
    const std::int64_t* counts_;
    index_t width_;

    const std::int64_t* cell(index_t bin) const { return sums_ + bin * width_; }
    const std::int64_t* missing() const { return cell(bins_.n_bins); }
    bool any_missing() const { return counts_[bins_.n_bins] > 0; }

    void add(Sums& total, const std::int64_t* some, std::int64_t times = 1) const {
        for (index_t k = 0; k < width_; ++k) total[k] += times * some[k];
    }

    Sides sides_of(const ClassStump& stump) const {
        Sides sides{Sums(static_cast<std::size_t>(width_)), Sums(static_cast<std::size_t>(width_))};
        for (index_t bin = 0; bin < bins_.n_bins; ++bin) {
            const bool is_left = bins_.categorical ? has_bin(stump.left, bin) : bin <= stump.bin;
            if (counts_[bin] > 0) add(is_left ? sides.left : sides.right, cell(bin));
        }
        add(stump.missing_left ? sides.left : sides.right, missing());
        return sides;
    }

    std::int64_t edge_of(const std::int64_t* left, const std::int64_t* right) const {
        std::int64_t edge = 0;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        bool agree = true;
        for (index_t k = 0; k < width_; ++k) {
            const std::int64_t a = std::abs(left[k]);
            const std::int64_t b = std::abs(right[k]);
            edge += a + b;
            least = a < least ? a : least;
            least = b < least ? b : least;
            agree = agree && (left[k] > 0) == (right[k] > 0);
        }
        return agree ? edge - 2 * least : edge;
    }

    ClassStump by_threshold() const {
        Sums left(static_cast<std::size_t>(width_));
        Sums right(left.size());
        index_t n_present = 0;
        for (index_t bin = 0; bin < bins_.n_bins; ++bin) {
            n_present += counts_[bin];
            add(right, cell(bin));
        }
        ClassStump best;
        index_t n_left = 0;
        for (index_t bin = 0; bin < bins_.n_bins; ++bin) {
            if (counts_[bin] == 0) continue;  // same split as after the bin before
            add(left, cell(bin));
            add(right, cell(bin), -1);
            n_left += counts_[bin];
            if (n_left == n_present) {  // the last cut: present values against missing ones
                // A threshold after the last bin is infinite; see Tree::split_leaf.
                if (any_missing()) keep_better(best, edge_of(left.data(), missing()), bins_.n_bins - 1, false);
                break;
            }
            add(right, missing());
            keep_better(best, edge_of(left.data(), right.data()), bin, false);
            add(right, missing(), -1);
            if (!any_missing()) continue;
            add(left, missing());
            keep_better(best, edge_of(left.data(), right.data()), bin, true);
            add(left, missing(), -1);
        }
        return best;
    }

    static void keep_better(ClassStump& best, std::int64_t edge, index_t bin, bool missing_left) {
        if (edge > best.edge) best = {edge, bin, missing_left, {}};
    }

    ClassStump by_sets() const {
        std::vector<index_t> present;  // categories, then n_bins if values are missing
        for (index_t bin = 0; bin <= bins_.n_bins; ++bin) {
            if (counts_[bin] > 0) present.push_back(bin);
        }
        ClassStump best;
        if (present.size() < 2) return best;
        for (index_t k = 0; k < width_; ++k) {
            const ClassStump found = from_class(k, present);
            if (found.edge > best.edge) best = found;
        }
        return best;
    }

    // Begins with the categories that are for a class against those that are not.
    ClassStump from_class(index_t k, const std::vector<index_t>& present) const {
        std::vector<bool> is_left(present.size());
        index_t n_left = 0;
        std::size_t least = 0;
        for (std::size_t i = 0; i < present.size(); ++i) {
            is_left[i] = cell(present[i])[k] > 0;
            n_left += is_left[i];
            if (std::abs(cell(present[i])[k]) < std::abs(cell(present[least])[k])) least = i;
        }
        const auto n = static_cast<index_t>(present.size());
        if (n_left == 0 || n_left == n) {
            is_left[least] = !is_left[least];
            n_left += is_left[least] ? 1 : -1;
        }
        Sides sides{Sums(static_cast<std::size_t>(width_)), Sums(static_cast<std::size_t>(width_))};
        for (index_t i = 0; i < n; ++i) add(is_left[i] ? sides.left : sides.right, cell(present[i]));
        // Each move increases the sum of all |sums|, which is bounded, so this ends.
        for (bool moved = true; moved;) {
            moved = false;
            for (index_t i = 0; i < n; ++i) {
                if ((is_left[i] ? n_left : n - n_left) == 1) continue;  // a side keeps its last category
                Sums& from = is_left[i] ? sides.left : sides.right;
                Sums& to = is_left[i] ? sides.right : sides.left;
                if (gain_of_move(from, to, cell(present[i])) <= 0) continue;
                add(from, cell(present[i]), -1);
                add(to, cell(present[i]));
                n_left += is_left[i] ? -1 : 1;
                is_left[i] = !is_left[i];
                moved = true;
            }
        }
        ClassStump stump;
        stump.edge = edge_of(sides.left.data(), sides.right.data());
        for (index_t i = 0; i < n; ++i) {
            if (!is_left[i]) continue;
            if (present[i] == bins_.n_bins) {
                stump.missing_left = true;
            } else {
                insert_bin(stump.left, present[i]);
            }
        }
        return stump;
    }

    std::int64_t gain_of_move(const Sums& from, const Sums& to, const std::int64_t* some) const {
        std::int64_t gain = 0;
        for (index_t k = 0; k < width_; ++k) {
            gain += std::abs(from[k] - some[k]) + std::abs(to[k] + some[k]) - std::abs(from[k]) - std::abs(to[k]);
        }
        return gain;
    }
};

}  // namespace farthing
