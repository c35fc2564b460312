// solved_tables: what is known of sub-tables: rows, what they own, and the depth that is left.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/views.hpp"

namespace farthing {

struct Solution {
    double value = 0;          // the least cost, or a bound below it
    bool exact = false;
    std::int32_t place = -1;   // the test of the root of the first best tree: its column, -1 for a leaf
    std::int32_t test = 0;
};

// Rows are compared in full: no two sub-tables are taken for the same.
class SolvedTables {
public:
    struct Key {
        std::vector<std::uint64_t> rows;  // a bit for each row
        index_t owned = 0;
        int depth = 0;

        bool operator==(const Key& other) const {
            return owned == other.owned && depth == other.depth && rows == other.rows;
        }
    };

    // Nothing is added once about `most_bytes` are in use.
    explicit SolvedTables(std::size_t most_bytes) : most_bytes_(most_bytes) {}

    bool find(const Key& key, Solution& found) {
        Part& part = part_of(key);
        const std::lock_guard<std::mutex> lock(part.mutex);
        const auto entry = part.solutions.find(key);
        if (entry == part.solutions.end()) return false;
        found = entry->second;
        return true;
    }

    void add(Key&& key, const Solution& solution) {
        Part& part = part_of(key);
        const std::size_t bytes = sizeof(Key) + sizeof(Solution) + 32 + key.rows.size() * sizeof(std::uint64_t);
        const std::lock_guard<std::mutex> lock(part.mutex);
        const auto entry = part.solutions.find(key);
        if (entry != part.solutions.end()) {
            Solution& known = entry->second;
            if (!known.exact && (solution.exact || solution.value > known.value)) known = solution;
        } else if (bytes_.load(std::memory_order_relaxed) + bytes <= most_bytes_) {
            bytes_.fetch_add(bytes, std::memory_order_relaxed);
            part.solutions.emplace(std::move(key), solution);
        }
    }

private:
    struct Hash {
        std::size_t operator()(const Key& key) const {
            std::uint64_t hash = static_cast<std::uint64_t>(key.owned) * 64 + static_cast<std::uint64_t>(key.depth);
            for (const std::uint64_t word : key.rows) {
                hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
                hash ^= hash >> 32;
            }
            return hash;
        }
    };
    struct Part {
        std::mutex mutex;
        std::unordered_map<Key, Solution, Hash> solutions;
    };

    std::size_t most_bytes_;
    std::atomic<std::size_t> bytes_{0};
    std::array<Part, 32> parts_;

    Part& part_of(const Key& key) { return parts_[(Hash()(key) >> 40) % parts_.size()]; }
};

}  // namespace farthing
