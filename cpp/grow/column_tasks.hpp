// column_tasks: the columns of a node that can still be split on, grouped into tasks of columns counted together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bitset.hpp"
#include "common/views.hpp"
#include "grow/histogram.hpp"
#include "table/bin_codes.hpp"
#include "table/binned_table.hpp"

namespace farthing {

class ColumnTasks {
public:
    // Columns [begin, end) of the selection, which one thread counts and searches.
    struct Task {
        index_t begin = 0;
        index_t end = 0;
        index_t word = -1;  // the word of codes that holds all of them, or -1
    };

    // IN  counts_binary: whether columns with two bins are counted together, see binary_columns.hpp.
    explicit ColumnTasks(const BinnedTable& table, bool counts_binary = false)
        : table_(table), counts_binary_(counts_binary) {}

    index_t size() const { return static_cast<index_t>(places_.size()); }
    // Position of the i-th selected column in the list it was selected from.
    index_t place(index_t i) const { return places_[static_cast<std::size_t>(i)]; }
    const std::vector<Task>& tasks() const { return tasks_; }

    // Selects all columns that are not constant in the node, sparse ones first.
    void select(const std::vector<index_t>& columns, const Bitset& constant) {
        places_.clear();
        columns_.clear();
        for (const bool sparse : {true, false}) {
            for (index_t place = 0; place < static_cast<index_t>(columns.size()); ++place) {
                if (constant.has(place) || is_sparse(columns[place]) != sparse) continue;
                places_.push_back(place);
                columns_.push_back(columns[place]);
            }
            if (sparse) n_sparse_ = size();
        }
    }

    // Sparse columns form one task, the first, because their entries are stored row by row. Columns of the same word
    // form a task if there are enough words to keep all threads busy, or if they have two bins and are counted together.
    // The others go a few at a time.
    void make_tasks(int threads) {
        const index_t n_others = size() - n_sparse_;
        const index_t per_task = std::max<index_t>(1, std::min(kColumnsPerPass, n_others / threads));
        const bool by_words = n_others >= 2 * threads * kColumnsPerWord;
        tasks_.clear();
        if (n_sparse_ > 0) tasks_.push_back({0, n_sparse_, -1});
        for (index_t begin = n_sparse_; begin < size();) {
            const Task shared = by_words || counts_binary_ ? columns_of_word(begin) : Task{begin, begin, -1};
            Task task{begin, std::min(begin + per_task, size()), -1};
            // The whole word only if enough of its columns are wanted; the others would be counted for nothing.
            const index_t n_wanted = shared.end - begin;
            if ((by_words && 2 * n_wanted > kColumnsPerWord) || (n_wanted >= kFewestBinary && is_binary(shared))) {
                task = shared;
            } else if (by_words && shared.end > begin) {
                task.end = std::min(task.end, shared.end);
            }
            tasks_.push_back(task);
            begin = task.end;
        }
    }

    // IN  rows (n,), ascending; targets (n,): theirs; sums (width,): the total of the targets.
    // OUT histogram: the cells of the task's columns, cleared and filled.
    template <class Target>
    void fill(const Task& task, const Target& target, const index_t* rows, const typename Target::Row* targets,
              index_t n, const std::int64_t* sums, std::int64_t* histogram) const {
        if (task.begin < n_sparse_) {
            fill_sparse(table_, target, columns_.data(), n_sparse_, rows, targets, n, sums, histogram);
        } else if (task.word >= 0) {
            bool live[kColumnsPerWord] = {};
            for (index_t c = task.begin; c < task.end; ++c) live[columns_[c] % kColumnsPerWord] = true;
            fill_word(table_, target, task.word, live, rows, targets, n, histogram);
        } else {
            for (index_t begin = task.begin; begin < task.end; begin += kColumnsPerPass) {
                fill_histograms(table_, target, columns_.data() + begin, std::min(kColumnsPerPass, task.end - begin),
                                rows, targets, n, histogram);
            }
        }
    }

private:
    static constexpr index_t kFewestBinary = 3;

    const BinnedTable& table_;
    const bool counts_binary_;
    std::vector<index_t> places_;
    std::vector<index_t> columns_;  // at these positions
    index_t n_sparse_ = 0;          // how many of them, at the front, are sparse
    std::vector<Task> tasks_;

    bool is_sparse(index_t column) const {
        return !table_.sparse.columns.empty() && table_.sparse.is_sparse.has(column);
    }

    // Whether all columns of a task are counted together, and take as long as kFewestBinary of them one by one.
    bool is_binary(const Task& task) const {
        if (!counts_binary_) return false;
        return std::all_of(columns_.begin() + task.begin, columns_.begin() + task.end,
                           [&](index_t column) { return table_.columns[column].n_bins == 2; });
    }

    // The run of selected columns from `begin` on that share its word; empty if that word is not full.
    Task columns_of_word(index_t begin) const {
        Task task{begin, begin, columns_[begin] / kColumnsPerWord};
        if (task.word >= table_.codes.n_words()) return task;
        while (task.end < size() && columns_[task.end] / kColumnsPerWord == task.word) ++task.end;
        return task;
    }
};

}  // namespace farthing
