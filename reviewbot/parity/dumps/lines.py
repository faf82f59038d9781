"""Lines of a file that may be compressed, and whose writer may have been killed."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from reviewbot.errors import NeedsExtra, UnreadableFile

LONGEST = 256 * 1024 * 1024  # bytes of one line; a longer one is no row
PIECE = 2048  # compressed bytes at a time: little, for it may swell to megabytes
HEADER = 6  # bytes that every packed file has before what was packed
GZIP = 31  # zlib's word for a gzip header and the largest window

_NOT_JSON = re.compile(rb"-?(?:NaN|Infinity)\b")
_LAST_WORD = re.compile(rb"[-+.\w]*$")


def lines(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    """Line numbers from 1, lines as they stand there, and whether they end with a newline.

    Empty lines are left out. A compressed file that ends too early gives what could be read of its last
    line, be it nothing, without a newline. Raises `UnreadableFile` for damage in the middle, for a compressed
    file without anything that can be read, and for a line too long.
    """
    number, complete = 0, True
    try:
        with _opened(path) as file:
            while True:
                number += 1
                line = file.readline(LONGEST)
                if not line:
                    break
                if len(line) == LONGEST:
                    raise UnreadableFile(str(path), f"a line longer than {LONGEST} bytes", number)
                complete = line.endswith(b"\n")
                if not line.isspace():
                    yield number, line, complete
            stream = getattr(file, "raw", None)
            if not (isinstance(stream, _Inflated) and stream.short):
                return
            if number == 1 and path.stat().st_size < HEADER:
                why = f"ends before the first byte that was packed into it: cut off, or no {path.suffix} file"
                raise UnreadableFile(str(path), why)
            if complete:
                yield number, b"", False
    except OSError as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UnreadableFile(str(path), why[:1].lower() + why[1:], number or None) from None


def cut_off(line: bytes) -> bool:
    """Whether a line begins a JSON object and ends within it, as where its writer was killed."""
    text = line.strip()
    if text[:1] not in (b"{", b"") or b"\0" in text:
        return False
    try:
        msgspec.json.decode(_LAST_WORD.sub(b"", _NOT_JSON.sub(b"0", text)))
    except msgspec.DecodeError as error:
        return "truncated" in str(error)
    except RecursionError:
        return False
    return False


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return _inflated(path, lambda: zlib.decompressobj(GZIP))
    if path.suffix == ".zst":
        try:
            import zstandard
        except ImportError:
            raise NeedsExtra(f"{path}: reading .zst", "zstandard", "parity") from None
        return _inflated(
            path, zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj, zstandard.ZstdError
        )
    return path.open("rb", buffering=1 << 20)


def _inflated(path: Path, start: Callable[[], Any], error: type[Exception] = zlib.error) -> IO[bytes]:
    return cast(IO[bytes], io.BufferedReader(_Inflated(path, start, error), 1 << 20))


class _Inflated(io.RawIOBase):
    """Decompresses frame after frame, in bounded memory; `short` where the last one has no end."""

    def __init__(self, path: Path, start: Callable[[], Any], error: type[Exception]) -> None:
        self._file, self._start, self._error = path.open("rb"), start, error
        self._frame, self._begun = start(), False
        self._packed = self._left = b""  # read and not unpacked; unpacked and not handed on
        self.short = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._left and self._more():
            pass
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count

    def _more(self) -> bool:
        """Takes the next piece in; whether there was one."""
        data, self._packed = self._packed or self._file.read(PIECE), b""
        if not data:
            self.short = self._begun and not self._frame.eof
            return False
        self._begun = True
        if self._frame.eof:
            data = data.lstrip(b"\0")  # with which blocks are filled up after the last frame
            if not data:
                return True
            self._frame = self._start()
        try:
            self._left = self._frame.decompress(data)
        except self._error as error:
            raise OSError(f"cannot be unpacked: {error}") from None
        self._packed = self._frame.unused_data
        return True

    def close(self) -> None:
        self._file.close()
        super().close()
