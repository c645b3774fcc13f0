"""Users and the workspace, made by Argilla's own functions."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any

from argilla_server.contexts import accounts
from argilla_server.database import AsyncSessionLocal
from argilla_server.enums import UserRole
from argilla_server.models import User, Workspace

Account = dict[str, str | None]
"""Username, role, password and API key of a user, as they are shown once.

A password that was given is none: whoever gave it knows it.
"""


async def ensure_accounts(
    *,
    workspace: str,
    owner: str,
    owner_password: str | None,
    annotators: Iterable[str],
    new_passwords: Iterable[str],
) -> tuple[str, list[Account]]:
    """Make the workspace, the owner and annotators where they are missing.

    Args:
        workspace: its name.
        owner: the owner's username.
        owner_password: the password that the owner is to have; none to generate one once.
        annotators: usernames; a user who is there already is left alone.
        new_passwords: usernames who get a new password.

    Returns:
        The owner's API key, and the accounts whose password is new.

    Raises:
        LookupError: a new password is wanted for someone who is no user.
    """
    async with AsyncSessionLocal() as session:
        if await Workspace.get_by(session, name=workspace) is None:
            await accounts.create_workspace(session, {"name": workspace})
        made = []
        for name in dict.fromkeys([owner, *annotators]):
            role = UserRole.owner if name == owner else UserRole.annotator
            if await User.get_by(session, username=name) is None:
                password = owner_password if name == owner else None
                made.append(await _create(session, name, role, workspace, password))
        fresh = {account["username"] for account in made}
        renewed = [name for name in dict.fromkeys(new_passwords) if name not in fresh]
        made += [await _renew(session, name, _generated()) for name in renewed]
        if owner_password and owner not in fresh:
            await _renew(session, owner, owner_password)
        return (await User.get_by(session, username=owner)).api_key, made


async def _create(
    session: Any, name: str, role: UserRole, workspace: str, password: str | None
) -> Account:
    generated = None if password else _generated()
    attributes = {
        "username": name,
        "first_name": name,
        "last_name": None,
        "role": role,
        "password": password or generated,
    }
    return _shown(await accounts.create_user(session, attributes, [workspace]), generated)


async def _renew(session: Any, name: str, password: str) -> Account:
    user = await User.get_by(session, username=name)
    if user is None:
        raise LookupError(name)
    return _shown(await accounts.update_user(session, user, {"password": password}), password)


def _shown(user: Any, password: str | None) -> Account:
    return {
        "username": user.username,
        "role": user.role.value,
        "password": password,
        "api_key": user.api_key,
    }


def _generated() -> str:
    return secrets.token_urlsafe(12)
