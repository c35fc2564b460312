// optimal: the tree of the least total cost.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/cost_sheet.hpp"
#include "common/views.hpp"
#include "optimal/column_tests.hpp"
#include "optimal/owned_prices.hpp"
#include "optimal/priced_rows.hpp"
#include "optimal/threshold_tree.hpp"
#include "optimal/tree_account.hpp"
#include "optimal/tree_search.hpp"

namespace farthing {
namespace {

// (feature, left, right, side by code, first of the copies, class weights, weight, number of tests, spend, risk, cost,
// lower bound)
using Found = nb::typed<nb::tuple, NumpyArray<std::int32_t>, NumpyArray<index_t>, NumpyArray<index_t>,
                        NumpyArray<std::uint8_t>, NumpyArray<index_t>, NumpyArray<double>, NumpyArray<double>, index_t,
                        double, double, double, double>;

// How each column is tested: by its thresholds or intervals, or by its categories, up to a number of them by sets.
class ColumnKinds {
public:
    // IN codes (k, n).   IN n_present (k,): values of each column, of which missing ones are the next code.
    // IN category_widths (k,): 0 for numbers.
    ColumnKinds(Span<const std::uint8_t> codes, index_t n, Span<const index_t> n_present,
                Span<const index_t> category_widths, bool intervals, int max_levels)
        : codes_(codes) {
        for (index_t column = 0; column < n_present.size; ++column) {
            const std::uint8_t* of = codes.data + column * n;
            const index_t present = n_present[column];
            const index_t count = std::max<index_t>(present, *std::max_element(of, of + n) + 1);
            const TestKind number = intervals ? TestKind::intervals : TestKind::ordered;
            const TestKind category = count <= max_levels ? TestKind::subsets : TestKind::singles;
            const TestKind kind = category_widths[column] == 0 ? number : category;
            kinds_.push_back(static_cast<std::uint8_t>(kind));
            n_codes_.push_back(count);
            missing_.push_back(count > present ? present : -1);
        }
    }

    SearchColumns columns() const { return {codes_, view(kinds_), view(n_codes_), view(missing_)}; }

private:
    Span<const std::uint8_t> codes_;
    std::vector<std::uint8_t> kinds_;
    std::vector<index_t> n_codes_;
    std::vector<index_t> missing_;
};

Found optimal_tree(const nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& codes,
                   const Vector<index_t>& n_present, const Vector<index_t>& category_widths, bool intervals,
                   int max_levels, const nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& prices,
                   const Vector<index_t>& target, const Vector<double>& weights, const Vector<double>& own, const Vector<double>& shared,
                   const Vector<index_t>& group_of, double factor, double budget, double penalty,
                   const std::optional<Vector<double>>& guesses, int max_depth, double seconds, double most_bytes,
                   int n_threads) {
    const auto n_columns = static_cast<index_t>(codes.shape(0));
    const auto n = static_cast<index_t>(codes.shape(1));
    const auto n_labels = static_cast<index_t>(prices.shape(1));
    require(span(n_present).size == n_columns && span(category_widths).size == n_columns,
            "n_present, category_widths: one for each column");
    require(static_cast<index_t>(prices.shape(0)) == n && span(weights).size == n, "prices, weights: one for each row");
    require(span(target).size == n, "target: one for each row");
    for (const index_t label : span(target))
        require(label >= 0 && label < n_labels, "target: a label of each row");
    require(n_labels >= 1 && n >= 1, "there must be a row and a label");
    require(n < std::numeric_limits<std::int32_t>::max(), "too many rows");
    require(factor >= 0 && penalty >= 0 && max_depth >= 0, "factor, penalty, max_depth: not negative");
    require(max_levels <= 16, "max_levels: at most 16");
    for (const index_t count : span(n_present)) require(count >= 0 && count <= 256, "n_present: 0 to 256");
    for (const double weight : span(weights)) require(weight > 0, "weights must be above zero");
    if (guesses) {
        require(span(*guesses).size == n, "guesses: one for each row");
        for (const double guess : span(*guesses)) require(guess >= 0, "guesses must not be negative");
    }
    const CostSheet sheet = cost_sheet_of(own, shared, group_of, n_columns);
    const ColumnKinds kinds({codes.data(), n_columns * n}, n, span(n_present), span(category_widths),
                            intervals, max_levels);
    const SearchColumns columns = kinds.columns();
    std::vector<double> labels(prices.data(), prices.data() + n * n_labels);
    for (index_t i = 0; i < n * n_labels; ++i) labels[i] *= span(weights)[i / n_labels];
    const SearchCosts costs{view(labels),
                            span(weights),
                            n_labels,
                            sheet,
                            factor,
                            budget,
                            penalty,
                            guesses ? span(*guesses) : Span<const double>()};
    ThresholdTree found;
    TreeAccount account;
    double cost = 0;
    double lower = 0;
    {
        nb::gil_scoped_release unlocked;
        const PricedRows rows(columns, costs);
        OwnedSets sets(rows, sheet, budget);
        TreeSearch search(rows, sets, {max_depth, seconds, static_cast<std::size_t>(most_bytes), n_threads});
        search.run();
        found = ThresholdTreeBuilder(search.tree(), columns).take();
        account = account_of(found, columns, costs, span(target));
        cost = search.cost();
        lower = search.lower_bound();
    }
    FoundTree& tree = found.tree;
    const std::size_t n_nodes = tree.feature.size();
    const auto width = static_cast<std::size_t>(n_labels);
    return {nb::make_tuple(to_numpy(std::move(tree.feature)), to_numpy(std::move(tree.left)),
                           to_numpy(std::move(tree.right)), to_numpy(std::move(tree.side), {n_nodes, 256}),
                           to_numpy(std::move(found.origin)), to_numpy(std::move(account.value), {n_nodes, width}),
                           to_numpy(std::move(account.cover)), found.n_tests, account.spend, account.risk, cost, lower)};
}

}  // namespace

void bind_optimal(nb::module_& m) {
    m.def("optimal_tree", &optimal_tree, "codes"_a, "n_present"_a, "category_widths"_a, nb::kw_only(), "intervals"_a, "max_levels"_a,
          "prices"_a, "target"_a, "weights"_a, "own"_a, "shared"_a, "group_of"_a, "factor"_a, "budget"_a, "penalty"_a,
          "guesses"_a.none(), "max_depth"_a, "seconds"_a, "most_bytes"_a, "n_threads"_a);
}

}  // namespace farthing
