// Tests of grow/vector_target.hpp, grow/vector_search.hpp and grow/node_vectors.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/views.hpp"
#include "grow/gradient_target.hpp"
#include "grow/grow_options.hpp"
#include "grow/node_vectors.hpp"
#include "grow/vector_leaf_search.hpp"
#include "grow/vector_scan.hpp"
#include "grow/vector_score.hpp"
#include "grow/vector_target.hpp"
#include "grow/workspace.hpp"
#include "table/binned_table.hpp"
#include "tests/check.hpp"
#include "tests/grow/test_grower.hpp"
#include "tests/random_data.hpp"

namespace farthing::tests {

inline std::vector<double> whole_numbers(index_t n, index_t low, index_t high, std::uint64_t key) {
    Random random(key);
    std::vector<double> numbers;
    for (index_t i = 0; i < n; ++i) numbers.push_back(static_cast<double>(low + random.below(high - low + 1)));
    return numbers;
}

inline Grown grow_vectors(const BinnedTable& table, const std::vector<double>& gradients,
                          const std::vector<double>& hessians, index_t n_outputs, const CostSheet& sheet,
                          const GrowOptions& options) {
    Workspace workspace;
    const VectorTarget target(view(gradients), view(hessians), n_outputs,
                              top_outputs(view(gradients), n_outputs, count_up(table.n_rows)), 1.0, 0.5,
                              options.n_threads);
    Grown grown = grow(table, target, sheet, options, workspace);
    fill_node_vectors(view(gradients), view(hessians), count_up(table.n_rows), grown.leaf_of_row, 1.0, 0.1,
                      options.n_threads, nullptr, grown.tree);
    return grown;
}

// Whole numbers are summed exactly on either grid, so even the bits are the same.
inline void one_output_grows_the_tree_of_its_gradients() {
    const BinnedTable table = make_values(400, 10, 3).bin();
    const auto gradients = whole_numbers(400, -6, 6, 1);
    const auto hessians = whole_numbers(400, 1, 3, 2);
    const Prices prices(10);
    for (const LedgerKind ledger : {LedgerKind::row, LedgerKind::model}) {
        GrowOptions options;
        options.ledger = ledger;
        options.max_leaves = 25;
        options.min_rows_leaf = 3;
        options.ranking.tradeoff = 2.0;
        Workspace workspace;
        const GradientTarget<GradientSums::full> target(view(gradients), view(hessians), 1.0, 0.5, 1, 0.1);
        const Grown one = grow(table, target, prices.sheet(), options, workspace);
        CHECK(one.tree.n_nodes() > 10);
        CHECK(same(one, grow_vectors(table, gradients, hessians, 1, prices.sheet(), options)));
    }
}

inline void values_are_the_sums_of_the_rows_of_a_node() {
    const index_t n = 300;
    const index_t n_outputs = 37;  // more than splits are searched by
    const BinnedTable table = make_values(n, 5, 6).bin();
    const auto gradients = whole_numbers(n * n_outputs, -6, 6, 7);
    const auto hessians = whole_numbers(n * n_outputs, 0, 3, 8);
    const Prices prices(5);
    GrowOptions options;
    options.max_leaves = 12;
    const Grown grown = grow_vectors(table, gradients, hessians, n_outputs, prices.sheet(), options);
    const Tree& tree = grown.tree;
    std::vector<index_t> parent(static_cast<std::size_t>(tree.n_nodes()), -1);
    for (index_t node = 0; node < tree.n_nodes(); ++node) {
        if (tree.feature[node] >= 0) parent[tree.left[node]] = parent[tree.right[node]] = node;
    }
    for (index_t k = 0; k < n_outputs; ++k) {
        std::vector<double> g(parent.size(), 0.0);
        std::vector<double> h(parent.size(), 0.0);
        for (index_t row = 0; row < n; ++row) {
            for (index_t node = grown.leaf_of_row[row]; node >= 0; node = parent[node]) {
                g[node] += gradients[k * n + row];
                h[node] += hessians[k * n + row];
            }
        }
        for (index_t node = 0; node < tree.n_nodes(); ++node) {
            CHECK(tree.value[node * n_outputs + k] == g[node] / (h[node] + 1.0) * 0.1);
        }
    }
}

// Columns that nearly always hold one value, against the same table without the list of their entries.
inline void sparse_columns_are_searched_like_others() {
    const index_t n = 500;
    Values values = make_values(n, 10, 21);
    Random random(22);
    for (index_t row = 0; row < n; ++row) {
        for (const index_t column : {0, 1, 5, 6}) {
            if (random.chance(0.93)) values.at(row, column) = 3.0;
        }
        if (random.chance(0.95)) values.at(row, 2) = 4.0;                        // categories
        if (random.chance(0.95)) values.at(row, 7) = std::nan("");  // nearly always missing
    }
    const BinnedTable table = values.bin();
    CHECK(table.sparse.columns.size() >= 6);
    BinnedTable dense = table;
    dense.sparse = SparseEntries{};
    const auto gradients = make_numbers(n * 6, 23);
    std::vector<double> hessians = make_numbers(n * 6, 24);
    for (double& h : hessians) h = std::fabs(h);
    const Prices prices(10);
    for (const LedgerKind ledger : {LedgerKind::row, LedgerKind::model}) {
        GrowOptions options;
        options.ledger = ledger;
        options.max_leaves = 30;
        options.ranking.tradeoff = 0.1;
        const Grown one = grow_vectors(table, gradients, hessians, 6, prices.sheet(), options);
        CHECK(one.tree.n_nodes() > 10);
        CHECK(same(one, grow_vectors(dense, gradients, hessians, 6, prices.sheet(), options)));
    }
}

inline void two_threads_search_like_one() {
    const BinnedTable table = make_values(20000, 10, 11).bin();
    std::vector<double> gradients = make_numbers(20000 * 6, 12);
    std::vector<double> hessians = make_numbers(20000 * 6, 13);
    for (double& h : hessians) h = std::fabs(h);
    const Prices prices(10);
    GrowOptions options;
    options.max_leaves = 9;
    options.n_threads = 1;
    const Grown one = grow_vectors(table, gradients, hessians, 6, prices.sheet(), options);
    options.n_threads = 2;
    CHECK(one.tree.n_nodes() == 17);
    CHECK(same(one, grow_vectors(table, gradients, hessians, 6, prices.sheet(), options)));
}

inline void fractions_on_one_denominator_are_the_sum_of_all() {
    const VectorScore score(1.0, 0.5);
    Random random(15);
    for (index_t trial = 0; trial < 200; ++trial) {
        BlockSums side[2];
        double expected = 0;
        for (BlockSums& sums : side) {
            sums.g = SimdQuad{std::ldexp(random.uniform() - 0.5, 50), -3.0, std::ldexp(random.uniform() - 0.5, 50), -3.0};
            sums.h = SimdQuad{std::ldexp(random.uniform(), 50), 0.0, std::ldexp(random.uniform(), 50), 0.0};
            expected += score.of(sums);
        }
        const SimdPair parts = score.of_parts(side[0], side[1]);
        CHECK(std::fabs(parts[0] + parts[1] - expected) <= 1e-13 * expected);
    }
    // Without outputs there is neither score nor NaN, even if nothing is added to the hessians.
    const SimdPair nothing = VectorScore(1.0, 0.0).of_parts(BlockSums{}, BlockSums{});
    CHECK(nothing[0] == 0 && nothing[1] == 0);
}

// The kernel of each set of instructions against sums over the rows of each side; those of the last rows are missing.
template <class Sums>
void check_scan(const BlockScan<Sums>& scan, std::vector<VectorCut> cuts) {
    std::vector<VectorCut> plain = cuts;
    scan_block_plain(scan, {plain.data(), static_cast<index_t>(plain.size())});
    if (has_avx2()) scan_block_avx2(scan, {cuts.data(), static_cast<index_t>(cuts.size())});
    for (std::size_t i = 0; i < plain.size(); ++i) {
        for (int side = 0; side < 2; ++side) {
            Sums left;
            for (index_t at = 0; at < plain[i].end; ++at) left += scan.rows[scan.sorted[at]];
            for (index_t at = scan.missing_begin; side == 1 && at < scan.missing_end; ++at) {
                left += scan.rows[scan.sorted[at]];
            }
            SimdPair expected = broadcast(0);
            scan.score.add_parts(left, scan.whole, expected);
            SimdPair hessians = left.hessians();
            if (!plain[i].sides[side].tried) expected = hessians = broadcast(0);
            for (int lane = 0; lane < 2; ++lane) {
                CHECK(plain[i].sides[side].score[lane] == expected[lane]);
                CHECK(plain[i].sides[side].hessians[lane] == hessians[lane]);
                if (has_avx2()) CHECK(cuts[i].sides[side].score[lane] == expected[lane]);
                if (has_avx2()) CHECK(cuts[i].sides[side].hessians[lane] == hessians[lane]);
            }
        }
    }
}

inline void scans_have_the_bits_of_sums_over_rows() {
    Random random(17);
    std::vector<RowBlock> rows(40);
    std::vector<RowPair> pairs(40);
    PairSums of_pairs;
    std::vector<std::uint32_t> sorted;
    BlockSums whole;
    for (std::uint32_t row = 0; row < 40; ++row) {
        for (float& step : rows[row].steps) step = static_cast<float>(random.below(1 << 24)) - (1 << 20);
        for (index_t k = 0; k < kBlockOutputs; ++k) rows[row].steps[kBlockOutputs + k] += 1 << 20;
        whole += rows[row];
        sorted.push_back(39 - row);
    }
    for (std::size_t row = 0; row < 40; ++row) {
        pairs[row] = {rows[row], rows[(row + 7) % 40]};
        of_pairs += pairs[row];
    }
    const VectorScore score(1.0, 0.5);
    // Bins of 1, 2, 3, ... rows, the last of them missing.
    std::vector<VectorCut> cuts;
    for (index_t begin = 0; begin < 36; begin = cuts.back().end) {
        const auto size = static_cast<index_t>(cuts.size()) + 1;
        VectorCut cut{begin, begin + size, {}};
        cut.sides[0].tried = true;
        cut.sides[1].tried = size != 2;
        cuts.push_back(cut);
    }
    for (index_t skipped = 0; skipped < static_cast<index_t>(cuts.size()); ++skipped) {
        check_scan<BlockSums>({rows.data(), sorted.data(), 36, 40, score, whole, skipped}, cuts);
        check_scan<PairSums>({pairs.data(), sorted.data(), 36, 40, score, of_pairs, skipped}, cuts);
    }
}

inline void the_largest_outputs_are_searched() {
    std::vector<double> gradients(6 * 4, 1.0);
    for (index_t row = 0; row < 4; ++row) gradients[2 * 4 + row] = -2.0;
    gradients[4 * 4 + 1] = 9.0;
    gradients[5 * 4 + 3] = 99.0;  // of a row that is not learned from
    const std::vector<index_t> rows{0, 1, 2};
    CHECK((top_outputs(view(gradients), 6, rows, nullptr, 3) == std::vector<index_t>{0, 2, 4}));
    CHECK((top_outputs(view(gradients), 6, rows, nullptr, 6) == count_up(6)));
}

inline void test_vector_growth() {
    RUN(one_output_grows_the_tree_of_its_gradients);
    RUN(values_are_the_sums_of_the_rows_of_a_node);
    RUN(sparse_columns_are_searched_like_others);
    RUN(two_threads_search_like_one);
    RUN(fractions_on_one_denominator_are_the_sum_of_all);
    RUN(scans_have_the_bits_of_sums_over_rows);
    RUN(the_largest_outputs_are_searched);
}

}  // namespace farthing::tests
