// tree_fields: a grown tree as a dict of arrays, the argument of Forest.from_core. Values that are mostly zero are a
// tuple: starts, columns, entries and width of their sparse rows.
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
    out["feature"] = to_numpy(std::move(tree.feature));
    out["threshold"] = to_numpy(std::move(tree.threshold));
    out["left"] = to_numpy(std::move(tree.left));
    out["right"] = to_numpy(std::move(tree.right));
    out["missing"] = to_numpy(std::move(tree.missing));
    out["category"] = to_numpy(std::move(tree.category));
    out["category_words"] = to_numpy(std::move(tree.category_words));
    if (tree.sparse) {
        out["value"] = nb::make_tuple(to_numpy(std::move(tree.sparse_value.starts)),
                                      to_numpy(std::move(tree.sparse_value.columns)),
                                      to_numpy(std::move(tree.sparse_value.entries)), width);
    } else {
        out["value"] = to_numpy(std::move(tree.value), {n, width});
    }
    out["cover"] = to_numpy(std::move(tree.cover));
    return out;
}

}  // namespace farthing
