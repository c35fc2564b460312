// The core's own tests, in the order of the data flow. `make sanitize` runs them under AddressSanitizer and
// UndefinedBehaviorSanitizer; what the kernels compute is compared with naive twins in tests/kernels as well.
#include "test_bins.hpp"
#include "test_boosting.hpp"
#include "test_closure.hpp"
#include "test_growing.hpp"
#include "test_ledger.hpp"
#include "test_neighbors.hpp"
#include "test_predicting.hpp"
#include "test_price.hpp"
#include "test_sampling.hpp"
#include "test_sums.hpp"

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
