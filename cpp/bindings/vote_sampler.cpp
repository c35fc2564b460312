// Python bindings of boost/vote_sampler.hpp, and its single draws, which walks use.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "account/cost_sheet.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cost_sheet.hpp"
#include "bindings/predictor.hpp"
#include "boost/learner_votes.hpp"
#include "boost/top_class_votes.hpp"
#include "boost/vote_plan.hpp"
#include "boost/vote_sampler.hpp"
#include "common/bitset.hpp"
#include "common/keyed_sampling.hpp"
#include "common/views.hpp"
#include "predict/forest_view.hpp"

namespace farthing {
namespace {

// (outputs, words of acquired features, samples)
using Sampled = nb::typed<nb::tuple, NumpyArray<double>, NumpyArray<std::uint64_t>, NumpyArray<index_t>>;
// (outputs, the sums before each position)
using Traced = nb::typed<nb::tuple, NumpyArray<double>, NumpyArray<double>>;

// A plan and a cost sheet. The Python side has built the plan, so all its indices are in range.
class Sampler {
public:
    Sampler(Vector<double> alphas, Vector<index_t> set_offsets, Vector<index_t> set_features,
            Vector<index_t> all_features, double steps, Vector<std::uint64_t> cumulative, Vector<double> weights,
            Vector<index_t> exact, double scale, Vector<index_t> costly, Vector<double> costly_prices, bool full_vote,
            index_t max_samples, bool top, Vector<index_t> order, Vector<double> reach, bool curtail,
            Vector<double> stop_low, Vector<double> stop_high, bool free_rider, Vector<index_t> unit_offsets,
            Vector<index_t> unit_members, Vector<index_t> constants, Vector<double> spreads, Vector<double> means,
            double mean_total, int price_exponent, bool additive, Vector<double> own, Vector<double> shared,
            Vector<index_t> group_of)
        : kept_{alphas, weights, costly_prices, reach, stop_low, stop_high, spreads, means, own, shared},
          kept_indices_{set_offsets, set_features, all_features, exact,    costly,
                        order,       unit_offsets, unit_members, constants, group_of},
          kept_cumulative_(cumulative) {
        plan_.alphas = span(alphas);
        plan_.set_offsets = span(set_offsets);
        plan_.set_features = span(set_features);
        plan_.all_features = span(all_features);
        plan_.steps = steps;
        plan_.distribution = {span(cumulative)};
        plan_.weights = span(weights);
        plan_.exact = span(exact);
        plan_.scale = scale;
        plan_.by_price = span(costly);
        plan_.descending_prices = span(costly_prices);
        plan_.full_vote = full_vote;
        plan_.max_samples = max_samples;
        plan_.top = top;
        plan_.order = span(order);
        plan_.reach = span(reach);
        plan_.curtail = curtail;
        plan_.stop_low = span(stop_low);
        plan_.stop_high = span(stop_high);
        plan_.free_rider = free_rider;
        VoteUnits& units = plan_.units;
        units.offsets = span(unit_offsets);
        units.members = span(unit_members);
        units.constants = span(constants);
        units.spreads = span(spreads);
        units.means = span(means);
        units.mean_total = mean_total;
        units.price_exponent = price_exponent;
        const index_t n = plan_.n_learners();
        require(plan_.set_offsets.size == n + 1, "set_offsets has one entry more than alphas");
        require(plan_.weights.size == n && plan_.distribution.cumulative.size == n,
                "weights, cumulative: one for each learner");
        require(plan_.descending_prices.size == plan_.by_price.size, "costly_prices: one for each of costly");
        require(plan_.reach.size == plan_.order.size + 1, "reach has one entry more than order");
        require(plan_.stop_low.size == plan_.stop_high.size &&
                    (plan_.stop_low.size == 0 || plan_.stop_low.size == plan_.order.size),
                "thresholds: one of each for each learner of the order, or none");
        if (free_rider) {
            require(units.offsets.size == units.size() + 1, "unit_offsets has one entry more than spreads");
            require(units.means.size == n, "means: one for each learner");
            units.additive = additive;
            units.single = true;
            for (index_t unit = 0; unit < units.size(); ++unit) {
                require(units.learners(unit).size > 0, "a unit has a learner");
                units.single = units.single && units.features(plan_, unit).size == 1;
            }
            require(units.single || !additive, "additive units have one feature each");
        }
        sheet_ = cost_sheet_of(own, shared, group_of, static_cast<index_t>(own.shape(0)));
    }

