// tree_search: the tree of the least total cost, by dynamic programming over sub-tables.
//
// A sub-table is a set of rows, the columns that they own, and the depth that is left. Its least cost is that of a leaf,
// or of a test plus the least costs of both sides; depth 2 is solved by counts alone. A branch ends where a lower bound
// reaches what is known. The tree is the first of the best in an order that depends on the sub-table alone, so it is
// the same whatever was tried before: any number of threads finds the same one.
//
// With guesses, a sub-table that is tested counts as no less than a test plus the guessed costs of its rows. Where the
// guess is too high, the tree is not the best; by induction over sub-tables, its cost is above the least by no more
// than the sum of all guesses. What a guess makes of a sub-table is no less than the guess, so it does not depend on
// when the sub-table is solved.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "common/threads.hpp"
#include "common/views.hpp"
#include "optimal/owned_prices.hpp"
#include "optimal/priced_rows.hpp"
#include "optimal/shallow_solver.hpp"
#include "optimal/solved_tables.hpp"

namespace farthing {

struct SearchOptions {
    int max_depth = 3;
    double seconds = std::numeric_limits<double>::infinity();
    std::size_t most_bytes = std::size_t{1} << 30;  // of sub-tables that are remembered
    int n_threads = 1;
    index_t most_solved = std::numeric_limits<index_t>::max();  // sub-tables after which the search ends
};

// A tree in depth-first order; columns are numbered as they were given.
struct FoundTree {
    std::vector<std::int32_t> feature;  // -1 at a leaf
    std::vector<index_t> left;
    std::vector<index_t> right;
    std::vector<std::uint8_t> side;  // (nodes, 256): by code, 0: no row has it, 1: left, 2: right
};

class TreeSearch {
public:
    TreeSearch(const PricedRows& rows, OwnedSets& sets, const SearchOptions& options)
        : rows_(rows), sets_(sets), options_(options), solved_(options.most_bytes) {}

    void run() {
        begin_ = Clock::now();
        RowNumbers all(static_cast<std::size_t>(rows_.n_rows()));
        std::iota(all.begin(), all.end(), std::int32_t{0});
        ShallowSolver shallow(rows_);
        shallow.load(all);
        const int first_depth = std::min(options_.max_depth, 2);
        best_.value = lower_ = shallow.solve(all, sets_.none(), first_depth, kNoLimit);
        if (const RootTest* test = shallow.best()) set_best(*test, first_depth);
        // Shallower trees first: they are found fast and bound the deeper ones.
        // Out of time, what is left is a bound below the trees of the full depth.
        for (int depth = 3; depth <= options_.max_depth; ++depth) deepen(all, shallow, depth);
        lower_ = std::min(lower_, best_.value);
        if (rows_.has_guesses() && options_.max_depth > 2)
            lower_ = std::max(lower_ - guessed(all), bound(shallow.leaf(), shallow.weight(), sets_.none()));
        stopped_ = false;
        options_.seconds = std::numeric_limits<double>::infinity();
        options_.most_solved = std::numeric_limits<index_t>::max();
        // Guesses do not decide where counts alone are enough.
        const bool known = best_depth_ > 2 && !rows_.has_guesses();
        Worker worker(rows_);
        build(all, sets_.none(), best_depth_, best_, known ? best_sides_ : nullptr, worker);
    }

    const FoundTree& tree() const { return tree_; }
    // The cost of the tree; with guesses, a bound above it.
    double cost() const { return rows_.to_cost(best_.value + rows_.floor()); }
    double lower_bound() const { return rows_.to_cost(lower_ + rows_.floor()); }
    index_t n_solved() const { return n_solved_; }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

    const PricedRows& rows_;
    OwnedSets& sets_;
    SearchOptions options_;
    SolvedTables solved_;
    Clock::time_point begin_;
    std::atomic<bool> stopped_{false};
    std::atomic<index_t> n_solved_{0};
    Solution best_;
    Solution best_sides_[2];  // if the best tree has depth 3 or more
    int best_depth_ = 0;
    double lower_ = 0;
    FoundTree tree_;

    // The workspace of a thread.
    struct Worker {
        ShallowSolver shallow;
        explicit Worker(const PricedRows& rows) : shallow(rows) {}
    };

