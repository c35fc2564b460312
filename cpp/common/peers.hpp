// peers: the processes that grow one model together, each on rows of its own. All of them take the same steps and
// decide from the same sums, so that no decision has to be sent. A null pointer stands for a process alone.
#pragma once

#include <cstdint>
#include <vector>

#include "common/views.hpp"

namespace farthing {

class Peers {
public:
    virtual ~Peers() = default;

    virtual index_t size() const = 0;
    virtual index_t n_rows() const = 0;  // of the table, of all peers
    // Replaces each number by its sum, or its maximum, over all peers. Every peer calls these in the same order.
    virtual void add(std::int64_t* numbers, index_t n) = 0;
    virtual void largest(double* numbers, index_t n) = 0;
};

inline void add_up(Peers* peers, std::vector<std::int64_t>& numbers) {
    if (peers) peers->add(numbers.data(), static_cast<index_t>(numbers.size()));
}

// The rows of a table, of which `n_here` are in this process.
inline index_t all_rows(const Peers* peers, index_t n_here) { return peers ? peers->n_rows() : n_here; }

inline index_t sum_over(Peers* peers, index_t number) {
    if (peers) peers->add(&number, 1);
    return number;
}

inline double largest_of(Peers* peers, double number) {
    if (peers) peers->largest(&number, 1);
    return number;
}

}  // namespace farthing
