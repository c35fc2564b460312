// The Python module. This is the only folder of the core that knows Python: each file checks shapes and types,
// releases the GIL and calls the core.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "common/bits.hpp"
#include "common/threads.hpp"

#include "common/interrupt.hpp"

namespace farthing {

void bind_account(nanobind::module_& m);
void bind_boost(nanobind::module_& m);
void bind_boosters(nanobind::module_& m);
void bind_cascade(nanobind::module_& m);
void bind_curtail(nanobind::module_& m);
void bind_curtail_classes(nanobind::module_& m);
void bind_deep(nanobind::module_& m);
void bind_grow(nanobind::module_& m);
void bind_lambdas(nanobind::module_& m);
void bind_linear(nanobind::module_& m);
void bind_neighbors(nanobind::module_& m);
void bind_optimal(nanobind::module_& m);
void bind_predict(nanobind::module_& m);
void bind_prune(nanobind::module_& m);
void bind_judge(nanobind::module_& m);
void bind_reasons(nanobind::module_& m);
void bind_sampler(nanobind::module_& m);
void bind_losses(nanobind::module_& m);
void bind_store(nanobind::module_& m);
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

// How the module was built, for reports of bugs: the compiler, and what it was told.
inline std::string build_info() {
#if defined(__clang__)
    std::string text = "Clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#elif defined(__GNUC__)
    std::string text = "GCC " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#elif defined(_MSC_VER)
    std::string text = "MSVC " + std::to_string(_MSC_VER);
#else
    std::string text = "an unknown compiler";
#endif
#if defined(Py_LIMITED_API)
    text += ", stable ABI";
#endif
#if !FARTHING_GNU
    text += ", without vector types";
#endif
#if !defined(NDEBUG)
    text += ", with assertions";
#endif
    return text;
}

}  // namespace farthing

NB_MODULE(_core, m) {
    m.doc() =
        "Farthing's compiled core: bins, histograms, trees, prediction, pruning. Internal; its shapes may change.";
    // Models that are alive when Python exits are not leaks; the sanitizers look for those.
    nanobind::set_leak_warnings(false);
    farthing::importing_thread = PyThread_get_thread_ident();
    farthing::interrupt_hook().store(farthing::check_signals);
    m.def("build_info", &farthing::build_info, "The compiler, and how it was called.");
    m.def("n_cores", &farthing::n_cores, "The number of cores, which is that of threads when all are asked for.");
    farthing::bind_predict(m);  // first: others take its classes as arguments
    farthing::bind_account(m);
    farthing::bind_boost(m);
    farthing::bind_cascade(m);
    farthing::bind_curtail(m);
    farthing::bind_curtail_classes(m);
    farthing::bind_table(m);
    farthing::bind_deep(m);
    farthing::bind_grow(m);
    farthing::bind_boosters(m);
    farthing::bind_lambdas(m);
    farthing::bind_linear(m);
    farthing::bind_neighbors(m);
    farthing::bind_optimal(m);
    farthing::bind_prune(m);
    farthing::bind_judge(m);
    farthing::bind_reasons(m);
    farthing::bind_sampler(m);
    farthing::bind_losses(m);
    farthing::bind_store(m);
}
