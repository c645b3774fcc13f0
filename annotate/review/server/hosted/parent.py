"""End with the process that started this one, however it ended.

The parent holds the other end of this process's standard input and writes nothing more to it: when
it dies, even by SIGKILL, the system closes that end.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


def when_the_parent_ends(act: Callable[[], object]) -> None:
    """Call ``act`` in a thread of its own as soon as the parent is gone."""

    def watch() -> None:
        while os.read(0, 1024):
            continue
        act()

    threading.Thread(target=watch, name="parent", daemon=True).start()
