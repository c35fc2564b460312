// Python bindings of store/json_bounds.hpp.
#include <nanobind/stl/string.h>

#include <string>

#include "bindings/arrays.hpp"
#include "store/json_bounds.hpp"

namespace farthing {
namespace {

std::string excess_of(const nb::bytes& text, std::int64_t max_values, std::int64_t max_items, std::int64_t max_depth) {
    JsonExcess excess;
    {
        const char* begin = text.c_str();
        const std::size_t size = text.size();
        nb::gil_scoped_release unlocked;
        excess = json_excess(begin, size, {max_values, max_items, max_depth});
    }
    switch (excess) {
        case JsonExcess::values:
            return "values";
        case JsonExcess::items:
            return "items";
        case JsonExcess::depth:
            return "depth";
        default:
            return "";
    }
}

}  // namespace

void bind_store(nb::module_& m) {
    m.def("json_excess", &excess_of, "text"_a, "max_values"_a, "max_items"_a, "max_depth"_a);
}

}  // namespace farthing
