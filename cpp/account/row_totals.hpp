// row_totals: what each row of a table has spent, from the features it acquired.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "account/cost_sheet.hpp"
#include "common/bits.hpp"
#include "common/views.hpp"

namespace farthing {

// The own costs of kRows rows from the first one. Their sums advance together, since each addition waits for the one
// before it. A feature that was not acquired adds 0.0, which changes no sum and is cheaper than a branch.
template <int kRows>
void own_totals(const CostSheet& sheet, Matrix<bool> acquired, index_t first, double* totals) {
    double sums[kRows] = {};
    for (index_t j = 0; j < sheet.n_features(); ++j) {
        const double own = sheet.own[j];
        for (int r = 0; r < kRows; ++r) sums[r] += acquired(first + r, j) ? own : 0.0;
    }
    std::copy(sums, sums + kRows, totals + first);
}

// Sums of the own costs of any features, eight at a time by the bits of their flags. Only for costs whose sums are all
// exact, since every order of additions gives the same bits then: multiples of a power of two, and not too many of it.
class ByteTotals {
public:
    explicit ByteTotals(Span<const double> own) {
        if (own.size > kMostFeatures || !sums_are_exact(own)) return;
        const index_t n_bytes = (own.size + 7) / 8;
        sums_.assign(static_cast<std::size_t>(n_bytes * kSets), 0.0);
        for (index_t byte = 0; byte < n_bytes; ++byte) {
            double* sums = sums_.data() + byte * kSets;
            for (index_t set = 1; set < kSets; ++set) {
                const index_t feature = byte * 8 + count_trailing_zeros(static_cast<std::uint64_t>(set));
                sums[set] = sums[set & (set - 1)] + (feature < own.size ? own[feature] : 0.0);
            }
        }
    }

    bool exact() const { return !sums_.empty(); }

    // IN flags (n_features,), each 0 or 1, one byte each.
    double total(const std::uint8_t* flags, index_t n_features) const {
        double sum = 0.0;
        const double* sums = sums_.data();
        for (; n_features >= 8; n_features -= 8, flags += 8, sums += kSets) {
            // The product has the eight flags, of a byte each, as the bits of its highest byte.
            sum += sums[(load_word(flags) * 0x0102040810204080ULL) >> 56];
        }
        index_t set = 0;
        for (index_t i = 0; i < n_features; ++i) set |= index_t{flags[i] & 1} << i;
        return n_features > 0 ? sum + sums[set] : sum;
    }

private:
    static constexpr index_t kSets = 256;
    static constexpr index_t kMostFeatures = 1024;  // larger tables than these 256 KiB are slow to read
    static constexpr int kDigits = std::numeric_limits<double>::digits;

    std::vector<double> sums_;  // (bytes, kSets); none if sums are not exact

    static bool sums_are_exact(Span<const double> own) {
        double sum = 0.0;
        int lowest = std::numeric_limits<int>::max();  // all costs are multiples of two to this power
        for (const double cost : own) {
            if (!std::isfinite(cost) || cost < 0.0) return false;
            if (cost == 0.0) continue;
            int exponent = 0;
            const auto digits = static_cast<std::uint64_t>(std::ldexp(std::frexp(cost, &exponent), kDigits));
            lowest = std::min(lowest, exponent - kDigits + count_trailing_zeros(digits));
            sum += cost;
        }
        // Half of what is exact, since this sum may be rounded itself.
        return sum == 0.0 || sum <= std::ldexp(1.0, kDigits - 1 + lowest);
    }
};

// The totals of rows by a sheet, which must outlive this.
class RowTotals {
public:
    explicit RowTotals(const CostSheet& sheet) : sheet_(sheet), bytes_(sheet.own) {}

    index_t n_features() const { return sheet_.n_features(); }

    // The same sums as `total`, in the same order or exact.
    // IN  acquired (n, k).   OUT totals (n,).
    void add_up(Matrix<bool> acquired, double* totals) const {
        static_assert(sizeof(bool) == 1, "flags are bytes");
        if (bytes_.exact() && acquired.column_stride == 1) {
            const auto* flags = reinterpret_cast<const std::uint8_t*>(acquired.data);
            for (index_t i = 0; i < acquired.n_rows; ++i) {
                totals[i] = bytes_.total(flags + i * acquired.row_stride, n_features());
            }
        } else {
            constexpr int kTogether = 8;
            index_t done = 0;
            for (; done + kTogether <= acquired.n_rows; done += kTogether) {
                own_totals<kTogether>(sheet_, acquired, done, totals);
            }
            for (; done < acquired.n_rows; ++done) own_totals<1>(sheet_, acquired, done, totals);
        }
        add_shared(acquired, totals);
    }

private:
    CostSheet sheet_;
    ByteTotals bytes_;

    void add_shared(Matrix<bool> acquired, double* totals) const {
        const index_t n_groups = sheet_.shared.size;
        if (n_groups == 0) return;
        std::vector<std::uint8_t> is_paid(static_cast<std::size_t>(n_groups));
        for (index_t i = 0; i < acquired.n_rows; ++i) {
            std::fill(is_paid.begin(), is_paid.end(), std::uint8_t{0});
            for (index_t j = 0; j < n_features(); ++j) {
                if (acquired(i, j) && sheet_.group_of[j] >= 0) is_paid[sheet_.group_of[j]] = 1;
            }
            for (index_t group = 0; group < n_groups; ++group) {
                if (is_paid[group]) totals[i] += sheet_.shared[group];
            }
        }
    }
};

}  // namespace farthing
