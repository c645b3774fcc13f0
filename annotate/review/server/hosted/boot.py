"""Run one module of this folder where benchprism is not installed: ``python -I boot.py MODULE``.

The folder becomes a package under its own name, after everything that is installed.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    folder = Path(__file__).resolve().parent
    sys.path.append(str(folder.parent))
    runpy.run_module(f"{folder.name}.{sys.argv[1]}", run_name="__main__", alter_sys=True)
