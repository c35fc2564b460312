// views: 64-bit indices and views of memory that somebody else owns.
#pragma once

#include <cstdint>
#include <vector>

namespace farthing {

using index_t = std::int64_t;

// A contiguous array that the view does not own.
template <class T>
struct Span {
    T* data = nullptr;
    index_t size = 0;

    T& operator[](index_t i) const { return data[i]; }
    T* begin() const { return data; }
    T* end() const { return data + size; }
};

template <class T>
Span<const T> view(const std::vector<T>& values) {
    return {values.data(), static_cast<index_t>(values.size())};
}

// A table in any memory order: entry (row, column) lies at row * row_stride + column * column_stride.
template <class T>
struct Matrix {
    const T* data = nullptr;
    index_t n_rows = 0;
    index_t n_columns = 0;
    index_t row_stride = 0;
    index_t column_stride = 0;

    T operator()(index_t row, index_t column) const { return data[row * row_stride + column * column_stride]; }
};

}  // namespace farthing
