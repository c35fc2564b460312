// grower: one tree, best-first. Every open leaf has an offer, its best split at today's prices; the best offer of all
// is taken until none is worth its price or a limit is reached.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "bins.hpp"
#include "common.hpp"
#include "histogram.hpp"
#include "ledger.hpp"
#include "partition.hpp"
#include "price.hpp"
#include "random.hpp"
#include "split.hpp"
#include "tree.hpp"

namespace farthing {

// Who owns what a split buys. Model: all rows, in this tree and in those to come; after each purchase all open leaves
// rank their splits anew. Row: only the rows below the split, which own what lies on their path from the root, or, with a
// RowLedger, on their paths through all trees so far.
enum class Ledger { model, row };

struct GrowOptions {
    index_t max_depth = std::numeric_limits<index_t>::max();
    index_t max_leaves = std::numeric_limits<index_t>::max();
    index_t min_rows_leaf = 1;
    Ledger ledger = Ledger::row;
    Weighing weighing;
    double budget = std::numeric_limits<double>::infinity();  // hard: on all that the ledger's owner pays
    int n_threads = 0;
    // Columns among which the split of a node is sought, drawn anew for each node; only under the row ledger.
    index_t max_features = std::numeric_limits<index_t>::max();
    // Cuts of a numeric column that are tried in a node, drawn anew for each; only under the row ledger.
    index_t max_cuts = std::numeric_limits<index_t>::max();
    double cuts_above = 0;  // nodes of at most this weight try all cuts
    std::uint64_t key = 0;  // of the root's draws
};

// A node is searched directly, column by column from its rows, if these touch fewer cells than this share of what a whole
// histogram would clear, subtract and scan.
constexpr index_t kDirectShare = 2;

// The keys of the draws of a node's children, and of cuts; those of the columns are counted from 0.
constexpr std::uint64_t kLeftDraw = ~std::uint64_t{0};
constexpr std::uint64_t kRightDraw = kLeftDraw - 1;
constexpr std::uint64_t kCutDraw = kLeftDraw - 2;

// Memory that growing needs and the next tree can use again. It carries no state from one tree to the next.
struct Workspace {
    std::vector<index_t> rows;           // row numbers, leaf by leaf
    std::vector<std::int64_t> room;      // targets in the order of rows; between times, scratch of the partition
    std::vector<std::int64_t> spare_small;
    std::vector<std::int64_t> spare_large;
    std::vector<std::uint8_t> bins;      // of the rows of one leaf in one column
    HistogramPool pool;
};

template <class Target>
class Grower {
public:
    // IN workspace.rows: the rows to learn from, ascending; columns: those that may be split on; owned: the model's
    // ledger (ignored by the row ledger). After grow(): owned() has what the tree bought as well.
    // IN OUT ledger: what the rows own, or null; its table must be `table`.
    Grower(const BinnedTable& table, const Target& target, const Sheet& sheet, const GrowOptions& options,
           std::vector<index_t> columns, Owned owned, Workspace& workspace, RowLedger* ledger = nullptr)
        : table_(table), target_(target), sheet_(sheet), options_(options), columns_(std::move(columns)),
          owned_(std::move(owned)), ledger_(ledger), width_(target.width()), rows_(workspace.rows),
          bins_(workspace.bins), pool_(workspace.pool), spare_small_(workspace.spare_small),
          spare_large_(workspace.spare_large) {
        constexpr std::size_t kInts = sizeof(typename Target::Row) / sizeof(std::int64_t);
        const auto length = static_cast<std::size_t>(table.n_all_bins() * width_);
        tree_.n_values = target.n_values();
        workspace.room.resize(rows_.size() * kInts);
        room_ = workspace.room.data();
        targets_ = reinterpret_cast<typename Target::Row*>(workspace.room.data());
        bins_.resize(rows_.size());
        scratch_.resize(static_cast<std::size_t>(4 * width_));
        spare_small_.resize(length);
        spare_large_.resize(length);
        pool_.reset(static_cast<index_t>(length), pool_capacity());
    }

    Tree grow() {
        plant();
        while (!heap_.empty() && n_leaves_ < options_.max_leaves) {
            std::pop_heap(heap_.begin(), heap_.end(), worse());
            const index_t leaf = heap_.back();
            heap_.pop_back();
            split(leaf);
        }
        return std::move(tree_);
    }

    const Owned& owned() const { return owned_; }

