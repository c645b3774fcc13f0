"""Logs of evaluation harnesses, read as they are: no harness is needed."""

from __future__ import annotations

from .detect import TIDY
from .findings import LogFault, LogFinding
from .reading import FORMATS, Log, find_logs, read_log, read_logs
from .runs import LogBatch, LogRun, StatedScore, stated_scores
from .verify import Sums

__all__ = [
    "FORMATS",
    "TIDY",
    "Log",
    "LogBatch",
    "LogFault",
    "LogFinding",
    "LogRun",
    "StatedScore",
    "Sums",
    "find_logs",
    "read_log",
    "read_logs",
    "stated_scores",
]
