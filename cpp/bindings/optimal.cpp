// optimal: the tree of the least total cost.
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/cost_sheet.hpp"
#include "optimal/owned_prices.hpp"
#include "optimal/priced_rows.hpp"
#include "optimal/tree_account.hpp"
#include "optimal/tree_search.hpp"

namespace farthing {
namespace {

// (feature, left, right, side by code, class weights, spend, risk, cost, lower bound)
using Found = nb::typed<nb::tuple, NumpyArray<std::int32_t>, NumpyArray<index_t>, NumpyArray<index_t>,
                        NumpyArray<std::uint8_t>, NumpyArray<double>, double, double, double, double>;

Found optimal_tree(const nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& codes,
                   const Vector<std::uint8_t>& kinds, const Vector<index_t>& n_codes, const Vector<index_t>& missing,
                   const nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& labels,
                   const Vector<index_t>& target, const Vector<double>& weights, const Vector<double>& own, const Vector<double>& shared,
                   const Vector<index_t>& group_of, double factor, double budget, double penalty,
                   const std::optional<Vector<double>>& guesses, int max_depth, double seconds, double most_bytes,
                   int n_threads) {
    const auto n_columns = static_cast<index_t>(codes.shape(0));
    const auto n = static_cast<index_t>(codes.shape(1));
    require(span(kinds).size == n_columns && span(n_codes).size == n_columns && span(missing).size == n_columns,
            "kinds, n_codes, missing: one for each column");
    require(static_cast<index_t>(labels.shape(0)) == n && span(weights).size == n, "labels, weights: one for each row");
    require(span(target).size == n, "target: one for each row");
    for (const index_t label : span(target))
        require(label >= 0 && label < static_cast<index_t>(labels.shape(1)), "target: a label of each row");
    require(labels.shape(1) >= 1 && n >= 1, "there must be a row and a label");
    require(n < std::numeric_limits<std::int32_t>::max(), "too many rows");
    require(factor >= 0 && penalty >= 0 && max_depth >= 0, "factor, penalty, max_depth: not negative");
    for (index_t column = 0; column < n_columns; ++column) {
        const index_t count = span(n_codes)[column];
        require(count >= 1 && count <= 256, "n_codes: 1 to 256");
        require(span(kinds)[column] <= 2, "kinds: 0, 1 or 2");
        require(span(kinds)[column] < 2 || count <= 16, "subsets need at most 16 codes");
        for (index_t row = 0; row < n; ++row)
            require(codes.data()[column * n + row] < count, "codes must be below n_codes");
    }
    for (const double weight : span(weights)) require(weight > 0, "weights must be above zero");
    if (guesses) {
        require(span(*guesses).size == n, "guesses: one for each row");
        for (const double guess : span(*guesses)) require(guess >= 0, "guesses must not be negative");
    }
    const CostSheet sheet = cost_sheet_of(own, shared, group_of, n_columns);
    const SearchColumns columns{{codes.data(), n_columns * n}, span(kinds), span(n_codes), span(missing)};
    const SearchCosts costs{{labels.data(), static_cast<index_t>(labels.size())},
                            span(weights),
                            static_cast<index_t>(labels.shape(1)),
                            sheet,
                            factor,
                            budget,
                            penalty,
                            guesses ? span(*guesses) : Span<const double>()};
    FoundTree tree;
    TreeAccount account;
    double cost = 0;
    double lower = 0;
    {
        nb::gil_scoped_release unlocked;
        const PricedRows rows(columns, costs);
        OwnedSets sets(rows, sheet, budget);
        TreeSearch search(rows, sets, {max_depth, seconds, static_cast<std::size_t>(most_bytes), n_threads});
        search.run();
        tree = search.tree();
        account = account_of(tree, columns, costs, span(target));
        cost = search.cost();
        lower = search.lower_bound();
    }
    const std::size_t n_nodes = tree.feature.size();
    const std::size_t n_labels = labels.shape(1);
    return {nb::make_tuple(to_numpy(std::move(tree.feature)), to_numpy(std::move(tree.left)),
                           to_numpy(std::move(tree.right)), to_numpy(std::move(tree.side), {n_nodes, 256}),
                           to_numpy(std::move(account.value), {n_nodes, n_labels}), account.spend, account.risk, cost,
                           lower)};
}

}  // namespace

void bind_optimal(nb::module_& m) {
    m.def("optimal_tree", &optimal_tree, "codes"_a, "kinds"_a, "n_codes"_a, "missing"_a, nb::kw_only(), "labels"_a,
          "target"_a, "weights"_a, "own"_a, "shared"_a, "group_of"_a, "factor"_a, "budget"_a, "penalty"_a,
          "guesses"_a.none(), "max_depth"_a, "seconds"_a, "most_bytes"_a, "n_threads"_a);
}

}  // namespace farthing
