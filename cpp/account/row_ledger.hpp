// row_ledger: what each row owns across a whole ensemble and, under a hard budget, what it can no longer afford.
// Trees price their splits by it and record purchases in it while they grow; nothing else changes it.
//
// The sets of a row lie side by side, n_words words of 64 bits each; the parts in brackets exist only if needed:
//
//     row 0: paid | [group_paid: if there are groups] | [owned: if there is a budget]     row 1: paid | ...
//
// paid: the row will never pay the feature's own cost (again); group_paid: nor the shared cost of its group. Without
// a budget `paid` is the owned set. With a budget, a feature that the row cannot afford is refused for good, because
// the total only grows: it is marked paid and group_paid, and its code becomes that of a missing value, which is how
// a walk would see it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "account/bit_counts.hpp"
#include "account/cost_sheet.hpp"
#include "common/bits.hpp"
#include "common/bitset.hpp"
#include "common/fixed_point.hpp"
#include "common/peers.hpp"
#include "common/threads.hpp"
#include "common/views.hpp"
#include "table/binned_table.hpp"

namespace farthing {

class RowLedger {
public:
    // IN  weights (n,), or empty for 1 each: how much a row's price counts; owned (n, words), or empty for nothing;
    // peers: those that hold further rows, or null.
    RowLedger(const BinnedTable& table, const CostSheet& sheet, double budget, Span<const double> weights,
              Span<const std::uint64_t> owned, int n_threads, Peers* peers = nullptr)
        : peers_(peers), is_weighted_(weights.size > 0), table_(&table), sheet_(sheet), budget_(budget), has_budget_(!std::isinf(budget)), n_threads_(n_threads),
          n_words_(Bitset::n_words(sheet.n_features())), has_groups_(sheet.shared.size > 0),
          stride_(n_words_ * (1 + has_groups_ + has_budget_)),
          flags_(static_cast<std::size_t>(table.n_rows * stride_), 0) {
        if (is_weighted_) weights_ = to_fixed_point(weights, all_rows(peers, weights.size), peers);
        members_.assign(static_cast<std::size_t>(sheet.shared.size * n_words_), 0);
        for (index_t j = 0; j < sheet.n_features(); ++j) {
            max_price_ = std::fmax(max_price_, list_price(sheet, j));
            if (sheet.group_of[j] >= 0) set(members_.data() + sheet.group_of[j] * n_words_, j);
        }
        if (has_budget_) {
            masked_ = table;
            masked_.sparse = {};  // no longer valid once codes change
            spent_.assign(static_cast<std::size_t>(table.n_rows), 0.0);
        }
        const index_t n_blocks = (table.n_rows + kBlock - 1) / kBlock;
        parallel_for(n_blocks, threads_for(n_threads, n_blocks), 1, [&](index_t block) {
            const index_t end = std::min((block + 1) * kBlock, table_->n_rows);
            for (index_t row = block * kBlock; row < end; ++row) begin_row(row, owned);
        });
    }

    // The table as the rows see it: refused entries are missing.
    const BinnedTable& table() const { return has_budget_ ? masked_ : *table_; }
    const CostSheet& sheet() const { return sheet_; }
    index_t n_rows() const { return table_->n_rows; }
    index_t n_words() const { return n_words_; }
    const std::uint64_t* owned(index_t row) const {
        return this->row(row) + (has_budget_ ? (1 + has_groups_) * n_words_ : 0);
    }

    // The weight of some rows, with that of all peers: integers on a common grid.
    std::int64_t total_weight(const index_t* rows, index_t n) const { return sum_over(peers_, weight(rows, n)); }
    // That of the rows here.
    std::int64_t weight(const index_t* rows, index_t n) const {
        if (!is_weighted_) return n;
        std::int64_t sum = 0;
        for (index_t i = 0; i < n; ++i) sum += weights_.values[rows[i]];
        return sum;
    }

    // What the rows, with those of all peers, would pay together for each feature: the sum of weight times price, in
    // grid units.
    // OUT due (n_features,).
    void due(const index_t* rows, index_t n, std::vector<double>& due) const {
        // Count the rows that pay nothing; the others pay the full own or shared cost. Integer counts make the result
        // independent of the threads.
        const index_t counted = n_words_ * (1 + has_groups_);
        std::vector<std::int64_t> free(static_cast<std::size_t>(counted * 64), 0);
        const index_t n_blocks = (n + kBlock - 1) / kBlock;
        Chunks chunks(n, kBlock);
        std::mutex merging;
        on_threads(threads_for(n_threads_, n_blocks), [&](int) {
            std::vector<std::int64_t> part(free.size(), 0);
            index_t begin = 0;
            index_t end = 0;
            while (chunks.take(begin, end)) count(rows + begin, end - begin, counted, part.data());
            const std::lock_guard<std::mutex> lock(merging);
            for (std::size_t bit = 0; bit < free.size(); ++bit) free[bit] += part[bit];
        });
        free.push_back(weight(rows, n));
        add_up(peers_, free);
        const std::int64_t all = free.back();
        due.assign(static_cast<std::size_t>(sheet_.n_features()), 0.0);
        for (index_t j = 0; j < sheet_.n_features(); ++j) {
            double sum = sheet_.own[j] * static_cast<double>(all - free[j]);
            const index_t group = sheet_.group_of[j];
            if (group >= 0) sum += sheet_.shared[group] * static_cast<double>(all - free[n_words_ * 64 + j]);
            due[j] = sum;
        }
    }

