"""What `dataclass` writes for classes, compiled in the first run that needs it and kept for the later ones.

LibCST has some two hundred frozen dataclasses, the rules and what they stand on a hundred more, and Python
writes and compiles a module of methods for each of them in every process: half of what it takes to import
them. What is kept is found by the text that it was compiled from, so it cannot be out of date, and it lies
where Python keeps our own modules compiled, so whoever could change it could change these.
"""

from __future__ import annotations

import builtins
import dataclasses
import hashlib
import marshal
import os
import sys
from binascii import crc32
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import MAGIC_NUMBER, cache_from_source
from types import CodeType
from typing import Any

MOST = 4000  # of texts that are kept; then those that nobody needs any more are let go


@contextmanager
def kept(of: str) -> Iterator[None]:
    """Classes that are made inside get their methods from those that were compiled before. `of` names what is
    kept together."""
    # Inside of another, or where Python keeps nothing compiled.
    if hasattr(dataclasses, "exec") or sys.implementation.cache_tag is None:
        yield
        return
    methods = _Methods(_file(of))
    # `dataclasses` calls the built-in `exec` by name: it finds this one first.
    vars(dataclasses)["exec"] = methods.run
    try:
        yield
    finally:
        del vars(dataclasses)["exec"]
        methods.save()


class _Methods:
    """Code by the digest of its text, as a file has it and as this process adds to it."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._known: dict[bytes, CodeType] = {}
        self._used: dict[bytes, CodeType] = {}
        # One that is there in part, damaged, or of another Python is as good as none.
        with suppress(OSError, ValueError, EOFError, TypeError), open(file, "rb") as opened:
            # Read at once: `marshal.load` asks the file for every word of it.
            head, content = opened.read(_HEAD), opened.read()
            if head == _head(content):
                self._known = dict(marshal.loads(content))

    def run(
        self, text: str, globals: dict[str, Any] | None = None, locals: dict[str, Any] | None = None
    ) -> None:
        """What `exec` does, called from `dataclasses`."""
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        code = self._known.get(key)
        if code is None:
            code = compile(text, "<string>", "exec", dont_inherit=True)
        self._used[key] = code
        builtins.exec(code, vars(dataclasses) if globals is None else globals, locals)

    def save(self) -> None:
        """Writes what the file did not have. One that cannot be written is left as it is."""
        if sys.dont_write_bytecode or self._used.keys() <= self._known.keys():
            return
        kept = self._known | self._used
        content = marshal.dumps(kept if len(kept) <= MOST else self._used)
        fresh = f"{self._file}.{os.getpid()}"
        with suppress(OSError):
            os.makedirs(os.path.dirname(fresh), exist_ok=True)
            try:
                with open(fresh, "wb") as opened:
                    opened.write(_head(content) + content)
                os.replace(fresh, self._file)
            except OSError:
                os.unlink(fresh)


_HEAD = len(MAGIC_NUMBER) + 4


def _head(content: bytes) -> bytes:
    """Which Python it is for, and what tells that nothing in it has changed: damaged code ends anyhow."""
    return MAGIC_NUMBER + crc32(content).to_bytes(4, "little")


def _file(of: str) -> str:
    here = os.path.dirname(os.path.abspath(__file__))
    return cache_from_source(os.path.join(here, f"methods_of_{of}.py"))
