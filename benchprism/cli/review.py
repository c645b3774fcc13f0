"""``benchprism review``: people review annotations in Argilla."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchprism.cli import (
    review_adjudicate,
    review_calibrate,
    review_page,
    review_plan,
    review_pull,
    review_push,
    review_status,
)
from benchprism.cli.environment import environment
from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import print_json, print_table, progress, say
from benchprism.project import find_project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    from benchprism.annotate.review.server import ServeOptions, Server, ServerHome

group = typer.Typer(no_args_is_help=True, help="Let people review annotations.")


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.add_typer(group, name="review")


@group.command()
def serve(
    host: Annotated[
        str, typer.Option(help="The address to serve on; a public one needs a password.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 6900,
    user: Annotated[
        list[str] | None,
        typer.Option("--user", "-u", help="Make this annotator; may be given again."),
    ] = None,
    new_password: Annotated[
        list[str] | None,
        typer.Option(help="Give this user a new password; may be given again."),
    ] = None,
    home: Annotated[
        Path | None,
        typer.Option(help="The server's folder; review-server in the project when not given."),
    ] = None,
    status: Annotated[bool, typer.Option("--status", help="Tell what runs, and end.")] = False,
    stop: Annotated[bool, typer.Option("--stop", help="Stop what runs, and end.")] = False,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Run a real Argilla server until it is stopped: no Docker, Elasticsearch or Redis is needed.

    Passwords are generated and shown once. ARGILLA_DATABASE_URL names a PostgreSQL database in
    place of SQLite, ARGILLA_REDIS_URL a Redis, BENCHPRISM_REVIEW_PASSWORD the owner's password.

    Example: benchprism review serve --user alice --user bob
    """
    variables, folder = _surroundings(project, home)
    if status and stop:
        raise InputError(
            "both --status and --stop are given", wanted="one of them", mend="leave one out"
        )
    if status:
        _tell_status(folder, json=json)
    elif stop:
        _stop(folder)
    else:
        _serve(folder, _options(host, port, user, new_password, variables), json=json)


def _surroundings(project: Path, home: Path | None) -> tuple[Mapping[str, str], ServerHome]:
    """The environment over the project's .env file, and the server's home."""
    from benchprism.annotate.review.server import FOLDER, ServerHome

    if home is not None:
        return os.environ, ServerHome(home.absolute())
    root = find_project(project).root
    return environment(root), ServerHome(root / FOLDER)


def _options(
    host: str,
    port: int,
    users: list[str] | None,
    new_passwords: list[str] | None,
    environment: Mapping[str, str],
) -> ServeOptions:
    from benchprism.annotate.review.server import PASSWORD_VARIABLE, ServeOptions

    options = ServeOptions(
        host=host,
        port=port,
        users=tuple(users or []),
        new_passwords=tuple(new_passwords or []),
        owner_password=environment.get(PASSWORD_VARIABLE) or None,
        database_url=environment.get("ARGILLA_DATABASE_URL") or None,
        redis_url=environment.get("ARGILLA_REDIS_URL") or None,
    )
    if options.owner_password is None and not options.is_local and sys.stdin.isatty():
        from dataclasses import replace

        typed = typer.prompt("Password for the owner", hide_input=True, err=True)
        options = replace(options, owner_password=typed)
    options.check()
    return options


def _serve(home: ServerHome, options: ServeOptions, *, json: bool) -> None:
    from benchprism.annotate.review.server import (
        ARGILLA,
        cache_folder,
        environment_python,
        require_free,
        review_server,
    )

    require_free(home, options)
    # A service manager or a closed terminal ends the server as Ctrl-C does.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    python = environment_python(cache_folder(), ARGILLA, progress=progress, say=say)
    say("Starting Argilla ...")
    try:
        with review_server(home, options, python, os.environ) as server:
            _show(home, options, server, json=json)
            server.wait()
    except KeyboardInterrupt:
        pass
    say("The review server has stopped; every submitted response is saved.")


def _show(home: ServerHome, options: ServeOptions, server: Server, *, json: bool) -> None:
    running = server.running
    accounts = [asdict(account) for account in server.accounts]
    if json:
        print_json({**asdict(running), "home": str(home.folder), "accounts": accounts})
    elif accounts:
        print_table(
            ["user", "role", "password"],
            [(a.username, a.role, a.password or "as given") for a in server.accounts],
            title="Write these down: they are not shown again",
        )
    sys.stdout.flush()
    if not options.is_local:
        say(
            f"Warning: whoever reaches {options.host} can try to log in, and nothing is encrypted "
            "on the way. Put a proxy with TLS in front of it."
        )
    say(f"Argilla is ready at {running.url} (process {running.pid}; Ctrl-C stops it).")


def _tell_status(home: ServerHome, *, json: bool) -> None:
    from benchprism.annotate.review.server import find_access, is_taken, running, standing

    server = running(home)
    if server is None:
        state = "starting" if is_taken(home) else "stopped"
        if json:
            print_json({"state": state, "home": str(home.folder)})
        else:
            typer.echo(f"{home.folder}: {state}")
        raise typer.Exit(1)
    found = standing(find_access(home, {}))
    if json:
        told = {"state": "running", "home": str(home.folder)}
        print_json({**told, **asdict(server), **asdict(found)})
        return
    typer.echo(f"{home.folder}: running at {server.url} (process {server.pid})")
    typer.echo(f"Argilla {found.version}, since {server.started}")
    print_table(["user", "role"], found.users.items())
    print_table(
        ["dataset", "workspace", "status", "records", "completed"],
        [[*asdict(dataset).values()] for dataset in found.datasets],
    )


def _stop(home: ServerHome) -> None:
    from benchprism.annotate.review.server import stop

    server = stop(home)
    if server is None:
        say(f"No review server runs on {home.folder}.")
        raise typer.Exit(1)
    say(f"Stopped the review server at {server.url}; every submitted response is saved.")


review_plan.register(group)
review_push.register(group)
review_pull.register(group)
review_status.register(group)
review_page.register(group)
review_calibrate.register(group)
review_adjudicate.register(group)