    // Every listed row that neither owns the feature nor was refused it buys it. Returns whether any row was refused
    // something as a consequence, here or at a peer; the codes of such rows have changed.
    bool buy(const index_t* rows, index_t n, index_t feature) {
        const index_t n_blocks = (n + kBlock - 1) / kBlock;
        std::atomic<bool> any_refused{false};
        parallel_for(n_blocks, threads_for(n_threads_, n_blocks), 1, [&](index_t block) {
            bool refused = false;
            const index_t end = std::min((block + 1) * kBlock, n);
            for (index_t i = block * kBlock; i < end; ++i) refused = buy(rows[i], feature) || refused;
            if (refused) any_refused.store(true, std::memory_order_relaxed);
        });
        return has_budget_ && sum_over(peers_, any_refused.load()) > 0;
    }

    // The same for one row.
    bool buy(index_t row, index_t feature) {
        std::uint64_t* paid = this->row(row);
        if (has(paid, feature)) return false;
        const index_t group = sheet_.group_of[feature];
        if (has_budget_) {
            spent_[row] += price(row, feature);
            set(paid + (1 + has_groups_) * n_words_, feature);
        }
        set(paid, feature);
        if (group >= 0) mark_group_paid(paid, group);
        return has_budget_ && refuse_unaffordable(row);
    }

private:
    static constexpr index_t kBlock = 4096;

    Peers* peers_;
    bool is_weighted_;
    const BinnedTable* table_;
    BinnedTable masked_;
    CostSheet sheet_;
    double budget_;
    bool has_budget_;
    int n_threads_;
    index_t n_words_;
    index_t has_groups_;
    index_t stride_;
    double max_price_ = 0;
    std::vector<std::uint64_t> flags_;    // (n, stride)
    std::vector<std::uint64_t> members_;  // (groups, words)
    // (n,): summed in the order of purchase, so only good to rounding; see refuse_unaffordable
    std::vector<double> spent_;
    FixedPoint weights_;

    static bool has(const std::uint64_t* set, index_t j) { return (set[j >> 6] >> (j & 63)) & 1u; }
    static void set(std::uint64_t* set, index_t j) { set[j >> 6] |= std::uint64_t{1} << (j & 63); }
    std::uint64_t* row(index_t row) { return flags_.data() + row * stride_; }
    const std::uint64_t* row(index_t row) const { return flags_.data() + row * stride_; }

    void begin_row(index_t row, Span<const std::uint64_t> owned) {
        std::uint64_t* paid = this->row(row);
        for (index_t w = 0; owned.size > 0 && w < n_words_; ++w) {
            for (std::uint64_t left = owned[row * n_words_ + w]; left != 0; left &= left - 1) {
                const index_t j = w * 64 + count_trailing_zeros(left);
                if (has_budget_) {
                    spent_[row] += price(row, j);
                    set(paid + (1 + has_groups_) * n_words_, j);
                }
                set(paid, j);
                if (sheet_.group_of[j] >= 0) mark_group_paid(paid, sheet_.group_of[j]);
            }
        }
        if (has_budget_) refuse_unaffordable(row);
    }

    void mark_group_paid(std::uint64_t* paid, index_t group) const {
        for (index_t w = 0; w < n_words_; ++w) paid[n_words_ + w] |= members_[group * n_words_ + w];
    }

    double price(index_t row, index_t j) const {
        const std::uint64_t* paid = this->row(row);
        double sum = has(paid, j) ? 0.0 : sheet_.own[j];
        const index_t group = sheet_.group_of[j];
        if (group >= 0 && !has(paid + n_words_, j)) sum += sheet_.shared[group];
        return sum;
    }

    // Refuses all features that the row can no longer afford; returns whether there are any new ones. `spent_`
    // decides, except within 1e-9 of the budget, where rounding could matter and the exact sum is formed.
    bool refuse_unaffordable(index_t row) {
        const double low = budget_ * (1 - 1e-9);
        const double high = budget_ * (1 + 1e-9);
        if (spent_[row] + max_price_ <= low) return false;
        std::uint64_t* paid = this->row(row);
        bool any_refused = false;
        for (index_t w = 0; w < n_words_; ++w) {
            std::uint64_t open = ~paid[w];
            if (w == n_words_ - 1 && (sheet_.n_features() & 63)) {
                open &= (std::uint64_t{1} << (sheet_.n_features() & 63)) - 1;
            }
            for (; open != 0; open &= open - 1) {
                const index_t j = w * 64 + count_trailing_zeros(open);
                const double due = spent_[row] + price(row, j);
                if (due <= low || (due <= high && affords_exactly(row, j))) continue;
                set(paid, j);
                if (has_groups_) set(paid + n_words_, j);
                masked_.codes.set(row, j, static_cast<std::uint8_t>(masked_.columns[j].n_bins));
                any_refused = true;
            }
        }
        return any_refused;
    }

    // Uses total(), the sum that the account is kept by.
    bool affords_exactly(index_t row, index_t feature) const {
        OwnedFeatures more(sheet_);
        const std::uint64_t* owned_words = owned(row);
        for (index_t w = 0; w < n_words_; ++w) {
            for (std::uint64_t left = owned_words[w]; left != 0; left &= left - 1) {
                more.add(sheet_, w * 64 + count_trailing_zeros(left));
            }
        }
        return affords(sheet_, more, feature, budget_);
    }

    void count(const index_t* rows, index_t n, index_t counted, std::int64_t* out) const {
        if (!is_weighted_) {
            count_bits(flags_.data(), stride_, counted, rows, n, out);
            return;
        }
        for (index_t i = 0; i < n; ++i) {
            const std::uint64_t* sets = row(rows[i]);
            const std::int64_t weight = weights_.values[rows[i]];
            for (index_t w = 0; w < counted; ++w) {
                for (std::uint64_t left = sets[w]; left != 0; left &= left - 1) {
                    out[w * 64 + count_trailing_zeros(left)] += weight;
                }
            }
        }
    }
};

}  // namespace farthing
