"""What a real library makes of an exported folder. Runs by path, in any environment that has it.

``python probe.py LIBRARY FOLDER OUT`` loads the folder with ``datasets``, ``lm_eval`` or
``inspect_ai``, renders every item, lets a model that knows the keys answer, and writes what it saw
to ``OUT/LIBRARY.json``: per item what was rendered, the key and the score. The harnesses' own logs
are written beside it. Needs nothing of benchprism.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

Report = dict[str, Any]
"""``version`` and ``rows``: ``item_id``, ``part``, ``text``, ``key`` and ``scores`` of each."""


def digest(row: Mapping[str, Any]) -> str:
    """Identify a row by its values and their types."""
    text = json.dumps(row, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def probe_datasets(folder: Path, out: Path) -> Report:
    """Load each configuration by ``load_dataset``."""
    datasets = importlib.import_module("datasets")
    datasets.disable_progress_bars()
    cache = str(out / "cache")
    names = datasets.get_dataset_config_names(str(folder))
    loaded = [
        datasets.load_dataset(str(folder), name, split="test", cache_dir=cache) for name in names
    ]
    rows = ({"item_id": row["item_id"], "text": digest(row)} for part in loaded for row in part)
    return {"version": version("datasets"), "rows": [*rows]}


def probe_lm_eval(folder: Path, out: Path) -> Report:
    """Run the group of tasks with a model that knows the keys."""
    parts = _parts(folder, "lm-eval")
    if not parts:
        return {"version": version("lm_eval"), "rows": []}
    lm_eval = importlib.import_module("lm_eval")
    manager = importlib.import_module("lm_eval.tasks").TaskManager(
        include_path=str(_harness(folder))
    )
    tracker = importlib.import_module("lm_eval.loggers").EvaluationTracker(
        output_path=str(out / "lm_eval")
    )
    tasks = {f"{_group(folder)}_{name}": part for name, part in parts.items()}
    found = lm_eval.simple_evaluate(
        model=_key_model(tasks),
        tasks=[_group(folder)],
        task_manager=manager,
        log_samples=True,
        bootstrap_iters=0,
    )
    found["model_name"] = "key"
    samples = found.pop("samples")
    rows = [*_lm_eval_rows(samples, tasks)]  # before the tracker rewrites the samples
    tracker.general_config_tracker.model_name_sanitized = "key"
    tracker.save_results_aggregated(results=found, samples=samples)
    for task, logged in samples.items():
        tracker.save_results_samples(task_name=task, samples=logged)
    return {"version": version("lm_eval"), "rows": rows}


def _lm_eval_rows(samples: Mapping[str, Any], tasks: Mapping[str, Any]) -> Iterator[Report]:
    for task, logged in samples.items():
        for sample in logged:
            doc, part = sample["doc"], tasks[task]
            asked = [[str(text) for text in request[:2]] for request in sample["arguments"]]
            yield {
                "item_id": doc["item_id"],
                "part": part["name"],
                "filter": sample["filter"],
                "asked": asked if part["by_likelihood"] else asked[0][0],
                "key": doc["gold"] if part["by_likelihood"] else doc["answers"],
                "score": sample[part["metric"]],
            }


def _key_model(tasks: Mapping[str, Mapping[str, Any]]) -> Any:
    class Key(importlib.import_module("lm_eval.api.model").LM):  # type: ignore[misc]
        def loglikelihood(self, requests: Any) -> Any:
            return [(0.0 if r.idx == r.doc["gold"] else -1e6, False) for r in requests]

        def loglikelihood_rolling(self, requests: Any) -> Any:
            return [0.0 for _ in requests]

        def generate_until(self, requests: Any) -> Any:
            return [_reply(tasks[r.task_name]["scoring"], r.doc["target"]) for r in requests]

    return Key()


def _reply(scoring: str, answer: str) -> str:
    """What a model writes that means an answer."""
    if scoring == "letter_in_text":
        return f"The answer is ({answer})."
    if scoring == "number":
        return f"So it is\n#### {answer}"
    if scoring == "mathematics":
        return f"So it is $\\boxed{{{answer}}}$."
    if scoring == "emotions":
        return _ratings(answer)
    return answer


def _ratings(answer: str) -> str:
    key = importlib.import_module("ast").literal_eval(answer)
    rated = ((key[f"emotion{n}"], key[f"emotion{n}_score"]) for n in range(1, 5))
    return "\n".join(f"{emotion}: {score}" for emotion, score in rated)


def probe_inspect(folder: Path, out: Path) -> Report:
    """Run the task file, and read ``eval.yaml`` as ``inspect eval hf/...`` does."""
    without_code = _eval_yaml(folder, out / "cache")
    rows = _inspect_rows(folder, out) if _parts(folder, "inspect") else []
    return {"version": version("inspect_ai"), "rows": rows, "eval_yaml": without_code}


def _inspect_rows(folder: Path, out: Path) -> list[Report]:
    inspect_ai = importlib.import_module("inspect_ai")
    sys.path.insert(0, str(_harness(folder)))
    tasks = importlib.import_module("inspect_task")
    task = inspect_ai.task_with(tasks.benchmark(), solver=_with_key(tasks.asked(), folder))
    [log] = inspect_ai.eval(
        task, model="mockllm/key", log_dir=str(out / "inspect"), display="none", fail_on_error=True
    )
    if log.status != "success":
        raise RuntimeError(log.error.message if log.error else log.status)
    return [
        {
            "item_id": sample.id,
            "part": sample.metadata["part"],
            "asked": sample.messages[0].text,
            "choices": sample.choices,
            "key": sample.target,
            "score": _graded(next(iter(sample.scores.values())).value),
        }
        for sample in log.samples
    ]


def _with_key(asked: Any, folder: Path) -> Any:
    """The task's own solver, with a model that knows the key."""
    solver = importlib.import_module("inspect_ai.solver").solver
    output = importlib.import_module("inspect_ai.model").ModelOutput
    parts = _parts(folder, "inspect")

    @solver  # type: ignore[untyped-decorator]
    def known() -> Callable[..., Any]:
        async def solve(state: Any, _generate: Any) -> Any:
            async def answer(state: Any, *_: Any, **__: Any) -> Any:
                part = parts[state.metadata["part"]]
                key = state.target[0]
                chosen = part["kind"] == "multiple_choice"
                text = f"ANSWER: {key}" if chosen else _reply(part["scoring"], key)
                state.output = output.from_content("key", text)
                return state

            return await asked(state, answer)

        return solve

    return known()


