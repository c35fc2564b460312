// Python bindings of boost/softmax.hpp.
#include "boost/softmax.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "common/views.hpp"

namespace farthing {
namespace {

using Scores = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// (gradients, hessians)
using Steps = nb::typed<nb::tuple, NumpyArray<double>, NumpyArray<double>>;

void check_codes(const Vector<index_t>& codes, std::size_t n_rows, std::size_t n_classes) {
    require(codes.shape(0) == n_rows && n_classes > 0, "codes: one for each row");
    const Span<const index_t> given = span(codes);
    const auto is_class = [n_classes](index_t c) { return c >= 0 && c < static_cast<index_t>(n_classes); };
    require(std::all_of(given.begin(), given.end(), is_class), "codes: each that of a class");
}

Steps steps(const Vector<index_t>& codes, const Scores& scores) {
    const std::size_t n_classes = scores.shape(0);
    const std::size_t n = scores.shape(1);
    check_codes(codes, n, n_classes);
    std::vector<double> gradients(n_classes * n);
    std::vector<double> hessians(n_classes * n);
    {
        nb::gil_scoped_release unlocked;
        softmax_gradients(span(codes), scores.data(), static_cast<index_t>(n_classes), gradients.data(),
                          hessians.data());
    }
    return {nb::make_tuple(to_numpy(std::move(gradients), {n_classes, n}),
                           to_numpy(std::move(hessians), {n_classes, n}))};
}

NumpyArray<double> losses(const Vector<index_t>& codes, const Scores& scores) {
    check_codes(codes, scores.shape(1), scores.shape(0));
    std::vector<double> found(codes.shape(0));
    {
        nb::gil_scoped_release unlocked;
        softmax_losses(span(codes), scores.data(), static_cast<index_t>(scores.shape(0)), found.data());
    }
    return to_numpy(std::move(found));
}

double tempered(const Table<double>& margins, const std::optional<Vector<double>>& weights, double temperature,
                double least) {
    require(!weights || weights->shape(0) == margins.shape(0), "weights: one for each row");
    require(temperature > 0, "temperature: above zero");
    // One row is then within the range of a double, whatever its margins.
    require(least >= 1e-50, "least: at least 1e-50");
    nb::gil_scoped_release unlocked;
    return tempered_log_loss(matrix(margins), weights ? span(*weights) : Span<const double>{}, temperature, least);
}

}  // namespace

void bind_softmax(nb::module_& m) {
    m.def("softmax_steps", &steps, "codes"_a, "scores"_a);
    m.def("softmax_losses", &losses, "codes"_a, "scores"_a);
    m.def("tempered_log_loss", &tempered, "margins"_a, "weights"_a.none(), "temperature"_a, "least"_a);
}

}  // namespace farthing
