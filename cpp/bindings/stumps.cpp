// The stump search for Python.
#include <cstdlib>

#include "../stumps.hpp"
#include "common.hpp"
#include "fields.hpp"

namespace farthing {
namespace {

// (edge of the best stump of each column, the largest edge there could be), on one grid of integers
using Edges = nb::typed<nb::tuple, Owning<std::int64_t>, nb::int_>;
// (fields of the tree, vote of each row)
using Voting = nb::typed<nb::tuple, Fields, Owning<std::int8_t>>;

class Stumps {
public:
    Stumps(const BinnedTable& table, const Vector<double>& weights, int n_threads)
        : table_(table), learner_(table, checked(table, weights, "weights: one for each row"), n_threads) {}

    Edges edges(const Vector<double>& signed_weights) const {
        const auto targets = checked(table_, signed_weights, "signed_weights: one for each row");
        std::vector<std::int64_t> out(static_cast<std::size_t>(table_.n_columns()));
        std::int64_t most = 0;
        {
            nb::gil_scoped_release unlocked;
            const Fixed fixed = to_fixed(targets);
            for (const std::int64_t value : fixed.values) most += std::abs(value);
            learner_.edges(fixed, out.data());
        }
        return {nb::make_tuple(give(std::move(out)), most)};
    }

    Voting tree(const Vector<double>& signed_weights, index_t column, index_t max_depth) const {
        const auto targets = checked(table_, signed_weights, "signed_weights: one for each row");
        require(column >= 0 && column < table_.n_columns(), "no such column");
        require(max_depth >= 1, "max_depth is at least 1");
        std::vector<std::int8_t> votes(static_cast<std::size_t>(table_.n_rows));
        Tree tree;
        {
            nb::gil_scoped_release unlocked;
            tree = learner_.tree(to_fixed(targets), column, max_depth, votes.data());
        }
        return {nb::make_tuple(fields(std::move(tree)), give(std::move(votes)))};
    }

private:
    const BinnedTable& table_;  // kept alive by the Python object
    StumpLearner learner_;

    static Span<const double> checked(const BinnedTable& table, const Vector<double>& values, const char* message) {
        require(static_cast<index_t>(values.shape(0)) == table.n_rows, message);
        return span(values);
    }
};

}  // namespace

void bind_stumps(nb::module_& m) {
    nb::class_<Stumps>(m, "Stumps")
        .def(nb::init<const BinnedTable&, const Vector<double>&, int>(), nb::keep_alive<1, 2>(), "table"_a, "weights"_a, "n_threads"_a)
        .def("edges", &Stumps::edges, "signed_weights"_a)
        .def("tree", &Stumps::tree, "signed_weights"_a, "column"_a, "max_depth"_a);
}

}  // namespace farthing
