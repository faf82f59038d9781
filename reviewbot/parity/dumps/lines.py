"""Lines of a file that may be compressed, and whose writer may have been killed."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from reviewbot.errors import UnreadableFile, UsageError

LONGEST = 256 * 1024 * 1024  # bytes of one line; a longer one is no row


def lines(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    """Line numbers from 1, lines as they stand there, and whether they end with a newline.

    Empty lines are left out. A compressed file that ends too early gives what could be read of its last
    line, without a newline. Raises `UnreadableFile` for damage in the middle and for a line too long.
    """
    number = 0
    try:
        with _opened(path) as file:
            while True:
                number += 1
                try:
                    line = file.readline(LONGEST)
                except EOFError:  # a compressed stream without its end: the writer was killed
                    yield number, b"", False
                    return
                if not line:
                    return
                if len(line) == LONGEST:
                    raise UnreadableFile(str(path), f"a line longer than {LONGEST} bytes", number)
                complete = line.endswith(b"\n")
                if not complete or not line.isspace():
                    yield number, line, complete
    except (OSError, zlib.error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UnreadableFile(str(path), why[:1].lower() + why[1:], number or None) from None


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    if path.suffix == ".zst":
        return _zstandard(path)
    return path.open("rb", buffering=1 << 20)


def _zstandard(path: Path) -> IO[bytes]:
    try:
        import zstandard
    except ImportError:
        raise UsageError(
            f"{path}: reading .zst needs the package zstandard: pip install 'reviewbot[parity]'"
        ) from None

    class Stream(io.RawIOBase):
        """Decompresses frame after frame; unlike the library's own reader it notices a missing end."""

        def __init__(self) -> None:
            self.file = path.open("rb")
            self.decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
            self.fresh, self.left = True, b""

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
            while not self.left:
                data = self.decompressor.unused_data if self.decompressor.eof else b""
                if self.decompressor.eof:
                    self.decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
                    self.fresh = True
                data = data or self.file.read(2048)  # little at a time: it may swell to megabytes
                if not data:
                    if self.fresh:
                        return 0
                    raise EOFError
                self.fresh = False
                try:
                    self.left = self.decompressor.decompress(data)
                except zstandard.ZstdError as error:
                    raise OSError(str(error)) from None
            count = min(len(buffer), len(self.left))
            buffer[:count], self.left = self.left[:count], self.left[count:]
            return count

        def close(self) -> None:
            self.file.close()
            super().close()

    return cast(IO[bytes], io.BufferedReader(Stream(), 1 << 20))