    void set_best(const RootTest& test, int depth) {
        best_.place = test.place;
        best_.test = test.test;
        best_depth_ = depth;
    }

    // The tests of a node, from the one with the best tree of depth 2, and which codes each sends left.
    struct Candidate {
        RootTest root;
        PresentCodes codes;
    };

    static std::vector<Candidate> candidates(const ShallowSolver& shallow) {
        const std::vector<RootTest>& tests = shallow.tests();
        std::vector<std::pair<double, std::int32_t>> order;
        order.reserve(tests.size());
        for (const RootTest& test : tests) order.emplace_back(test.value, static_cast<std::int32_t>(order.size()));
        std::sort(order.begin(), order.end());  // the earlier of equals first
        std::vector<Candidate> found;
        found.reserve(tests.size());
        for (const auto& [value, number] : order) found.push_back({tests[number], shallow.codes_of(tests[number])});
        return found;
    }

    void divide(const RowNumbers& rows, const Candidate& candidate, RowNumbers (&sides)[2]) const {
        bool left[256] = {};
        for (int place = 0; place < candidate.codes.n; ++place)
            left[candidate.codes.code[place]] = candidate.codes.goes_left(candidate.root.test, place);
        const std::uint8_t* codes = rows_.codes(candidate.root.place);
        for (RowNumbers& side : sides) side.resize(rows.size());
        std::int32_t* ends[2] = {sides[0].data(), sides[1].data()};
        // Both sides get each row, and one of them keeps it: no branch that depends on the data.
        for (const std::int32_t row : rows) {
            const bool goes = left[codes[row]];
            *ends[0] = *ends[1] = row;
            ends[0] += goes;
            ends[1] += !goes;
        }
        for (int side = 0; side < 2; ++side) sides[side].resize(static_cast<std::size_t>(ends[side] - sides[side].data()));
    }

    double bound(double leaf, double weight, const OwnedPrices& prices, double guess = 0) const {
        return std::min(leaf, rows_.test_cost(weight, prices.cheapest) + guess);
    }

    // The sum of the guesses of some rows; 0 without guesses.
    double guessed(const RowNumbers& rows) const {
        double sum = 0;
        if (rows_.has_guesses())
            for (const std::int32_t row : rows) sum += rows_.guess(row);
        return sum;
    }

    // The cost of the best tree of a depth with a test at its root. A value of at least `limit` is a lower bound.
    // IN sums: those of the rows by column.   OUT solutions: of both sides, if the value is below `limit`.
    double with_root(const RowNumbers& rows, const std::vector<double>& sums, const Candidate& candidate,
                     const OwnedPrices& prices, int depth, double limit, double weight, Worker& worker,
                     Solution (&solutions)[2]) {
        const RootTest& root = candidate.root;
        const OwnedPrices& owned = sets_.with(prices, root.place);
        const double cost = rows_.test_cost(weight, prices.price[root.place]);
        double least[2];
        for (int side = 0; side < 2; ++side) {
            // Where one code of the column is left, the next test is of another column.
            const double price = root.codes[side] > 1 ? 0.0 : owned.cheapest_but(root.place, rows_);
            least[side] = std::min(root.leaf[side], rows_.test_cost(root.weight[side], price));
        }
        if (cost + least[0] + least[1] >= limit) return cost + least[0] + least[1];
        RowNumbers sides[2];
        divide(rows, candidate, sides);
        if (rows_.has_guesses()) {
            for (int side = 0; side < 2; ++side)
                least[side] = std::max(
                    least[side], bound(root.leaf[side], root.weight[side], owned, guessed(sides[side])));
            if (cost + least[0] + least[1] >= limit) return cost + least[0] + least[1];
        }
        // The side that can cost more is more likely to pass the limit, which spares the other one.
        const int first = root.leaf[0] >= root.leaf[1] ? 0 : 1;
        const std::vector<double>* whole = nullptr;  // once the sums of the other side are there
        for (const int side : {first, 1 - first}) {
            const double rest = limit - cost - least[1 - side];
            const RowTotals totals{root.weight[side], root.most[side], root.leaf[side]};
            solutions[side] = solve(sides[side], totals, owned, depth - 1, rest, worker, whole);
            least[side] = std::max(least[side], solutions[side].value);
            if (cost + least[0] + least[1] >= limit) break;
            // Deeper searches of the first side have left the sums of its parts.
            if (depth == 3 && worker.shallow.summed() && owned.allows_no_more(prices)) whole = &sums;
        }
        return cost + least[0] + least[1];
    }

