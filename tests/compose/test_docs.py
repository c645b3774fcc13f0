"""Every example in docs/criteria.md is composed as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
import yaml

from benchprism.annotate.attribute_table import VALUE_TYPES
from benchprism.annotate.computed.attributes import COMPUTED_SCHEMA, computed_attributes
from benchprism.annotate.review.judging.gate import Judgement
from benchprism.compose.composer import compose
from benchprism.compose.evidence import Evidence
from benchprism.compose.language.criteria import Criteria
from benchprism.compose.language.errors import located
from benchprism.compose.language.extends import read_criteria
from benchprism.compose.locking.lock import lock
from benchprism.compose.store import Subset, read_subset, write_subset
from benchprism.metrics.scorecard import Model
from benchprism.prompts.catalogue import Attribute
from benchprism.prompts.library import load_catalogue
from benchprism.records.items.record import Item, content_hashes, items_table
from benchprism.records.results.matrix import Outcomes

DOCS = Path(__file__).parents[2] / "docs" / "criteria.md"
EXAMPLES = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
CORE = load_catalogue("core")
GATE = {
    attribute.id: Judgement(
        attribute=attribute.id, verdict="usable", sentence="", alpha=0.9, interval=(0.8, 1.0),
        items=60, meaning="",
    )
    for attribute in CORE
}  # fmt: skip
PARTS = {"mmlu": ["virology", "astronomy"], "gsm8k": [""], "arc_challenge": [""]}
MODELS = tuple(
    Model(f"{size}-{family.lower()}", family, place)
    for family in "ABC"
    for place, size in enumerate(("small", "mid", "large"))
)


def name_of(example: str) -> str:
    [name] = re.findall(r"^name: (.+)$", example, re.MULTILINE)
    return str(name)


def item(benchmark: str, part: str, row: int, rng: np.random.Generator) -> Item:
    words = " ".join(rng.choice(["river", "iron", "seven", "light", "left"], rng.integers(8, 70)))
    question, choices = f"Question {row} of {benchmark}: {words}?", ("yes", "no")
    return Item(
        "/".join(filter(None, (benchmark, part, "test", str(row)))), benchmark, part, "test", row,
        "r", question, "", choices, 0, "yes", (), "multiple_choice", (), "{}",
        *content_hashes(question, "", choices),
    )  # fmt: skip


def values(attribute: Attribute, number: int, rng: np.random.Generator) -> list[Any]:
    known: list[Any] = [*attribute.values]
    picked = [known[int(place * len(known))] for place in rng.beta(2, 1, number)]
    if attribute.id == "answerability":
        picked = ["ok"] * number
    if attribute.type == "labels":
        picked = [[value] for value in picked]
    return [None if rng.random() < 0.01 else value for value in picked]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(0)
    items = [item(b, part, row, rng) for b, parts in PARTS.items() for part in parts
             for row in range(150)]  # fmt: skip
    found = items_table(items)
    for name, column in zip(COMPUTED_SCHEMA.names, computed_attributes(found).columns, strict=True):
        found = found.append_column(name, column)
    for attribute in CORE:
        column = pa.array(values(attribute, len(items), rng), VALUE_TYPES[attribute.type])
        sources = rng.choice(["human_majority", "llm_consensus"], len(items)).tolist()
        found = (
            found.append_column(attribute.id, column)
            .append_column(f"{attribute.id}.source", pa.array(sources))
            .append_column(f"{attribute.id}.confidence", pa.array(rng.random(len(items))))
        )
    return found


@pytest.fixture(scope="module")
def evidence(table: pa.Table) -> Evidence:
    rng = np.random.default_rng(1)
    outcomes = []
    for benchmark in PARTS:
        own = [i for i in table["item_id"].to_pylist() if i.startswith(f"{benchmark}/")]
        strength = np.array([0.35 + 0.2 * float(model.size or 0) for model in MODELS])
        hard = rng.random((len(own), 1)) / 2
        scores = (rng.random((len(own), len(MODELS))) < strength + 0.25 - hard).astype(float)
        outcomes.append(Outcomes(benchmark, tuple(own), tuple(m.name for m in MODELS), scores))
    return Evidence(tuple(outcomes), MODELS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples as files."""
    made = tmp_path_factory.mktemp("criteria")
    for example in EXAMPLES:
        (made / f"{name_of(example)}.yaml").write_text(example, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def reasoning(table: pa.Table, folder: Path) -> Subset:
    """The first example, composed before the others."""
    composition = compose(read_criteria(folder / "reasoning.yaml"), table, catalogue=CORE)
    write_subset(folder / "subsets" / "reasoning", composition, lock(composition))
    return read_subset(folder / "subsets" / "reasoning")


@pytest.mark.parametrize("name", [name_of(example) for example in EXAMPLES])
def test_an_example_composes(
    name: str, table: pa.Table, evidence: Evidence, folder: Path, reasoning: Subset
) -> None:
    path = folder / f"{name}.yaml"
    with located(path):
        composition = compose(
            read_criteria(path),
            table,
            catalogue=CORE,
            evidence=evidence,
            earlier={"reasoning": reasoning},
            gate=GATE,
        )
    assert composition.met, composition.findings
    assert 0 < len(composition.rows) <= table.num_rows
    assert lock(composition, catalogue=CORE)["name"] == name


@pytest.mark.parametrize("example", EXAMPLES, ids=[name_of(e) for e in EXAMPLES])
def test_the_schema_accepts_an_example(example: str) -> None:
    data = yaml.safe_load(example)
    for field, quotas in (data.get("sample") or {}).get("quotas", {}).items():
        data["sample"]["quotas"][field] = {str(value): quota for value, quota in quotas.items()}
    jsonschema.validate(data, Criteria.model_json_schema(by_alias=True))


def test_every_key_has_an_example() -> None:
    keys = {key for example in EXAMPLES for key in yaml.safe_load(example)}
    assert keys == {field.alias or name for name, field in Criteria.model_fields.items()}
