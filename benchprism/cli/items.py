"""``benchprism items``: the items of benchmarks, added, listed and checked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import counted, print_json, print_table, say
from benchprism.project import find_project

if TYPE_CHECKING:
    import pyarrow as pa

    from benchprism.records.items.check import Finding
    from benchprism.records.items.loading import Loaded
    from benchprism.records.items.store import Provenance

_Name = Annotated[
    str, typer.Argument(help="A preset, or a name of your own.", metavar="PRESET_OR_NAME")
]
_Names = Annotated[list[str] | None, typer.Argument(help="Benchmarks; all when none are named.")]
_File = Annotated[
    Path | None,
    typer.Option("--from", help="A local copy: .jsonl, .json, .csv, .tsv (.gz) or .parquet."),
]
_Preset = Annotated[
    str | None, typer.Option(help="The preset to read a benchmark of another name by.")
]
_Dataset = Annotated[
    str | None, typer.Option(help="A dataset on the Hugging Face Hub: owner/name.")
]
_Config = Annotated[
    str | None,
    typer.Option("--config", "--subset", help="The dataset's configuration; a file's subset."),
]
_Split = Annotated[str | None, typer.Option(help="The split, such as test.")]
_Revision = Annotated[str | None, typer.Option(help="A branch, tag or commit of the dataset.")]
_Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="PART=COLUMN",
        help="What a column holds: question, context, choices, labels, answer, accepted, subset, "
        "split, id; kind=mixed for items with and without choices.",
    ),
]
_Answer = Annotated[
    str | None,
    typer.Option(
        metavar="CODING",
        help="How the answer is coded: index0, index1, letter, label, text, one_hot, first, free, "
        "list, none.",
    ),
]
_Domain = Annotated[
    str | None, typer.Option(help="The field that the benchmark is compared within.")
]
_Licence = Annotated[
    str | None, typer.Option("--licence", "--license", help="The licence of the items.")
]
_Limit = Annotated[int | None, typer.Option(min=1, help="Add only the first items.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    group = typer.Typer(
        name="items", help="Add, list and check the items of benchmarks.", no_args_is_help=True
    )
    group.command("add")(add)
    group.command("list")(list_)
    group.command("check")(check)
    group.command("presets")(list_presets)
    app.add_typer(group)


def add(
    benchmark: _Name,
    file: _File = None,
    preset: _Preset = None,
    dataset: _Dataset = None,
    config: _Config = None,
    split: _Split = None,
    revision: _Revision = None,
    columns: _Columns = None,
    answer: _Answer = None,
    domain: _Domain = None,
    licence: _Licence = None,
    limit: _Limit = None,
    as_json: JsonOption = False,
    project: ProjectOption = HERE,
) -> None:
    """Add the items of a benchmark to the project, or replace them.

    Example: benchprism items add mine --from questions.csv --map question=text
    --map choices=a,b,c,d --map answer=key --answer letter
    """
    from benchprism.records.items.loading import Request, load
    from benchprism.records.items.mapping import mapping_options
    from benchprism.records.items.record import items_table
    from benchprism.records.items.store import write_items

    target = find_project(project).items / f"{benchmark}.parquet"
    request = Request(
        benchmark=benchmark,
        preset=preset,
        file=file,
        dataset=dataset,
        config=config,
        split=split,
        revision=revision,
        columns=mapping_options(columns or (), answer),
        domain=domain,
        licence=licence,
        limit=limit,
    )
    if file is None and (dataset or request.preset_name):
        say(f"Reading {dataset or request.preset_name} from the Hugging Face Hub ...")
    loaded = load(request)
    replaced, table = target.exists(), items_table(loaded.items)
    write_items(target, table, loaded.provenance)
    if replaced:
        say(f"Replaced the items of {benchmark!r} that were there.")
    _explain(loaded, request.columns)
    summary = _summary(benchmark, table, loaded.provenance)
    if as_json:
        print_json(summary)
    else:
        typer.echo(_sentence(summary))


def _sentence(summary: dict[str, Any]) -> str:
    subsets = f" in {summary['subsets']} subsets" if summary["subsets"] > 1 else ""
    split = f", split {summary['split']}" if summary["split"] else ""
    return (
        f"{summary['benchmark']}: {counted(summary['items'], 'item')}{subsets}{split}, "
        f"{summary['faulty']} faulty, {_revision(summary)}"
    )


def _revision(summary: dict[str, Any]) -> str:
    """Shorten a commit or digest to the digits that people compare."""
    kind, _, digits = str(summary.get("revision", "")).rpartition(":")
    return f"{kind}{':' if kind else ''}{digits[:12]}"


def _explain(loaded: Loaded, stated: Any) -> None:
    """Say what was decided without being told, and what looks wrong."""
    provenance, faults = loaded.provenance, Counter(f for i in loaded.items for f in i.faults)
    columns = provenance["columns"]
    if loaded.rows_skipped:
        say(f"Left out {loaded.rows_skipped} rows of other benchmarks, subsets or splits.")
    if loaded.split_assumed:
        say(f"Took the split for {provenance['split']!r}, the preset's own; --split names another.")
    if provenance["preset"] is None and "coding" not in stated:
        say(f"Read the answers as {columns['coding']!r}, the only way they can be read.")
    if provenance["licence"] == "unknown":
        say("The licence is not known; state it with --licence before you share items.")
    if 2 * faults["bad_key"] > len(loaded.items):
        say(f"Most keys fit no choice: check the answer coding {columns.get('coding')!r}.")
    if faults:
        say("Some items are faulty: run 'benchprism items check'.")


def list_(as_json: JsonOption = False, project: ProjectOption = HERE) -> None:
    """List the benchmarks of the project, with where their items are from.

    Example: benchprism items list --json
    """
    from benchprism.records.items.store import items_files, read_items, read_provenance

    files = items_files(find_project(project).items)
    benchmarks = [
        _summary(name, read_items(path), read_provenance(path)) for name, path in files.items()
    ]
    if as_json:
        print_json(benchmarks)
    elif benchmarks:
        _print_benchmarks(benchmarks)
    else:
        say("No benchmarks yet: add one with 'benchprism items add mmlu'.")


def _summary(benchmark: str, items: pa.Table, provenance: Provenance) -> dict[str, Any]:
    kinds = Counter(items.column("kind").to_pylist())
    faults = items.column("faults").to_pylist()
    return {
        "benchmark": benchmark,
        "items": items.num_rows,
        "subsets": len(set(items.column("subset").to_pylist())),
        "kinds": dict(sorted(kinds.items())),
        "faulty": sum(map(bool, faults)),
        "faults": dict(sorted(Counter(fault for of_item in faults for fault in of_item).items())),
        **provenance,
    }


def _print_benchmarks(benchmarks: list[dict[str, Any]]) -> None:
    columns = ["benchmark", "items", "subsets", "split", "kind", "faulty", "from", "revision"]
    print_table(
        columns,
        [
            (
                one["benchmark"],
                one["items"],
                one["subsets"],
                one.get("split"),
                ", ".join(one["kinds"]).replace("_", " "),
                one["faulty"],
                one.get("file") or one.get("dataset"),
                _revision(one),
            )
            for one in benchmarks
        ],
    )


def check(
    benchmarks: _Names = None, as_json: JsonOption = False, project: ProjectOption = HERE
) -> None:
    """Report faulty, repeated and contradictory items; exit code 1 when there are any.

    Example: benchprism items check mmlu --json
    """
    from dataclasses import asdict

    from benchprism.records.items.check import find_faults
    from benchprism.records.items.store import project_items

    items = project_items(find_project(project).items, benchmarks)
    findings = find_faults(items)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    elif findings:
        _print_findings(findings)
    if findings:
        if not as_json:
            say("List them all with --json.")
        raise typer.Exit(1)
    say(f"Checked {counted(items.num_rows, 'item')}: nothing found.")


def _print_findings(findings: list[Finding]) -> None:
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.benchmark, finding.fault), []).append(finding)
    print_table(
        ["benchmark", "finding", "items", "for example"],
        [
            (benchmark, fault, len(group), f"{group[0].item_id}: {group[0].detail}")
            for (benchmark, fault), group in sorted(groups.items())
        ],
    )


def list_presets(as_json: JsonOption = False) -> None:
    """List the benchmarks that can be added by name.

    Example: benchprism items presets
    """
    from benchprism.records.items.presets import presets

    known = [(name, one.title, one) for name, one in sorted(presets().items())]
    if as_json:
        print_json(
            [{"preset": name, **one.model_dump(exclude={"layouts"})} for name, _, one in known]
        )
        return
    print_table(
        ["preset", "benchmark", "dataset", "split", "domain", "licence"],
        [(name, title, p.dataset, p.split, p.domain, p.licence) for name, title, p in known],
    )
