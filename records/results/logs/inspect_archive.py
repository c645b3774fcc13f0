"""The members of an Inspect ``.eval`` file: a zip archive, mostly compressed with Zstandard."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from .findings import LogFault, LogFinding
from .json_files import parse_json

MEMBER_LIMIT = 256 * 2**20
"""Bytes that one member may have when it is unpacked."""
_ZSTANDARD = 93
_LOCAL_HEADER = 30
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, struct.error, pa.ArrowException, OSError)


class Archive:
    """A ``.eval`` file that is open for reading.

    Raises:
        LogFault: the file is not a whole zip archive.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except _DAMAGE as error:
            raise LogFault(
                LogFinding(
                    "truncated",
                    str(path),
                    f"no whole zip archive ({error})",
                    wanted="a complete .eval file",
                    mend="copy the file again",
                )
            ) from error
        self._members = {info.filename: info for info in self._zip.infolist()}

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *exception: object) -> None:
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def json(self, name: str) -> Any:
        """Read one member.

        Raises:
            LogFault: it is missing, damaged, no JSON, or larger than ``MEMBER_LIMIT`` unpacked.
        """
        info = self._members.get(name)
        if info is None:
            raise self._fault("truncated", f"no member {name!r}", "a complete .eval file")
        if info.file_size > MEMBER_LIMIT:
            found = f"the member {name!r} of {info.file_size:,} bytes unpacked"
            raise self._fault("too_large", found, f"at most {MEMBER_LIMIT:,} bytes")
        try:
            data = self._unpack(info)
        except _DAMAGE as error:
            found = f"the damaged member {name!r} ({str(error)[:80]})"
            raise self._fault("truncated", found, "a member as it was packed") from error
        except (NotImplementedError, RuntimeError) as error:
            found = f"the member {name!r} packed in an unknown way ({error})"
            raise self._fault("layout", found, "Zstandard or deflate") from error
        return parse_json(data, self.path, member=name)

    def samples(self) -> Iterator[str]:
        """The names of the members that are samples."""
        return (name for name in self._members if name.startswith("samples/"))

    def _unpack(self, info: zipfile.ZipInfo) -> bytes:
        """Unpack a member; ``zipfile`` learnt Zstandard only in Python 3.14."""
        if info.compress_type != _ZSTANDARD:
            return self._zip.read(info)
        with self.path.open("rb") as file:
            file.seek(info.header_offset)
            name_length, extra_length = struct.unpack("<26xHH", file.read(_LOCAL_HEADER))
            file.seek(name_length + extra_length, 1)
            packed = file.read(info.compress_size)
        data = pa.decompress(packed, info.file_size, codec="zstd", asbytes=True) if packed else b""
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise zipfile.BadZipFile(f"Bad CRC-32 for file {info.filename!r}")
        return bytes(data)

    def _fault(self, kind: Any, found: str, wanted: str) -> LogFault:
        mend = "copy the file again; the other samples are read"
        return LogFault(LogFinding(kind, str(self.path), found, wanted, mend))
