// Tests of common/exact_sum.hpp and common/peers.hpp: sums that do not depend on order, nor on who adds them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "common/counter_rng.hpp"
#include "common/exact_sum.hpp"
#include "common/peers.hpp"
#include "common/views.hpp"
#include "tests/check.hpp"

namespace farthing::tests {

using Digits = std::array<std::int64_t, static_cast<std::size_t>(ExactSum::kLength)>;

inline Digits digits_of(const std::vector<double>& values) {
    ExactSum sum;
    sum.add(Span<const double>{values.data(), static_cast<index_t>(values.size())});
    return sum.digits();
}

// Of all magnitudes and both signs.
inline std::vector<double> doubles_of_any_size(std::uint64_t n) {
    std::vector<double> values;
    for (std::uint64_t i = 0; i < n; ++i) {
        const double unit = static_cast<double>(random_bits(1, i) >> 11) * 0x1p-53;
        values.push_back(std::ldexp(unit - 0.5, static_cast<int>(random_bits(2, i) % 2000) - 1000));
    }
    return values;
}

inline void exact_sums_do_not_depend_on_the_order() {
    std::vector<double> values = doubles_of_any_size(500);
    const Digits forward = digits_of(values);
    std::reverse(values.begin(), values.end());
    CHECK(digits_of(values) == forward);
}

inline void opposite_values_leave_nothing() {
    std::vector<double> values = doubles_of_any_size(200);
    const std::size_t n = values.size();
    for (std::size_t i = 0; i < n; ++i) values.push_back(-values[i]);
    CHECK(digits_of(values) == Digits{});
}

inline void the_least_double_is_the_lowest_bit() {
    const Digits digits = digits_of({std::numeric_limits<double>::denorm_min()});
    CHECK(digits[0] == 1 && std::count(digits.begin(), digits.end(), 0) == ExactSum::kLength - 1);
}

inline void special_values_are_counted() {
    const double infinity = std::numeric_limits<double>::infinity();
    const Digits digits = digits_of({infinity, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()});
    const auto after = static_cast<std::size_t>(ExactSum::kDigits);
    CHECK(digits[after] == 2 && digits[after + 1] == 1 && digits[after + 2] == 1);
}

// A process with one peer, whose numbers are known.
class OnePeer final : public Peers {
public:
    explicit OnePeer(std::vector<std::int64_t> theirs) : theirs_(std::move(theirs)) {}
    index_t size() const override { return 2; }
    index_t n_rows() const override { return 70; }
    void add(std::int64_t* numbers, index_t n) override {
        for (index_t i = 0; i < n; ++i) numbers[i] += theirs_[static_cast<std::size_t>(i)];
    }
    void largest(double* numbers, index_t n) override {
        for (index_t i = 0; i < n; ++i)
            numbers[i] = std::max(numbers[i], static_cast<double>(theirs_[static_cast<std::size_t>(i)]));
    }

private:
    std::vector<std::int64_t> theirs_;
};

inline void peers_complete_what_is_here() {
    std::vector<std::int64_t> numbers{1, -2};
    add_up(nullptr, numbers);
    CHECK(numbers == (std::vector<std::int64_t>{1, -2}) && all_rows(nullptr, 30) == 30);
    OnePeer peer({5, 7});
    add_up(&peer, numbers);
    CHECK(numbers == (std::vector<std::int64_t>{6, 5}));
    CHECK(all_rows(&peer, 30) == 70 && sum_over(&peer, 3) == 8 && sum_over(nullptr, 3) == 3);
    CHECK(largest_of(&peer, 2.5) == 5.0 && largest_of(&peer, 5.5) == 5.5 && largest_of(nullptr, 2.5) == 2.5);
}

inline void two_parts_add_up_to_the_whole() {
    const std::vector<double> values = doubles_of_any_size(101);
    const std::vector<double> ours(values.begin(), values.begin() + 40), theirs(values.begin() + 40, values.end());
    const Digits other = digits_of(theirs);
    OnePeer peer({other.begin(), other.end()});
    const Digits mine = digits_of(ours);
    std::vector<std::int64_t> sum(mine.begin(), mine.end());
    add_up(&peer, sum);
    // Digits of a sum may hold a carry, so the two are compared as numbers: both carried through.
    const Digits whole = digits_of(values);
    std::int64_t over = 0;
    bool same = true;
    for (std::size_t i = 0; i < static_cast<std::size_t>(ExactSum::kDigits); ++i) {
        const std::int64_t difference = sum[i] - whole[i] + over;
        same = same && (difference & 0xffffffff) == 0;
        over = difference >> 32;
    }
    CHECK(same && over == 0);
}

inline double rounded_sum(const std::vector<double>& values, Peers* peers = nullptr) {
    ExactSum sum;
    sum.add(Span<const double>{values.data(), static_cast<index_t>(values.size())});
    return sum.rounded(peers);
}

inline void sums_are_rounded_once() {
    const double infinity = std::numeric_limits<double>::infinity();
    const double least = std::numeric_limits<double>::denorm_min();
    CHECK(rounded_sum({}) == 0 && rounded_sum({0.1, 0.2}) == 0.1 + 0.2 && rounded_sum({1e100, 1.0, -1e100}) == 1);
    // Halfway between two doubles: to the even one, unless any bit below decides.
    CHECK(rounded_sum({1.0, 0x1p-53}) == 1 && rounded_sum({1.0, 0x1p-53, least}) == 1 + 0x1p-52);
    CHECK(rounded_sum({1 + 0x1p-52, 0x1p-53}) == 1 + 0x1p-51 && rounded_sum({-1.0, -0x1p-53, -least}) == -1 - 0x1p-52);
    CHECK(rounded_sum({least, least, -3 * least}) == -least && rounded_sum({0x1p-1022, -least}) == 0x1p-1022 - least);
    CHECK(rounded_sum({0x1.fffffffffffffp1023, 0x1p970}) == infinity && rounded_sum({infinity, 1.0}) == infinity);
    CHECK(std::isnan(rounded_sum({infinity, -infinity})) && rounded_sum({-infinity}) == -infinity);
    for (const double value : doubles_of_any_size(300)) CHECK(rounded_sum({value}) == value);
}

inline void rounded_sums_of_parts_are_those_of_the_whole() {
    const std::vector<double> values = doubles_of_any_size(101);
    const Digits other = digits_of({values.begin() + 40, values.end()});
    OnePeer peer({other.begin(), other.end()});
    CHECK(rounded_sum({values.begin(), values.begin() + 40}, &peer) == rounded_sum(values));
}

inline void test_exact_sum() {
    RUN(sums_are_rounded_once);
    RUN(rounded_sums_of_parts_are_those_of_the_whole);
    RUN(exact_sums_do_not_depend_on_the_order);
    RUN(opposite_values_leave_nothing);
    RUN(the_least_double_is_the_lowest_bit);
    RUN(special_values_are_counted);
    RUN(peers_complete_what_is_here);
    RUN(two_parts_add_up_to_the_whole);
}

}  // namespace farthing::tests
