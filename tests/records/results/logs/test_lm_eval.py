from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchprism.records.items.record import content_hash

from .conftest import Reader, WriteJson, WriteLines

TIME = "2026-01-01T00-00-00.000000"
RUN = "lm_eval/out_hf/models__tiny-gpt2-s1/samples_{}_2026-11-29T15-12-12.704052.jsonl"


def record(doc_id: int, *, filter_name: str | None = "none", **scores: Any) -> dict[str, Any]:
    marks = {} if filter_name is None else {"filter": filter_name, "metrics": list(scores)}
    doc = {"question": f"question {doc_id}", "answer": "1"}
    return {"doc_id": doc_id, "doc": doc, "target": "1", "resps": [["one"]], **marks, **scores}


def results(**tasks: dict[str, Any]) -> dict[str, Any]:
    return {"results": tasks, "configs": {task: {} for task in tasks}, "model_name": "org/model"}


def test_a_run_is_named_by_its_results_file(data: Path, read: Reader) -> None:
    run = read("lm-eval", data / RUN.format("toysubj_biology")).run
    assert run.model == "models/tiny-gpt2-s1"
    assert (run.benchmark, run.subset, run.groups) == ("toysubj_biology", "biology", ("toysubj",))
    assert (run.metric, run.filter, run.n_shot, run.version) == ("acc", "none", 0, "0.4.13")


def test_a_group_is_made_of_its_tasks(data: Path, read: Reader) -> None:
    """The results file says 0.75 for the group: 2 of 2 in biology and 1 of 2 in mathematics."""
    readings = [
        read("lm-eval", data / RUN.format(f"toysubj_{part}")) for part in ("biology", "math")
    ]
    scores = [score for reading in readings for score in reading.scores("acc")]
    assert all(reading.run.groups == ("toysubj",) for reading in readings)
    (group,) = {s.value for r in readings for s in r.run.stated if s.benchmark == "toysubj"}
    assert sum(filter(None, scores)) / len(scores) == pytest.approx(group, abs=1e-9)


def test_the_choice_is_the_likeliest_and_the_item_is_found_by_content(
    data: Path, read: Reader
) -> None:
    row = read("lm-eval", data / RUN.format("toy_mc")).rows[0]
    # log-likelihoods -30.17, -41.95, -23.81, -29.75
    assert row["choice_index"] == 2
    assert row["source_id"] == "astro-0"
    question, choices = "Which planet is closest to the Sun?", ["Venus", "Mercury", "Mars", "Earth"]
    assert row["item_hashes"][0] == content_hash(question, "", choices)


def test_one_filter_is_the_headline_and_none_are_mixed(data: Path, read: Reader) -> None:
    reading = read("lm-eval", data / RUN.format("toy_gen"))
    assert (reading.run.metric, reading.run.filter) == ("exact_match", "strict-match")
    assert [row["filter"] for row in reading.rows] == ["strict-match"] * 4 + [
        "flexible-extract"
    ] * 4
    assert {row["trial"] for row in reading.rows} == {0}


def test_filters_without_a_mark_are_told_by_their_order(data: Path, read: Reader) -> None:
    """0.4.5 writes each document twice and names no filter."""
    path = data / "lm_eval/out_v045/samples_toy_gen_2026-11-29T15-51-22.623731.jsonl"
    reading = read("lm-eval", path)
    assert [row["filter"] for row in reading.rows] == ["strict-match"] * 4 + [
        "flexible-extract"
    ] * 4
    assert reading.run.model == "out_v045"
    assert "model_name" in reading.kinds


def test_unmarked_repeats_without_a_results_file_are_said(
    read: Reader, write_lines: WriteLines
) -> None:
    rows = [record(doc, filter_name=None, acc=score) for score in (0.0, 1.0) for doc in (0, 1)]
    reading = read("lm-eval", write_lines(f"org__model/samples_gsm8k_{TIME}.jsonl", rows))
    assert [row["filter"] for row in reading.rows] == ["pass-1", "pass-1", "pass-2", "pass-2"]
    assert sorted(reading.kinds) == ["filters", "model_name"]
    assert reading.run.model == "org/model"
    assert reading.run.filter == "pass-1"