    // OUT leaf_of_row: the leaf of each row that was learned from; other rows are left as they are.
    void leaves_of_rows(Span<index_t> leaf_of_row) const {
        const int threads = threads_for(options_.n_threads, static_cast<index_t>(rows_.size()) / 8192);
        #pragma omp parallel num_threads(threads)
        for (const Leaf& leaf : leaves_) {
            if (leaf.node < 0) continue;
            #pragma omp for schedule(static) nowait
            for (index_t i = leaf.begin; i < leaf.end; ++i) leaf_of_row[rows_[i]] = leaf.node;
        }
    }

    // Sends the rows that were not learned from down the grown tree, each paying on its way.
    // IN OUT leaf_of_row: -1 for those rows; where they end.
    void send_others(const Tree& tree, Span<index_t> leaf_of_row) const {
        const int threads = threads_for(options_.n_threads, leaf_of_row.size / 4096 + 1);
        #pragma omp parallel for schedule(static) num_threads(threads)
        for (index_t row = 0; row < leaf_of_row.size; ++row) {
            if (leaf_of_row[row] < 0) leaf_of_row[row] = send(tree, row);
        }
    }

private:
    struct Leaf {
        index_t node = -1;  // -1: split since
        index_t begin = 0;
        index_t end = 0;
        index_t depth = 0;
        index_t histogram = -1;
        std::uint64_t key = 0;       // of its draws of columns
        std::vector<std::int64_t> sums;
        Bitset constant;             // columns, by place in columns_, known to have one bin only
        Owned path;                  // row ledger: what lies on the path
        std::vector<Split> splits;   // by place in columns_; only under the model ledger, whose prices change
        Split split;                 // that of the offer
        Offer offer;

        index_t n() const { return end - begin; }
    };

    const BinnedTable& table_;
    const Target& target_;
    const Sheet& sheet_;
    const GrowOptions& options_;
    std::vector<index_t> columns_;
    Owned owned_;
    RowLedger* ledger_;
    index_t width_;
    std::vector<index_t>& rows_;
    index_t* room_ = nullptr;
    typename Target::Row* targets_ = nullptr;
    std::vector<std::uint8_t>& bins_;
    std::vector<std::int64_t> scratch_;
    std::vector<index_t> order_;  // scratch: places in columns_, drawn or not known to be constant
    std::vector<index_t> live_;   // scratch: the columns in these places
    HistogramPool& pool_;
    std::vector<std::int64_t>& spare_small_;
    std::vector<std::int64_t>& spare_large_;
    Tree tree_;
    std::vector<Leaf> leaves_;
    std::vector<index_t> heap_;  // open leaves with an acceptable offer, by place in leaves_
    std::vector<Split> splits_;  // by node; none at leaves
    index_t n_leaves_ = 0;
    double all_cover_ = 0;
    std::vector<double> due_;  // by all rows of the leaf under consideration, for each feature; row ledger of an ensemble
    double all_weight_ = 0;      // as the row ledger weighs rows

    index_t pool_capacity() const {
        const double histogram = static_cast<double>(table_.n_all_bins() * width_) * sizeof(std::int64_t);
        const double allowed = 0.4 * static_cast<double>(table_.codes.size());
        return std::max<index_t>(4, static_cast<index_t>(allowed / std::max(histogram, 1.0)));
    }

    void plant() {
        Leaf root;
        root.end = static_cast<index_t>(rows_.size());
        root.sums.assign(static_cast<std::size_t>(width_), 0);
        for (const index_t row : rows_) target_.add(root.sums.data(), target_.row(row));
        root.path = Owned(sheet_);
        root.key = options_.key;
        root.constant = Bitset(static_cast<index_t>(columns_.size()));
        all_cover_ = target_.cover(root.sums.data());
        if (ledger_) all_weight_ = static_cast<double>(ledger_->weight(rows_.data(), root.end));
        add_node(root);
        leaves_.push_back(std::move(root));
        n_leaves_ = 1;
        if (options_.max_leaves > 1 && splittable(leaves_[0])) {
            look(0, -1, false);
            open(0);
        }
    }

    void add_node(Leaf& leaf) {
        leaf.node = tree_.n_nodes();
        splits_.emplace_back();
        target_.values(leaf.sums.data(), tree_.add_leaf(target_.cover(leaf.sums.data())));
    }

