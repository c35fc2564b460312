// The module: the only folder of the core that knows Python. Each file here checks shapes and types, releases the
// lock and calls the core.
#include <nanobind/nanobind.h>

namespace farthing {

void bind_grow(nanobind::module_& m);
void bind_lambdas(nanobind::module_& m);
void bind_predict(nanobind::module_& m);

}  // namespace farthing

NB_MODULE(_core, m) {
    m.doc() = "Farthing's compiled core: bins, histograms, trees, prediction. Internal; its shapes may change.";
    farthing::bind_grow(m);
    farthing::bind_lambdas(m);
    farthing::bind_predict(m);
}
