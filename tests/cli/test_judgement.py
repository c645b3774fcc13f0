"""Judging a composition, and its sensitivity, on twelve items that four models answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from math import exp
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pyarrow as pa
import pytest
from scipy.stats import kendalltau

from benchprism.annotate.ledger.outcome import Reply, Usage, Verdict
from benchprism.annotate.ledger.store import Ledger
from benchprism.prompts.library import load_catalogue
from benchprism.records.items.record import Item, choice_set_hash, content_hash
from benchprism.records.items.store import write_items
from benchprism.records.results.store import TIDY_SCHEMA, write_results

CATALOGUE = load_catalogue("core")
MODELS = ("F1", "F2", "G1", "G2")
SCORES = {  # a row an item, a column a model
    "arc": ["0100", "1101", "0111", "1011", "0101", "1111"],
    "gsm": ["0001", "0110", "0101", "1011", "0111", "1001"],
}
DEPTHS = {
    ("llm:a", "p1"): {"arc": [3, 3, 0, 0, 0, 0], "gsm": [0, 0, 0, 0, 0, 3]},
    ("llm:a", "p2"): {"arc": [0, 2, 3, 2, 1, 2], "gsm": [2, 3, 3, 1, 1, 2]},
    ("llm:b", "p2"): {"arc": [1, 2, 3, 1, 2, 2], "gsm": [2, 3, 2, 2, 0, 1]},
}
"""Of two levels that differ by one, the lower is taken: arc 0 2 3 1 1 2, gsm 2 3 2 1 0 1."""
DEEP = {"arc": [1, 2, 5], "gsm": [0, 1, 2]}
Rows = Mapping[str, Sequence[int]]


def item(benchmark: str, row: int) -> Item:
    question, choices = f"Question {row} of {benchmark}?", ("yes", "no")
    return Item(
        item_id=f"{benchmark}/test/{row}", benchmark=benchmark, subset="", split="test", row=row,
        revision="sha256:0", question=question, context="", choices=choices, answer_index=0,
        answer_text="yes", accepted_answers=(), kind="multiple_choice", faults=(), source="{}",
        content_hash=content_hash(question, "", choices),
        choice_set_hash=choice_set_hash(question, "", choices),
    )  # fmt: skip


def add_depths(ledger: Ledger, annotator: str, prompt: str, depths: Rows, minute: int) -> None:
    for benchmark, levels in depths.items():
        for row, level in enumerate(levels):
            reply = Reply(
                request_key=f"{benchmark}{row}{annotator}{prompt}",
                item_id=f"{benchmark}/test/{row}",
                content_hash=item(benchmark, row).content_hash, annotator=annotator, model="m",
                prompt_hash=prompt, catalogue_hash=CATALOGUE.hash, status="ok", reason="", body="",
                usage=Usage(), price=None, seconds=0.1, attempts=1,
                time=f"2026-01-01T00:0{minute}:0{row}.000000+00:00",
            )  # fmt: skip
            ledger.add([(reply, [Verdict("reasoning_depth", level, "ok")])])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "benchprism.yaml").write_text("project: p\nseed: 5\n", encoding="utf-8")
    lines = [f"  {name}: {{family: {name[0]}, size: {name[1]}}}\n" for name in MODELS]
    (tmp_path / "models.yaml").write_text("models:\n" + "".join(lines), encoding="utf-8")
    for benchmark, rows in SCORES.items():
        items = [item(benchmark, row) for row in range(len(rows))]
        write_items(tmp_path / "items" / f"{benchmark}.parquet", items, {"domain": "d"})
        told = [
            {"benchmark": benchmark, "item_id": f"{benchmark}/test/{row}", "model": model,
             "score": float(cells[place])}
            for row, cells in enumerate(rows)
            for place, model in enumerate(MODELS)
        ]  # fmt: skip
        table = pa.Table.from_pylist(told, schema=TIDY_SCHEMA)
        write_results(tmp_path / "results" / f"{benchmark}.parquet", table)
    with Ledger(tmp_path / "ledger.sqlite", write=True) as ledger:
        ledger.remember(CATALOGUE)
        for minute, ((annotator, prompt), depths) in enumerate(DEPTHS.items()):
            add_depths(ledger, annotator, prompt, depths, minute)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def criteria(project: Path) -> Callable[[str], str]:
    """Write a criteria file."""

    def write(text: str) -> str:
        (project / "criteria").mkdir(exist_ok=True)
        (project / "criteria" / "deep.yaml").write_text(f"name: deep\n{text}", encoding="utf-8")
        return "criteria/deep.yaml"

    return write


WHERE = "where: {reasoning_depth: {min: 2}}\n"


def cells(rows: Rows) -> list[list[float]]:
    """The scores on some items of both benchmarks, a list a model."""
    chosen = [SCORES[benchmark][row] for benchmark, own in rows.items() for row in own]
    return [[float(row[place]) for row in chosen] for place in range(len(MODELS))]


def accuracies(rows: Rows) -> list[float]:
    return [round(fmean(own), 12) for own in cells(rows)]


def ds(rows: Rows) -> float:
    own = accuracies(rows)
    apart = [abs(one - other) > 0.02 for one, other in combinations(own, 2)]
    return float(pstdev(own) / fmean(own) * fmean(apart) ** 0.5)


def cad(rows: Rows) -> float:
    small_f, large_f, small_g, large_g = cells(rows)
    pairs = [*zip(small_f, large_f, strict=True), *zip(small_g, large_g, strict=True)]
    return exp(-12 * fmean(small > large for small, large in pairs))


def tau(one: Rows, other: Rows) -> float:
    return float(kendalltau(accuracies(one), accuracies(other)).statistic)


def cbrc(rows: Rows) -> float:
    return tau({"arc": rows["arc"]}, {"gsm": rows["gsm"]})


def bqs(rows: Rows) -> float:
    """The mean over both benchmarks."""
    parts = [{benchmark: rows[benchmark]} for benchmark in SCORES]
    return fmean(0.15 * (cbrc(rows) + 1) + 0.3 * ds(part) + 0.4 * cad(part) for part in parts)


WHOLE: Rows = {"arc": range(6), "gsm": range(6)}
MEASURES: Mapping[str, Callable[[Rows], float]] = {
    "cbrc": cbrc,
    "ds": ds,
    "cad": cad,
    "bqs": bqs,
    "ranking_consistency": lambda rows: tau(rows, WHOLE),
}


def every_subset() -> Iterator[Rows]:
    """All with three items of each benchmark."""
    for arc in combinations(range(6), 3):
        yield from ({"arc": arc, "gsm": gsm} for gsm in combinations(range(6), 3))


def test_a_composition_stands_among_all_subsets_of_its_size(
    criteria: Callable[[str], str], benchprism: Callable[..., Any]
) -> None:
    assert benchprism("compose", criteria(WHERE)).code == 0
    data = benchprism("score", "deep", "--judge", "--null", "2000", "--json").data
    found = data["all"]["measures"]["deep"]
    for name, measure in MEASURES.items():
        own = measure(DEEP)
        every = [value for rows in every_subset() if (value := measure(rows)) == value]
        assert found[name]["subset"] == pytest.approx(own, abs=1e-6)
        assert found[name]["sources"] == pytest.approx(measure(WHOLE), abs=1e-6)
        beaten = fmean(value < own - 1e-9 for value in every)
        assert found[name]["beats"] == pytest.approx(beaten, abs=0.04)
        assert found[name]["random_mean"] == pytest.approx(fmean(every), abs=0.03)
        reached = fmean(value > own - 1e-9 for value in every)
        assert found[name]["p"] == pytest.approx(reached, abs=0.04)
    assert -1 <= found["stability"]["subset"] <= 1
    assert data["all"]["models"] == {name: name[0] for name in MODELS}
    assert data["held_out"] is None
    assert data["nobody_held_out"].startswith("no model had a part in the choice")


def test_composing_judges_at_once_and_the_judgement_is_of_that_state(
    project: Path, criteria: Callable[[str], str], benchprism: Callable[..., Any]
) -> None:
    from benchprism.compose.store import read_subset
    from benchprism.scoring.judgement_record import read_judgement

    ran = benchprism("compose", criteria(WHERE))
    folder = project / "subsets" / "deep"
    kept = json.loads((folder / "judgement.json").read_text(encoding="utf-8"))
    share = int(100 * kept["all"]["measures"]["deep"]["cbrc"]["beats"] + 1e-6)
    assert f"Beats {share} % of random subsets of 6 items in CBRC, " in ran.err
    assert read_judgement(read_subset(folder)) == kept
    assert benchprism("score", "deep", "--judge", "--json").data == kept
    for path in (project / "results").glob("*.parquet"):
        path.unlink()
    assert benchprism("compose", criteria("where: {reasoning_depth: {min: 1}}\n")).code == 0
    assert read_judgement(read_subset(folder)) is None


def test_card_and_report_show_the_judgement(
    project: Path, criteria: Callable[[str], str], benchprism: Callable[..., Any]
) -> None:
    assert benchprism("compose", criteria("from: [arc]\n" + WHERE)).code == 0
    told = benchprism("score", "deep", "--judge", "--json").data["all"]["measures"]["deep"]["ds"]
    assert benchprism("report", "--out", "report.html").code == 0
    page = (project / "report.html").read_text(encoding="utf-8")
    number = f"{told['subset']:.2f}"
    assert "<h4>Beside random subsets of its size</h4>" in page
    measure = '<th scope="row">DS: it tells models apart</th>'
    assert f'{measure}<td class="number">{number}</td>' in page
    assert "undefined because no other benchmark of the domain &#39;d&#39; is scored." in page
    assert benchprism("export", "deep", "--out", "out").code == 0
    card = (project / "out" / "README.md").read_text(encoding="utf-8")
    assert f"| DS: it tells models apart | {number} |" in card


def test_held_out_families_judge_what_others_chose(
    criteria: Callable[[str], str], benchprism: Callable[..., Any]
) -> None:
    text = "select: {held_in: [F], cad_above: null, by: variance, share: 0.5}\n"
    assert benchprism("compose", criteria(text)).code == 0
    ran = benchprism("score", "deep", "--judge")
    assert "Held-out families: G." in ran.err
    assert "By held-out families: Beats " in ran.err
    data = benchprism("score", "deep", "--judge", "--json").data
    assert data["held_out"]["models"] == {"G1": "G", "G2": "G"}
    own = data["held_out"]["measures"]["deep"]["ds"]["subset"]
    everyone = data["all"]["measures"]["deep"]["ds"]["subset"]
    assert own is not None
    assert own != everyone


def test_who_chose_an_earlier_composition_chose_what_is_taken_from_it(
    project: Path, criteria: Callable[[str], str], benchprism: Callable[..., Any]
) -> None:
    text = "select: {held_in: [F], cad_above: null, by: variance, share: 0.5}\n"
    assert benchprism("compose", criteria(text)).code == 0
    later = project / "criteria" / "later.yaml"
    later.write_text("name: later\nfrom: ['subset:deep']\n", encoding="utf-8")
    assert benchprism("compose", later).code == 0
    data = benchprism("score", "later", "--judge", "--json").data
    assert data["held_out"]["models"] == {"G1": "G", "G2": "G"}
    assert benchprism("compose", criteria(text.replace("F", "G"))).code == 0
    data = benchprism("score", "later", "--judge", "--json").data
    assert data["held_out"] is None
    assert "was composed anew since" in data["nobody_held_out"]


def test_why_nobody_is_held_out_and_nothing_is_compared(
    criteria: Callable[[str], str], benchprism: Callable[..., Any]
) -> None:
    assert benchprism("compose", criteria("where: {difficulty: {min: 0, max: 1}}\n")).code == 0
    err = benchprism("score", "deep", "--judge").err
    assert "every family had a part in choosing the items of the subset 'deep'" in err
    assert "whose criteria ask for difficulty." in err
    assert "not compared because it has every item with results" in err


def test_undefined_measures_say_why(
    criteria: Callable[[str], str], benchprism: Callable[..., Any]
) -> None:
    assert benchprism("compose", criteria("from: [arc]\n" + WHERE)).code == 0
    ran = benchprism("score", "deep", "--judge")
    assert "CBRC: undefined because no other benchmark of the domain 'd' is scored." in ran.err
    varied = benchprism("compose", "criteria/deep.yaml", "--sensitivity", "--seeds", "0")
    assert "BQS: undefined because CBRC is: no other benchmark of the domain 'd'" in varied.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("score", "--judge"), "--judge without a subset"),
        (("score", "deep", "--judge", "--items"), "--items and --judge together"),
        (("score", "deep", "--judge", "--held-out"), "--held-out together with --judge"),
        (("score", "deep", "--judge", "--epsilon", "noise"), "--epsilon noise together with"),
        (("compose", "criteria/deep.yaml", "--seeds", "3"), "--seeds without --sensitivity"),
        (("compose", "criteria/deep.yaml", "--sensitivity", "--check"), "together"),
    ],
)
def test_options_that_do_not_go_together(
    words: tuple[str, ...],
    sentence: str,
    criteria: Callable[[str], str],
    benchprism: Callable[..., Any],
) -> None:
    criteria(WHERE)
    ran = benchprism(*words)
    assert ran.code == 2
    assert sentence in ran.err


VARIANTS: Mapping[str, Rows] = {
    "llm:a alone": {"arc": [1, 2, 3, 5], "gsm": [0, 1, 2, 5]},
    "llm:b alone": {"arc": [1, 2, 4, 5], "gsm": [0, 1, 2, 3]},
    "prompt p1 (multiple_choice)": {"arc": [0, 1], "gsm": [5]},
    "prompt p2 (multiple_choice)": DEEP,
    "reasoning_depth >= 3, not >= 2": {"arc": [2], "gsm": [1]},
    "reasoning_depth >= 1, not >= 2": {"arc": [1, 2, 3, 4, 5], "gsm": [0, 1, 2, 3, 5]},
}


def test_every_variant_is_compared_with_the_composition(
    project: Path, criteria: Callable[[str], str], benchprism: Callable[..., Any]
) -> None:
    ran = benchprism("compose", criteria(WHERE), "--sensitivity", "--json")
    assert ran.code == 0
    assert not (project / "subsets").exists()
    assert ran.data["items"] == 6
    assert ran.data["bqs"] == pytest.approx(bqs(DEEP))
    found = {variant["change"]: variant for variant in ran.data["variants"]}
    assert [*found] == [*VARIANTS]
    ids = {(benchmark, row) for benchmark, rows in DEEP.items() for row in rows}
    for change, rows in VARIANTS.items():
        own = {(benchmark, row) for benchmark, kept in rows.items() for row in kept}
        variant = found[change]
        assert variant["items"] == len(own)
        assert variant["jaccard"] == pytest.approx(len(own & ids) / len(own | ids))
        for key, value in (("tau", tau(DEEP, rows)), ("bqs", bqs(rows))):
            assert variant[key] == (None if value != value else pytest.approx(value)), (change, key)
    known = [variant["bqs"] for variant in found.values() if variant["bqs"] is not None]
    assert ran.data["ranges"]["bqs"] == {"low": min(known), "high": max(known)}
    assert ran.data["notes"] == ["seeds: not varied, as nothing is drawn"]


def test_what_cannot_be_composed_stays_in_the_table_with_its_reason(
    criteria: Callable[[str], str], benchprism: Callable[..., Any]
) -> None:
    text = "where: {reasoning_depth: {min: 3}}\nsample: {size: 2, balance: benchmark, seed: 8}\n"
    path = criteria(text + "expect: [{mean: reasoning_depth, min: 3}]\n")
    data = benchprism("compose", path, "--sensitivity", "--seeds", "2", "--json").data
    reasons = {variant["change"]: variant["reason"] for variant in data["variants"]}
    assert reasons["reasoning_depth >= 4, not >= 3"] == "levels of reasoning_depth go from 0 to 3"
    assert reasons["llm:a alone"] == ""
    assert reasons["reasoning_depth >= 2, not >= 3"].startswith("expected mean")
    assert [change for change in reasons if change.startswith("seed")] == ["seed 9", "seed 10"]
    shown = benchprism("compose", path, "--sensitivity", "--seeds", "2")
    assert "reasoning_depth >= 4, not >= 3" in shown.out
    assert f"of {len(reasons)} variants can be composed: items" in shown.err


def test_only_what_decides_is_varied(
    criteria: Callable[[str], str], benchprism: Callable[..., Any]
) -> None:
    data = benchprism("compose", criteria("from: [arc]\n"), "--sensitivity", "--json").data
    assert data["variants"] == []
    assert [note.partition(":")[0] for note in data["notes"]] == [
        "annotators", "prompts", "thresholds", "seeds", "BQS",
    ]  # fmt: skip
