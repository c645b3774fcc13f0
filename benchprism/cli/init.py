"""``benchprism init``: a new project folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchprism.cli.output import say
from benchprism.cli.schema import document_schema
from benchprism.project import PROJECT_FILE
from benchprism.records.errors import InputError
from benchprism.records.files import write_text


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(init)


def init(
    folder: Annotated[Path, typer.Argument(help="The folder to make.", metavar="DIR")],
) -> None:
    """Make a project folder with a commented benchprism.yaml, example criteria and JSON Schemas.

    Example: benchprism init my-audit
    """
    import json
    import shlex
    from importlib.resources import files

    if (folder / PROJECT_FILE).exists():
        raise InputError(
            f"{folder / PROJECT_FILE} is there already",
            wanted="a folder without a project",
            mend="choose another folder, or work in this one",
        )
    name = folder.resolve().name
    if not name.isprintable():  # so are bytes that are not UTF-8
        raise InputError(
            f"the folder's name {name!r}",
            wanted="a name of letters, digits and signs",
            mend="choose another name",
        )
    quoted = json.dumps(name, ensure_ascii=False)  # JSON's text is YAML's
    for template in files("benchprism.cli").joinpath("project").iterdir():
        text = template.read_text(encoding="utf-8").replace('"PROJECT_NAME"', quoted)
        target = folder / ("criteria" if template.name == "reasoning.yaml" else "") / template.name
        write_text(target, text)
    for document in ("project", "criteria", "models"):
        text = json.dumps(document_schema(document), ensure_ascii=False, indent=2)
        write_text(folder / "schemas" / f"{document}.json", text + "\n")
    say(f"Made {folder}. Next: cd {shlex.quote(str(folder))}; benchprism items add mmlu")
