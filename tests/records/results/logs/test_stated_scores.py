"""The rows of every sample log give the scores that its own results file states."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchprism.records.results.logs import stated_scores

from .conftest import Reader

HF = "lm_eval/out_hf/models__tiny-gpt2-s1/samples_{}_2026-11-29T15-12-12.704052.jsonl"
DUMMY = "lm_eval/out_dummy/bu6tyawv/samples_{}_2026-11-29T15-10-09.732377.jsonl"
OLD = "lm_eval/out_v045/samples_{}_2026-11-29T15-51-22.623731.jsonl"
SUBSET = "lm_eval/out_samples/acme__dummy-1/samples_toy_mc_2026-11-29T15-57-28.086920.jsonl"
INSPECT = "inspect/2026-11-29T15-16-{}.eval"
EEE = "every_eval_ever/data/{}/models/tiny-gpt2-s1/{}_samples.jsonl"
HELM = "helm/{}/per_instance_stats.json"
LIGHT = "lighteval/details/tiny-model/2026-11-29T15-29-21.204682/details_{}.parquet"

# format, file, items, {(metric, filter): what the results file says}; the numbers are copied from
# the results files by hand.
STATED = [
    ("lm-eval", HF.format("toy_mc"), 8, {("acc", "none"): 0.125, ("acc_norm", "none"): 0.25}),
    (
        "lm-eval",
        HF.format("toy_gen"),
        4,
        {("exact_match", "strict-match"): 0.0, ("exact_match", "flexible-extract"): 0.0},
    ),
    ("lm-eval", HF.format("toysubj_biology"), 2, {("acc", "none"): 1.0}),
    ("lm-eval", HF.format("toysubj_math"), 2, {("acc", "none"): 0.5}),
    ("lm-eval", DUMMY.format("toysubj_biology"), 2, {("acc", "none"): 0.5}),
    ("lm-eval", OLD.format("toy_mc"), 8, {("acc", "none"): 0.125, ("acc_norm", "none"): 0.125}),
    ("lm-eval", SUBSET, 2, {("acc", "none"): 0.0, ("acc_norm", "none"): 0.0}),
    (
        "inspect",
        INSPECT.format("13-00-00_toy-mc_7h6DiWwkGBWKzdPAqwfhnZ"),
        8,
        {("choice",) * 2: 0.875},
    ),
    (
        "inspect",
        INSPECT.format("24-00-00_toy-gen_KWogxtQ3oH6XyztRD9Hpva"),
        4,
        {("match",) * 2: 0.75, ("includes",) * 2: 0.75},
    ),
    (
        "inspect",
        INSPECT.format("14-00-00_toy-multi_UDyxnXvsMH6zkxJ6Db7Mzi"),
        4,
        {
            ("match", "match"): 1.0,
            ("correct", "dict_scorer"): 1.0,
            ("length", "dict_scorer"): 16.25,
            ("float_scorer", "float_scorer"): 0.5,
        },
    ),
    ("inspect", "inspect/log_streaming.eval", 2, {("match",) * 2: 0.75}),
    ("inspect", "inspect/log_formats.json", 1, {("match",) * 2: 0.0}),
    ("inspect", "inspect/mmlu-summary-choices.eval", 1, {("choice",) * 2: 0.0}),
    (
        "every-eval-ever",
        EEE.format("toysubj_math", "e2c653d2-d8d9-48c3-936d-40c6aa62162b"),
        2,
        {("acc", ""): 0.5},
    ),
    (
        "every-eval-ever",
        EEE.format("toy_gen", "c7813b4b-08c7-4de9-8646-b4ecacc2a0ea"),
        4,
        {("exact_match", "strict-match"): 0.0, ("exact_match", "flexible-extract"): 0.0},
    ),
    (
        "evalscope",
        "evalscope/20261129_154042/reviews/alpha/general_mcq_toy.jsonl",
        8,
        {("accuracy", ""): 0.3125},
    ),
    ("evalscope", "evalscope/qwen-plus/reviews/qwen-plus/gsm8k_main.jsonl", 10, {("acc", ""): 1.0}),
    ("evalscope", "evalscope/qwen-plus/reviews/qwen-plus/iquiz_EQ.jsonl", 10, {("acc", ""): 0.7}),
    ("evalscope", "evalscope/qwen-plus/reviews/qwen-plus/iquiz_IQ.jsonl", 10, {("acc", ""): 1.0}),
    (
        "helm",
        HELM.format("mmlu-subject=philosophy,model=openai_gpt2"),
        10,
        {
            ("exact_match", "test"): 1 / 9,
            ("quasi_exact_match", "test"): 1 / 9,
            ("exact_match", "valid"): 0.0,
            ("quasi_exact_match", "valid"): 0.0,
        },
    ),
    (
        "helm",
        HELM.format("commonsense-dataset=hellaswag,model=eleutherai_pythia-1b-v0"),
        10,
        {("exact_match", "valid"): 0.3, ("quasi_exact_match", "valid"): 0.3},
    ),
    (
        "lighteval",
        LIGHT.format("composed:mc|0_2026-11-29T15-29-21.204682"),
        8,
        {("acc", ""): 0.125},
    ),
]


@pytest.mark.parametrize(("format_name", "file", "items", "stated"), STATED)
def test_the_rows_give_the_stated_scores(
    format_name: str,
    file: str,
    items: int,
    stated: dict[tuple[str, str], float],
    data: Path,
    read: Reader,
) -> None:
    reading = read(format_name, data / file)
    assert len({row["doc_id"] for row in reading.rows}) == items
    assert reading.means() == pytest.approx(stated, abs=1e-9)
    assert stated_scores(reading.run) == pytest.approx(stated, abs=1e-9)
    assert not list(reading.sums().findings())


def test_numbers_rounded_by_the_harness_are_compared_as_far_as_they_go(
    data: Path, read: Reader
) -> None:
    reading = read("evalscope", data / "evalscope/qwen-plus/reviews/qwen-plus/ifeval_default.jsonl")
    # The report says 0.9667; 29/30 is what the ten reviews give.
    assert reading.means()["inst_level_strict", ""] == pytest.approx(29 / 30, abs=1e-9)
    assert stated_scores(reading.run)["inst_level_strict", ""] == 0.9667
    assert not list(reading.sums().findings())


@pytest.mark.parametrize(
    ("file", "mean", "stated"),
    [
        (EEE.format("toysubj", "74d2a7ae-6332-426e-855c-e093856af5a5"), "0.5", "0.75"),
        ("every_eval_ever/demo/f3a1c0de-4b2e-4c1a-9f6d-1b7e5a2c8d40_samples.jsonl", "1", "0.75"),
    ],
)
def test_rows_that_do_not_give_the_stated_score_are_named(
    file: str, mean: str, stated: str, data: Path, read: Reader
) -> None:
    """The converter gave the group ``toysubj`` the rows of ``toysubj_math`` alone."""
    (finding,) = read("every-eval-ever", data / file).sums().findings()
    assert finding.kind == "mismatch"
    assert finding.is_fault
    assert f"is {mean}; wanted {stated}, as the log states" in str(finding)