    template <class T>
    Sampled trees(const Predictor& predictor, const Table<T>& X, const Vector<double>& budgets,
                  const Vector<std::int64_t>& seeds, int n_threads) const {
        return run(tree_votes(predictor), X, budgets, seeds, n_threads);
    }

    // Learners from the top of the list, which vote on several classes.
    template <class T>
    Sampled top_classes(const Predictor& predictor, const Table<T>& X, const Vector<double>& budgets,
                        int n_threads) const {
        const ForestView& forest = predictor.dense_view();
        require(plan_.top, "the plan takes learners from the top");
        require(forest.n_trees() == plan_.n_learners(), "the forest has one tree for each learner");
        require(forest.n_features == sheet_.n_features(), "the forest has the features of the sheet");
        require(forest.width == forest.n_outputs, "every tree votes on all classes");
        require(static_cast<index_t>(X.shape(1)) == sheet_.n_features(), "X: one column for each feature");
        require(budgets.shape(0) == X.shape(0), "budgets: one for each row");
        const std::size_t n = X.shape(0);
        const auto k = static_cast<std::size_t>(forest.n_outputs);
        const auto words = static_cast<std::size_t>(Bitset::n_words(sheet_.n_features()));
        std::vector<double> outputs(n * k);
        std::vector<std::uint64_t> bought(n * words);
        std::vector<index_t> samples(n);
        {
            nb::gil_scoped_release unlocked;
            predict_top_classes(plan_, TreeVotes{forest}, sheet_, matrix(X), span(budgets), outputs.data(),
                                bought.data(), samples.data(), n_threads);
        }
        return {nb::make_tuple(to_numpy(std::move(outputs), {n, k}), to_numpy(std::move(bought), {n, words}),
                               to_numpy(std::move(samples)))};
    }

    template <class T>
    Sampled linear(const Vector<index_t>& feature, const Vector<double>& factor, const Vector<double>& missing,
                   const Table<T>& X, const Vector<double>& budgets, const Vector<std::int64_t>& seeds,
                   int n_threads) const {
        const LinearVotes votes{span(feature), span(factor), span(missing)};
        const index_t n = plan_.n_learners();
        require(votes.feature.size == n && votes.factor.size == n && votes.missing.size == n,
                "feature, factor, missing: one for each learner");
        for (const index_t column : votes.feature) require(column < sheet_.n_features(), "feature is not in the sheet");
        return run(votes, X, budgets, seeds, n_threads);
    }

    // The votes from the top of the list, and the sums before each position.
    template <class T>
    Traced trace_trees(const Predictor& predictor, const Table<T>& X, const Vector<double>& budgets,
                       int n_threads) const {
        require(plan_.top, "only votes from the top have a trace");
        check_rows(X, budgets);
        const std::size_t n = X.shape(0);
        const auto places = static_cast<std::size_t>(plan_.order.size);
        const std::vector<std::int64_t> seeds(n);
        std::vector<double> outputs(n);
        std::vector<double> traces(n * places);
        std::vector<std::uint64_t> bought(n * static_cast<std::size_t>(Bitset::n_words(sheet_.n_features())));
        std::vector<index_t> samples(n);
        const TreeVotes votes = tree_votes(predictor);
        {
            nb::gil_scoped_release unlocked;
            predict_sampled(plan_, votes, sheet_, matrix(X), span(budgets),
                            Span<const std::int64_t>{seeds.data(), static_cast<index_t>(n)}, outputs.data(),
                            bought.data(), samples.data(), n_threads, traces.data());
        }
        return {nb::make_tuple(to_numpy(std::move(outputs)), to_numpy(std::move(traces), {n, places}))};
    }

private:
    std::vector<Vector<double>> kept_;
    std::vector<Vector<index_t>> kept_indices_;
    Vector<std::uint64_t> kept_cumulative_;
    VotePlan plan_;
    CostSheet sheet_;

    TreeVotes tree_votes(const Predictor& predictor) const {
        const ForestView& forest = predictor.dense_view();
        require(forest.n_trees() == plan_.n_learners(), "the forest has one tree for each learner");
        require(forest.n_features == sheet_.n_features(), "the forest has the features of the sheet");
        require(forest.width == 1, "the trees have one score a node");
        return TreeVotes{forest};
    }

    template <class T>
    void check_rows(const Table<T>& X, const Vector<double>& budgets) const {
        require(static_cast<index_t>(X.shape(1)) == sheet_.n_features(), "X: one column for each feature");
        require(budgets.shape(0) == X.shape(0), "budgets: one for each row");
    }

