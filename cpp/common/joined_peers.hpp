// joined_peers: several pieces of work of one process, each with peers of its own, whose numbers travel together.
//
// Each piece runs in a thread, up to its next exchange. When all of them wait for one, their numbers are exchanged in
// one go: sums if some of them wait for a sum, and maxima once all wait for a maximum, which keeps trees in step. The
// pieces of every process take the same steps, so the n-th exchange has the same numbers on all of them.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "common/peers.hpp"
#include "common/views.hpp"

namespace farthing {

// Lets at most so many threads work at once; those that wait for an exchange do not count. Whoever makes it is inside.
class Gate {
public:
    explicit Gate(int n_threads) : n_free_(std::max(1, n_threads) - 1) {}

    void enter() {
        std::unique_lock<std::mutex> lock(mutex_);
        opened_.wait(lock, [this] { return n_free_ > 0; });
        --n_free_;
    }
    void leave() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            ++n_free_;
        }
        opened_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable opened_;
    int n_free_;
};

class JoinedPeers {
public:
    // Calls work(i, peers) for i from 0 to n - 1, all of them side by side. If one throws, the others end at their next
    // exchange, and the first exception is thrown here. The caller is inside the gate, and waits outside. Calls may be
    // nested, with the same gate.
    template <class Work>
    static void run(Peers& peers, index_t n, Gate& gate, Work&& work) {
        JoinedPeers joined(peers, n, gate);
        std::vector<std::thread> threads;
        threads.reserve(joined.members_.size());
        for (Member& member : joined.members_) {
            threads.emplace_back([&joined, &member, &work] {
                joined.gate_.enter();
                try {
                    work(member.number(), static_cast<Peers&>(member));
                } catch (...) {
                    joined.fail(std::current_exception());
                }
                joined.gate_.leave();
                joined.end();
            });
        }
        gate.leave();
        for (std::thread& thread : threads) thread.join();
        gate.enter();
        if (joined.error_) std::rethrow_exception(joined.error_);
    }

private:
    enum class Kind { none, sum, largest };

    class Member final : public Peers {
    public:
        Member(JoinedPeers& joined, index_t number) : joined_(&joined), number_(number) {}

        index_t number() const { return number_; }
        index_t size() const override { return joined_->peers_.size(); }
        index_t n_rows() const override { return joined_->peers_.n_rows(); }
        void add(std::int64_t* numbers, index_t n) override { exchange(Kind::sum, numbers, nullptr, n); }
        void largest(double* numbers, index_t n) override { exchange(Kind::largest, nullptr, numbers, n); }

    private:
        friend class JoinedPeers;
        JoinedPeers* joined_;
        index_t number_;
        Kind kind_ = Kind::none;  // what it waits for
        std::int64_t* integers_ = nullptr;
        double* floats_ = nullptr;
        index_t n_ = 0;

        void exchange(Kind kind, std::int64_t* integers, double* floats, index_t n) {
            joined_->gate_.leave();
            joined_->wait(*this, [&] {
                kind_ = kind;
                integers_ = integers;
                floats_ = floats;
                n_ = n;
            });
            joined_->gate_.enter();
            joined_->check();
        }
    };

    Peers& peers_;
    Gate& gate_;
    std::vector<Member> members_;
    std::mutex mutex_;
    std::condition_variable exchanged_;
    index_t n_running_;      // members that have not ended
    index_t n_waiting_ = 0;  // of these
    std::exception_ptr error_;

    JoinedPeers(Peers& peers, index_t n, Gate& gate) : peers_(peers), gate_(gate), n_running_(n) {
        for (index_t i = 0; i < n; ++i) members_.emplace_back(*this, i);
    }

    // IN  bring(): enters the numbers of a member.
    template <class Bring>
    void wait(const Member& member, Bring&& bring) {
        std::unique_lock<std::mutex> lock(mutex_);
        if (error_) return;
        bring();
        ++n_waiting_;
        if (n_waiting_ == n_running_) exchange();
        exchanged_.wait(lock, [&] { return member.kind_ == Kind::none || error_; });
    }

    // A member has ended; the others may have waited for it alone.
    void end() {
        const std::lock_guard<std::mutex> lock(mutex_);
        --n_running_;
        if (n_waiting_ > 0 && n_waiting_ == n_running_) exchange();
    }

    void fail(std::exception_ptr error) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!error_) error_ = std::move(error);
        exchanged_.notify_all();
    }

    void check() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (error_) std::rethrow_exception(error_);
    }

    // All members that run wait: nobody else touches their numbers.
    void exchange() {
        if (error_) return;
        const bool sums = std::any_of(members_.begin(), members_.end(),
                                      [](const Member& member) { return member.kind_ == Kind::sum; });
        gate_.enter();
        try {
            if (sums) {
                exchange_all<std::int64_t>(Kind::sum, &Member::integers_,
                                           [this](std::int64_t* all, index_t n) { peers_.add(all, n); });
            } else {
                exchange_all<double>(Kind::largest, &Member::floats_,
                                     [this](double* all, index_t n) { peers_.largest(all, n); });
            }
        } catch (...) {
            error_ = std::current_exception();
        }
        gate_.leave();
        exchanged_.notify_all();
    }

    // Exchanges the numbers of one kind: those of all members, one after another.
    template <class T, class Exchange>
    void exchange_all(Kind kind, T* Member::*numbers, Exchange&& exchange) {
        std::vector<T> all;
        for (const Member& member : members_) {
            if (member.kind_ == kind) all.insert(all.end(), member.*numbers, member.*numbers + member.n_);
        }
        exchange(all.data(), static_cast<index_t>(all.size()));
        const T* from = all.data();
        for (Member& member : members_) {
            if (member.kind_ != kind) continue;
            std::copy(from, from + member.n_, member.*numbers);
            from += member.n_;
            member.kind_ = Kind::none;
            --n_waiting_;
        }
    }
};

}  // namespace farthing
