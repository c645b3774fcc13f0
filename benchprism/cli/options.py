"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ProjectOption = Annotated[
    Path,
    typer.Option("--project", "-p", help="The project folder, or a folder inside it."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
HERE = Path()