def _graded(value: Any) -> float:
    return float({"C": 1.0, "I": 0.0}[value] if isinstance(value, str) else value)


def _eval_yaml(folder: Path, cache: Path) -> list[Report]:
    """The samples that the file's tasks make of the data, by the library's own reader."""
    reader = importlib.import_module("inspect_ai._eval.task.hf")
    datasets = importlib.import_module("datasets")
    rows: list[Report] = []
    if not (folder / "eval.yaml").is_file():
        return rows
    for config in reader._load_eval_yaml(folder / "eval.yaml")["tasks"]:
        task = reader.HFTask.model_validate(config)
        loaded = datasets.load_dataset(
            str(folder), task.config, split=task.split, cache_dir=str(cache)
        )
        for row in loaded:
            sample = reader._record_to_sample_hf(row, task.field_spec)
            rows.append(
                {
                    "item_id": sample.metadata["item_id"],
                    "asked": sample.input,
                    "choices": sample.choices,
                    "key": sample.target,
                }
            )
    return rows


def _harness(folder: Path) -> Path:
    return folder / "harness"


def _known(folder: Path) -> Report:
    known: Report = json.loads((_harness(folder) / "sources.json").read_text(encoding="utf-8"))
    return known


def _group(folder: Path) -> str:
    group: str = _known(folder)["group"]
    return group


def _parts(folder: Path, harness: str) -> dict[str, Report]:
    return {
        name: {**part, "name": name}
        for name, part in _known(folder)["parts"].items()
        if harness in part["harnesses"]
    }


PROBES = {"datasets": probe_datasets, "lm_eval": probe_lm_eval, "inspect_ai": probe_inspect}


def main(library: str, folder: str, out: str) -> None:
    """Probe a folder with one library; write what it saw."""
    place = Path(out).resolve()
    report = PROBES[library](Path(folder).resolve(), place)
    (place / f"{library}.json").write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
