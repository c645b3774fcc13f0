"""Options of ``benchprism score``, in the groups that its help shows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

_WHAT = "What is scored"
_HOW = "How"
_BESIDE = "Beside the paper's numbers"
_OTHER = "Other questions, instead of a scorecard"

Unit = Literal["percent", "proportion"]
Ties = Literal["tau-b", "listing", "noise"]
Over = Literal["items", "models", "both"]
Response = Literal["1PL", "2PL", "none"]


def _option(panel: str, help_: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, help=help_, rich_help_panel=panel, **settings)


def _several(replicates: int) -> int:
    """Refuse a single replicate, which makes no interval."""
    if replicates == 1:
        raise typer.BadParameter("1 replicate makes no interval; 0 for none, or at least 2")
    return replicates


SubsetArgument = Annotated[
    str | None,
    typer.Argument(help="A composed subset, to score the benchmarks on its items alone."),
]
BenchmarkOption = Annotated[
    list[str] | None, _option(_WHAT, "Only this benchmark; may be repeated.")
]
FamilyOption = Annotated[
    list[str] | None, _option(_WHAT, "Only models of this family; may be repeated.")
]
HeldOutOption = Annotated[
    bool,
    _option(
        _WHAT,
        "Only families that had no part in choosing the subset's items ('select').",
        "--held-out",
    ),
]
AccuracyOption = Annotated[
    Path | None,
    _option(
        _WHAT,
        "Score this CSV of accuracies instead of a project: models in rows (first column, then "
        "'family' and 'size' if known), benchmarks in columns.",
    ),
]
UnitOption = Annotated[Unit | None, _option(_WHAT, "What the accuracies of --accuracy are.")]
DomainsOption = Annotated[
    Path | None, _option(_WHAT, "CSV with the columns benchmark and domain, for --accuracy.")
]
InversionsOption = Annotated[
    Path | None,
    _option(
        _WHAT,
        "CSV with a column benchmark and inversion rates, a column a family, for --accuracy.",
    ),
]
TiesOption = Annotated[
    Ties,
    _option(
        _HOW,
        "How rankings treat equal models: tau-b; 'listing', the paper's way; or 'noise', which "
        "ties models whose difference chance in the items explains.",
    ),
]
EpsilonOption = Annotated[
    str,
    _option(
        _HOW,
        "Accuracy difference that does not count, for DS; 'noise' adds DS with one taken from the "
        "standard error on each benchmark.",
        metavar="NUMBER|noise",
    ),
]
LambdaOption = Annotated[
    str,
    _option(
        _HOW,
        "How fast inversions cost, for CAD; 'adaptive' adds CAD with one taken from the spread of "
        "the inversion rates.",
        "--lambda",
        metavar="NUMBER|adaptive",
    ),
]
OverOption = Annotated[
    Over, _option(_HOW, "What the intervals of the table are over; --json gives all.")
]
UngroupedOption = Annotated[
    bool,
    _option(
        _HOW,
        "Draw items one by one, also those that share a passage or a text.",
        "--ungrouped",
    ),
]
ReplicatesOption = Annotated[
    int,
    _option(
        _HOW, "Bootstrap replicates; 0 for no intervals.", min=0, max=1_000_000, callback=_several
    ),
]
SeedOption = Annotated[
    int | None, _option(_HOW, "Seed of the bootstrap; the project's if none.", min=0)
]
NullOption = Annotated[
    int,
    _option(_BESIDE, "Compare the subset with so many random subsets of its size.", min=0),
]
ShrinkOption = Annotated[
    bool,
    _option(
        _BESIDE,
        "Bayesian CBRC, drawn towards the other benchmarks when peers are few.",
        "--shrink",
    ),
]
CrossFamilyOption = Annotated[
    bool,
    _option(
        _BESIDE,
        "CAD of inversions that several families share, and CAD without pairs of models whose "
        "order the results contradict.",
        "--cross-family",
    ),
]
CurvesOption = Annotated[
    bool,
    _option(_BESIDE, "CAD and DS over several values of lambda and epsilon.", "--curves"),
]
CompareOption = Annotated[
    tuple[str, str] | None,
    _option(
        _OTHER,
        "Compare two models on the same items: exact McNemar test, paired bootstrap.",
        metavar="MODEL MODEL",
    ),
]
ByOption = Annotated[
    str | None,
    _option(
        _OTHER,
        "Accuracy and rank for each value of an attribute (or attribute:label).",
        metavar="ATTRIBUTE",
    ),
]
ItemsOption = Annotated[
    bool,
    _option(
        _OTHER,
        "Statistics of every item: difficulty, discrimination, inversions, item response.",
        "--items",
    ),
]
ResponseOption = Annotated[Response, _option(_OTHER, "Item response model of --items.")]
OutOption = Annotated[Path | None, _option(_OTHER, "Write --items to this .parquet or .csv file.")]
DemandOption = Annotated[
    list[str] | None,
    _option(
        _OTHER,
        "Abilities of the models in what the attribute demands, and how much of the difficulty it "
        "explains; may be repeated.",
        metavar="ATTRIBUTE",
    ),
]
JudgeOption = Annotated[
    bool,
    _option(
        _OTHER,
        "Judge the subset: beside its sources whole, beside random subsets of its size (200, or as"
        " many as --null says), and by families that had no part in the choice.",
        "--judge",
    ),
]
ShareOption = Annotated[
    bool,
    _option(
        _OTHER,
        "What share of the items to keep: consistency, stability and discriminability, judged by "
        "held-out families.",
        "--share",
    ),
]
