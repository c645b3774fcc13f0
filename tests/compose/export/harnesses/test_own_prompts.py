"""An exported task asks what the benchmark's own task in lm-evaluation-harness asks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchprism.records.items.loading import Request, load
from benchprism.records.items.presets import find_preset

RECORDS: list[tuple[str, str, dict[str, Any]]] = [
    ("mmlu", "mmlu/default/mmlu_anatomy.yaml",
     {"question": " Which {{one}}?\n", "subject": "anatomy", "choices": ["12", "None", "c", "[1]"],
      "answer": 3}),
    ("arc_easy", "arc/arc_easy.yaml",
     {"id": "Q1", "question": "12", "choices": {"text": ["1", "{{2}}"], "label": ["A", "B"]},
      "answerKey": "B"}),
    ("openbookqa", "openbookqa/openbookqa.yaml",
     {"id": "Q1", "question_stem": "The sun is", "choices": {"text": ["a", "b"],
      "label": ["A", "B"]}, "answerKey": "A"}),
    ("commonsenseqa", "commonsense_qa/default.yaml",
     {"id": "Q1", "question": " Where? ", "choices": {"text": [*"vwxyz"], "label": [*"ABCDE"]},
      "answerKey": "C"}),
    ("siqa", "siqa/siqa.yaml",
     {"context": "Alex ran.", "question": "Why?", "answerA": "a", "answerB": "b", "answerC": "c",
      "label": "2"}),
    ("piqa", "piqa/piqa.yaml", {"goal": "open {%", "sol1": "pull", "sol2": "push", "label": 1}),
    ("hellaswag", "hellaswag/hellaswag.yaml",
     {"ind": 1, "activity_label": "Cooking", "ctx_a": "A man [step] cuts.  He looks.",
      "ctx_b": "then He", "ctx": "A man [step] cuts.  He looks. then He",
      "endings": ["eats [title] it", "runs"], "label": "1", "split": "val"}),
    ("winogrande", "winogrande/default.yaml",
     {"sentence": "Ann met Bea because _ was kind.", "option1": "Ann", "option2": "Bea",
      "answer": "2"}),
    ("truthfulqa", "truthfulqa/truthfulqa_mc1.yaml",
     {"question": "What is 2?", "mc1_targets": {"choices": ["two", "one"], "labels": [1, 0]},
      "mc2_targets": {"choices": ["two", "one"], "labels": [1, 0]}}),
    ("gsm8k", "gsm8k/gsm8k.yaml", {"question": "How {{many}}?", "answer": "It is 5.\n#### 5"}),
    ("bbh", "bbh/zeroshot/boolean_expressions.yaml", {"input": "not True is", "target": "False"}),
]  # fmt: skip
SCRIPT = """
import json, sys
from pathlib import Path
import datasets, lm_eval.tasks
from lm_eval.api.task import ConfigurableTask
from lm_eval.tasks import TaskManager
from lm_eval.tasks._yaml_loader import load_yaml

def asked(task):
    found = []
    for doc in task.eval_docs:
        text = task.fewshot_context(doc, 0)
        made = task.construct_requests(doc, text, doc_id=0, metadata=("", 0, 1))
        made = made if isinstance(made, list) else [made]
        by_choice = task.OUTPUT_TYPE == "multiple_choice"
        found.append([[str(part) for part in one.args[:2 if by_choice else 1]] for one in made])
    return found

def own(path, record):
    config = load_yaml(Path(lm_eval.tasks.__file__).parent / path)
    for name in ("dataset_path", "dataset_name", "training_split", "validation_split", "tag",
                 "fewshot_split", "fewshot_config", "dataset_kwargs", "description" * (
                 "bbh" in path)):
        config.pop(name, None)
    rows = datasets.DatasetDict({"test": datasets.Dataset.from_list([record])})
    config |= {"test_split": "test", "num_fewshot": 0, "custom_dataset": lambda **_: rows}
    return asked(ConfigurableTask(config=config))[0]

folder, records = sys.argv[1], json.load(sys.stdin)
loaded = TaskManager(include_path=folder).load([f"mixed_{name}" for name, _, _ in records])
tasks = {task.config.task: task for task in loaded["tasks"].values()}
print(json.dumps({name: [own(path, record), asked(tasks[f"mixed_{name}"])[0]]
                  for name, path, record in records}))
"""


@pytest.fixture
def prompts(harness: Any, exported: Any, tmp_path: Path) -> dict[str, Any]:
    items = []
    for name, _, record in RECORDS:
        path = tmp_path / f"{name}.jsonl"
        path.write_text(json.dumps(record) + "\n", encoding="utf-8")
        items += load(Request(name, file=path)).items
    made = exported(items)
    ran = subprocess.run(
        [harness.python, "-c", SCRIPT, made.folder / "harness"],
        input=json.dumps(RECORDS),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def test_each_task_asks_as_the_benchmarks_own(prompts: dict[str, Any]) -> None:
    assert prompts.keys() == {name for name, _, _ in RECORDS}
    for name, (own, ours) in prompts.items():
        assert ours == own, name
        assert find_preset(name).dataset
