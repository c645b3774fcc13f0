"""A Ray cluster, joined for as long as it is needed; Ray is imported here and nowhere else."""

from __future__ import annotations

import logging
import socket
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from math import ceil
from typing import Any

from ...records.errors import EndpointError, InputError

Row = dict[str, Any]
Pipeline = Callable[[Any], Any]
"""Makes a dataset out of a dataset."""


_KNOCK_SECONDS = 5.0


class Cluster:
    """A cluster that this process has joined."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._data = import_module("ray.data")
        context = self._data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        self._context = context
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)

    @property
    def processors(self) -> int:
        """CPUs of the whole cluster."""
        return int(self._ray.cluster_resources().get("CPU", 0))

    def map(
        self, rows: Sequence[Row], pipeline: Pipeline, *, rows_at_once: int, forgiving: bool
    ) -> Iterator[Row]:
        """Send rows through a pipeline; yield what comes back, in any order.

        Args:
            rows: The rows.
            pipeline: What is done with them.
            rows_at_once: Rows that a worker gets at once.
            forgiving: Whether rows are passed over when their worker dies.

        Raises:
            EndpointError: the cluster does not do the work.
        """
        self._context.max_errored_blocks = -1 if forgiving else 0
        blocks = ceil(len(rows) / rows_at_once)
        dataset = self._data.from_items([*rows], override_num_blocks=blocks)
        try:
            yield from pipeline(dataset).iter_rows()
        except self._ray.exceptions.RayError as error:
            if not forgiving:
                raise _unable(error) from error

    def actors(self, worker: type, work: object, *, workers: int, rows_at_once: int) -> Pipeline:
        """A pipeline of actors. One that dies is started again; its rows are not repeated."""
        warnings.filterwarnings("ignore", message=".*ray_remote_args.*")
        pool = self._data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=2)
        return lambda dataset: dataset.map_batches(
            worker,
            fn_constructor_args=(work,),
            batch_size=rows_at_once,
            compute=pool,
            num_cpus=1,
            max_restarts=-1,
            max_task_retries=0,
        )


@contextmanager
def joined(address: str) -> Iterator[Cluster]:
    """Join the cluster at an address, and leave it afterwards.

    Args:
        address: ``auto``, ``host:port`` or ``ray://host:port``; ``local`` starts one here.

    Raises:
        InputError: Ray is not installed.
        EndpointError: there is no cluster.
    """
    try:
        ray: Any = import_module("ray")
    except ImportError as error:
        raise InputError(
            "Ray is not installed",
            wanted="it, for --ray",
            mend="pip install 'benchprism[ray]', on this machine and on the cluster's",
        ) from error
    try:
        _knock(address)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        raise EndpointError(
            f"no Ray cluster at {address!r} ({_first_line(error)})",
            wanted="the address of a running cluster, or 'auto' on one of its machines",
            mend="start one with 'ray start --head', or annotate without --ray",
        ) from error
    try:
        cluster = Cluster(ray)
        if not cluster.processors:
            raise _unable(ValueError("it has no CPU"))
        yield cluster
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Find out within seconds whether somebody listens; Ray itself takes minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_SECONDS).close()


def _unable(error: Exception) -> EndpointError:
    return EndpointError(
        f"the Ray cluster does not do the work ({_first_line(error)})",
        wanted="workers with benchprism installed and a free CPU each",
        mend="look at 'ray status' and the workers' logs; what came is saved",
    )


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1][:200] if lines else ''}"