    template <class Votes, class T>
    Sampled run(const Votes& votes, const Table<T>& X, const Vector<double>& budgets, const Vector<std::int64_t>& seeds,
                int n_threads) const {
        check_rows(X, budgets);
        require(seeds.shape(0) == X.shape(0), "seeds: one for each row");
        const std::size_t n = X.shape(0);
        const auto words = static_cast<std::size_t>(Bitset::n_words(sheet_.n_features()));
        std::vector<double> outputs(n);
        std::vector<std::uint64_t> bought(n * words);
        std::vector<index_t> samples(n);
        {
            nb::gil_scoped_release unlocked;
            predict_sampled(plan_, votes, sheet_, matrix(X), span(budgets), span(seeds), outputs.data(), bought.data(),
                            samples.data(), n_threads);
        }
        return {nb::make_tuple(to_numpy(std::move(outputs), {n, 1}), to_numpy(std::move(bought), {n, words}),
                               to_numpy(std::move(samples)))};
    }
};

index_t draw_from(const Vector<std::uint64_t>& cumulative, std::uint64_t key, std::uint64_t counter) {
    const DiscreteDistribution distribution{span(cumulative)};
    require(!distribution.empty(), "there is nothing to draw");
    return distribution.draw(key, counter);
}

}  // namespace

void bind_sampler(nb::module_& m) {
    m.def("seed_key", &seed_key, "seed"_a, "The key of draws before the first purchase.");
    m.def("purchase_bits", &purchase_bits, "feature"_a, "What the purchase of a feature flips in the key.");
    m.def("draw_index", &draw_from, "cumulative"_a, "key"_a, "counter"_a, "The thing that a draw of this number gives.");
    nb::class_<Sampler>(m, "Sampler")
        .def(nb::init<Vector<double>, Vector<index_t>, Vector<index_t>, Vector<index_t>, double,
                      Vector<std::uint64_t>, Vector<double>, Vector<index_t>, double, Vector<index_t>, Vector<double>,
                      bool, index_t, bool, Vector<index_t>, Vector<double>, bool, Vector<double>, Vector<double>,
                      bool, Vector<index_t>, Vector<index_t>, Vector<index_t>, Vector<double>, Vector<double>, double,
                      int, bool, Vector<double>, Vector<double>, Vector<index_t>>(),
             nb::kw_only(), "alphas"_a, "set_offsets"_a, "set_features"_a, "all_features"_a, "steps"_a, "cumulative"_a,
             "weights"_a, "exact"_a, "scale"_a, "costly"_a, "costly_prices"_a, "full_vote"_a, "max_samples"_a, "top"_a,
             "order"_a, "reach"_a, "curtail"_a, "stop_low"_a, "stop_high"_a, "free_rider"_a, "unit_offsets"_a,
             "unit_members"_a, "constants"_a, "spreads"_a, "means"_a, "mean_total"_a, "price_exponent"_a, "additive"_a,
             "own"_a, "shared"_a, "group_of"_a)
        .def("trees", &Sampler::trees<double>, "predictor"_a, "X"_a.noconvert(), "budgets"_a, "seeds"_a, "n_threads"_a)
        .def("trees", &Sampler::trees<float>, "predictor"_a, "X"_a.noconvert(), "budgets"_a, "seeds"_a, "n_threads"_a)
        .def("trace_trees", &Sampler::trace_trees<double>, "predictor"_a, "X"_a.noconvert(), "budgets"_a,
             "n_threads"_a)
        .def("trace_trees", &Sampler::trace_trees<float>, "predictor"_a, "X"_a.noconvert(), "budgets"_a, "n_threads"_a)
        .def("top_classes", &Sampler::top_classes<double>, "predictor"_a, "X"_a.noconvert(), "budgets"_a, "n_threads"_a)
        .def("top_classes", &Sampler::top_classes<float>, "predictor"_a, "X"_a.noconvert(), "budgets"_a, "n_threads"_a)
        .def("linear", &Sampler::linear<double>, "feature"_a, "factor"_a, "missing"_a, "X"_a.noconvert(), "budgets"_a,
             "seeds"_a, "n_threads"_a)
        .def("linear", &Sampler::linear<float>, "feature"_a, "factor"_a, "missing"_a, "X"_a.noconvert(), "budgets"_a,
             "seeds"_a, "n_threads"_a);
}

}  // namespace farthing
