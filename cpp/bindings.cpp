// bindings: the only file of the core that knows Python. Checks shapes and types, releases the lock, calls the core.
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bins.hpp"
#include "criterion.hpp"
#include "grower.hpp"
#include "predictor.hpp"
#include "price.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace farthing {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Owning = nb::ndarray<nb::numpy, T>;

template <class T>
Span<const T> span(const Vector<T>& array) {
    return {array.data(), static_cast<index_t>(array.shape(0))};
}

template <class T>
Matrix<T> matrix(const Table<T>& array) {
    return {array.data(), static_cast<index_t>(array.shape(0)), static_cast<index_t>(array.shape(1)),
            static_cast<index_t>(array.stride(0)), static_cast<index_t>(array.stride(1))};
}

// An array that keeps its values alive by itself.
template <class T>
Owning<T> give(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Owning<T>(kept->data(), shape, owner);
}

template <class T>
Owning<T> give(std::vector<T>&& values) {
    const std::size_t n = values.size();
    return give(std::move(values), {n});
}

void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

Sheet sheet_of(const Vector<double>& own, const Vector<double>& shared, const Vector<index_t>& group_of,
               index_t n_features) {
    Sheet sheet{span(own), span(shared), span(group_of)};
    require(sheet.own.size == n_features, "own costs: one for each feature");
    require(sheet.group_of.size == n_features, "group_of: one for each feature");
    for (const index_t group : sheet.group_of) require(group < sheet.shared.size, "group_of names no group");
    return sheet;
}

template <class T>
BinnedTable bin_table(const Table<T>& X, const Vector<index_t>& n_categories, index_t max_bins, index_t n_sample,
                      int n_threads) {
    require(n_categories.shape(0) == X.shape(1), "n_categories: one for each column");
    require(max_bins >= 2 && max_bins <= kMaxBins, "max_bins lies between 2 and 255");
    require(n_sample >= 1, "n_sample is at least 1");
    nb::gil_scoped_release unlocked;
    return BinnedTable::make(matrix(X), span(n_categories), max_bins, n_sample, n_threads);
}

nb::dict fields(Tree&& tree) {
    nb::dict out;
    const auto n = static_cast<std::size_t>(tree.n_nodes());
    const auto width = static_cast<std::size_t>(tree.n_values);
    out["feature"] = give(std::move(tree.feature));
    out["threshold"] = give(std::move(tree.threshold));
    out["left"] = give(std::move(tree.left));
    out["right"] = give(std::move(tree.right));
    out["missing"] = give(std::move(tree.missing));
    out["category"] = give(std::move(tree.category));
    out["category_words"] = give(std::move(tree.category_words));
    out["value"] = give(std::move(tree.value), {n, width});
    out["cover"] = give(std::move(tree.cover));
    return out;
}

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
    options.ledger = ledger == "model" ? Ledger::model : Ledger::row;
    options.weighing.rule = cost_rule == "ratio" ? CostRule::ratio : CostRule::penalty;
    options.weighing.tradeoff = tradeoff;
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

using Chosen = std::optional<Vector<index_t>>;
using Flags = std::optional<Vector<std::uint8_t>>;

// The chosen numbers below n, or all of them.
void choose(const Chosen& chosen, index_t n, std::vector<index_t>& out) {
    if (!chosen) {
        out.resize(static_cast<std::size_t>(n));
        std::iota(out.begin(), out.end(), index_t{0});
        return;
    }
    index_t before = -1;
    for (const index_t i : span(*chosen)) {
        require(i > before && i < n, "rows and columns are chosen by ascending numbers within the table");
        before = i;
    }
    out.assign(span(*chosen).begin(), span(*chosen).end());
}

// Grows tree after tree on one table, with one price list and one set of limits.
class TreeGrower {
public:
    TreeGrower(const BinnedTable& table, Vector<double> own, Vector<double> shared, Vector<index_t> group_of,
               index_t max_depth, index_t max_leaves, index_t min_rows_leaf, const std::string& ledger,
               const std::string& cost_rule, double tradeoff, double budget, int n_threads)
        : table_(table), own_(own), shared_(shared), group_of_(group_of),
          sheet_(sheet_of(own, shared, group_of, table.n_columns())),
          options_(options_of(max_depth, max_leaves, min_rows_leaf, ledger, cost_rule, tradeoff, budget, n_threads)) {}

    nb::tuple gradient(const Vector<double>& gradients, const std::optional<Vector<double>>& hessians, double l2,
                       const Chosen& columns, const Chosen& rows, const Flags& owned) {
        require(static_cast<index_t>(gradients.shape(0)) == table_.n_rows, "gradients: one for each row");
        require(!hessians || static_cast<index_t>(hessians->shape(0)) == table_.n_rows, "hessians: one for each row");
        require(l2 >= 0, "l2 is not negative");
        if (hessians) {
            return grow(GradientTarget<Sums::full>(span(gradients), span(*hessians), l2), columns, rows, owned);
        }
        if (packs_well(table_.n_rows)) {
            return grow(GradientTarget<Sums::packed>(span(gradients), {}, l2), columns, rows, owned);
        }
        return grow(GradientTarget<Sums::unit>(span(gradients), {}, l2), columns, rows, owned);
    }

