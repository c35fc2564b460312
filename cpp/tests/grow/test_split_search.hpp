// Tests of grow/split.hpp and grow/split_search.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "common/views.hpp"
#include "grow/gradient_target.hpp"
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

inline void test_split_search() {
    RUN(cuts_are_drawn_between_bins_that_are_there);
    RUN(missing_values_go_where_they_help);
}

}  // namespace farthing::tests
