// Python bindings of grow/grower.hpp.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "account/candidate_ranking.hpp"
#include "account/cost_sheet.hpp"
#include "account/row_ledger.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cost_sheet.hpp"
#include "bindings/peers.hpp"
#include "bindings/row_ledger.hpp"
#include "bindings/tree_fields.hpp"
#include "common/counter_rng.hpp"
#include "common/peers.hpp"
#include "common/views.hpp"
#include "grow/class_target.hpp"
#include "grow/gradient_target.hpp"
#include "grow/grow_options.hpp"
#include "grow/grower.hpp"
#include "grow/impurity.hpp"
#include "grow/node_vectors.hpp"
#include "grow/root_histogram_update.hpp"
#include "grow/tree.hpp"
#include "grow/vector_leaf_search.hpp"
#include "grow/vector_target.hpp"
#include "grow/vote_target.hpp"
#include "grow/workspace.hpp"
#include "table/binned_table.hpp"

namespace farthing {
namespace {

GrowOptions options_of(index_t max_depth, index_t max_leaves, index_t min_rows_leaf, const std::string& ledger,
                       const std::string& cost_rule, double tradeoff, double budget, int n_threads) {
    require(ledger == "model" || ledger == "row", "ledger is 'model' or 'row'");
    require(cost_rule == "penalty" || cost_rule == "ratio", "cost_rule is 'penalty' or 'ratio'");
    require(min_rows_leaf >= 1, "min_rows_leaf is at least 1");
    require(max_depth >= 0 && max_leaves >= 1, "max_depth is at least 0 and max_leaves at least 1");
    require(tradeoff >= 0 && budget >= 0, "tradeoff and budget are not negative");
    GrowOptions options;
    options.max_depth = max_depth;
    options.max_leaves = max_leaves;
    options.min_rows_leaf = min_rows_leaf;
    options.ledger = ledger == "model" ? LedgerKind::model : LedgerKind::row;
    options.ranking.rule = cost_rule == "ratio" ? CostRule::ratio : CostRule::penalty;
    options.ranking.tradeoff = tradeoff;
    options.budget = budget;
    options.n_threads = n_threads;
    return options;
}

Impurity impurity_of(const std::string& name) {
    if (name == "entropy") return Impurity::entropy;
    if (name == "gini") return Impurity::gini;
    if (name == "pairs") return Impurity::pairs;
    require(name == "powers", "impurity is 'entropy', 'gini', 'pairs' or 'powers'");
    return Impurity::powers;
}

// An impurity that is a Python function of the class weights. It is called without the GIL, possibly from a worker
// thread, where nothing may be thrown: the first error is kept, and all nodes are pure from then on.
struct PythonImpurity {
    nb::object call;
    std::exception_ptr failed;
    std::mutex one_at_a_time;

    double operator()(const double* counts, index_t n) {
        const std::lock_guard<std::mutex> lock(one_at_a_time);
        if (failed) return 0;
        const nb::gil_scoped_acquire locked;
        try {
            const nb::object answer = call(to_numpy(std::vector<double>(counts, counts + n)));
            double result = -1;
            if (nb::try_cast(answer, result) && std::isfinite(result) && result >= 0) return result;
            const std::string got = nb::cast<std::string>(nb::repr(answer));
            throw std::invalid_argument("impurity must return a number of at least zero; got " + got);
        } catch (...) {
            failed = std::current_exception();
            return 0;
        }
    }
};

// (fields of the tree, leaf of each row, what the model owns now)
using Grown = nb::typed<nb::tuple, Fields, NumpyArray<index_t>, NumpyArray<std::uint8_t>>;
using IndexSubset = std::optional<Vector<index_t>>;
using Flags = std::optional<Vector<std::uint8_t>>;
using Rectangle = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;  // row by row

Span<const double> flat(const Rectangle& array) { return {array.data(), static_cast<index_t>(array.size())}; }

using CutPairs = std::vector<std::pair<double, index_t>>;  // (weight of a node, thresholds above it)

std::vector<CutRule> rules_of(const CutPairs& pairs) {
    std::vector<CutRule> rules;
    for (const auto& [above, n_cuts] : pairs) {
        require(n_cuts >= 1 && (rules.empty() || above < rules.back().above),
                "cuts: at least one threshold each, by descending weight");
        rules.push_back({above, n_cuts});
    }
    return rules;
}

// The chosen indices below n, or all of them.
void resolve(const IndexSubset& subset, index_t n, std::vector<index_t>& out) {
    if (!subset) {
        out.resize(static_cast<std::size_t>(n));
        std::iota(out.begin(), out.end(), index_t{0});
        return;
    }
    index_t before = -1;
    for (const index_t i : span(*subset)) {
        require(i > before && i < n, "rows and columns are chosen by ascending numbers within the table");
        before = i;
    }
    out.assign(span(*subset).begin(), span(*subset).end());
}

// Grows tree after tree on one table, with one cost sheet and one set of limits.
class TreeGrower {
public:
    TreeGrower(const BinnedTable& table, Vector<double> own, Vector<double> shared, Vector<index_t> group_of,
               index_t max_depth, index_t max_leaves, index_t min_rows_leaf, const std::string& ledger,
               const std::string& cost_rule, double tradeoff, double budget, int n_threads, const nb::object& peers,
               const std::optional<Vector<std::int8_t>>& monotonic)
        : peers_(peers_of(peers)), n_all_rows_(all_rows(peers_.get(), table.n_rows)), table_(table), own_(own), shared_(shared), group_of_(group_of),
          sheet_(cost_sheet_of(own, shared, group_of, table.n_columns())),
          options_(options_of(max_depth, max_leaves, min_rows_leaf, ledger, cost_rule, tradeoff, budget, n_threads)) {
        options_.peers = peers_.get();
        if (monotonic) constrain(*monotonic);
    }