def test_of_runs_appended_to_one_file_the_last_complete_one_counts(
    read: Reader, write_lines: WriteLines, write_json: WriteJson
) -> None:
    write_json(f"results_{TIME}.json", results(gsm8k={"exact_match,none": 2 / 3}))
    runs = [(0.0, 3), (1.0, 3), (0.0, 1)]  # the third one was cut short
    rows = [record(doc, exact_match=score) for score, count in runs for doc in range(count)]
    rows[4]["exact_match"] = 0.0
    reading = read("lm-eval", write_lines(f"samples_gsm8k_{TIME}.jsonl", rows))
    assert reading.scores() == [1.0, 0.0, 1.0]
    (finding,) = reading.findings
    assert finding.kind == "rerun"
    assert not finding.is_fault
    assert "3 runs appended to one file" in finding.found
    assert "lines 4 to 6" in finding.found
    assert not list(reading.sums().findings())


def test_runs_of_several_unmarked_filters_are_split_by_the_results_file(
    read: Reader, write_lines: WriteLines, write_json: WriteJson
) -> None:
    data = results(gsm8k={"em,strict": 1.0, "em,flexible": 0.0})
    data["configs"]["gsm8k"] = {"filter_list": [{"name": "strict"}, {"name": "flexible"}]}
    write_json(f"results_{TIME}.json", data)
    one_run = [record(0, filter_name=None, em=1.0), record(0, filter_name=None, em=0.0)]
    reading = read("lm-eval", write_lines(f"samples_gsm8k_{TIME}.jsonl", one_run * 2))
    assert reading.means() == {("em", "strict"): 1.0, ("em", "flexible"): 0.0}
    assert reading.kinds == ["rerun"]


def test_predictions_without_scores_are_unscored(data: Path, read: Reader) -> None:
    folder = data / "lm_eval/out_po/acme__dummy-1"
    reading = read("lm-eval", folder / "samples_toy_gen_2026-11-29T15-58-01.824861.jsonl")
    assert {row["status"] for row in reading.rows} == {"unscored"}
    assert {row["metric"] for row in reading.rows} == {None}
    assert reading.run.metric is None
    assert "not_scored" in reading.kinds


def test_a_name_that_the_harness_made_up_is_said(data: Path, read: Reader) -> None:
    path = data / "lm_eval/out_dummy/bu6tyawv/samples_toysubj_math_2026-11-29T15-10-09.732377.jsonl"
    (finding,) = read("lm-eval", path).findings
    assert finding.kind == "model_name"
    assert "'bu6tyawv', drawn at random" in finding.found


def test_files_from_before_0_4_3_are_lists_beside_results_json(
    read: Reader, write_json: WriteJson
) -> None:
    data = results(arc_easy={"acc,none": 0.5}, easy={"acc,none": 0.0})
    del data["model_name"]
    data["config"] = {"model_args": "pretrained=org/model,dtype=float"}
    write_json("out/results.json", data)
    rows: list[dict[str, Any]] = [
        {
            "doc_id": doc_id,
            "doc": {"id": f"Mercury_{doc_id}", "question": "q", "choices": {"text": ["a", "b"]}},
            "target": 1,
            "arguments": [["q", " a"], ["q", " b"]],
            "resps": [[[-2.5, False]], [[-1.5, True]]],
            "filtered_resps": [[-2.5, False], [-1.5, True]],
            "acc": float(doc_id),
        }
        for doc_id in (0, 1)
    ]
    path = write_json("out/pretrained__org__model,dtype__float_arc_easy.jsonl", rows)
    reading = read("lm-eval", path)
    assert (reading.run.model, reading.run.benchmark) == ("org/model", "arc_easy")
    assert reading.scores() == [0.0, 1.0]
    assert [row["choice_index"] for row in reading.rows] == [1, 1]
    assert [row["source_id"] for row in reading.rows] == ["Mercury_0", "Mercury_1"]
    assert reading.rows[0]["response"] is None
    assert not reading.findings


