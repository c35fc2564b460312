// Python bindings of account/row_totals.hpp.
#include <utility>
#include <vector>

#include "account/row_totals.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cost_sheet.hpp"
#include "common/views.hpp"

namespace farthing {
namespace {

// The totals of a cost sheet, with the arrays of the sheet.
class SheetTotals {
public:
    SheetTotals(Vector<double> own, Vector<double> shared, Vector<index_t> group_of)
        : own_(std::move(own)), shared_(std::move(shared)), group_of_(std::move(group_of)),
          totals_(cost_sheet_of(own_, shared_, group_of_, static_cast<index_t>(own_.shape(0)))) {}

    NumpyArray<double> of_rows(const Table<bool>& acquired) const {
        require(static_cast<index_t>(acquired.shape(1)) == totals_.n_features(), "acquired: a column for each feature");
        std::vector<double> totals(acquired.shape(0));
        {
            nb::gil_scoped_release unlocked;
            totals_.add_up(matrix(acquired), totals.data());
        }
        return to_numpy(std::move(totals));
    }

private:
    Vector<double> own_;
    Vector<double> shared_;
    Vector<index_t> group_of_;
    RowTotals totals_;
};

}  // namespace

void bind_account(nb::module_& m) {
    nb::class_<SheetTotals>(m, "SheetTotals")
        .def(nb::init<Vector<double>, Vector<double>, Vector<index_t>>(), "own"_a, "shared"_a, "group_of"_a)
        .def("of_rows", &SheetTotals::of_rows, "acquired"_a);
}

}  // namespace farthing