    nb::tuple classes(const Vector<index_t>& labels, const Vector<double>& weights, index_t n_classes,
                      const std::string& impurity, double alpha, double power, const Chosen& columns,
                      const Chosen& rows, const Flags& owned) {
        require(static_cast<index_t>(labels.shape(0)) == table_.n_rows, "labels: one for each row");
        require(static_cast<index_t>(weights.shape(0)) == table_.n_rows, "weights: one for each row");
        require(n_classes >= 1, "n_classes is at least 1");
        require(alpha >= 0 && power >= 1, "alpha is not negative and power at least 1");
        const ImpurityFunction function{impurity_of(impurity), alpha, power};
        return grow(ClassTarget(span(labels), span(weights), n_classes, function), columns, rows, owned);
    }

private:
    const BinnedTable& table_;  // kept alive by the Python object
    Vector<double> own_;
    Vector<double> shared_;
    Vector<index_t> group_of_;
    Sheet sheet_;
    GrowOptions options_;
    Workspace workspace_;

    // (fields of the tree, leaf of each row, what the model owns now)
    template <class Target>
    nb::tuple grow(const Target& target, const Chosen& columns, const Chosen& rows, const Flags& owned) {
        std::vector<index_t> taken;
        choose(columns, table_.n_columns(), taken);
        choose(rows, table_.n_rows, workspace_.rows);
        require(!workspace_.rows.empty(), "there are no rows to grow a tree from");
        Owned ledger(sheet_);
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
            Grower<Target> grower(table_, target, sheet_, options_, std::move(taken), std::move(ledger), workspace_);
            tree = grower.grow();
            grower.leaves_of_rows({leaf_of_row.data(), table_.n_rows});
            for (index_t j = 0; j < table_.n_columns(); ++j) now_owned[j] = grower.owned().has(j);
        }
        return nb::make_tuple(fields(std::move(tree)), give(std::move(leaf_of_row)), give(std::move(now_owned)));
    }
};

// A forest held for prediction. The Python side keeps the arrays alive and has validated them.
class Predictor {
public:
    Predictor(index_t n_features, index_t n_outputs, Vector<index_t> offsets, Vector<index_t> target,
              Vector<std::int32_t> feature, Vector<double> threshold, Vector<index_t> left, Vector<index_t> right,
              Vector<std::uint8_t> missing, Vector<index_t> category, Vector<std::uint64_t> category_words,
              Vector<index_t> category_widths, nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> scores,
              bool strict, bool single)
        : kept_{offsets, target, left, right, category, category_widths}, kept_feature_(feature),
          kept_threshold_(threshold), kept_missing_(missing), kept_words_(category_words), kept_scores_(scores) {
        ForestView view;
        view.n_features = n_features;
        view.n_outputs = n_outputs;
        view.width = static_cast<index_t>(scores.shape(1));
        view.offsets = span(offsets);
        view.target = span(target);
        view.feature = span(feature);
        view.threshold = span(threshold);
        view.left = span(left);
        view.right = span(right);
        view.missing = span(missing);
        view.category = span(category);
        view.category_words = span(category_words);
        view.category_widths = span(category_widths);
        view.scores = {scores.data(), static_cast<index_t>(scores.size())};
        view.strict = strict;
        view.single = single;
        require(view.offsets.size == view.target.size + 1, "offsets has one entry more than target");
        require(static_cast<index_t>(scores.shape(0)) == view.feature.size, "scores: one row for each node");
        forest_ = std::make_unique<CompiledForest>(view);
    }

    template <class T>
    nb::tuple predict(const Table<T>& X, bool want_touched, int n_threads) const {
        const auto [n, words] = check(X);
        std::vector<double> outputs(static_cast<std::size_t>(n * view().n_outputs));
        std::vector<std::uint64_t> touched(static_cast<std::size_t>(want_touched ? n * words : 0));
        {
            nb::gil_scoped_release unlocked;
            farthing::predict(*forest_, matrix(X), outputs.data(), want_touched ? touched.data() : nullptr, n_threads);
        }
        return results(n, want_touched ? words : 0, std::move(outputs), std::move(touched));
    }

    template <class T>
    nb::tuple predict_within(const Table<T>& X, const Vector<double>& budgets, const Vector<double>& own,
                             const Vector<double>& shared, const Vector<index_t>& group_of, int n_threads) const {
        const auto [n, words] = check(X);
        require(static_cast<index_t>(budgets.shape(0)) == n, "budgets: one for each row");
        const Sheet sheet = sheet_of(own, shared, group_of, view().n_features);
        std::vector<double> outputs(static_cast<std::size_t>(n * view().n_outputs));
        std::vector<std::uint64_t> touched(static_cast<std::size_t>(n * words));
        {
            nb::gil_scoped_release unlocked;
            farthing::predict_within(view(), sheet, matrix(X), span(budgets), outputs.data(), touched.data(), n_threads);
        }
        return results(n, words, std::move(outputs), std::move(touched));
    }

private:
    std::vector<Vector<index_t>> kept_;
    Vector<std::int32_t> kept_feature_;
    Vector<double> kept_threshold_;
    Vector<std::uint8_t> kept_missing_;
    Vector<std::uint64_t> kept_words_;
    nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> kept_scores_;
    std::unique_ptr<CompiledForest> forest_;