    index_t send(const Tree& tree, index_t row) const {
        index_t node = 0;
        while (tree.feature[node] >= 0) {
            const index_t feature = tree.feature[node];
            if (ledger_) ledger_->buy(row, feature);
            const Split& split = splits_[node];
            const index_t bin = table_.column(feature)[row];
            const bool missing = bin == table_.columns[feature].n_bins ||
                                 (split.categorical && !in_set(split.left, bin) && !in_set(split.right, bin));
            if (missing && split.missing == Missing::stay) break;
            const bool left = missing ? split.missing == Missing::left
                                      : split.categorical ? in_set(split.left, bin) : bin <= split.bin;
            node = left ? tree.left[node] : tree.right[node];
        }
        return node;
    }

    bool splittable(const Leaf& leaf) const {
        return leaf.depth < options_.max_depth && leaf.n() / 2 >= options_.min_rows_leaf &&
               !target_.pure(leaf.sums.data());
    }

    void split(index_t parent_place) {
        const Offer offer = leaves_[parent_place].offer;
        Split chosen = leaves_[parent_place].split;
        if (Target::kCentred) centre(leaves_[parent_place], offer.feature, chosen);
        Leaf left;
        Leaf right;
        divide(leaves_[parent_place], offer.feature, chosen, left, right);
        const index_t parent_node = leaves_[parent_place].node;
        index_t parent_histogram = leaves_[parent_place].histogram;
        // Prices were asked, and nobody would pay the own cost: all of these rows own the feature or were refused it.
        const bool sold_out = options_.weighing.tradeoff > 0 && offer.charge == 0 && sheet_.own[offer.feature] > 0;
        if (ledger_ && !sold_out && ledger_->buy(rows_.data() + left.begin, left.n() + right.n(), offer.feature)) {
            // Codes of these rows have become missing: the parent's histogram is not the sum of its children's.
            pool_.release(parent_histogram);
            parent_histogram = -1;
        }
        splits_[parent_node] = chosen;
        leaves_[parent_place] = Leaf{};
        add_node(left);
        add_node(right);
        tree_.split_leaf(parent_node, offer.feature, table_.columns[offer.feature], chosen, left.node, right.node);
        ++n_leaves_;

        const bool news = options_.ledger == Ledger::model && !owned_.has(offer.feature);
        if (news) owned_.add(sheet_, offer.feature);

        // The smaller child is counted from its rows, the larger one is what remains of the parent.
        const bool left_is_small = left.n() <= right.n();
        Leaf& small_child = left_is_small ? left : right;
        Leaf& large_child = left_is_small ? right : left;
        large_child.histogram = parent_histogram;
        const auto small = static_cast<index_t>(leaves_.size());
        const index_t large = small + 1;
        leaves_.push_back(std::move(small_child));
        leaves_.push_back(std::move(large_child));
        if (n_leaves_ < options_.max_leaves) {
            look(small, large, parent_histogram >= 0);
            open(small);
            open(large);
        }
        if (news) rank_anew();
    }

    // Between the highest bin on the left and the lowest on the right there may be bins without rows. A cut anywhere there
    // parts these rows alike; the one nearest to the middle parts new rows best.
    void centre(const Leaf& leaf, index_t feature, Split& split) const {
        if (split.categorical) return;
        const ColumnBins& bins = table_.columns[feature];
        const std::uint8_t* codes = table_.column(feature);
        index_t right = bins.n_bins;
        for (index_t i = leaf.begin; i < leaf.end && right > split.bin + 1; ++i) {
            const index_t bin = codes[rows_[i]];
            if (bin > split.bin && bin < right) right = bin;
        }
        if (right == bins.n_bins) return;  // only missing values go right
        split.bin = bins.middle(split.bin, right - 1);
    }