    Grown gradient(const Vector<double>& gradients, const std::optional<Vector<double>>& hessians, double l2,
                   double min_hessian, const IndexSubset& columns, const IndexSubset& rows, const Flags& owned,
                   const std::optional<double>& budget, PyRowLedger* ledger, bool send_others,
                   const std::optional<double>& step, const std::optional<std::uint64_t>& number) {
        require(static_cast<index_t>(gradients.shape(0)) == table_.n_rows, "gradients: one for each row");
        require(!hessians || static_cast<index_t>(hessians->shape(0)) == table_.n_rows, "hessians: one for each row");
        const GrowOptions options = gradient_options(l2, min_hessian, budget, ledger, step, number);
        const double step_size = step.value_or(1.0);
        if (hessians) {
            return grow(GradientTarget<GradientSums::full>(span(gradients), span(*hessians), l2, min_hessian,
                                                           options_.n_threads, step_size, false, peers_.get()),
                        options, columns, rows, owned, ledger, send_others);
        }
        if (can_pack(n_all_rows_)) {
            return grow(GradientTarget<GradientSums::packed>(span(gradients), {}, l2, 0, options_.n_threads, step_size,
                                                             step.has_value(), peers_.get()),
                        options, columns, rows, owned, ledger, send_others);
        }
        return grow(GradientTarget<GradientSums::unit>(span(gradients), {}, l2, 0, options_.n_threads, step_size,
                                                       step.has_value(), peers_.get()),
                    options, columns, rows, owned, ledger, send_others);
    }

    Grown gradients(const Rectangle& gradients, const std::optional<Rectangle>& hessians, double l2, double min_hessian,
                    const IndexSubset& columns, const IndexSubset& rows, const Flags& owned,
                    const std::optional<double>& budget, PyRowLedger* ledger, bool send_others,
                    const std::optional<double>& step, const std::optional<std::uint64_t>& number) {
        const auto n_outputs = static_cast<index_t>(gradients.shape(0));
        require(options_.monotonic.empty(), "trees of several outputs take no monotonic constraints");
        require(n_outputs >= 1 && static_cast<index_t>(gradients.shape(1)) == table_.n_rows,
                "gradients: one for each output and row");
        require(!hessians || (static_cast<index_t>(hessians->shape(0)) == n_outputs &&
                              static_cast<index_t>(hessians->shape(1)) == table_.n_rows),
                "hessians: one for each output and row");
        const GrowOptions options = gradient_options(l2, min_hessian, budget, ledger, step, number);
        const Span<const double> g = flat(gradients);
        const Span<const double> h = hessians ? flat(*hessians) : Span<const double>{};
        resolve(rows, table_.n_rows, workspace_.rows);
        const VectorTarget target(g, h, n_outputs, top_outputs(g, n_outputs, workspace_.rows, peers_.get()), l2,
                                  hessians ? min_hessian : 0.0, options_.n_threads, peers_.get());
        return grow(target, options, columns, rows, owned, ledger, send_others,
                    [&](Tree& tree, const std::vector<index_t>& leaf_of_row) {
                        fill_node_vectors(g, h, workspace_.rows, leaf_of_row, l2, step.value_or(1.0),
                                          options_.n_threads, peers_.get(), tree);
                    });
    }