def test_a_task_is_read_between_the_first_and_the_last_underscore(
    read: Reader, write_lines: WriteLines, write_json: WriteJson
) -> None:
    write_json(f"results_{TIME}.json", results(toy={"acc,none": 1.0}, toy_math={"acc,none": 0.0}))
    read_toy = read("lm-eval", write_lines(f"samples_toy_{TIME}.jsonl", [record(0, acc=1.0)]))
    read_math = read("lm-eval", write_lines(f"samples_toy_math_{TIME}.jsonl", [record(0, acc=0.0)]))
    assert (read_toy.run.benchmark, read_math.run.benchmark) == ("toy", "toy_math")
    assert not list(read_toy.sums().findings())


def test_winogrande_is_known_by_its_sentence_and_options_never_by_the_target(
    read: Reader, write_lines: WriteLines
) -> None:
    doc = {"sentence": "The _ was full.", "option1": "cup", "option2": "jug", "answer": "2"}
    rows = [
        {**record(0, acc=1.0), "doc": doc, "target": target} for target in (" was full.", " empty.")
    ]
    read_rows = [
        read("lm-eval", write_lines(f"{at}/samples_winogrande_{TIME}.jsonl", [row])).rows[0]
        for at, row in enumerate(rows)
    ]
    wanted = content_hash("The _ was full.", "", ["cup", "jug"])
    assert [row["item_hashes"][0] for row in read_rows] == [wanted, wanted]
    assert read_rows[0]["choices"] == ["cup", "jug"]
    assert " was full." not in {str(value) for value in read_rows[0].values()}


def test_lists_pairs_and_known_ranges_become_one_number(
    read: Reader, write_lines: WriteLines
) -> None:
    scores: dict[str, Any] = {
        "inst_level": [True, False, True, True],
        "f1": [1, 0],
        "eqbench": 62.5,
    }
    reading = read("lm-eval", write_lines(f"samples_t_{TIME}.jsonl", [record(0, **scores)]))
    assert dict(zip(scores, reading.scores(), strict=True)) == {
        "inst_level": 0.75,
        "f1": 0.0,
        "eqbench": 0.625,
    }
    assert [row["raw_score"] for row in reading.rows] == [0.75, 0.0, 62.5]


def test_what_is_missing_is_unscored_and_counted(read: Reader, write_lines: WriteLines) -> None:
    values: list[Any] = [float("nan"), None, "Infinity", 1.0, True, "N/A"]
    rows = [record(doc, acc=value) for doc, value in enumerate(values)]
    rows.append(record(6))
    rows[-1]["metrics"] = ["acc"]
    reading = read("lm-eval", write_lines(f"samples_t_{TIME}.jsonl", rows))
    assert reading.scores("acc") == [None, None, None, 1.0, 1.0, None, None]
    assert [row["status"] for row in reading.rows].count("unscored") == 5
    assert "5 values of 'acc' are null, NaN or infinite" in str(reading.findings[-1])


def test_numbers_on_an_unknown_scale_are_kept_but_not_scores(
    read: Reader, write_lines: WriteLines, write_json: WriteJson
) -> None:
    data = results(t={"loss,none": 0.5})
    data["higher_is_better"] = {"t": {"loss": False, "acc": True}}
    write_json(f"results_{TIME}.json", data)
    rows = [record(0, words=12.0, loss=0.5, acc=1.0)]
    reading = read("lm-eval", write_lines(f"samples_t_{TIME}.jsonl", rows))
    assert reading.scores() == [None, None, 1.0]
    assert [row["raw_score"] for row in reading.rows] == [12.0, 0.5, 1.0]
    assert [finding.kind for finding in reading.findings] == ["scale", "scale"]
    assert "lower is better" in str(reading.findings[1])