    void divide(const Leaf& parent, index_t feature, const Split& split, Leaf& left, Leaf& right) {
        const ColumnBins& bins = table_.columns[feature];
        const auto to_left = goes_left(split, bins.n_bins);
        const index_t n_left = partition_rows(table_.column(feature), to_left,
                                              rows_.data() + parent.begin, parent.n(), room_,
                                              options_.n_threads);
        left.begin = parent.begin;
        left.end = parent.begin + n_left;
        right.begin = left.end;
        right.end = parent.end;
        left.depth = right.depth = parent.depth + 1;
        left.path = parent.path;
        left.path.add(sheet_, feature);
        right.path = left.path;
        // Under a ledger a purchase may turn codes to missing, so that a column varies again.
        left.constant = right.constant = ledger_ ? Bitset(static_cast<index_t>(columns_.size())) : parent.constant;
        if (draws_columns() || options_.max_cuts < kMaxBins) {
            left.key = random_bits(parent.key, kLeftDraw);
            right.key = random_bits(parent.key, kRightDraw);
        }
        left.sums.assign(static_cast<std::size_t>(width_), 0);
        if (parent.histogram >= 0) {
            const std::int64_t* cells = pool_.data(parent.histogram) + table_.first_bin[feature] * width_;
            for (index_t i = 0; i < (bins.n_bins + 1) * width_; ++i) {
                if (to_left[i / width_]) left.sums[i % width_] += cells[i];
            }
        } else {
            for (index_t i = left.begin; i < left.end; ++i) target_.add(left.sums.data(), target_.row(rows_[i]));
        }
        right.sums = parent.sums;
        for (index_t w = 0; w < width_; ++w) right.sums[w] -= left.sums[w];
    }

    bool draws_columns() const { return options_.max_features < static_cast<index_t>(columns_.size()); }

    bool draws_cuts(const Leaf& leaf) const {
        return options_.max_cuts < kMaxBins && target_.cover(leaf.sums.data()) > options_.cuts_above;
    }

    bool is_direct(const Leaf& leaf) const {
        if (options_.ledger == Ledger::model) return false;  // keeps the best splits of all columns
        const auto n_columns = static_cast<index_t>(columns_.size());
        return draws_columns() || draws_cuts(leaf) ||
               leaf.n() * n_columns * kDirectShare < table_.n_all_bins() * width_;
    }

    // The best split of a leaf from its rows, one column after another; no histogram is kept.
    void look_directly(Leaf& leaf) {
        gather(leaf);
        const double whole = target_.whole(leaf.sums.data());
        const auto n_columns = static_cast<index_t>(columns_.size());
        if (draws_columns()) {
            order_.resize(columns_.size());
            std::iota(order_.begin(), order_.end(), index_t{0});
        }
        begin_offers(leaf);
        for (index_t i = 0; i < n_columns; ++i) {
            index_t place = i;
            if (draws_columns()) {
                // After those drawn, one by one until there is a split.
                if (i >= options_.max_features && options_.weighing.acceptable(leaf.offer)) break;
                const auto left = static_cast<std::uint64_t>(n_columns - i);
                std::swap(order_[i], order_[i + static_cast<index_t>(random_bits(leaf.key, i) % left)]);
                place = order_[i];
            }
            if (!leaf.constant.has(place)) consider(leaf, columns_[place], search_rows(leaf, whole, place));
        }
        if (!options_.weighing.acceptable(leaf.offer)) leaf.offer = Offer{};
    }

    Split search_rows(Leaf& leaf, double whole, index_t place) {
        const index_t column = columns_[place];
        const index_t* rows = rows_.data() + leaf.begin;
        const BinSet present = bins_present(table_.column(column), rows, leaf.n(), bins_.data());
        if (one_bin(present)) {
            leaf.constant.add(place);
            return {};
        }
        const ColumnBins& bins = table_.columns[column];
        std::int64_t* cells = spare_small_.data() + table_.first_bin[column] * width_;
        if (bins.categorical) std::fill(cells, cells + bins.n_bins * width_, 0);
        fill_present(target_, present, bins_.data(), targets_ + leaf.begin, leaf.n(), bins.n_bins, cells);
        SplitSearch<Target> search(target_, leaf.sums.data(), whole, options_.min_rows_leaf, scratch_.data());
        if (bins.categorical) return search.categorical(cells, bins.n_bins);
        if (!draws_cuts(leaf)) return search.numeric(cells, bins.n_bins, present, present);
        const std::uint64_t key = random_bits(random_bits(leaf.key, kCutDraw), column);
        const auto draw = [key](index_t i) { return random_bits(key, i); };
        return search.numeric(cells, bins.n_bins, present, drawn_cuts(present, bins.n_bins, options_.max_cuts, draw));
    }