    bool out_of_time() {
        if (!stopped_ && options_.seconds < std::numeric_limits<double>::infinity() &&
            std::chrono::duration<double>(Clock::now() - begin_).count() > options_.seconds)
            stopped_ = true;
        if (n_solved_.load(std::memory_order_relaxed) >= options_.most_solved) stopped_ = true;
        return stopped_;
    }

    // The least cost of a sub-table. A value of at least `limit`, or one that is not exact, is a lower bound.
    Solution solve(const RowNumbers& rows, const RowTotals& totals, const OwnedPrices& prices, int depth, double limit,
                   Worker& worker, const std::vector<double>* whole = nullptr) {
        ShallowSolver& shallow = worker.shallow;
        shallow.load(totals);
        const double leaf = totals.leaf;
        const double weight = totals.weight;
        const double least = bound(leaf, weight, prices, guessed(rows));
        Solution found{least, false, -1, 0};
        if (depth == 0 || found.value >= leaf) return {leaf, true, -1, 0};
        if (found.value >= limit || out_of_time()) return found;
        SolvedTables::Key key;
        if (options_.max_depth > 3) {
            key = key_of(rows, prices, depth);
            Solution known;
            if (solved_.find(key, known) && (known.exact || known.value >= limit)) return known;
        }
        n_solved_.fetch_add(1, std::memory_order_relaxed);
        if (depth <= 2) {
            found.value = shallow.solve(rows, prices, depth, limit, whole);
            found.exact = found.value < limit;
            note_root(shallow.best(), found);
        } else {
            found = search(rows, prices, depth, limit, weight, worker);
            if (stopped_ && !found.exact) return found;
        }
        found.value = std::max(found.value, least);
        if (options_.max_depth > 3) solved_.add(std::move(key), found);
        return found;
    }

    static void note_root(const RootTest* test, Solution& solution) {
        solution.place = test == nullptr ? -1 : test->place;
        solution.test = test == nullptr ? 0 : test->test;
    }

    // The least cost of a sub-table of depth 3 or more; its rows are loaded.
    Solution search(const RowNumbers& rows, const OwnedPrices& prices, int depth, double limit, double weight,
                    Worker& worker) {
        Solution best;
        best.value = worker.shallow.solve(rows, prices, 2, kNoLimit);
        note_root(worker.shallow.best(), best);
        const std::vector<double> sums = worker.shallow.sums();
        double least = best.value;  // a bound below all tests, whether solved or not
        for (const Candidate& candidate : candidates(worker.shallow)) {
            const double most = std::min(best.value, limit);
            Solution sides[2];
            const double value = with_root(rows, sums, candidate, prices, depth, most, weight, worker, sides);
            least = std::min(least, value);
            if (value < most && !stopped_) {
                best.value = value;
                note_root(&candidate.root, best);
            }
            if (stopped_) break;
        }
        if (stopped_) return {bound_of_rows(rows, prices, worker), false, -1, 0};
        best.exact = best.value < limit;
        if (!best.exact) best.value = least;
        return best;
    }

    double bound_of_rows(const RowNumbers& rows, const OwnedPrices& prices, Worker& worker) {
        worker.shallow.load(rows);
        return bound(worker.shallow.leaf(), worker.shallow.weight(), prices);
    }

    SolvedTables::Key key_of(const RowNumbers& rows, const OwnedPrices& prices, int depth) const {
        SolvedTables::Key key;
        key.rows.assign(static_cast<std::size_t>(Bitset::n_words(rows_.n_rows())), 0);
        for (const std::int32_t row : rows) key.rows[row >> 6] |= std::uint64_t{1} << (row & 63);
        key.owned = prices.number;
        key.depth = depth;
        return key;
    }