    Grown classes(const Vector<index_t>& labels, const Vector<double>& weights, index_t n_classes,
                  const nb::object& impurity, double alpha, double power, double min_impurity,
                  const IndexSubset& columns, const IndexSubset& rows, const Flags& owned,
                  std::optional<index_t> max_features, const CutPairs& cuts, std::uint64_t seed,
                  std::uint64_t stream) {
        require(static_cast<index_t>(labels.shape(0)) == table_.n_rows, "labels: one for each row");
        require(static_cast<index_t>(weights.shape(0)) == table_.n_rows, "weights: one for each row");
        require(n_classes >= 1, "n_classes is at least 1");
        require(n_classes <= 2 || options_.monotonic.empty(), "monotonic constraints need at most two classes");
        require(alpha >= 0 && power >= 1, "alpha is not negative and power at least 1");
        require(min_impurity >= 0, "min_impurity is not negative");
        require(!max_features || *max_features >= 1, "max_features is at least 1");
        require((!max_features && cuts.empty()) || options_.ledger == LedgerKind::row,
                "max_features and max_cuts need the row ledger");
        GrowOptions options = options_;
        options.max_features = max_features.value_or(GrowOptions{}.max_features);
        options.cuts = rules_of(cuts);
        options.key = random_bits(seed, stream);
        options.number = stream;
        ImpurityFunction function;
        function.alpha = alpha;
        function.power = power;
        PythonImpurity python_impurity;
        if (nb::isinstance<nb::str>(impurity)) {
            function.kind = impurity_of(nb::cast<std::string>(impurity));
        } else {
            python_impurity.call = impurity;
            function.kind = Impurity::custom;
            function.custom = [&python_impurity](const double* counts, index_t n) {
                return python_impurity(counts, n);
            };
        }
        Grown grown = grow(ClassTarget(span(labels), span(weights), n_classes, function, min_impurity, peers_.get()),
                           options, columns, rows, owned);
        if (python_impurity.failed) std::rethrow_exception(python_impurity.failed);
        return grown;
    }

    Grown votes(const Vector<double>& signed_weights, index_t n_outputs, double tradeoff, const Flags& owned,
                const std::optional<double>& budget) {
        require(n_outputs >= 1 && static_cast<index_t>(signed_weights.shape(0)) == table_.n_rows * n_outputs,
                "signed_weights: one for each row and output");
        require(tradeoff >= 0 && (!budget || *budget >= 0), "tradeoff and budget are not negative");
        GrowOptions options = options_;
        options.ranking.tradeoff = tradeoff;
        if (budget) options.budget = *budget;
        options.number = std::nullopt;
        require(!peers_, "votes are grown by one process");
        require(options_.monotonic.empty(), "votes take no monotonic constraints");
        return grow(VoteTarget(span(signed_weights), n_outputs), options, std::nullopt, std::nullopt, owned);
    }

    index_t n_updated_roots() const { return root_update_.n_reused(); }

private:
    std::unique_ptr<PyPeers> peers_;  // null: alone
    index_t n_all_rows_;              // of all peers
    const BinnedTable& table_;        // kept alive by the Python object
    Vector<double> own_;
    Vector<double> shared_;
    Vector<index_t> group_of_;
    CostSheet sheet_;
    GrowOptions options_;
    Workspace workspace_;
    RootHistogramUpdate root_update_;

    void constrain(const Vector<std::int8_t>& monotonic) {
        require(static_cast<index_t>(monotonic.shape(0)) == table_.n_columns(), "monotonic: one for each column");
        options_.monotonic.assign(span(monotonic).begin(), span(monotonic).end());
        for (index_t j = 0; j < table_.n_columns(); ++j) {
            const std::int8_t direction = options_.direction(j);
            require(direction >= -1 && direction <= 1, "monotonic is -1, 0 or 1 for each column");
            require(direction == 0 || !table_.columns[j].categorical, "monotonic is 0 for a categorical column");
        }
    }

    GrowOptions gradient_options(double l2, double min_hessian, const std::optional<double>& budget,
                                 PyRowLedger* ledger, const std::optional<double>& step,
                                 const std::optional<std::uint64_t>& number) const {
        require(l2 >= 0 && min_hessian >= 0 && (!budget || *budget >= 0),
                "l2, min_hessian and budget are not negative");
        require(!step || (*step > 0 && std::isfinite(*step)), "step is above zero");
        require(!ledger || options_.ledger == LedgerKind::row, "a row ledger needs ledger='row'");
        require(!ledger || ledger->ledger().n_rows() == table_.n_rows, "the ledger is of another table");
        GrowOptions options = options_;
        if (budget) options.budget = *budget;
        options.number = number;
        return options;
    }

    // Whether the next tree may start from the root histogram that this one leaves.
    bool can_reuse_root(const IndexSubset& columns, const IndexSubset& rows) const {
        return options_.ledger == LedgerKind::model && !columns && !rows;
    }

    struct LeaveValues {
        void operator()(Tree&, const std::vector<index_t>&) const {}
    };

