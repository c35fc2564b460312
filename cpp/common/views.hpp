// Words that every header of the core uses: 64-bit indices, views that own nothing, sets of features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <omp.h>

namespace farthing {

using index_t = std::int64_t;

// A view of `size` values that somebody else owns.
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

// A table of any memory order: entry (row, column) lies at row * row_stride + column * column_stride.
template <class T>
struct Matrix {
    const T* data = nullptr;
    index_t n_rows = 0;
    index_t n_columns = 0;
    index_t row_stride = 0;
    index_t column_stride = 0;

    T operator()(index_t row, index_t column) const {
        return data[row * row_stride + column * column_stride];
    }
};

// A set of small integers (features, groups, category codes), one bit each.
class Bitset {
public:
    Bitset() = default;
    explicit Bitset(index_t size) : words_(static_cast<std::size_t>(n_words(size)), 0) {}

    static index_t n_words(index_t size) { return (size + 63) / 64; }

    bool has(index_t i) const { return (words_[static_cast<std::size_t>(i >> 6)] >> (i & 63)) & 1u; }
    void add(index_t i) { words_[static_cast<std::size_t>(i >> 6)] |= std::uint64_t{1} << (i & 63); }
    void clear() { words_.assign(words_.size(), 0); }
    const std::uint64_t* words() const { return words_.data(); }

private:
    std::vector<std::uint64_t> words_;
};

inline int threads_for(int asked, index_t tasks) {
    const int most = asked > 0 ? asked : omp_get_max_threads();
    return tasks < most ? static_cast<int>(tasks < 1 ? 1 : tasks) : most;
}

}  // namespace farthing
