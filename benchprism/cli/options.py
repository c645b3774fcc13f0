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
BenchmarkOption = Annotated[
    list[str] | None,
    typer.Option("--benchmark", "-b", help="Only this benchmark; may be given again."),
]
PartOption = Annotated[
    list[str] | None, typer.Option(help="Only this part of a benchmark; may be given again.")
]
OnlyOption = Annotated[
    Path | None, typer.Option(help="Only the items whose ids this file lists, one a line.")
]
LimitOption = Annotated[
    int | None, typer.Option(min=1, help="At most so many items of each benchmark.")
]