    // IN  fill_values(tree, leaf of each training row): sets the values of nodes that the target leaves open.
    template <class Target, class FillValues = LeaveValues>
    Grown grow(const Target& target, const GrowOptions& options, const IndexSubset& columns, const IndexSubset& rows,
               const Flags& owned, PyRowLedger* rows_ledger = nullptr, bool send_others = false,
               FillValues fill_values = {}) {
        std::vector<index_t> taken;
        resolve(columns, table_.n_columns(), taken);
        resolve(rows, table_.n_rows, workspace_.rows);
        require(peers_ || !workspace_.rows.empty(), "there are no rows to grow a tree from");
        OwnedFeatures ledger(sheet_);
        if (owned) {
            require(static_cast<index_t>(owned->shape(0)) == table_.n_columns(), "owned: one for each column");
            for (index_t j = 0; j < table_.n_columns(); ++j) {
                if (owned->data()[j]) ledger.add(sheet_, j);
            }
        }
        Tree tree;
        std::vector<index_t> leaf_of_row(static_cast<std::size_t>(table_.n_rows), -1);
        std::vector<std::uint8_t> now_owned(static_cast<std::size_t>(table_.n_columns()), 0);
        {
            nb::gil_scoped_release unlocked;
            RowLedger* row_ledger = rows_ledger ? &rows_ledger->ledger() : nullptr;
            Grower<Target> grower(row_ledger ? row_ledger->table() : table_, target, sheet_, options, std::move(taken),
                                  std::move(ledger), workspace_, row_ledger,
                                  can_reuse_root(columns, rows) ? &root_update_ : nullptr);
            tree = grower.grow();
            grower.leaves_of_rows({leaf_of_row.data(), table_.n_rows});
            fill_values(tree, leaf_of_row);
            if (send_others) grower.route_other_rows(tree, {leaf_of_row.data(), table_.n_rows});
            for (index_t j = 0; j < table_.n_columns(); ++j) now_owned[j] = grower.owned().has(j);
        }
        return {
            nb::make_tuple(fields(std::move(tree)), to_numpy(std::move(leaf_of_row)), to_numpy(std::move(now_owned)))};
    }
};

}  // namespace

void bind_grow(nb::module_& m) {
    nb::class_<PyRowLedger>(m, "RowLedgers")
        .def(nb::init<const BinnedTable&, Vector<double>, Vector<double>, Vector<index_t>, double,
                      const std::optional<Vector<double>>&, const std::optional<Words>&, int, const nb::object&>(),
             nb::keep_alive<1, 2>(), "table"_a, "own"_a, "shared"_a, "group_of"_a, nb::kw_only(), "budget"_a,
             "weights"_a.none(), "owned"_a.none(), "n_threads"_a, "peers"_a.none() = nb::none())
        .def("owned", &PyRowLedger::owned);

    nb::class_<TreeGrower>(m, "TreeGrower")
        .def(nb::init<const BinnedTable&, Vector<double>, Vector<double>, Vector<index_t>, index_t, index_t, index_t,
                      const std::string&, const std::string&, double, double, int, const nb::object&,
                      const std::optional<Vector<std::int8_t>>&>(),
             nb::keep_alive<1, 2>(), "table"_a, "own"_a, "shared"_a, "group_of"_a, nb::kw_only(), "max_depth"_a,
             "max_leaves"_a, "min_rows_leaf"_a, "ledger"_a, "cost_rule"_a, "tradeoff"_a, "budget"_a, "n_threads"_a,
             "peers"_a.none() = nb::none(), "monotonic"_a.none() = nb::none())
        .def("gradient", &TreeGrower::gradient, "gradients"_a, "hessians"_a.none(), nb::kw_only(), "l2"_a,
             "min_hessian"_a, "columns"_a.none(), "rows"_a.none(), "owned"_a.none(), "budget"_a.none(),
             "ledger"_a.none(), "send_others"_a, "step"_a.none(), "number"_a.none())
        .def("gradients", &TreeGrower::gradients, "gradients"_a, "hessians"_a.none(), nb::kw_only(), "l2"_a,
             "min_hessian"_a, "columns"_a.none(), "rows"_a.none(), "owned"_a.none(), "budget"_a.none(),
             "ledger"_a.none(), "send_others"_a, "step"_a.none(), "number"_a.none())
        .def("votes", &TreeGrower::votes, "signed_weights"_a, "n_outputs"_a, nb::kw_only(), "tradeoff"_a,
             "owned"_a.none(), "budget"_a.none())
        .def_prop_ro("n_updated_roots", &TreeGrower::n_updated_roots)
        .def("classes", &TreeGrower::classes, "labels"_a, "weights"_a, "n_classes"_a, nb::kw_only(), "impurity"_a,
             "alpha"_a, "power"_a, "min_impurity"_a, "columns"_a.none(), "rows"_a.none(), "owned"_a.none(),
             "max_features"_a.none(), "cuts"_a, "seed"_a, "stream"_a);
}

}  // namespace farthing
