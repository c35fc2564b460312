// touched_features: records which features the rows of a block have tested.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/views.hpp"
#include "predict/compiled_forest.hpp"

namespace farthing {

// After a few trees most rows have touched every feature that the trees test, and nothing is left to record. Rows for
// which this is not yet so are open.
template <index_t kRows>
class TouchedFeatures {
public:
    // For trees [begin, end).   OUT touched (n, words), or null: nothing is recorded.
    TouchedFeatures(const CompiledForest& trees, index_t begin, index_t end, std::uint64_t* touched)
        : trees_(trees), n_words_(trees.n_words()), touched_(touched) {
        if (n_words_ > CompiledForest::kMaskWords) return;
        for (index_t t = begin; t < end; ++t) {
            for (index_t w = 0; w < n_words_; ++w) tested_[w] |= trees.tested(t)[w];
        }
    }

    // Starts a block of n rows.   IN numbers (n,): their indices in the table.
    void begin(const index_t* numbers, index_t n) {
        if (!touched_) return;
        n_open_ = n;
        for (index_t r = 0; r < n; ++r) {
            open_[r] = r;
            words_[r] = touched_ + numbers[r] * n_words_;
        }
        if (n_words_ <= CompiledForest::kMaskWords) refresh();
    }

    // Whether a tree may test a feature that some row has not touched yet.
    bool may_add(index_t t) {
        if (!touched_) return false;
        const std::uint64_t* tested = trees_.tested(t);
        if (!tested) return true;
        std::uint64_t any = 0;
        for (index_t w = 0; w < n_words_; ++w) any |= tested[w] & untouched_[w];
        if (any != 0 && ++trees_since_refresh_ > kTreesBetweenRefreshes) refresh();
        return any != 0;
    }

    // Records what open rows touch in a tree: touch(row of the block, words of the row).
    template <class Touch>
    void add(Touch touch) const {
        for (index_t i = 0; i < n_open_; ++i) touch(open_[i], words_[open_[i]]);
    }

private:
    static constexpr index_t kTreesBetweenRefreshes = 4;

    const CompiledForest& trees_;
    const index_t n_words_;
    std::uint64_t* touched_;
    std::uint64_t tested_[CompiledForest::kMaskWords] = {};     // features that any tree tests
    std::uint64_t untouched_[CompiledForest::kMaskWords] = {};  // of those, the ones that some open row has not touched
    std::uint64_t* words_[kRows];
    index_t open_[kRows];
    index_t n_open_ = 0;
    index_t trees_since_refresh_ = 0;

    // Recomputes which rows are open, and what they have not touched.
    void refresh() {
        trees_since_refresh_ = 0;
        std::fill(untouched_, untouched_ + n_words_, 0);
        index_t n_open = 0;
        for (index_t i = 0; i < n_open_; ++i) {
            std::uint64_t any = 0;
            for (index_t w = 0; w < n_words_; ++w) {
                const std::uint64_t untouched = tested_[w] & ~words_[open_[i]][w];
                untouched_[w] |= untouched;
                any |= untouched;
            }
            open_[n_open] = open_[i];
            n_open += any != 0;
        }
        n_open_ = n_open;
    }
};

}  // namespace farthing
