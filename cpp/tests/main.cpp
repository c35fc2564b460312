// The core's own tests, in the order of the data flow. `make sanitize` runs them under AddressSanitizer and
// UndefinedBehaviorSanitizer; what the kernels compute is compared with naive twins in tests/kernels as well.
#include "tests/account/test_cost_sheet.hpp"
#include "tests/account/test_row_ledger.hpp"
#include "tests/boost/test_adaboost.hpp"
#include "tests/boost/test_vote_sampler.hpp"
#include "tests/grow/test_grower.hpp"
#include "tests/grow/test_histogram.hpp"
#include "tests/neighbors/test_neighbors.hpp"
#include "tests/predict/test_predict.hpp"
#include "tests/prune/test_closure.hpp"
#include "tests/table/test_binned_table.hpp"

int main() {
    using namespace farthing::tests;
    test_bins();
    test_sums();
    test_price();
    test_growing();
    test_ledger();
    test_predicting();
    test_sampling();
    test_boosting();
    test_neighbors();
    test_closure();
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
