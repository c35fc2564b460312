// A grown tree as a dict of arrays, the arguments of Forest.from_arrays.
#pragma once

#include <cstddef>
#include <utility>

#include "bindings/arrays.hpp"
#include "grow/tree.hpp"

namespace farthing {

using Fields = nb::typed<nb::dict, nb::str, nb::object>;

inline Fields fields(Tree&& tree) {
    Fields out;
    const auto n = static_cast<std::size_t>(tree.n_nodes());
    const auto width = static_cast<std::size_t>(tree.n_values);
    out["feature"] = give(std::move(tree.feature));
    out["threshold"] = give(std::move(tree.threshold));
    out["left"] = give(std::move(tree.left));
    out["right"] = give(std::move(tree.right));
    out["missing"] = give(std::move(tree.missing));
    out["category"] = give(std::move(tree.category));
    out["category_words"] = give(std::move(tree.category_words));
    out["value"] = give(std::move(tree.value), {n, width});
    out["cover"] = give(std::move(tree.cover));
    return out;
}

}  // namespace farthing
