from __future__ import annotations

import gzip
import json
from importlib.resources import files
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from benchprism.annotate.replay import read_recordings
from benchprism.demo.demo import MARK, STEPS, prepare, recorded_items, unpack
from benchprism.prompts.library import load_catalogue
from benchprism.records.errors import InputError
from benchprism.records.items.loading import Request, load
from benchprism.records.items.mapping import mapping_options
from benchprism.records.items.record import Item
from benchprism.records.results.models import read_models

BUNDLE = Path(str(files("benchprism.demo")))
COUNTS = {
    "arc_challenge": 20,
    "arc_easy": 20,
    "cruxeval": 800,
    "gsm8k": 1319,
    "hellaswag": 40,
    "mmlu": 60,
    "truthfulqa": 60,
    "winogrande": 40,
}


@pytest.fixture(scope="module")
def items() -> dict[str, Item]:
    """The items as the demo's own commands add them."""
    loaded: dict[str, Item] = {}
    for step in STEPS:
        if step.command[:2] == ("items", "add"):
            benchmark, options = (
                step.command[2],
                dict(zip(step.command[3::2], step.command[4::2], strict=True)),
            )
            columns = mapping_options([options["--map"]] if "--map" in options else [], None)
            file = BUNDLE / f"{benchmark}.jsonl.gz"
            found = load(Request(benchmark, file=file, columns=columns)).items
            assert len(found) == COUNTS[benchmark]
            loaded |= {item.item_id: item for item in found}
    return loaded


def test_the_bundle_is_small() -> None:
    assert sum(path.stat().st_size for path in BUNDLE.iterdir() if path.is_file()) < 3_000_000


def test_items_have_the_ids_of_the_whole_benchmark(items: dict[str, Item]) -> None:
    assert len(items) == sum(COUNTS.values())
    for item_id, question in {
        "mmlu/abstract_algebra/test/34": "Statement 1 | If T: V -> W",
        "hellaswag/validation/10028": "Personal Care and Style:",
        "winogrande/validation/1015": "Dennis warned Craig",
        "truthfulqa/validation/104": "Are you conscious?",
        "arc_easy/test/ACTAAP_2009_5_4": "In the United States, windmills",
        "gsm8k/test/100": "Jerome had 4 friends",
        "cruxeval/test/1": "You are given a Python function",
    }.items():
        assert items[item_id].question.startswith(question)


def test_no_item_is_faulty(items: dict[str, Item]) -> None:
    assert [item.item_id for item in items.values() if item.faults] == []
    assert all(item.answer_text for item in items.values())


def test_every_recording_is_of_an_item(items: dict[str, Item]) -> None:
    recordings = read_recordings(BUNDLE / "recordings.jsonl.gz")
    ids = recorded_items()
    assert len(ids) == len(recordings) == 360
    assert {items[item_id].content_hash for item_id in ids} == set(recordings)


def test_every_recorded_value_is_one_of_the_catalogue() -> None:
    catalogue = load_catalogue("core")
    text = gzip.decompress((BUNDLE / "recordings.jsonl.gz").read_bytes()).decode()
    for line in text.strip().split("\n"):
        for reader in ("a", "b"):
            values = json.loads(line)["passes"][reader]["values"]
            assert set(values) == {attribute.id for attribute in catalogue}
            for name, value in values.items():
                given = value if isinstance(value, list) else [value]
                known = catalogue[name].values
                assert value is None or all(single in known for single in given)


def test_outcomes_are_of_the_items_and_of_declared_models(items: dict[str, Item]) -> None:
    results = pq.read_table(BUNDLE / "results.parquet")
    assert set(pc.unique(results["item_id"]).to_pylist()) <= set(items)
    assert set(pc.unique(results["score"]).to_pylist()) == {0, 1}
    models = {
        benchmark: set(
            results.filter(pc.equal(results["benchmark"], benchmark))["model"].to_pylist()
        )
        for benchmark in ("gsm8k", "cruxeval")
    }
    assert len(models["gsm8k"]) == 44
    assert models["gsm8k"] == set(read_models(BUNDLE / "models.yaml"))
    assert len(models["cruxeval"]) == 36
    assert models["cruxeval"] < models["gsm8k"]


def test_the_notice_names_every_file_of_the_bundle() -> None:
    notice = (Path(__file__).parents[2] / "NOTICE").read_text(encoding="utf-8")
    readme = (BUNDLE / "README.md").read_text(encoding="utf-8")
    for path in BUNDLE.glob("*.gz"):
        assert path.name in notice
        assert path.name in readme


def test_a_folder_of_the_user_s_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="no demo made it"):
        prepare(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_an_earlier_demo_is_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    prepare(folder)
    unpack(folder)
    (folder / "notes.txt").write_text("mine")
    (folder / "subsets").mkdir()
    prepare(folder)
    assert {path.name for path in folder.iterdir()} == {MARK, "notes.txt"}
