"""One dataset repository of the Hub, as a token reaches it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....records.errors import InputError
from .refusals import TOKENS, bad_name, hub_errors

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*", re.ASCII)
_TOKEN = "HF_TOKEN"  # noqa: S105 - the variable's name
_WRITES = frozenset({"write", "god"})


@dataclass(frozen=True, slots=True)
class Hub:
    """A dataset repository, which need not exist, and the way to it."""

    repo_id: str
    api: HfApi
    has_token: bool

    @property
    def namespace(self) -> str:
        """The user or organisation that the repository is of."""
        return self.repo_id.partition("/")[0]

    def download(self, path: str, revision: str, folder: Path) -> Path:
        """Copy a file of a commit into a folder, at the same place.

        Raises:
            EndpointError: the Hub refused, or cannot be reached.
        """
        with hub_errors(self.repo_id):
            found: str = self.api.hf_hub_download(
                self.repo_id, path, repo_type="dataset", revision=revision, local_dir=folder
            )
        return Path(found)

    @contextmanager
    def reading(self, folder: Path, mend: str) -> Iterator[None]:
        """Let errors about downloaded files name the repository, and what to do about them there.

        Raises:
            InputError: one about a file in ``folder``.
        """
        try:
            yield
        except InputError as error:
            found = error.found.replace(str(folder), self.repo_id)
            raise InputError(found, wanted=error.wanted, mend=mend) from error


def connect(repo_id: str, environment: Mapping[str, str]) -> Hub:
    """Prepare to reach a repository; nothing is asked yet.

    Args:
        repo_id: ``ORG/NAME``.
        environment: where ``HF_TOKEN`` and ``HF_ENDPOINT`` stand; without the first it is the token
            of ``hf auth login``.

    Raises:
        InputError: the name is none, or the token cannot be one.
    """
    from huggingface_hub import HfApi, get_token

    if not _NAME.fullmatch(repo_id):
        raise bad_name(repo_id)
    token = environment.get(_TOKEN, "").strip() or get_token()
    if token is not None and not re.fullmatch(r"[!-~]+", token):
        raise InputError(
            "the token has characters that no token has",
            wanted=f"a token as {TOKENS} shows it",
            mend=f"set {_TOKEN} again",
        )
    endpoint = environment.get("HF_ENDPOINT", "").strip().rstrip("/") or None
    return Hub(repo_id, HfApi(endpoint=endpoint, token=token or False), token is not None)


def require_write_access(hub: Hub, *, create_pr: bool) -> None:
    """Ask the Hub whose the token is, and whether it may write to the repository.

    What cannot be told of a token beforehand, such as a role in a resource group, is left to the
    Hub's own answer to the push.

    Raises:
        InputError: there is no token, or it may not write.
        EndpointError: the Hub refused, or cannot be reached.
    """
    if not hub.has_token:
        raise InputError(
            "no token for the Hub",
            wanted="one with write access",
            mend=f"make one at {TOKENS} and set HF_TOKEN, in the environment or in .env,"
            " or run 'hf auth login'",
        )
    with hub_errors(hub.repo_id):
        account = hub.api.whoami()
    _check_role(hub, account, create_pr=create_pr)
    if not create_pr:
        _check_namespace(hub, account)


def _check_role(hub: Hub, account: Mapping[str, Any], *, create_pr: bool) -> None:
    token = (account.get("auth") or {}).get("accessToken") or {}
    role = token.get("role")
    if role is None or role in _WRITES:
        return
    if role != "fineGrained":
        raise InputError(
            f"the token has the role {role!r}",
            wanted="a token with write access",
            mend=f"make one at {TOKENS} and set HF_TOKEN",
        )
    permitted = {*_permissions(token.get("fineGrained") or {}, hub)}
    enough = {"repo.write", "discussion.write"} if create_pr else {"repo.write"}
    if not permitted & enough:
        raise InputError(
            f"the fine-grained token has no write access to {hub.repo_id!r}",
            wanted="the permission " + " or ".join(repr(one) for one in sorted(enough)),
            mend=f"add it for {hub.namespace!r} or for this repository at {TOKENS}",
        )


def _permissions(scopes: Mapping[str, Any], hub: Hub) -> Iterator[str]:
    yield from scopes.get("global") or []
    known = {hub.namespace.casefold(), hub.repo_id.casefold()}
    for scope in scopes.get("scoped") or []:
        if str((scope.get("entity") or {}).get("name")).casefold() in known:
            yield from scope.get("permissions") or []


def _check_namespace(hub: Hub, account: Mapping[str, Any]) -> None:
    user, orgs = str(account.get("name")), account.get("orgs") or []
    roles = {str(org.get("name")): org.get("roleInOrg") for org in orgs}
    wanted = f"one of {', '.join([user, *sorted(roles)])}"
    of = {name.casefold(): role for name, role in {**roles, user: "admin"}.items()}
    if hub.namespace.casefold() not in of:
        raise InputError(
            f"the account {user!r} is not a member of {hub.namespace!r}",
            wanted=wanted,
            mend="name another one, or offer the change with --create-pr",
        )
    if of[hub.namespace.casefold()] == "read":
        raise InputError(
            f"the account {user!r} may only read in {hub.namespace!r}",
            wanted="a role that writes",
            mend="ask an administrator of it, or offer the change with --create-pr",
        )