    // Histograms and best splits of one leaf (large < 0), or of two siblings, column by column in parallel. With
    // `subtract`, the large one's place holds the parent's histogram.
    void look(index_t small, index_t large, bool subtract) {
        const bool want_small = splittable(leaves_[small]);
        const bool want_large = large >= 0 && splittable(leaves_[large]);
        if (!want_small && !want_large) {
            if (large >= 0) drop_histogram(leaves_[large]);
            return;
        }
        if (is_direct(leaves_[large >= 0 ? large : small])) {
            if (want_small) look_directly(leaves_[small]);
            if (large >= 0) drop_histogram(leaves_[large]);
            if (want_large) look_directly(leaves_[large]);
            return;
        }
        const bool fill_small = want_small || subtract;
        const bool fill_large = want_large && !subtract;
        if (want_small && !is_direct(leaves_[small])) leaves_[small].histogram = pool_.acquire();
        if (fill_large) leaves_[large].histogram = pool_.acquire();
        std::int64_t* small_cells = place(leaves_[small], spare_small_);
        std::int64_t* large_cells = large >= 0 ? place(leaves_[large], spare_large_) : nullptr;
        if (fill_small) gather(leaves_[small]);
        if (fill_large) gather(leaves_[large]);

        std::vector<Split> small_splits(want_small ? columns_.size() : 0);
        std::vector<Split> large_splits(want_large ? columns_.size() : 0);
        const double small_whole = want_small ? target_.whole(leaves_[small].sums.data()) : 0;
        const double large_whole = want_large ? target_.whole(leaves_[large].sums.data()) : 0;
        const index_t n_filled = (fill_small ? leaves_[small].n() : 0) + (fill_large ? leaves_[large].n() : 0);
        // Siblings know the same columns to be constant, from their parent; those stay out of all that follows.
        varying(leaves_[small]);
        const auto n_columns = static_cast<index_t>(order_.size());
        std::vector<std::uint8_t> small_constant(order_.size(), 0);
        std::vector<std::uint8_t> large_constant(order_.size(), 0);
        const bool worth_threads = n_columns * (n_filled + 512) > 65536;
        const int threads = worth_threads ? threads_for(options_.n_threads, n_columns) : 1;
        const index_t together = std::max<index_t>(1, std::min(kTogether, n_columns / threads));
        const index_t n_tasks = (n_columns + together - 1) / together;
        #pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (index_t task = 0; task < n_tasks; ++task) {
            const index_t begin = task * together;
            const index_t end = std::min(begin + together, n_columns);
            if (fill_small) fill(leaves_[small], begin, end, small_cells);
            if (fill_large) fill(leaves_[large], begin, end, large_cells);
            std::vector<std::int64_t> scratch(static_cast<std::size_t>(4 * width_));
            for (index_t c = begin; c < end; ++c) {
                const index_t place = order_[c];
                const index_t j = columns_[place];
                if (subtract && want_large) subtract_histogram(table_, width_, j, small_cells, large_cells);
                if (want_small) {
                    small_splits[place] = search(leaves_[small], small_whole, j, small_cells, scratch);
                    small_constant[c] = is_constant(leaves_[small], j, small_cells);
                }
                if (want_large) {
                    large_splits[place] = search(leaves_[large], large_whole, j, large_cells, scratch);
                    large_constant[c] = is_constant(leaves_[large], j, large_cells);
                }
            }
        }
        for (index_t c = 0; c < n_columns; ++c) {
            if (small_constant[c]) leaves_[small].constant.add(order_[c]);
            if (large_constant[c]) leaves_[large].constant.add(order_[c]);
        }
        if (want_small) settle(leaves_[small], std::move(small_splits));
        if (want_large) settle(leaves_[large], std::move(large_splits));
        if (large >= 0 && !want_large) drop_histogram(leaves_[large]);
    }

    // Puts the places of the columns that are not known to be constant into order_, and the columns into live_.
    void varying(const Leaf& leaf) {
        order_.clear();
        live_.clear();
        for (index_t place = 0; place < static_cast<index_t>(columns_.size()); ++place) {
            if (leaf.constant.has(place)) continue;
            order_.push_back(place);
            live_.push_back(columns_[place]);
        }
    }

    bool is_constant(const Leaf& leaf, index_t column, const std::int64_t* cells) const {
        const std::int64_t* cell = cells + table_.first_bin[column] * width_;
        const std::int64_t* end = cells + table_.first_bin[column + 1] * width_;
        while (cell < end && target_.n_rows(cell) == 0) cell += width_;
        return cell == end || target_.n_rows(cell) == leaf.n();
    }

    void drop_histogram(Leaf& leaf) {
        pool_.release(leaf.histogram);
        leaf.histogram = -1;
    }

    std::int64_t* place(const Leaf& leaf, std::vector<std::int64_t>& spare) {
        return leaf.histogram >= 0 ? pool_.data(leaf.histogram) : spare.data();
    }

