// Python bindings of the losses: common/softmax.hpp, boost/logistic.hpp, common/exact_sum.hpp.
#include "common/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "boost/logistic.hpp"
#include "common/bounded_minimum.hpp"
#include "common/exact_sum.hpp"
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

void require_tempered(const Table<double>& margins, const std::optional<Vector<double>>& weights, double least) {
    require(!weights || weights->shape(0) == margins.shape(0), "weights: one for each row");
    // One row is then within the range of a double, whatever its margins.
    require(least >= 1e-50, "least: at least 1e-50");
}

double tempered(const Table<double>& margins, const std::optional<Vector<double>>& weights, double temperature,
                double least) {
    require_tempered(margins, weights, least);
    require(temperature > 0, "temperature: above zero");
    nb::gil_scoped_release unlocked;
    return tempered_log_loss(matrix(margins), weights ? span(*weights) : Span<const double>{}, temperature, least);
}

// The logarithm of the temperature of the least mean loss, between two bounds.
double best_log_temperature(const Table<double>& margins, const std::optional<Vector<double>>& weights, double least,
                            double total, double low, double high, double tolerance) {
    require_tempered(margins, weights, least);
    require(total > 0 && low < high && tolerance > 0, "total, bounds, tolerance: above zero, ascending, above zero");
    const Span<const double> counted = weights ? span(*weights) : Span<const double>{};
    nb::gil_scoped_release unlocked;
    const auto loss = [&](double log_temperature) {
        return tempered_log_loss(matrix(margins), counted, std::exp(log_temperature), least) / total;
    };
    return bounded_minimum(loss, low, high, tolerance);
}

Steps logistic_steps(const Vector<double>& y, const Vector<double>& scores) {
    const std::size_t n = y.shape(0);
    require(scores.shape(0) == n, "scores: one for each row");
    std::vector<double> gradients(n);
    std::vector<double> hessians(n);
    logistic_gradients(span(y), scores.data(), gradients.data(), hessians.data());
    return {nb::make_tuple(to_numpy(std::move(gradients), {1, n}), to_numpy(std::move(hessians), {1, n}))};
}

NumpyArray<double> logistic_losses(const Vector<double>& y, const Vector<double>& scores) {
    require(scores.shape(0) == y.shape(0), "scores: one for each row");
    std::vector<double> found(y.shape(0));
    for (std::size_t i = 0; i < found.size(); ++i) found[i] = logistic_loss(y.data()[i], scores.data()[i]);
    return to_numpy(std::move(found));
}

double exact_sum(const Vector<double>& values) {
    nb::gil_scoped_release unlocked;
    ExactSum sum;
    sum.add(span(values));
    return sum.rounded();
}

// Values of groups outside of 0 to n_groups - 1 are left out.
NumpyArray<double> exact_group_sums(const Vector<index_t>& groups, const Vector<double>& values, index_t n_groups) {
    require(groups.shape(0) == values.shape(0), "groups: one for each value");
    require(n_groups >= 0, "n_groups: not negative");
    std::vector<double> found(static_cast<std::size_t>(n_groups));
    {
        nb::gil_scoped_release unlocked;
        // The values by group.
        std::vector<index_t> ends(found.size() + 1, 0);
        const auto known = [&](index_t group) { return group >= 0 && group < n_groups; };
        for (const index_t group : span(groups))
            if (known(group)) ++ends[group + 1];
        std::partial_sum(ends.begin(), ends.end(), ends.begin());
        std::vector<double> grouped(static_cast<std::size_t>(ends.back()));
        std::vector<index_t> next(ends.begin(), ends.end() - 1);
        for (index_t i = 0; i < span(values).size; ++i)
            if (const index_t group = span(groups)[i]; known(group)) grouped[next[group]++] = span(values)[i];
        for (index_t group = 0; group < n_groups; ++group) {
            ExactSum sum;
            sum.add({grouped.data() + ends[group], ends[group + 1] - ends[group]});
            found[group] = sum.rounded();
        }
    }
    return to_numpy(std::move(found));
}

NumpyArray<std::int64_t> exact_digits(const Vector<double>& values) {
    ExactSum sum;
    {
        nb::gil_scoped_release unlocked;
        sum.add(span(values));
    }
    return to_numpy(std::vector<std::int64_t>(sum.digits().begin(), sum.digits().end()));
}

}  // namespace

void bind_losses(nb::module_& m) {
    m.def("softmax_steps", &steps, "codes"_a, "scores"_a);
    m.def("softmax_losses", &losses, "codes"_a, "scores"_a);
    m.def("logistic_steps", &logistic_steps, "y"_a, "scores"_a);
    m.def("logistic_losses", &logistic_losses, "y"_a, "scores"_a);
    m.def("exact_sum", &exact_sum, "values"_a);
    m.def("exact_group_sums", &exact_group_sums, "groups"_a, "values"_a, "n_groups"_a);
    m.def("best_log_temperature", &best_log_temperature, "margins"_a, "weights"_a.none(), "least"_a, "total"_a, "low"_a,
          "high"_a, "tolerance"_a);
    m.def("exact_digits", &exact_digits, "values"_a);
    m.def("tempered_log_loss", &tempered, "margins"_a, "weights"_a.none(), "temperature"_a, "least"_a);
}

}  // namespace farthing
