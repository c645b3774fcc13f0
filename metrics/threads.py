"""Threads: matrix products on one, so that work is shared out by blocks of replicates alone."""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager, nullcontext


def one_blas_thread() -> AbstractContextManager[object]:
    """Hold numpy's BLAS to one thread while the context is open.

    The products here are many and small. BLAS threads wait for one another at each of them: on two
    cores they made the same work take five times as long.
    """
    try:
        limits = importlib.import_module("threadpoolctl").threadpool_limits
    except ModuleNotFoundError:
        return nullcontext()
    context: AbstractContextManager[object] = limits(limits=1, user_api="blas")
    return context
