from __future__ import annotations

from pathlib import Path

from .conftest import Reader, WriteJson


def test_details_by_place(read: Reader, write_json: WriteJson) -> None:
    prompt = [{"role": "HUMAN", "prompt": "Question: 2+2?\nA. 3\nB. 4\nAnswer:"}]
    value = {
        "accuracy": 50.0,
        "details": {
            "type": "GEN",
            "0": {"prompt": prompt, "origin_prediction": "B", "references": "B", "correct": True},
            "1": {"prompt": prompt, "origin_prediction": "A", "references": "B", "correct": False},
            "2": {"prompt": prompt, "origin_prediction": "?", "references": "B"},
        },
    }
    reading = read("opencompass", write_json("20260801/results/org_m/arc-c.json", value))
    run = reading.run
    assert (run.run, run.model, run.benchmark) == ("20260801", "org_m", "arc-c")
    assert reading.scores() == [1.0, 0.0, None]
    assert reading.rows[2]["status"] == "unscored"
    assert (reading.rows[0]["question"], reading.rows[0]["choices"]) == ("2+2?", ["3", "4"])
    assert reading.means() == {("accuracy", ""): 0.5}
    assert not list(reading.sums().findings())


def test_perplexities_name_the_choice(read: Reader, write_json: WriteJson) -> None:
    by_label = {"A": {"PPL": 2.5}, "B": {"PPL": 1.5}, "C": {"PPL": 3.0}}
    details = {"type": "PPL", "0": {"origin_prediction": by_label, "correct": True}}
    value = {"accuracy": 100.0, "details": details}
    (row,) = read("opencompass", write_json("r/results/m/d.json", value)).rows
    assert (row["choice_index"], row["score"]) == (1, 1.0)


def test_details_of_several_runs(read: Reader, write_json: WriteJson) -> None:
    value = {
        "accuracy (2 runs average)": 75.0,
        "details": [
            {"example_abbr": "aime_7", "pred": ["1", "2"], "correct": [True, False]},
            {"example_abbr": "aime_8", "pred": ["1", "1"], "correct": [True, True]},
        ],
    }
    reading = read("opencompass", write_json("r/results/m/aime.json", value))
    assert [(row["doc_id"], row["trial"], row["score"]) for row in reading.rows] == [
        ("7", 0, 1.0),
        ("7", 1, 0.0),
        ("8", 0, 1.0),
        ("8", 1, 1.0),
    ]
    assert [row["response"] for row in reading.rows] == ["1", "2", "1", "1"]
    assert not list(reading.sums().findings())


def test_an_accuracy_that_the_details_do_not_give(read: Reader, write_json: WriteJson) -> None:
    value = {"accuracy": 40.0, "details": {"0": {"correct": True}}}
    (finding,) = read("opencompass", write_json("r/results/m/d.json", value)).sums().findings()
    assert finding.kind == "mismatch"


def test_predictions_alone(data: Path, read: Reader) -> None:
    reading = read("opencompass", data / "opencompass/predictions/GPT4/1-2.json")
    assert reading.kinds == ["not_scored"]
    assert (reading.run.model, reading.run.benchmark) == ("GPT4", "1-2")
    assert [row["status"] for row in reading.rows] == ["unscored"] * 3
    assert reading.rows[0]["response"] == "[正确答案]B<eoa>"


def test_scores_without_details(read: Reader, write_json: WriteJson) -> None:
    assert read("opencompass", write_json("r/results/m/d.json", {"accuracy": 4.0})).kinds == [
        "aggregates"
    ]
