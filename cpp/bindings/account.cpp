// Python bindings of account/row_totals.hpp.
#include <utility>
#include <vector>

#include "account/row_totals.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cost_sheet.hpp"
#include "common/views.hpp"

namespace farthing {
namespace {

NumpyArray<double> totals_of(const Vector<double>& own, const Vector<double>& shared, const Vector<index_t>& group_of,
                             const Table<bool>& acquired) {
    const CostSheet sheet = cost_sheet_of(own, shared, group_of, static_cast<index_t>(acquired.shape(1)));
    std::vector<double> totals(acquired.shape(0));
    {
        nb::gil_scoped_release unlocked;
        row_totals(sheet, matrix(acquired), totals.data());
    }
    return to_numpy(std::move(totals));
}

}  // namespace

void bind_account(nb::module_& m) {
    m.def("row_totals", &totals_of, "own"_a, "shared"_a, "group_of"_a, "acquired"_a);
}

}  // namespace farthing
