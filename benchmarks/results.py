"""A tidy results table to the matrix of items and models, against DuckDB and Polars.

Writes a Parquet table of 5,000 models x 30,000 items (15 benchmarks, sorted by model) as Parquet
writers do by default, or with ``--stored`` as a project stores it. Then lays it out, each way in a
process of its own: wall and processor seconds, peak memory, and a sum that has to be the same. The
others get the codes of items (a benchmark and an id) and models from joins or enums, the fastest of
the ways that were tried, and read the same file; unlike ours they look for no contradictions.
``benchprism results add`` reads 10 million rows before.

Run: python benchmarks/results.py [--models 5000] [--peers PYTHON], where PYTHON has both installed.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchprism.records.results.store import LAYOUT

SIZES = (12032, 5761, 2000, 1324, 1319, 1267, 1221, 1172, 980, 817, 756, 541, 448, 198, 164)
GROUP = 34
"""Models in a row group, of a million rows."""


def written(path: Path, models: int, *, stored: bool = False) -> None:
    """Write the table: right and wrong by how able the model and how hard the item is."""
    rng = np.random.default_rng(0)
    bench = np.repeat(np.arange(len(SIZES), dtype=np.int32), SIZES)
    places = np.concatenate([np.arange(size) for size in SIZES])
    items = pa.array([f"bench{b:02}/test/{at}" for b, at in zip(bench, places, strict=True)])
    names = pa.array([f"bench{b:02}" for b in range(len(SIZES))])
    model_names = pa.array([f"org{m % 97}/model-{m:04}" for m in range(models)])
    difficulty, ability = rng.normal(size=len(items)), rng.normal(size=models)
    kinds = {**dict.fromkeys(("benchmark", "item_id", "model"), pa.string()), "score": pa.float64()}
    schema = pa.schema([pa.field(name, kind, nullable=not stored) for name, kind in kinds.items()])
    layout: dict[str, Any] = LAYOUT if stored else {"compression": "zstd"}

    def column(codes: np.ndarray, texts: pa.Array) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), texts).cast(
            pa.string()
        )

    with pq.ParquetWriter(path, schema, **layout) as writer:
        for start in range(0, models, GROUP):
            own = np.arange(start, min(start + GROUP, models))
            chance = 1 / (1 + np.exp(difficulty - ability[own, None]))
            columns = [
                column(np.tile(bench, len(own)), names),
                column(np.tile(np.arange(len(items)), len(own)), items),
                column(np.repeat(own, len(items)), model_names),
                pa.array((rng.random(chance.shape) < chance).astype(float).ravel()),
            ]
            writer.write_table(pa.table(columns, schema=schema))


_OURS = """
from pathlib import Path
from benchprism.records.results.matrix import outcomes
from benchprism.records.results.store import ResultsFile
matrices = [own.scores for own in outcomes({"x": ResultsFile(Path(path))}, threads=2)]
"""
_DUCKDB = """
import duckdb
db = duckdb.connect()
db.execute("set threads = 2; set preserve_insertion_order = false; set enable_progress_bar = false")
for name, key in (("items", "benchmark, item_id"), ("models", "model")):
    db.execute(f"create table {name} as select {key}, row_number() over (order by {key}) - 1"
               f" as code from (select distinct {key} from '{path}')").fetchall()
height, width = (db.sql(f"select count(*) from {t}").fetchall()[0][0] for t in ("items", "models"))
cells = np.full((height, width), np.nan, np.float32)
flat = cells.reshape(-1)
rows = db.sql(f"select i.code * {width} + m.code as place, score::float as score from '{path}'"
              " join items i using (benchmark, item_id) join models m using (model)")
for batch in rows.to_arrow_reader(2**20):
    flat[batch.column(0).to_numpy()] = batch.column(1).to_numpy()
matrices = [cells]
"""
_POLARS = """
import os
os.environ["POLARS_MAX_THREADS"] = "2"
import polars as pl
table = pl.scan_parquet(path)
items = (table.select("benchmark", "item_id").unique().sort("benchmark", "item_id")
         .with_row_index("item").collect(engine="streaming"))
models = table.select(pl.col("model").unique()).collect(engine="streaming")["model"].sort()
cells = np.full((len(items), len(models)), np.nan, np.float32)
codes = table.join(items.lazy(), on=["benchmark", "item_id"]).select(
    (pl.col("item").cast(pl.Int64) * len(models)
     + pl.col("model").cast(pl.Enum(models)).to_physical()).alias("place"),
    pl.col("score").cast(pl.Float32),
).collect(engine="streaming")
cells.reshape(-1)[codes["place"].to_numpy()] = codes["score"].to_numpy()
matrices = [cells]
"""
_PROGRAM = """
import resource, sys, time
import numpy as np
path = sys.argv[1]
wall, cpu = time.perf_counter(), time.process_time()
{work}
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
right = sum(float(np.nansum(part, dtype=float)) for own in matrices for part in own)
print(wall, cpu, peak, sum(len(own) for own in matrices), matrices[0].shape[1], right)
"""


def run(python: str, work: str, path: Path, repeats: int) -> list[float]:
    """Run a program in a process of its own; the fastest of several runs."""
    code = _PROGRAM.format(work=work)
    found = []
    for _ in range(repeats):
        done = subprocess.run(
            [python, "-c", code, str(path)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        found.append([float(part) for part in done.stdout.splitlines()[-1].split()])
    return min(found)


def compare(path: Path, peers: str | None, repeats: int) -> None:
    """Time each way and print a line for it."""
    ways = {"benchprism": (sys.executable, _OURS)}
    if peers is not None:
        ways |= {"DuckDB": (peers, _DUCKDB), "Polars": (peers, _POLARS)}
    rows = pq.read_metadata(path).num_rows
    print(f"{rows:,} rows, {path.stat().st_size / 2**20:.0f} MiB")
    first: list[float] | None = None
    for name, (python, work) in ways.items():
        wall, cpu, peak, *answer = run(python, work, path, repeats)
        first = first or [wall, *answer]
        if not np.allclose(answer, first[1:], rtol=0, atol=1e-6):
            raise SystemExit(f"{name} gives another matrix: {answer}, not {first[1:]}")
        print(
            f"{name:11} wall {wall:5.1f} s, processor {cpu:5.1f} s, peak {peak:5.0f} MiB, "
            f"{wall / first[0]:4.1f} times ours"
        )


def add(path: Path, folder: Path) -> None:
    """Time ``benchprism results add`` and take its peak memory."""
    (folder / "benchprism.yaml").write_text("project: speed\n", encoding="utf-8")
    program = "from benchprism.cli.main import main; main()"
    command = [sys.executable, "-c", program, "results", "add", str(path), "-p", str(folder)]
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    rows = pq.read_metadata(path).num_rows
    print(f"results add: {rows:,} rows in {seconds:.1f} s, peak {peak:.0f} MiB")


def main() -> None:
    """Write the tables and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=5000)
    parser.add_argument("--peers", help="a Python that has duckdb and polars")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--stored", action="store_true", help="a table as a project stores it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, large = folder / "small.parquet", folder / "large.parquet"
        work: list[Callable[[], None]] = [
            lambda: written(small, 334),
            lambda: add(small, folder),
            lambda: written(large, options.models, stored=options.stored),
            lambda: compare(large, options.peers, options.repeats),
        ]
        for step in work:
            step()


if __name__ == "__main__":
    main()
