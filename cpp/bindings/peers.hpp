// peers: Peers whose sums a Python object makes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "bindings/arrays.hpp"
#include "common/peers.hpp"
#include "common/views.hpp"

namespace farthing {

// The object has the attributes `size` and `n_rows`, and the methods `sum` and `largest`, from an array to an array of the same length.
// They may raise, in the thread that grows the tree.
class PyPeers final : public Peers {
public:
    explicit PyPeers(nb::object exchange)
        : exchange_(std::move(exchange)), size_(nb::cast<index_t>(exchange_.attr("size"))),
          n_rows_(nb::cast<index_t>(exchange_.attr("n_rows"))) {}
    ~PyPeers() override {
        const nb::gil_scoped_acquire locked;
        exchange_.reset();
    }
    PyPeers(const PyPeers&) = delete;
    PyPeers& operator=(const PyPeers&) = delete;

    index_t size() const override { return size_; }
    index_t n_rows() const override { return n_rows_; }
    void add(std::int64_t* numbers, index_t n) override { exchange("sum", numbers, n); }
    void largest(double* numbers, index_t n) override { exchange("largest", numbers, n); }

private:
    nb::object exchange_;
    index_t size_;
    index_t n_rows_;

    template <class T>
    void exchange(const char* method, T* numbers, index_t n) {
        const nb::gil_scoped_acquire locked;
        const auto length = static_cast<std::size_t>(n);
        // A view: valid during the call.
        NumpyArray<T> given(numbers, {length}, nb::handle());
        const auto made = nb::cast<Vector<T>>(exchange_.attr(method)(given.cast(nb::rv_policy::reference)));
        require(made.shape(0) == length, "peers exchanged arrays of different lengths");
        std::copy(made.data(), made.data() + n, numbers);
    }
};

// Null for None: a process alone.
inline std::unique_ptr<PyPeers> peers_of(const nb::object& exchange) {
    return exchange.is_none() ? nullptr : std::make_unique<PyPeers>(exchange);
}

}  // namespace farthing
