// eights: the codes of a table once more, those of eight columns side by side for each row.
//
// The rows of a small node lie far apart. Column by column each of them costs a line of the cache a column, here one for
// eight. Columns with rare entries, which are counted otherwise, are left out, and so are the last few that fill no word.
#pragma once

#include <cstdint>
#include <vector>

#include "common.hpp"
#include "rare.hpp"

namespace farthing {

struct Eights {
    static constexpr index_t kColumns = 8;  // in a word

    std::vector<index_t> columns;          // (8 m,): ascending, those of word after word
    std::vector<std::uint64_t> words;      // (m, n): the first column in the lowest byte

    index_t n_words() const { return static_cast<index_t>(columns.size()) / kColumns; }

    // IN  codes (k, n).
    static Eights of(const std::vector<std::uint8_t>& codes, const RareEntries& rare, index_t n_columns, index_t n_rows,
                     int n_threads) {
        Eights eights;
        for (index_t j = 0; j < n_columns; ++j) {
            if (!rare.has.has(j)) eights.columns.push_back(j);
        }
        eights.columns.resize(eights.columns.size() / kColumns * kColumns);
        eights.words.resize(static_cast<std::size_t>(eights.n_words() * n_rows));
        #pragma omp parallel for schedule(dynamic) num_threads(threads_for(n_threads, eights.n_words()))
        for (index_t word = 0; word < eights.n_words(); ++word) {
            std::uint64_t* out = eights.words.data() + word * n_rows;
            const std::uint8_t* from[kColumns];
            for (index_t c = 0; c < kColumns; ++c) from[c] = codes.data() + eights.columns[word * kColumns + c] * n_rows;
            for (index_t row = 0; row < n_rows; ++row) {
                std::uint64_t packed = 0;
                for (index_t c = 0; c < kColumns; ++c) packed |= std::uint64_t{from[c][row]} << (8 * c);
                out[row] = packed;
            }
        }
        return eights;
    }
};

}  // namespace farthing
