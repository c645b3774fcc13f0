from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from benchprism.annotate.review.server.claim import claimed, is_claimed

HOLD = (
    "import sys, time; from pathlib import Path\n"
    "from benchprism.annotate.review.server.claim import claimed\n"
    "with claimed(Path(sys.argv[1])) as handle:\n"
    "    print(handle is not None, flush=True); sys.stdin.read()\n"
)


def test_one_holds_a_claim_and_its_death_gives_it_back(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    assert not is_claimed(lock)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"True\n"
        assert is_claimed(lock)
        with claimed(lock) as handle:
            assert handle is None
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert not is_claimed(lock)
    with claimed(lock) as handle:
        assert handle is not None
        assert is_claimed(lock)
