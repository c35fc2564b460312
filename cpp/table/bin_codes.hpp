// codes: the bins of all entries of a table, one byte each, those of eight columns side by side for each row.
//
//     columns 0 to 7: row 0 [8 bytes], row 1, ... | columns 8 to 15: row 0, ... | the last k % 8 columns: row 0 [fewer], ...
//
// The rows of a small node lie far apart. Column by column each of them would cost a line of the cache a column; so it
// is one for eight, whose codes are loaded as one word.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/views.hpp"

namespace farthing {

constexpr index_t kColumnsPerWord = 8;  // columns

// The codes of one column.
struct CodeColumn {
    const std::uint8_t* data = nullptr;
    index_t stride = 1;

    std::uint8_t operator[](index_t row) const { return data[row * stride]; }
};

// Eight columns: the code of the first is the lowest byte.
struct CodeWord {
    const std::uint8_t* data = nullptr;

    std::uint64_t operator[](index_t row) const {
        std::uint64_t word;
        std::memcpy(&word, data + row * kColumnsPerWord, kColumnsPerWord);
        if constexpr (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) word = __builtin_bswap64(word);
        return word;
    }
};

class BinCodes {
public:
    BinCodes() = default;
    BinCodes(index_t n_columns, index_t n_rows)
        : n_columns_(n_columns), n_rows_(n_rows), bytes_(static_cast<std::size_t>(n_columns * n_rows)) {}

    index_t size() const { return static_cast<index_t>(bytes_.size()); }
    index_t n_rows() const { return n_rows_; }
    index_t n_words() const { return n_columns_ / kColumnsPerWord; }  // those that are full

    CodeColumn column(index_t j) const { return {bytes_.data() + first(j), stride(j)}; }
    CodeWord word(index_t w) const { return {bytes_.data() + w * kColumnsPerWord * n_rows_}; }
    void set(index_t row, index_t j, std::uint8_t code) { bytes_[first(j) + row * stride(j)] = code; }

    bool operator==(const BinCodes& other) const { return n_columns_ == other.n_columns_ && bytes_ == other.bytes_; }

private:
    index_t n_columns_ = 0;
    index_t n_rows_ = 0;
    std::vector<std::uint8_t> bytes_;

    index_t first(index_t j) const { return j / kColumnsPerWord * kColumnsPerWord * n_rows_ + j % kColumnsPerWord; }
    index_t stride(index_t j) const { return std::min(kColumnsPerWord,
                                                      n_columns_ - j / kColumnsPerWord * kColumnsPerWord); }
};

}  // namespace farthing
