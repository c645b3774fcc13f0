"""Files and folders that are either whole or absent: written to a temporary name, then renamed."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import InputError

_ROOM = "make room on the disk, or choose another one"
_PERMISSIONS = "mend the permissions of the file and its folder"
_REMEDIES = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: _ROOM,
    errno.EACCES: _PERMISSIONS,
    errno.EPERM: _PERMISSIONS,
    errno.EROFS: _PERMISSIONS,
    errno.ENAMETOOLONG: "choose a shorter name",
}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; rename it to ``path`` when the block succeeds.

    The folder is made when it is missing. A block that raises leaves ``path`` as it was.

    Raises:
        InputError: the folder or the file cannot be made or written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        # an error without a number is not the disk's; one with another name is another file's
        if error.errno is None or error.filename not in (None, str(temporary), temporary):
            raise
        raise _unwritable(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path, own: Collection[str] = ()) -> Iterator[Path]:
    """Yield a new folder beside ``path``; it takes the place of ``path`` when the block succeeds.

    Whatever else lay in the old folder is carried over. A block that raises leaves ``path`` as it
    was, and so does a crash, once ``restore_folder`` has been called.

    Args:
        path: the folder.
        own: files of the old folder, by their path in it, that go when they are not made anew.

    Raises:
        InputError: the folder cannot be made or written.
    """
    try:
        restore_folder(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        yield new
        new.chmod(0o777 & ~_umask())
        if path.exists():
            _carry_over(path, new, own)
            shutil.rmtree(_previous(path), ignore_errors=True)
            path.rename(_previous(path))
        new.rename(path)
        shutil.rmtree(_previous(path), ignore_errors=True)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def restore_folder(path: Path) -> None:
    """Put the old folder back when a crash came between its removal and the new one's arrival."""
    if not path.exists() and _previous(path).exists():
        _previous(path).rename(path)


def _previous(path: Path) -> Path:
    return path.parent / f".{path.name}.previous"


def _carry_over(old: Path, new: Path, own: Collection[str]) -> None:
    for entry in old.rglob("*"):
        place = entry.relative_to(old)
        kept = entry.is_symlink() or not entry.is_dir()
        if kept and place.as_posix() not in own and not (new / place).exists():
            (new / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(entry, new / place, follow_symlinks=False)


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


def listed(folder: Path, pattern: str) -> list[Path]:
    """List the files of a folder that match ``pattern``, in order; none without the folder.

    Raises:
        InputError: the folder cannot be read (``Path.glob`` would find nothing in it).
    """
    try:
        return sorted(path for path in folder.iterdir() if path.match(pattern))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(
            f"{folder} cannot be read ({reason(error)})",
            wanted="a folder that can be listed",
            mend=remedy(error),
        ) from error


def reason(error: OSError) -> str:
    """Say in the system's words why a file cannot be used."""
    return os.strerror(error.errno) if error.errno else " ".join(str(error).split())


def remedy(error: OSError) -> str:
    """Say what a person can do about a file that cannot be used."""
    return _REMEDIES.get(error.errno or 0, "check the path and its folder")


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"{path} cannot be written ({reason(error)})",
        wanted="a file in a folder that can be written",
        mend=remedy(error),
    )


def write_text(path: Path, text: str) -> None:
    r"""Write ``text`` to ``path`` as UTF-8 with ``\n`` line ends, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
