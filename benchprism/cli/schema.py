"""``benchprism schema``: the JSON Schema of each YAML file that a user writes."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer

from benchprism.cli.output import print_json, print_table
from benchprism.records.errors import InputError, suggestion

FILES = {
    "project": ("benchprism.yaml", "benchprism.project", "ProjectSettings"),
    "catalogue": ("a catalogue of criteria", "benchprism.prompts.library", "CatalogueFile"),
    "criteria": ("criteria/*.yaml", "benchprism.compose.language.criteria", "Criteria"),
    "models": ("models.yaml", "benchprism.records.results.models", "ModelsFile"),
    "gold": ("a mapping of gold labels", "benchprism.annotate.gold.mapping", "GoldMapping"),
}
"""Name to what the file is, and the module and class of its model."""


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(schema)


def schema(
    name: Annotated[
        str | None,
        typer.Argument(help=f"Which file: {', '.join(FILES)}.", metavar="NAME", show_default=False),
    ] = None,
) -> None:
    """Print the JSON Schema of a file that you write, for an editor or a check of your own.

    Without a name, list the files. An editor with a YAML language server completes and checks a
    file that begins with "# yaml-language-server: $schema=SCHEMA.json".

    Example: benchprism schema catalogue > catalogue.schema.json
    """
    if name is None:
        print_table(["name", "file"], [(name, file) for name, (file, _, _) in FILES.items()])
        return
    if name not in FILES:
        raise InputError(
            f"no file is called {name!r}", wanted="a known name", mend=suggestion(name, FILES)
        )
    print_json(document_schema(name))


def document_schema(name: str) -> dict[str, Any]:
    """Build the JSON Schema of one kind of file."""
    _, module, model = FILES[name]
    made: dict[str, Any] = getattr(import_module(module), model).model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
