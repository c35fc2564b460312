// row_ledger: a RowLedger for Python, which keeps its arrays alive.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "account/cost_sheet.hpp"
#include "account/row_ledger.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cost_sheet.hpp"
#include "bindings/peers.hpp"
#include "common/bitset.hpp"
#include "common/peers.hpp"
#include "common/views.hpp"
#include "table/binned_table.hpp"

namespace farthing {

// Sets of features, 64 per word.
using Words = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

class PyRowLedger {
public:
    PyRowLedger(const BinnedTable& table, Vector<double> own, Vector<double> shared, Vector<index_t> group_of,
                double budget, const std::optional<Vector<double>>& weights, const std::optional<Words>& owned,
                int n_threads, const nb::object& peers)
        : own_(own), shared_(shared), group_of_(group_of), n_rows_(table.n_rows), peers_(peers_of(peers)),
          ledger_(make(table, cost_sheet_of(own, shared, group_of, table.n_columns()), budget, weights, owned,
                       n_threads, peers_.get())) {}

    RowLedger& ledger() { return ledger_; }

    NumpyArray<std::uint64_t> owned() const {
        const index_t words = ledger_.n_words();
        std::vector<std::uint64_t> out(static_cast<std::size_t>(n_rows_ * words));
        for (index_t row = 0; row < n_rows_; ++row) {
            std::copy(ledger_.owned(row), ledger_.owned(row) + words, out.begin() + row * words);
        }
        return to_numpy(std::move(out), {static_cast<std::size_t>(n_rows_), static_cast<std::size_t>(words)});
    }

private:
    Vector<double> own_;
    Vector<double> shared_;
    Vector<index_t> group_of_;
    index_t n_rows_;
    std::unique_ptr<PyPeers> peers_;
    RowLedger ledger_;

    static RowLedger make(const BinnedTable& table, const CostSheet& sheet, double budget,
                          const std::optional<Vector<double>>& weights, const std::optional<Words>& owned,
                          int n_threads, Peers* peers) {
        require(budget >= 0, "budget is not negative");
        require(!weights || static_cast<index_t>(weights->shape(0)) == table.n_rows, "weights: one for each row");
        const index_t words = Bitset::n_words(table.n_columns());
        require(!owned || (static_cast<index_t>(owned->shape(0)) == table.n_rows &&
                           static_cast<index_t>(owned->shape(1)) == words),
                "owned: a set for each row");
        Span<const std::uint64_t> sets;
        if (owned) sets = {owned->data(), table.n_rows * words};
        if (owned && (table.n_columns() & 63)) {
            const std::uint64_t beyond = ~std::uint64_t{0} << (table.n_columns() & 63);
            for (index_t row = 0; row < table.n_rows; ++row) {
                require((sets[row * words + words - 1] & beyond) == 0, "owned: no such column");
            }
        }
        nb::gil_scoped_release unlocked;
        return {table, sheet, budget, weights ? span(*weights) : Span<const double>{}, sets, n_threads, peers};
    }
};

}  // namespace farthing
