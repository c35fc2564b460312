// Tests of grow/split.hpp and grow/split_search.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "account/candidate_ranking.hpp"
#include "common/views.hpp"
#include "grow/class_target.hpp"
#include "grow/gradient_target.hpp"
#include "grow/impurity.hpp"
#include "grow/split.hpp"
#include "grow/split_search.hpp"
#include "tests/check.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

inline void cuts_are_drawn_between_bins_that_are_there() {
    BinSet present{};
    for (const index_t bin : {3, 64, 70, 200, 254}) insert_bin(present, bin);
    Random random(7);
    const auto draw = [&](index_t) { return random.bits(); };
    for (const index_t n_bins : {254, 255}) {  // the bin after the last one holds missing values
        const BinSet cuts = random_cuts(present, n_bins, 2000, draw);
        for (index_t bin = 0; bin < 256; ++bin) {
            const bool last = bin == (n_bins == 254 ? 200 : 254);
            CHECK(has_bin(cuts, bin) == (has_bin(present, bin) && bin < n_bins && !last));
        }
    }
    BinSet one{};
    insert_bin(one, 9);
    CHECK(random_cuts(one, 255, 1, draw) == one);
    CHECK(random_cuts(one, 9, 1, draw) == BinSet{});
}

inline void missing_values_go_where_they_help() {
    const std::vector<double> gradients{-1, -1, 1, 1, 5};
    const GradientTarget<GradientSums::unit> target(view(gradients), {}, 0.0);
    std::int64_t scratch[8];
    std::int64_t node[2] = {};
    for (index_t i = 0; i < 5; ++i) target.add(node, target.row(i));
    for (const bool falling : {false, true}) {
        // Two bins of two rows each, and one missing value, whose gradient is like that of the rows of 1.
        std::int64_t cells[6] = {};
        for (index_t i = 0; i < 4; ++i) target.add(cells + ((i < 2) == falling ? 2 : 0), target.row(i));
        target.add(cells + 4, target.row(4));
        SplitSearch<GradientTarget<GradientSums::unit>> any(target, node, target.node_score(node), 1, scratch);
        const Split apart = any.numeric(cells, 2);
        CHECK(apart.bin == 1 && apart.missing == Missing::right);  // present against missing
        SplitSearch<GradientTarget<GradientSums::unit>> two(target, node, target.node_score(node), 2, scratch);
        const Split with_ones = two.numeric(cells, 2);
        CHECK(with_ones.bin == 0 && with_ones.missing == (falling ? Missing::left : Missing::right));
        const Split by_means = two.categorical(cells, 2);
        CHECK(by_means.missing == Missing::right && has_bin(by_means.left, falling ? 1 : 0));
        SplitSearch<GradientTarget<GradientSums::unit>> three(target, node, target.node_score(node), 3, scratch);
        CHECK(three.numeric(cells, 2).gain == 0);
    }
}

// A bound may rule out a split only if its gain is less; if it never did, it would be of no use.
inline void a_cheap_bound_never_rules_out_the_better_split() {
    for (const index_t n_classes : {2, 3, 7}) {
        for (const double unit : {1.0, 0.37}) {  // integer weights are summed on another grid than fractions
            Random random(static_cast<std::uint64_t>(n_classes));
            std::vector<index_t> labels;
            std::vector<double> weights;
            for (index_t i = 0; i < 400; ++i) {
                labels.push_back(std::min(random.below(n_classes), random.below(n_classes)));
                weights.push_back(unit * static_cast<double>(1 + random.below(3)));
            }
            const ClassTarget target(view(labels), view(weights), n_classes, ImpurityFunction{});
            const auto width = static_cast<std::size_t>(target.width());
            index_t n_ruled_out = 0;
            for (index_t trial = 0; trial < 2000; ++trial) {
                std::vector<std::int64_t> left(width), right(width), node(width);
                const index_t n_rows = 2 + random.below(398);
                const double share = random.uniform();
                for (index_t i = 0; i < n_rows; ++i) {
                    target.add((random.chance(share) ? left : right).data(), target.row(i));
                }
                for (std::size_t w = 0; w < width; ++w) node[w] = left[w] + right[w];
                if (target.n_rows(left.data()) == 0 || target.n_rows(right.data()) == 0) continue;
                const double score = target.node_score(node.data());
                const double gain = target.gain(left.data(), right.data(), score);
                CHECK(!target.gains_less(left.data(), right.data(), score, gain));
                CHECK(target.can_gain(score, gain));
                n_ruled_out += target.gains_less(left.data(), right.data(), score, 3 * gain);
            }
            CHECK(n_ruled_out > 1000);
        }
    }
}

inline void splits_below_the_least_gain_are_not_found() {
    const std::vector<index_t> labels{0, 0, 1, 1, 0, 1};
    const std::vector<double> weights(6, 1.0);
    const ClassTarget target(view(labels), view(weights), 2, ImpurityFunction{});
    std::int64_t scratch[12];
    std::int64_t node[3] = {};
    std::int64_t cells[21] = {};  // a bin for each row, and missing values
    for (index_t i = 0; i < 6; ++i) {
        target.add(node, target.row(i));
        target.add(cells + 3 * i, target.row(i));
    }
    const double score = target.node_score(node);
    const Split best = SplitSearch<ClassTarget>(target, node, score, 1, scratch).numeric(cells, 6);
    CHECK(best.gain > 0);
    const Split same = SplitSearch<ClassTarget>(target, node, score, 1, scratch, best.gain).numeric(cells, 6);
    CHECK(same.gain == best.gain && same.bin == best.bin);
    const Split none = SplitSearch<ClassTarget>(target, node, score, 1, scratch, 3 * best.gain).numeric(cells, 6);
    CHECK(none.gain == 0);
    CHECK(!target.can_gain(score, 2 * score));
}

inline void the_least_gain_is_where_a_candidate_begins_to_win() {
    Random random(5);
    for (index_t trial = 0; trial < 1000; ++trial) {
        for (const CostRule rule : {CostRule::penalty, CostRule::ratio}) {
            const CandidateRanking ranking{rule, random.uniform()};
            Candidate best{random.uniform(), random.uniform(), static_cast<double>(random.below(3)), 0};
            Candidate next{0, random.uniform(), static_cast<double>(random.below(3)), 1};
            const double least = ranking.least_gain(next, best);
            next.gain = least * 0.999;
            CHECK(!(ranking.better(next, best) && ranking.acceptable(next)));
            next.gain = least * 1.001 + 1e-9;
            CHECK(ranking.better(next, best) || least == kInfinity);
        }
    }
}

inline void test_split_search() {
    RUN(cuts_are_drawn_between_bins_that_are_there);
    RUN(missing_values_go_where_they_help);
    RUN(a_cheap_bound_never_rules_out_the_better_split);
    RUN(splits_below_the_least_gain_are_not_found);
    RUN(the_least_gain_is_where_a_candidate_begins_to_win);
}

}  // namespace farthing::tests
