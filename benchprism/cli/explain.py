"""``benchprism explain``: why items are in a subset or out of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import counted, print_json, print_table, say
from benchprism.project import Project, find_project
from benchprism.records.errors import InputError, enumerated

if TYPE_CHECKING:
    from benchprism.compose.explaining.explain import Explanation, FieldValue
    from benchprism.compose.store import Subset


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(explain)


def explain(
    subset: Annotated[str, typer.Argument(help="The subset's name.", show_default=False)],
    item: Annotated[str | None, typer.Argument(help="The item's id.", show_default=False)] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            help="Instead of an item: list the items that this rule left out; its text, or its"
            " number in what compose printed."
        ),
    ] = None,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Say why an item is in a subset or out of it: each rule's verdict, on which values.

    With --rule, list the items behind a number that compose printed.

    Example: benchprism explain reasoning mmlu/abstract_algebra/test/34
    """
    from benchprism.compose.store import read_subset

    opened = find_project(project)
    stored = read_subset(opened.subsets / subset)
    if (item is None) == (rule is None):
        raise InputError(
            "no item and no rule" if item is None else "both an item and a rule",
            wanted="the id of an item, or --rule",
            mend=f"run 'benchprism explain {subset} ITEM'",
        )
    if rule is not None:
        _list_rule(stored, rule, as_json=json)
    else:
        _explain_item(opened, stored, item or "", as_json=json)


def _explain_item(project: Project, stored: Subset, item: str, *, as_json: bool) -> None:
    from benchprism.annotate.ledger.standing import replayed_annotators
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.cli.gather import evidence_for, project_attribute_table
    from benchprism.compose.explaining import explain as explaining

    table = project_attribute_table(project, [item])
    answer = explaining.explain(stored, item, table, evidence_for(project, stored.criteria))
    with Ledger(project.ledger) as ledger:
        replayed = replayed_annotators(ledger, item)
    if as_json:
        given = {"outdated": answer.outdated, "replayed": replayed}
        print_json({"subset": stored.name, **asdict(answer), **given})
    else:
        _print_explanation(stored.name, answer)
    for sentence in answer.cautions:
        say(f"Warning: {sentence}.")
    if replayed:
        say(f"Note: what {enumerated(replayed)} said of it is a replay of recorded annotations.")
    if answer.outdated:
        say(f"Values have changed since {stored.name!r} was composed; compose it again.")


def _print_explanation(name: str, answer: Explanation) -> None:
    typer.echo(f"{answer.item_id} is {'in' if answer.chosen else 'out of'} {name}.")
    if not answer.chosen:
        typer.echo(f"Left out by {answer.rule!r}: {answer.detail}.")
    if answer.today is not None:
        typer.echo(f"Today: {answer.today}.")
    rows = [
        [verdict.rule, verdict.outcome, value.field, _cell(value.value), value.source, _sure(value)]
        for verdict in answer.verdicts
        for value in verdict.values
    ]
    if rows:
        print_table(["rule", "verdict", "field", "value", "source", "confidence"], rows)
    if answer.changes:
        typer.echo("To be in, it would need:")
        for change in answer.changes:
            typer.echo(f"  - {change}")


def _sure(value: FieldValue) -> str | None:
    """The confidence, and that annotators were divided where they were."""
    if value.confidence is None:
        return None
    return f"{value.confidence:.2f}{' (tie)' if value.confidence_source == 'tie' else ''}"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return "missing" if value is None else text if len(text) <= 60 else f"{text[:57]}..."


def _list_rule(stored: Subset, rule: str, *, as_json: bool) -> None:
    from benchprism.compose.explaining.tracing import left_out_by

    found = left_out_by(stored, rule)
    rows = found.items.to_pylist()
    if as_json:
        print_json({"subset": stored.name, "rule": found.rule, "items": rows})
        return
    print_table(["item", "why"], [[row["item_id"], row["detail"]] for row in rows])
    say(f"{counted(len(rows), 'item')} left out by {found.rule!r}.")
