"""The same criteria, data and seed give the same bytes, whatever the process they run in."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, sys
from pathlib import Path
import numpy as np, pyarrow as pa
from benchprism.compose.composer import compose
from benchprism.compose.language.criteria import Criteria
from benchprism.compose.evidence import Evidence
from benchprism.compose.locking.lock import lock
from benchprism.compose.store import write_subset
from benchprism.metrics.scorecard import Model
from benchprism.records.items.record import Item, content_hashes, items_table
from benchprism.records.results.matrix import Outcomes

rng = np.random.default_rng(5)
WORDS = ["ocean", "iron", "seven", "river", "Größe", "light", "x²", "why", "because", "left"]

def item(benchmark, row):
    question = " ".join(rng.choice(WORDS, 7)) + "?"
    choices = [str(n) for n in rng.integers(0, 9, 3)]
    hashes = content_hashes(question, "", choices)
    return Item(f"{benchmark}/test/{row}", benchmark, "", "test", row, "r", question, "",
                tuple(choices), 0, choices[0], (), "multiple_choice", (), "{}", *hashes)

items = [item(b, row) for b in ("arc", "gsm", "law") for row in range(80)]
table = items_table(items)
n = len(items)
table = table.append_column("depth", pa.array(rng.integers(0, 4, n), pa.int8()))
table = table.append_column("depth.source", pa.array(["llm_single"] * n))
table = table.append_column("depth.confidence", pa.array(rng.random(n)))
table = table.append_column("domain", pa.array(rng.choice(["maths", "law", "ärzte"], n).tolist()))
names = tuple(f"m{k}" for k in range(9))
models = tuple(Model(name, f"F{k % 3}", 1.5 ** k) for k, name in enumerate(names))
outcomes = tuple(
    Outcomes(b, tuple(f"{b}/test/{r}" for r in range(80)), names,
             (rng.random((80, 9)) < 0.3 + np.arange(9) / 20).astype(float) * 0.9 + 0.05)
    for b in ("arc", "gsm", "law"))
criteria = Criteria.model_validate(json.loads(sys.argv[1]))
composition = compose(criteria, table, seed=3, evidence=Evidence(outcomes, models))
write_subset(Path(sys.argv[2]), composition, lock(composition))
"""
CRITERIA = {
    "select": {
        "name": "s",
        "where": {
            "any": [{"depth": {"min": 1, "min_confidence": 0.1}}, {"difficulty": {"max": 1}}]
        },
        "deduplicate": {"match": "near", "similarity": 0.6, "keep": ["law"]},
        "select": {"cad_above": None, "tradeoff": {"shares": [0.5, 0.8], "stability": 0.5}},
        "prefer": [{"highest": "discrimination"}],
        "sample": {"size": 40, "balance": "benchmark"},
        "expect": [{"mean": "depth", "per": "benchmark", "min": 0}],
    },
    "quotas": {
        "name": "q",
        "sample": {
            "share": 0.3,
            "stratify": ["benchmark", {"field": "difficulty", "cuts": [0.4, 0.6]}],
            "weights": {"benchmark": {"gsm": 1.5}},
            "quotas": {"domain": {"ärzte": {"min": 35}, "law": {"max": 12}}},
        },
    },
}
FILES = ("criteria.yaml", "excluded.parquet", "items.parquet", "lock.json")


def written(name: str, folder: Path, **environment: str) -> dict[str, bytes]:
    command = [sys.executable, "-c", PROGRAM, json.dumps(CRITERIA[name]), str(folder)]
    subprocess.run(command, check=True, env={**os.environ, **environment})
    return {file: (folder / file).read_bytes() for file in FILES}


@pytest.mark.parametrize("name", CRITERIA)
def test_another_process_writes_the_same_bytes(name: str, tmp_path: Path) -> None:
    one = written(name, tmp_path / "one", PYTHONHASHSEED="1", OPENBLAS_NUM_THREADS="1")
    two = written(name, tmp_path / "two", PYTHONHASHSEED="2", TZ="Asia/Tokyo", LC_ALL="C",
                  OPENBLAS_CORETYPE="Prescott", NPY_DISABLE_CPU_FEATURES=FEATURES)  # fmt: skip
    assert one == two
    # and on every other machine: what the lock says of the content, fixed for all time
    content = json.loads(one["lock.json"])
    told = json.dumps([content["items"], content["content"], content["draw"]], sort_keys=True)
    assert hashlib.blake2b(told.encode(), digest_size=8).hexdigest() == KNOWN[name]


FEATURES = "AVX2 FMA3 AVX512F AVX512_SKX"
KNOWN = {"select": "5a11d2e644697743", "quotas": "b3d79735a9c314e7"}
