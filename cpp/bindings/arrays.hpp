// arrays: NumPy arrays in and out, and argument checks, which the core leaves to its callers.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "common/huge_pages.hpp"
#include "common/views.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace farthing {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using NumpyArray = nb::ndarray<nb::numpy, T>;

template <class T>
Span<const T> span(const Vector<T>& array) {
    return {array.data(), static_cast<index_t>(array.shape(0))};
}

template <class T>
Matrix<T> matrix(const Table<T>& array) {
    return {array.data(), static_cast<index_t>(array.shape(0)), static_cast<index_t>(array.shape(1)),
            static_cast<index_t>(array.stride(0)), static_cast<index_t>(array.stride(1))};
}

// An array that owns its values.
template <class T>
NumpyArray<T> to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return NumpyArray<T>(kept->data(), shape, owner);
}

template <class T>
NumpyArray<T> to_numpy(std::vector<T>&& values) {
    const std::size_t n = values.size();
    return to_numpy(std::move(values), {n});
}

// Values that a kernel will write, every one of them: they begin without a value.
template <class T>
std::unique_ptr<T[]> unwritten(std::size_t n) {
    std::unique_ptr<T[]> values(new T[n]);
    wish_huge_pages(values.get(), n * sizeof(T));
    return values;
}

template <class T>
NumpyArray<T> to_numpy(std::unique_ptr<T[]>&& values, std::initializer_list<std::size_t> shape) {
    T* kept = values.get();
    nb::capsule owner(kept, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    values.release();
    return NumpyArray<T>(kept, shape, owner);
}

inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

}  // namespace farthing
