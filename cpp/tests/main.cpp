// The tests of the C++ core, in the order of the data flow. `make sanitize` runs them under AddressSanitizer and
// UndefinedBehaviorSanitizer. tests/kernels compares the kernels with naive implementations in NumPy as well.
#include <cstdio>

#include "tests/account/test_cost_sheet.hpp"
#include "tests/account/test_row_account.hpp"
#include "tests/account/test_row_ledger.hpp"
#include "tests/account/test_row_totals.hpp"
#include "tests/boost/test_adaboost.hpp"
#include "tests/boost/test_boosters.hpp"
#include "tests/boost/test_curtailed_vote.hpp"
#include "tests/boost/test_lambda_gradients.hpp"
#include "tests/boost/test_vote_sampler.hpp"
#include "tests/cascade/test_exit_thresholds.hpp"
#include "tests/common/test_bits.hpp"
#include "tests/common/test_exact_sum.hpp"
#include "tests/common/test_fixed_point.hpp"
#include "tests/common/test_joined_peers.hpp"
#include "tests/common/test_keyed_sampling.hpp"
#include "tests/common/test_radix_sort.hpp"
#include "tests/common/test_selection.hpp"
#include "tests/common/test_simd_pair.hpp"
#include "tests/common/test_softmax.hpp"
#include "tests/common/test_thread_pool.hpp"
#include "tests/common/test_wide_integer.hpp"
#include "tests/deep/test_greedy_row.hpp"
#include "tests/grow/test_grower.hpp"
#include "tests/grow/test_histogram.hpp"
#include "tests/grow/test_ledger_growth.hpp"
#include "tests/grow/test_split_search.hpp"
#include "tests/grow/test_vector_growth.hpp"
#include "tests/linear/test_linear.hpp"
#include "tests/neighbors/test_neighbors.hpp"
#include "tests/optimal/test_column_tests.hpp"
#include "tests/optimal/test_threshold_tree.hpp"
#include "tests/optimal/test_tree_search.hpp"
#include "tests/predict/test_predict.hpp"
#include "tests/prune/test_closure.hpp"
#include "tests/store/test_json_bounds.hpp"
#include "tests/table/test_binned_table.hpp"

int main() {
    using namespace farthing::tests;
    test_bits();
    test_wide_integer();
    test_simd_pair();
    test_radix_sort();
    test_exact_sum();
    test_fixed_point();
    test_keyed_sampling();
    test_selection();
    test_thread_pool();
    test_joined_peers();
    test_binned_table();
    test_cost_sheet();
    test_row_account();
    test_row_ledger();
    test_row_totals();
    test_histogram();
    test_split_search();
    test_grower();
    test_ledger_growth();
    test_vector_growth();
    test_predict();
    test_json_bounds();
    test_adaboost();
    test_boosters();
    test_curtailed_vote();
    test_lambda_gradients();
    test_softmax();
    test_vote_sampler();
    test_exit_thresholds();
    test_closure();
    test_neighbors();
    test_linear();
    test_column_tests();
    test_threshold_tree();
    test_tree_search();
    test_greedy_row();
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
