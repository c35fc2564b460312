"""Matrix products in one thread, while several threads of Python ask for it."""

import threading

from threadpoolctl import ThreadpoolController

from farthing.learning.blas_threads import one_blas_thread


def n_blas_threads():
    found = [one["num_threads"] for one in ThreadpoolController().info() if one["user_api"] == "blas"]
    return max(found, default=1)


def test_the_limit_holds_until_the_last_thread_has_left():
    before = n_blas_threads()
    inside, leave = threading.Event(), threading.Event()

    def stay():
        with one_blas_thread():
            inside.set()
            leave.wait(30)

    other = threading.Thread(target=stay)
    with one_blas_thread():
        other.start()
        assert inside.wait(30)
    # The first to ask has left, and would have lifted the limit.
    assert n_blas_threads() == 1
    leave.set()
    other.join()
    assert n_blas_threads() == before
