"""The process that does Argilla's jobs, such as settling records after a change of overlap."""

from __future__ import annotations

import os

from argilla_server.jobs.queues import DEFAULT_QUEUE, HIGH_QUEUE, REDIS_CONNECTION
from rq import SimpleWorker

from .parent import when_the_parent_ends
from .search import engine  # noqa: F401  registers the engine that the jobs ask for

if __name__ == "__main__":
    when_the_parent_ends(lambda: os._exit(0))
    worker = SimpleWorker([HIGH_QUEUE, DEFAULT_QUEUE], connection=REDIS_CONNECTION)
    worker.work(logging_level="WARNING")
