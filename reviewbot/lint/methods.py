"""What `dataclass` writes for classes, compiled in the first run that needs it and kept for the later ones.

LibCST has some two hundred frozen dataclasses, the rules and what they stand on a hundred more, and Python
writes and compiles a module of methods for each of them in every process: half of what it takes to import
them. What is kept is found by the text that it was compiled from, so it cannot be out of date, and it lies
where Python keeps our own modules compiled, so whoever could change it could change these.

The same goes for regular expressions: `re` reads them in Python, in every process.
"""

from __future__ import annotations

import builtins
import dataclasses
import hashlib
import marshal
import os
import re
import sys
from binascii import crc32
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import MAGIC_NUMBER, cache_from_source
from typing import Any, TypeVar

_Value = TypeVar("_Value")
MOST = 4000  # of texts that are kept; then those that nobody needs any more are let go


@contextmanager
def kept(of: str) -> Iterator[None]:
    """Classes that are made inside get their methods, and patterns their code, from what was compiled before.
    `of` names what is kept together."""
    # Inside of another, or where Python keeps nothing compiled.
    if hasattr(dataclasses, "exec") or sys.implementation.cache_tag is None:
        yield
        return
    methods = _Methods(_file(of))
    # `dataclasses` calls the built-in `exec` by name: it finds this one first.
    vars(dataclasses)["exec"] = methods.run
    compiler = getattr(re, "_compiler", None)
    compiled = getattr(compiler, "compile", None)
    # It is no public part of `re`: where another Python has none, patterns are compiled as ever.
    if compiler is not None and compiled is not None and hasattr(compiler, "_sre"):
        compiler.compile = _Patterns(methods, compiler).compile
    try:
        yield
    finally:
        del vars(dataclasses)["exec"]
        if compiler is not None and compiled is not None:
            compiler.compile = compiled
        methods.save()


class _Methods:
    """Code by the digest of its text, as a file has it and as this process adds to it."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._known: dict[bytes, Any] = {}
        self._used: dict[bytes, Any] = {}
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
        code = self.get(text, lambda: compile(text, "<string>", "exec", dont_inherit=True))
        builtins.exec(code, vars(dataclasses) if globals is None else globals, locals)

    def get(self, text: str, make: Callable[[], _Value]) -> _Value:
        """What was made of a text before, or what `make` makes of it now."""
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        made = self._known.get(key)
        if made is None:
            made = make()
        self._used[key] = made
        return made

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


class _Patterns:
    """Stands for `re`'s compiler: it is asked for what was not compiled before."""

    def __init__(self, kept: _Methods, compiler: Any) -> None:
        self._kept, self._sre, self._compile = kept, compiler._sre, compiler.compile
        self._compiler = compiler
        # What the code of a pattern depends on besides pattern and flags.
        self._of = f"re {self._sre.MAGIC} {self._sre.CODESIZE} {sys.maxsize}"

    def compile(self, pattern: Any, flags: int = 0) -> Any:
        """What `re._compiler.compile` gives."""
        if not isinstance(pattern, str) or flags & re.DEBUG:
            return self._compile(pattern, flags)
        parts = self._kept.get(f"{self._of} {int(flags)} {pattern}", lambda: self._parts(pattern, flags))
        return self._sre.compile(pattern, *parts)

    def _parts(self, pattern: str, flags: int) -> tuple[Any, ...]:
        recorder = _Recorder(self._sre)
        self._compiler._sre = recorder
        try:
            self._compile(pattern, flags)
        finally:
            self._compiler._sre = self._sre
        return recorder.parts


class _Recorder:
    """The engine of `re`, which remembers what it was given to make a pattern of."""

    def __init__(self, sre: Any) -> None:
        self._sre = sre
        self.parts: tuple[Any, ...] = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sre, name)

    def compile(self, pattern: str, flags: int, code: list[int], *groups: Any) -> Any:
        # Among the code are numbers that have names, which cannot be kept.
        self.parts = int(flags), list(map(int, code)), *groups
        return self._sre.compile(pattern, flags, code, *groups)


_HEAD = len(MAGIC_NUMBER) + 4


def _head(content: bytes) -> bytes:
    """Which Python it is for, and what tells that nothing in it has changed: damaged code ends anyhow."""
    return MAGIC_NUMBER + crc32(content).to_bytes(4, "little")


def _file(of: str) -> str:
    here = os.path.dirname(os.path.abspath(__file__))
    return cache_from_source(os.path.join(here, f"methods_of_{of}.py"))