    void gather(const Leaf& leaf) {
        const int threads = threads_for(options_.n_threads, leaf.n() / 8192);
        #pragma omp parallel for schedule(static) num_threads(threads)
        for (index_t i = leaf.begin; i < leaf.end; ++i) targets_[i] = target_.row(rows_[i]);
    }

    void fill(const Leaf& leaf, index_t begin, index_t end, std::int64_t* cells) const {
        fill_histograms(table_, target_, live_.data() + begin, end - begin, rows_.data() + leaf.begin,
                        targets_ + leaf.begin, leaf.n(), cells);
    }

    Split search(const Leaf& leaf, double whole, index_t column, const std::int64_t* cells,
                 std::vector<std::int64_t>& scratch) const {
        const ColumnBins& bins = table_.columns[column];
        SplitSearch<Target> search(target_, leaf.sums.data(), whole, options_.min_rows_leaf, scratch.data());
        const std::int64_t* first = cells + table_.first_bin[column] * width_;
        return bins.categorical ? search.categorical(first, bins.n_bins) : search.numeric(first, bins.n_bins);
    }

    void settle(Leaf& leaf, std::vector<Split> splits) {
        rank(leaf, splits);
        if (options_.ledger == Ledger::model) leaf.splits = std::move(splits);
    }

    // Chooses the leaf's offer among the best splits of all columns, at the prices of its ledger.
    void rank(Leaf& leaf, const std::vector<Split>& splits) {
        begin_offers(leaf);
        for (std::size_t c = 0; c < splits.size(); ++c) consider(leaf, columns_[c], splits[c]);
        if (!options_.weighing.acceptable(leaf.offer)) leaf.offer = Offer{};
    }

    void begin_offers(Leaf& leaf) {
        leaf.offer = Offer{};
        due_.clear();  // a trade-off of zero asks no prices
        if (ledger_ && options_.weighing.tradeoff > 0) ledger_->due(rows_.data() + leaf.begin, leaf.n(), due_);
    }

    // Takes a split for the leaf's offer if it is better. After begin_offers.
    void consider(Leaf& leaf, index_t column, const Split& split) {
        if (!(split.gain > 0)) return;
        const Owned& owner = options_.ledger == Ledger::model ? owned_ : leaf.path;
        const double share = options_.ledger == Ledger::row && all_cover_ > 0
                                 ? target_.cover(leaf.sums.data()) / all_cover_
                                 : 1.0;
        Offer offer;
        offer.gain = split.gain;
        offer.feature = column;
        offer.charge = !ledger_ ? price(sheet_, column, owner) * share : due_.empty() ? 0.0 : due_[column] / all_weight_;
        offer.list_price = list_price(sheet_, column);
        if (!options_.weighing.better(offer, leaf.offer) || !affordable(owner, column)) return;
        leaf.offer = offer;
        leaf.split = split;
    }

    bool affordable(const Owned& owner, index_t feature) const {
        // What a row of the ledger cannot afford is missing to it.
        return ledger_ || std::isinf(options_.budget) || owner.has(feature) ||
               affords(sheet_, owner, feature, options_.budget);
    }

    // The heap's order: b comes before a. Equal offers: the older leaf.
    auto worse() const {
        return [this](index_t a, index_t b) {
            const Offer& x = leaves_[a].offer;
            const Offer& y = leaves_[b].offer;
            if (options_.weighing.better(y, x)) return true;
            if (options_.weighing.better(x, y)) return false;
            return leaves_[b].node < leaves_[a].node;
        };
    }

    void open(index_t place) {
        if (leaves_[place].offer.feature < 0) {
            // Under the model ledger a later purchase may make one of its splits worth while.
            if (options_.ledger == Ledger::row || leaves_[place].splits.empty()) drop_histogram(leaves_[place]);
            return;
        }
        heap_.push_back(place);
        std::push_heap(heap_.begin(), heap_.end(), worse());
    }

    void rank_anew() {
        heap_.clear();
        for (index_t place = 0; place < static_cast<index_t>(leaves_.size()); ++place) {
            Leaf& leaf = leaves_[place];
            if (leaf.node < 0 || leaf.splits.empty()) continue;
            rank(leaf, leaf.splits);
            if (leaf.offer.feature >= 0) heap_.push_back(place);
        }
        std::make_heap(heap_.begin(), heap_.end(), worse());
    }
};

}  // namespace farthing
