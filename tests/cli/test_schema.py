from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from benchprism.cli.main import app
from benchprism.cli.schema import FILES
from benchprism.project import ProjectSettings
from benchprism.records.documents import parse_document
from benchprism.records.errors import InputError

FOLDER = files("benchprism.cli").joinpath("project")
SHIPPED = {
    "project": FOLDER.joinpath("benchprism.yaml"),
    "catalogue": files("benchprism.prompts").joinpath("core.yaml"),
    "criteria": FOLDER.joinpath("reasoning.yaml"),
    "models": FOLDER.joinpath("models.yaml"),
    "gold": files("benchprism.annotate.gold").joinpath("mmlu_redux.yaml"),
}


def schema(name: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["schema", name], catch_exceptions=False)
    assert result.exit_code == 0
    return dict(json.loads(result.stdout))


@pytest.mark.parametrize("name", FILES)
def test_the_shipped_files_fit_their_schema(name: str) -> None:
    document = yaml.safe_load(SHIPPED[name].read_text(encoding="utf-8"))
    made = schema(name)
    jsonschema.Draft202012Validator.check_schema(made)
    jsonschema.validate(json.loads(json.dumps(document)), made)


@pytest.mark.parametrize("name", FILES)
def test_an_unknown_key_does_not_fit(name: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"unknwon": 1}, schema(name))


def test_the_fields_are_explained() -> None:
    settings = schema("project")["$defs"]["AnnotatorSettings"]["properties"]
    assert all(field.get("description") for field in settings.values())


def test_without_a_name_the_files_are_listed() -> None:
    result = CliRunner().invoke(app, ["schema"])
    assert all(name in result.stdout for name in FILES)


def test_an_unknown_name_is_one_sentence() -> None:
    with pytest.raises(InputError, match="did you mean 'catalogue'"):
        CliRunner().invoke(app, ["schema", "catalog"], catch_exceptions=False)


def test_the_files_that_init_writes_name_schemas_that_are_there(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["init", str(tmp_path / "p")], catch_exceptions=False)
    assert result.exit_code == 0
    named = {}
    for path in (tmp_path / "p").rglob("*.yaml"):
        start, _, schema_path = path.read_text(encoding="utf-8").partition("\n")[0].partition("=")
        assert start == "# yaml-language-server: $schema"
        named[path.name] = json.loads((path.parent / schema_path).read_text(encoding="utf-8"))
    assert named == {
        "benchprism.yaml": schema("project"),
        "reasoning.yaml": schema("criteria"),
        "models.yaml": schema("models"),
    }


def test_the_examples_of_a_new_project_file_are_settings_that_it_may_have() -> None:
    text = SHIPPED["project"].read_text(encoding="utf-8")
    example = re.compile(r"^( *)# ( *[a-z_0-9-]+:(?: [^A-Z].*)?)$", re.M)
    opened = example.sub(r"\1\2", text.partition("catalogue: core")[2])
    settings = parse_document(f"project: p\n{opened}", ProjectSettings, name="benchprism.yaml")
    main, second = settings.annotators["main"], settings.annotators["second"]
    assert (main.repeats, main.may_abstain, main.items_per_call) == (2, True, 5)
    assert second.prompt == "prompts/mine"
    assert settings.consolidation.level.ties == "missing"
    assert settings.consolidation.label.min_annotators == 2
    assert (settings.budget, settings.confirm_above) == (20.0, 1.0)
