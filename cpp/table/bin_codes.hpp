// bin_codes: the bin of every entry of a table, one byte each. The codes of eight columns lie side by side per row:
//
//     columns 0 to 7                  columns 8 to 15                 the last k % 8 columns
//     row 0 [8 bytes], row 1, ... |   row 0 [8 bytes], row 1, ... |   row 0 [k % 8 bytes], row 1, ...
//
// The rows of a small node are scattered over the table. In a column-major layout each row would cost one cache line
// per column; here it costs one per eight columns, and their codes are loaded as one 64-bit word.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bits.hpp"
#include "common/views.hpp"

namespace farthing {

constexpr index_t kColumnsPerWord = 8;

// The codes of one column.
struct CodeColumn {
    const std::uint8_t* data = nullptr;
    index_t stride = 1;

    std::uint8_t operator[](index_t row) const { return data[row * stride]; }
};

// Eight columns, read as one word; the first column is the lowest byte on any machine.
struct CodeWord {
    const std::uint8_t* data = nullptr;

    std::uint64_t operator[](index_t row) const { return load_word(data + row * kColumnsPerWord); }
};

class BinCodes {
public:
    BinCodes() = default;
    BinCodes(index_t n_columns, index_t n_rows)
        : n_columns_(n_columns), n_rows_(n_rows), bytes_(static_cast<std::size_t>(n_columns * n_rows)) {}

    index_t size() const { return static_cast<index_t>(bytes_.size()); }
    index_t n_rows() const { return n_rows_; }
    index_t n_words() const { return n_columns_ / kColumnsPerWord; }  // full words only

    CodeColumn column(index_t j) const { return {bytes_.data() + first(j), stride(j)}; }
    CodeWord word(index_t w) const { return {bytes_.data() + w * kColumnsPerWord * n_rows_}; }
    void set(index_t row, index_t j, std::uint8_t code) { bytes_[first(j) + row * stride(j)] = code; }

    bool operator==(const BinCodes& other) const { return n_columns_ == other.n_columns_ && bytes_ == other.bytes_; }

private:
    index_t n_columns_ = 0;
    index_t n_rows_ = 0;
    std::vector<std::uint8_t> bytes_;

    index_t first(index_t j) const { return j / kColumnsPerWord * kColumnsPerWord * n_rows_ + j % kColumnsPerWord; }
    index_t stride(index_t j) const {
        return std::min(kColumnsPerWord, n_columns_ - j / kColumnsPerWord * kColumnsPerWord);
    }
};

}  // namespace farthing
