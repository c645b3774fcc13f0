"""The environment in which the tests run the real harnesses, apart from benchprism's own.

It lies in benchprism's cache folder under the hash of its lock file, and is made at first use. Some
of the harnesses' requirements are published as sources only, so pip may build them.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from benchprism.annotate.review.server.cache import cache_folder

LOCK = Path(__file__).with_name("requirements.lock")
_TOKENS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
"""The address by whose hash tiktoken looks for the table in its cache."""
_UNPACK = (
    "import gzip, importlib.resources as r, sys;"
    "sys.stdout.buffer.write(gzip.decompress("
    "(r.files('bpe_openai') / 'data/o200k_base.tiktoken.gz').read_bytes()))"
)


def harness_environment() -> Path:
    """The environment's folder, made where it is not there; several processes make it once.

    Raises:
        RuntimeError: it cannot be made; the sentence has the last words of pip.
    """
    cache = cache_folder()
    digest = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
    folder = cache / f"harnesses-{digest}-python{sys.version_info[0]}.{sys.version_info[1]}"
    if folder.exists():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _make(folder)
    return folder


def _make(folder: Path) -> None:
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.made-", dir=folder.parent))
    try:
        venv.create(new, with_pip=True, symlinks=True)
        python = new / "bin" / "python"
        exact = ["--quiet", "--no-input", "--no-deps", "--require-hashes"]
        _run([python, "-I", "-m", "pip", "install", *exact, "-r", LOCK])
        _run([python, "-I", "-c", "import bpe_openai, inspect_ai, lm_eval"])
        table = _run([python, "-I", "-c", _UNPACK])
        tokens = new / "tiktoken"
        tokens.mkdir()
        (tokens / hashlib.sha1(_TOKENS.encode()).hexdigest()).write_bytes(table)
        new.chmod(0o755)
        new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _run(command: list[str | Path]) -> bytes:
    ran = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "CI": ""})
    if ran.returncode:
        raise RuntimeError(f"{command[0]}: {ran.stderr.decode(errors='replace')[-600:]}")
    return ran.stdout