    // Tries all tests at the root with subtrees that are one level deeper than before, one test for each thread.
    // IN shallow: has solved all rows at depth 2.
    void deepen(const RowNumbers& all, const ShallowSolver& shallow, int depth) {
        const double weight = shallow.weight();
        const std::vector<double>& sums = shallow.sums();
        const std::vector<Candidate> tests = candidates(shallow);
        const auto n = static_cast<index_t>(tests.size());
        std::mutex mutex;
        // A tie goes to the shallower tree, then to the earlier test, whichever is solved first.
        index_t best_number = -1;
        double lower = best_.value;
        const int threads = threads_for(options_.n_threads, n);
        Chunks chunks(n, 1);
        on_threads(threads, [&](int) {
            Worker worker(rows_);
            chunks.for_each([&](index_t number) {
                double limit = 0;
                {
                    const std::lock_guard<std::mutex> lock(mutex);
                    limit = best_.value + (best_number > number ? 1 : 0);
                }
                Solution sides[2];
                const double value =
                    with_root(all, sums, tests[number], sets_.none(), depth, limit, weight, worker, sides);
                const bool exact = value < limit && !stopped_;
                const std::lock_guard<std::mutex> lock(mutex);
                lower = std::min(lower, value);
                if (!exact || value > best_.value || (value == best_.value && best_number < number)) return;
                best_.value = value;
                set_best(tests[number].root, depth);
                std::copy(sides, sides + 2, best_sides_);
                best_number = number;
            });
        });
        lower_ = lower;
    }

    // The best tree of a sub-table, without guesses where counts alone are enough.
    Solution solve_for_tree(const RowNumbers& rows, const OwnedPrices& prices, int depth, Worker& worker) {
        worker.shallow.load(rows);
        if (!rows_.has_guesses() || depth > 2)
            return solve(rows, worker.shallow.totals(), prices, depth, kNoLimit, worker);
        Solution found{worker.shallow.solve(rows, prices, depth, kNoLimit), true, -1, 0};
        note_root(worker.shallow.best(), found);
        return found;
    }

    PresentCodes present_codes(const RowNumbers& rows, index_t place) const {
        bool occurs[256] = {};
        const std::uint8_t* codes = rows_.codes(place);
        for (const std::int32_t row : rows) occurs[codes[row]] = true;
        PresentCodes present;
        for (int code = 0; code < 256; ++code)
            if (occurs[code]) present.code[present.n++] = static_cast<std::uint8_t>(code);
        rows_.describe(place, present);
        return present;
    }

    index_t add_node() {
        const auto node = static_cast<index_t>(tree_.feature.size());
        tree_.feature.push_back(-1);
        tree_.left.push_back(-1);
        tree_.right.push_back(-1);
        tree_.side.resize(tree_.side.size() + 256, 0);
        return node;
    }

    // Adds the best tree of a sub-table; returns its root.   IN root: the solution of the sub-table.
    // IN known: the solutions of both sides of the test, or null.
    index_t build(const RowNumbers& rows, const OwnedPrices& prices, int depth, const Solution& root,
                  const Solution* known, Worker& worker) {
        const index_t node = add_node();
        if (root.place < 0) return node;
        Candidate candidate;
        candidate.root.place = root.place;
        candidate.root.test = root.test;
        candidate.codes = present_codes(rows, root.place);
        tree_.feature[node] = static_cast<std::int32_t>(rows_.column(root.place));
        for (int place = 0; place < candidate.codes.n; ++place) {
            const bool left = candidate.codes.goes_left(root.test, place);
            tree_.side[node * 256 + candidate.codes.code[place]] = left ? 1 : 2;
        }
        RowNumbers sides[2];
        divide(rows, candidate, sides);
        const OwnedPrices& owned = sets_.with(prices, root.place);
        index_t children[2];
        for (int side = 0; side < 2; ++side) {
            const Solution below =
                known != nullptr ? known[side] : solve_for_tree(sides[side], owned, depth - 1, worker);
            children[side] = build(sides[side], owned, depth - 1, below, nullptr, worker);
        }
        tree_.left[node] = children[0];
        tree_.right[node] = children[1];
        return node;
    }
};

}  // namespace farthing
