// Python bindings of boost/lambda_gradients.hpp.
#include <cstddef>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "boost/lambda_gradients.hpp"
#include "common/views.hpp"

namespace farthing {
namespace {

// (gradients, hessians, losses)
using Lambdas = nb::typed<nb::tuple, NumpyArray<double>, NumpyArray<double>, NumpyArray<double>>;

Lambdas lambdas_of(const Vector<index_t>& documents, const Vector<index_t>& bounds, const Vector<double>& grades,
                   const Vector<double>& scores, int n_threads) {
    const auto n = static_cast<index_t>(grades.shape(0));
    require(static_cast<index_t>(documents.shape(0)) == n && static_cast<index_t>(scores.shape(0)) == n,
            "documents, grades, scores: one for each row");
    std::vector<bool> seen(static_cast<std::size_t>(n), false);
    for (const index_t row : span(documents)) {
        require(row >= 0 && row < n && !seen[static_cast<std::size_t>(row)], "documents: each row once");
        seen[static_cast<std::size_t>(row)] = true;
    }
    const Span<const index_t> edges = span(bounds);
    require(edges.size >= 1 && edges[0] == 0 && edges[edges.size - 1] == n, "bounds run from 0 to the number of rows");
    for (index_t q = 1; q < edges.size; ++q) require(edges[q] >= edges[q - 1], "bounds ascend");
    std::vector<double> gradients(static_cast<std::size_t>(n));
    std::vector<double> hessians(static_cast<std::size_t>(n));
    std::vector<double> losses(static_cast<std::size_t>(n));
    {
        nb::gil_scoped_release unlocked;
        lambda_gradients(span(documents), edges, span(grades), span(scores), gradients.data(), hessians.data(),
                         losses.data(), n_threads);
    }
    return {nb::make_tuple(to_numpy(std::move(gradients)), to_numpy(std::move(hessians)), to_numpy(std::move(losses)))};
}

}  // namespace

void bind_lambdas(nb::module_& m) {
    m.def("lambda_steps", &lambdas_of, "documents"_a, "bounds"_a, "grades"_a, "scores"_a, "n_threads"_a);
}

}  // namespace farthing
