"""Threads: matrix products on one, so that work is shared out by blocks of replicates alone."""

from __future__ import annotations

from threadpoolctl import threadpool_limits


def one_blas_thread() -> threadpool_limits:
    """Hold numpy's BLAS to one thread while the context is open.

    The products here are many and small. BLAS threads wait for one another at each of them: on two
    cores they made the same work take five times as long.
    """
    return threadpool_limits(limits=1, user_api="blas")
