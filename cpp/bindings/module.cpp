// The Python module. This is the only folder of the core that knows Python: each file checks shapes and types,
// releases the GIL and calls the core.
#include <nanobind/nanobind.h>

#include "common/interrupt.hpp"

namespace farthing {

void bind_account(nanobind::module_& m);
void bind_boost(nanobind::module_& m);
void bind_boosters(nanobind::module_& m);
void bind_cascade(nanobind::module_& m);
void bind_curtail(nanobind::module_& m);
void bind_curtail_classes(nanobind::module_& m);
void bind_grow(nanobind::module_& m);
void bind_lambdas(nanobind::module_& m);
void bind_linear(nanobind::module_& m);
void bind_neighbors(nanobind::module_& m);
void bind_optimal(nanobind::module_& m);
void bind_predict(nanobind::module_& m);
void bind_prune(nanobind::module_& m);
void bind_sampler(nanobind::module_& m);
void bind_losses(nanobind::module_& m);
void bind_table(nanobind::module_& m);

// Where Python runs signal handlers: PyErr_CheckSignals does nothing on other threads, so that a wrong guess, if the
// module was imported elsewhere, costs the interruption and nothing else.
unsigned long importing_thread = 0;

// Signals are handled by the main thread alone; the others go on, and end with the batch that they work for.
void check_signals() {
    if (PyThread_get_thread_ident() != importing_thread) return;
    nanobind::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace farthing

NB_MODULE(_core, m) {
    m.doc() =
        "Farthing's compiled core: bins, histograms, trees, prediction, pruning. Internal; its shapes may change.";
    // Models that are alive when Python exits are not leaks; the sanitizers look for those.
    nanobind::set_leak_warnings(false);
    farthing::importing_thread = PyThread_get_thread_ident();
    farthing::interrupt_hook().store(farthing::check_signals);
    farthing::bind_predict(m);  // first: others take its classes as arguments
    farthing::bind_account(m);
    farthing::bind_boost(m);
    farthing::bind_cascade(m);
    farthing::bind_curtail(m);
    farthing::bind_curtail_classes(m);
    farthing::bind_table(m);
    farthing::bind_grow(m);
    farthing::bind_boosters(m);
    farthing::bind_lambdas(m);
    farthing::bind_linear(m);
    farthing::bind_neighbors(m);
    farthing::bind_optimal(m);
    farthing::bind_prune(m);
    farthing::bind_sampler(m);
    farthing::bind_losses(m);
}