    const ForestView& view() const { return forest_->forest(); }

    template <class T>
    std::pair<index_t, index_t> check(const Table<T>& X) const {
        require(static_cast<index_t>(X.shape(1)) == view().n_features, "X: one column for each feature");
        return {static_cast<index_t>(X.shape(0)), forest_->n_words()};
    }

    nb::tuple results(index_t n, index_t words, std::vector<double>&& outputs,
                      std::vector<std::uint64_t>&& touched) const {
        const auto rows = static_cast<std::size_t>(n);
        return nb::make_tuple(give(std::move(outputs), {rows, static_cast<std::size_t>(view().n_outputs)}),
                              give(std::move(touched), {rows, static_cast<std::size_t>(words)}));
    }
};

}  // namespace
}  // namespace farthing

NB_MODULE(_core, m) {
    using namespace farthing;
    m.doc() = "Farthing's compiled core: bins, histograms, trees, prediction. Internal; its shapes may change.";

    nb::class_<BinnedTable>(m, "BinnedTable")
        .def_ro("n_rows", &BinnedTable::n_rows)
        .def_prop_ro("n_columns", &BinnedTable::n_columns)
        .def_prop_ro("nbytes", [](const BinnedTable& t) { return static_cast<index_t>(t.codes.size()); })
        .def("n_bins", [](const BinnedTable& t, index_t j) {
            require(j >= 0 && j < t.n_columns(), "no such column");
            return t.columns[j].n_bins;
        })
        .def("edges", [](const BinnedTable& t, index_t j) {
            require(j >= 0 && j < t.n_columns(), "no such column");
            return give(std::vector<double>(t.columns[j].edges));
        })
        .def_prop_ro("codes", [](nb::handle self) {
            const auto& t = nb::cast<const BinnedTable&>(self);
            return nb::ndarray<nb::numpy, const std::uint8_t>(
                t.codes.data(), {static_cast<std::size_t>(t.n_columns()), static_cast<std::size_t>(t.n_rows)}, self);
        });
    m.def("bin_table", &bin_table<double>, "X"_a.noconvert(), "n_categories"_a, "max_bins"_a, "n_sample"_a, "n_threads"_a);
    m.def("bin_table", &bin_table<float>, "X"_a.noconvert(), "n_categories"_a, "max_bins"_a, "n_sample"_a, "n_threads"_a);

    nb::class_<TreeGrower>(m, "TreeGrower")
        .def(nb::init<const BinnedTable&, Vector<double>, Vector<double>, Vector<index_t>, index_t, index_t, index_t,
                      const std::string&, const std::string&, double, double, int>(),
             nb::keep_alive<1, 2>(), "table"_a, "own"_a, "shared"_a, "group_of"_a, nb::kw_only(), "max_depth"_a,
             "max_leaves"_a, "min_rows_leaf"_a, "ledger"_a, "cost_rule"_a, "tradeoff"_a, "budget"_a, "n_threads"_a)
        .def("gradient", &TreeGrower::gradient, "gradients"_a, "hessians"_a.none(), nb::kw_only(), "l2"_a,
             "columns"_a.none(), "rows"_a.none(), "owned"_a.none())
        .def("classes", &TreeGrower::classes, "labels"_a, "weights"_a, "n_classes"_a, nb::kw_only(), "impurity"_a,
             "alpha"_a, "power"_a, "columns"_a.none(), "rows"_a.none(), "owned"_a.none());

    nb::class_<Predictor>(m, "Predictor")
        .def(nb::init<index_t, index_t, Vector<index_t>, Vector<index_t>, Vector<std::int32_t>, Vector<double>,
                      Vector<index_t>, Vector<index_t>, Vector<std::uint8_t>, Vector<index_t>, Vector<std::uint64_t>,
                      Vector<index_t>, nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>, bool, bool>(),
             nb::kw_only(), "n_features"_a, "n_outputs"_a, "offsets"_a, "target"_a, "feature"_a, "threshold"_a, "left"_a, "right"_a,
             "missing"_a, "category"_a, "category_words"_a, "category_widths"_a, "scores"_a, "strict"_a, "single"_a)
        .def("predict", &Predictor::predict<double>, "X"_a.noconvert(), "want_touched"_a, "n_threads"_a)
        .def("predict", &Predictor::predict<float>, "X"_a.noconvert(), "want_touched"_a, "n_threads"_a)
        .def("predict_within", &Predictor::predict_within<double>, "X"_a.noconvert(), "budgets"_a, "own"_a, "shared"_a,
             "group_of"_a, "n_threads"_a)
        .def("predict_within", &Predictor::predict_within<float>, "X"_a.noconvert(), "budgets"_a, "own"_a, "shared"_a,
             "group_of"_a, "n_threads"_a);
}
