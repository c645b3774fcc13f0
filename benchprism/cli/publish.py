"""What ``benchprism export --to hub ORG/NAME`` does beyond writing the folder."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer

from benchprism.cli.output import counted, print_table, printable, say
from benchprism.project import Project
from benchprism.records.errors import InputError, suggestion

if TYPE_CHECKING:
    from benchprism.compose.export.hub.push import Plan, Pushed
    from benchprism.compose.export.hub.repository import Hub
    from benchprism.compose.export.subset import ExportedSubset

_SHOWN = 20
"""Item ids of a kind that are printed; ``--json`` has all."""


@dataclass(frozen=True, slots=True)
class Publication:
    """Where a subset is to be published, and how."""

    repo_id: str
    public: bool
    create_pr: bool
    dry_run: bool
    accepts_non_commercial: bool


def publication(to: tuple[str, str] | None, flags: Mapping[str, bool]) -> Publication | None:
    """Read the options; none when nothing is to be published.

    Args:
        to: ``hub`` and the repository.
        flags: ``--public``, ``--create-pr``, ``--dry-run`` and ``--accept-non-commercial``.

    Raises:
        InputError: the place is unknown, or an option is without ``--to``.
    """
    if to is None:
        for option, given in flags.items():
            if given:
                raise InputError(
                    f"{option} without --to", wanted="both", mend="add --to hub ORG/NAME"
                )
        return None
    if to[0] != "hub":
        raise InputError(
            f"--to {to[0]!r}",
            wanted="--to hub ORG/NAME, for the Hugging Face Hub",
            mend=suggestion(to[0], ["hub"]),
        )
    return Publication(
        repo_id=to[1],
        public=flags["--public"],
        create_pr=flags["--create-pr"],
        dry_run=flags["--dry-run"],
        accepts_non_commercial=flags["--accept-non-commercial"],
    )


def writable_hub(project: Project, wanted: Publication) -> Hub:
    """The repository, once the token was found to have write access."""
    from benchprism.cli.environment import environment
    from benchprism.compose.export.hub.repository import connect, require_write_access

    hub = connect(wanted.repo_id, environment(project.root))
    show_transfers()
    require_write_access(hub, create_pr=wanted.create_pr)
    return hub


def show_transfers() -> None:
    """Let the library show its bars on a terminal only."""
    from huggingface_hub.utils.tqdm import disable_progress_bars

    if not sys.stderr.isatty():
        disable_progress_bars()


def require_permission(hub: Hub, wanted: Publication, exported: ExportedSubset) -> None:
    """Stop where a source does not permit publishing."""
    from benchprism.compose.export.permission import require_free_use, require_open_sources

    require_free_use(exported, accepted=wanted.accepts_non_commercial)
    for note in require_open_sources(hub, exported):
        say(f"Note: {note}.")


@contextmanager
def export_place(folder: Path, wanted: Publication | None) -> Iterator[Path]:
    """Yield the folder to export to: a passing one, with the folder's card, for a dry run."""
    from benchprism.compose.export.card import CARD
    from benchprism.compose.export.folder import MANIFEST

    if wanted is None or not wanted.dry_run:
        yield folder
        return
    with TemporaryDirectory() as name:
        passing = Path(name) / folder.name
        for path in (CARD, MANIFEST):
            if (folder / path).is_file():
                (passing / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(folder / path, passing / path)
        yield passing


def publish(
    hub: Hub, wanted: Publication, exported: ExportedSubset, folder: Path, *, as_json: bool
) -> dict[str, Any]:
    """Push an exported folder, or show what a push would change; returns it as plain data."""
    from benchprism.compose.export.hub.push import plan_push, push, require_visibility

    plan = plan_push(hub, folder, exported, public=wanted.public)
    if wanted.dry_run:
        if not as_json:
            _print_plan(plan)
    else:
        require_visibility(hub, plan, public=wanted.public)
    for note in plan.notes:
        say(f"Note: {note}.")
    pushed = None
    if not plan.files:
        say(f"{hub.repo_id} is up to date: nothing to push.")
    elif wanted.dry_run:
        say(f"Nothing was written or pushed: {_amount(plan)} would be, to {_place(hub, plan)}.")
    else:
        say(f"Pushing {_amount(plan)} to {_place(hub, plan)} ...")
        pushed = push(hub, plan, create_pr=wanted.create_pr)
        _say_pushed(pushed)
    return _data(hub, plan, pushed)


def _amount(plan: Plan) -> str:
    sent = sum(change.after or 0 for change in plan.files)
    return f"{counted(len(plan.files), 'file')} ({_size(sent)})"


def _place(hub: Hub, plan: Plan) -> str:
    kind = "private" if plan.private else "public"
    return f"the {'new ' if plan.commit is None else ''}{kind} dataset {hub.repo_id}"


def _say_pushed(pushed: Pushed) -> None:
    if pushed.pull_request is not None:
        say(f"Opened {pushed.pull_request}.")
    else:
        say(f"Pushed as commit {pushed.commit[:12]}: {pushed.url}.")


def _size(number: int | None) -> str | None:
    if number is None:
        return None
    if number < 1000:
        return f"{number} B"
    return f"{number / 1000:.1f} kB" if number < 10**6 else f"{number / 10**6:.1f} MB"


def _print_plan(plan: Plan) -> None:
    files = [[f.change, f.path, _size(f.before), _size(f.after)] for f in plan.files]
    if files:
        print_table(["change", "file", "on the Hub", "pushed"], files, title="Files")
    items = [[kind, *_first(ids)] for kind, ids in asdict(plan.items).items() if ids]
    if items:
        print_table(["items", "number", "ids"], items, title="Items")
    typer.echo(printable(plan.card_diff), nl=False)


def _first(ids: Sequence[str]) -> tuple[int, str]:
    more = f", and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return len(ids), ", ".join(ids[:_SHOWN]) + more


def _data(hub: Hub, plan: Plan, pushed: Pushed | None) -> dict[str, Any]:
    return {
        "repository": hub.repo_id,
        "compared_with": plan.commit,
        "private": plan.private,
        "files": [asdict(change) for change in plan.files],
        "items": asdict(plan.items),
        "card_diff": plan.card_diff,
        "pushed": None if pushed is None else asdict(pushed),
    }
