// Tests of store/json_bounds.hpp.
#pragma once

#include <string>

#include "store/json_bounds.hpp"
#include "tests/check.hpp"

namespace farthing::tests {

inline JsonExcess excess(const std::string& text, std::int64_t values, std::int64_t items, std::int64_t depth) {
    return json_excess(text.data(), text.size(), {values, items, depth});
}

inline void the_bounds_of_a_json_text_are_inclusive() {
    const std::string text = R"({"a": [1, 2, 3], "b": {"c": []}})";  // 4 brackets, 3 commas
    CHECK(excess(text, 7, 3, 3) == JsonExcess::none);
    CHECK(excess(text, 6, 3, 3) == JsonExcess::values);
    CHECK(excess(text, 7, 2, 3) == JsonExcess::items);
    CHECK(excess(text, 7, 3, 2) == JsonExcess::depth);
}

inline void what_is_in_a_json_string_does_not_count() {
    CHECK(excess(R"(["[[[,,,", "\"[[,", "\\", "\\\"[["])", 4, 4, 1) == JsonExcess::none);
    CHECK(excess(R"(["\\"[[)", 9, 9, 2) == JsonExcess::depth);
    CHECK(excess("\"a\\", 0, 1, 0) == JsonExcess::none);  // ends within an escape
}

inline void brackets_that_close_nothing_are_no_error_of_memory() {
    CHECK(excess("]]]],,,[[[[,,,", 100, 100, 2) == JsonExcess::none);
    CHECK(excess("]]]]", 0, 0, 0) == JsonExcess::none);
}

inline void test_json_bounds() {
    RUN(the_bounds_of_a_json_text_are_inclusive);
    RUN(what_is_in_a_json_string_does_not_count);
    RUN(brackets_that_close_nothing_are_no_error_of_memory);
}

}  // namespace farthing::tests
