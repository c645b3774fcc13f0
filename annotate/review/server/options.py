"""How a review server is to run, and what cannot be."""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress
from dataclasses import dataclass

from ....records.errors import InputError

PASSWORD_VARIABLE = "BENCHPRISM_REVIEW_PASSWORD"  # noqa: S105  a name, not a password
_SHORTEST, _LONGEST = 8, 72
"""Bytes of a password: Argilla wants the first, bcrypt reads no more than the second."""
_USERNAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How a server is to run."""

    host: str = "127.0.0.1"
    port: int = 6900
    """0 takes a free one."""
    users: tuple[str, ...] = ()
    """Annotators who are made where they are missing."""
    new_passwords: tuple[str, ...] = ()
    """Users who get a new password."""
    owner_password: str | None = None
    """The owner's password from now on; none to generate one at the first start."""
    database_url: str | None = None
    """A PostgreSQL database; none for SQLite in the home."""
    redis_url: str | None = None
    """A Redis for the job queue; none for an imitation inside the server."""

    @property
    def is_local(self) -> bool:
        """Only this machine can reach the server."""
        with suppress(ValueError):
            return ipaddress.ip_address(self.host).is_loopback
        return self.host == "localhost"

    def check(self) -> None:
        """Refuse what cannot work, before anything is started.

        Raises:
            InputError: a username, a password or a database that cannot be used.
        """
        for name in self.users:
            if not _USERNAME.fullmatch(name):
                raise InputError(
                    f"the username {name!r}",
                    wanted="letters, digits, '-' and '_', beginning with a letter or a digit",
                    mend="choose another name",
                )
        self._check_password()
        kind = (self.database_url or "postgresql").split(":")[0].split("+")[0]
        if kind != "postgresql":
            raise InputError(
                f"a database of the kind {kind!r}",
                wanted="'postgresql://user:password@host:port/name'",
                mend="name a PostgreSQL database, or none for SQLite",
            )

    def _check_password(self) -> None:
        if self.owner_password is None:
            if self.is_local:
                return
            raise InputError(
                f"no password is given for a server that others can reach at {self.host}",
                wanted=f"the owner's password in {PASSWORD_VARIABLE}",
                mend=f"set {PASSWORD_VARIABLE}, or serve on 127.0.0.1 only",
            )
        length = len(self.owner_password.encode())
        if not _SHORTEST <= length <= _LONGEST:
            raise InputError(
                f"the owner's password has {length} bytes",
                wanted=f"{_SHORTEST} to {_LONGEST}",
                mend="choose another one",
            )
