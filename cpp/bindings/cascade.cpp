// Python bindings of cascade/exit_thresholds.hpp.
#include "cascade/exit_thresholds.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "common/views.hpp"

namespace farthing {
namespace {

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// (mean spend, mean error) of each of some thresholds
using Figures = nb::typed<nb::tuple, NumpyArray<double>, NumpyArray<double>>;

Span<const double> all(const Rows& rows) { return {rows.data(), static_cast<index_t>(rows.size())}; }

class PyExitThresholds {
public:
    PyExitThresholds(Vector<double> costs, Rows risks, Rows errors, Vector<double> weights)
        : costs_(costs), risks_(risks), errors_(errors), weights_(weights), exits_(make()) {}

    // (tradeoffs, stages)
    NumpyArray<double> solve(const Vector<double>& tradeoffs) const {
        std::vector<double> found(tradeoffs.shape(0) * n_stages());
        {
            nb::gil_scoped_release unlocked;
            for (std::size_t t = 0; t < tradeoffs.shape(0); ++t) {
                exits_.solve(tradeoffs.data()[t], found.data() + t * n_stages());
            }
        }
        return to_numpy(std::move(found), {tradeoffs.shape(0), n_stages()});
    }

    // (parts, stages)
    NumpyArray<double> between(const Vector<double>& low, const Vector<double>& high,
                               const Vector<double>& parts) const {
        require(low.shape(0) == n_stages() && high.shape(0) == n_stages(), "thresholds: one for each stage");
        std::vector<double> found(parts.shape(0) * n_stages());
        for (std::size_t p = 0; p < parts.shape(0); ++p) {
            exits_.between(low.data(), high.data(), parts.data()[p], found.data() + p * n_stages());
        }
        return to_numpy(std::move(found), {parts.shape(0), n_stages()});
    }

    Figures evaluate(const Rows& thresholds) const {
        require(thresholds.shape(1) == n_stages(), "thresholds: one for each stage");
        std::vector<double> spend(thresholds.shape(0));
        std::vector<double> error(thresholds.shape(0));
        {
            nb::gil_scoped_release unlocked;
            for (std::size_t i = 0; i < spend.size(); ++i) {
                exits_.evaluate(thresholds.data() + i * n_stages(), spend[i], error[i]);
            }
        }
        return {nb::make_tuple(to_numpy(std::move(spend)), to_numpy(std::move(error)))};
    }

private:
    Vector<double> costs_;
    Rows risks_;
    Rows errors_;
    Vector<double> weights_;
    ExitThresholds exits_;

    std::size_t n_stages() const { return costs_.shape(0); }

    ExitThresholds make() const {
        require(n_stages() > 0 && risks_.shape(0) == n_stages() && errors_.shape(0) == n_stages(),
                "costs, risks, errors: one for each stage");
        require(risks_.shape(1) == weights_.shape(0) && errors_.shape(1) == weights_.shape(0),
                "risks, errors, weights: one for each row");
        return {span(costs_), all(risks_), all(errors_), span(weights_)};
    }
};

}  // namespace

void bind_cascade(nb::module_& m) {
    nb::class_<PyExitThresholds>(m, "ExitThresholds")
        .def(nb::init<Vector<double>, Rows, Rows, Vector<double>>(), "costs"_a, "risks"_a, "errors"_a, "weights"_a)
        .def("solve", &PyExitThresholds::solve, "tradeoffs"_a)
        .def("between", &PyExitThresholds::between, "low"_a, "high"_a, "parts"_a)
        .def("evaluate", &PyExitThresholds::evaluate, "thresholds"_a);
}

}  // namespace farthing