def test_odd_characters_do_not_end_a_line(read: Reader, write_lines: WriteLines) -> None:
    rows = [record(0, acc=1.0), record(1, acc=0.0)]
    rows[0]["doc"]["question"] = "a\u2028b\u0085c\rd"
    path = write_lines(f"samples_t_{TIME}.jsonl", rows)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    reading = read("lm-eval", path)
    assert reading.rows[0]["question"] == "a\u2028b\u0085c\rd"
    assert reading.scores() == [1.0, 0.0]


def test_half_a_surrogate_pair_is_replaced(read: Reader, tmp_path: Path) -> None:
    path = tmp_path / f"samples_t_{TIME}.jsonl"
    path.write_text(json.dumps(record(0, acc=1.0)).replace("question 0", "a\\ud83d"), "utf-8")
    assert read("lm-eval", path).rows[0]["question"] == "a?"


def test_bad_lines_cost_themselves_alone(read: Reader, write_lines: WriteLines) -> None:
    path = write_lines(f"samples_t_{TIME}.jsonl", [record(doc, acc=1.0) for doc in range(4)])
    lines = path.read_bytes().split(b"\n")
    lines[1] = b'{"doc_id": 1, "doc": "\xff\xfe"}'
    lines[2] = lines[2][:30]
    path.write_bytes(b"\n".join(lines[:4])[:-8])
    reading = read("lm-eval", path)
    assert [row["doc_id"] for row in reading.rows] == ["0"]
    faults = [finding for finding in reading.findings if finding.is_fault]
    assert [(fault.kind, fault.line) for fault in faults] == [("encoding", 2), ("not_json", None)]
    assert "2 more lines that cannot be read" in faults[1].found


def test_a_cut_list_is_read_as_far_as_it_goes(read: Reader, write_json: WriteJson) -> None:
    path = write_json("m_t.jsonl", [record(doc, acc=1.0) for doc in range(3)])
    path.write_text(path.read_text("utf-8")[:-40], encoding="utf-8")
    reading = read("lm-eval", path)
    assert [row["doc_id"] for row in reading.rows] == ["0", "1"]
    assert "truncated" in reading.kinds


def test_a_record_of_another_layout_is_named_with_its_line(
    read: Reader, write_lines: WriteLines
) -> None:
    rows = [record(0, acc=1.0), {"something": "else"}, [1, 2], record(1, acc=0.0)]
    reading = read("lm-eval", write_lines(f"samples_t_{TIME}.jsonl", rows))
    assert reading.scores() == [1.0, 0.0]
    faults = [finding for finding in reading.findings if finding.kind == "layout"]
    assert [fault.line for fault in faults] == [2, None]


def test_fewer_items_than_the_results_file_says(data: Path, read: Reader) -> None:
    folder = data / "lm_eval/math"
    reading = read(
        "lm-eval", folder / "samples_math_perturbed_full_2026-01-21T03-44-18.458309.jsonl"
    )
    assert len(reading.rows) == 4
    (finding,) = reading.findings
    assert finding.kind == "unfinished"
    assert "samples of 4 items; wanted 5000" in str(finding)


def test_a_results_file_that_cannot_be_read_is_said(
    read: Reader, write_lines: WriteLines, tmp_path: Path
) -> None:
    path = write_lines(f"org__m/samples_t_{TIME}.jsonl", [record(0, acc=1.0)])
    path.with_name(f"results_{TIME}.json").write_text('{"results": {"t": ', encoding="utf-8")
    reading = read("lm-eval", path)
    assert reading.scores() == [1.0]
    assert reading.kinds == ["truncated", "model_name"]


def test_results_without_samples_are_aggregates(read: Reader, write_json: WriteJson) -> None:
    reading = read("lm-eval", write_json(f"results_{TIME}.json", results(t={"acc,none": 1.0})))
    assert not reading.batches
    assert reading.kinds == ["aggregates"]
