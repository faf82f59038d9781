"""What a rule may know beyond its own file. Everything that is read is remembered, because a finding
holds only as long as the facts it was made from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from reviewbot.config import Config
from reviewbot.errors import UnreadableFile
from reviewbot.lint.limit import untimed
from reviewbot.source.files import Files, InMemory, Source
from reviewbot.source.kept import Kept
from reviewbot.source.project import PytestSettings, pytest_settings, requires_python

if TYPE_CHECKING:
    from reviewbot.index.gather import At, Watch
    from reviewbot.index.index import Index
    from reviewbot.index.memory import Memory
    from reviewbot.index.store import Store
    from reviewbot.lint.against import Against
    from reviewbot.source.diff import FileDiff
    from reviewbot.source.units import File

_Value = TypeVar("_Value")
KEPT_BYTES = 150_000  # of other files that stay parsed between one file and the next

Fact = tuple[str, str]
"""What was asked and of what: ("pytest", "tests"), ("file", "tests/conftest.py")."""


class Repo:
    """The repository around the file under review.

    A rule receives one made by `of(path)`: what it asks about "here" is asked of that file's folder, and
    every question is kept in `asked`. `digest(fact)` answers whether the same question would be answered
    the same today. `against` is what a change is compared with, where one is under review. `kept` holds the
    trees of files that will be looked at, for whoever says which these are. `watch` shows the progress of
    gathering the index. `root` is the folder from which fingerprints name files; without one they are named
    as findings name them.
    """

    def __init__(
        self,
        config: Config | None = None,
        files: Files | None = None,
        here: str = "",
        database: Path | None = None,
        against: Against | None = None,
        watch: Watch | None = None,
        root: Path | None = None,
    ) -> None:
        self._config = config or Config()
        self._files: Files = files or InMemory({})
        self._known: dict[Fact, object] = {}
        self._digests: dict[Fact, str] = {}
        self._chains: dict[str, list[str]] = {}
        self._store: list[Memory | Store] = []
        self._parsed: dict[str, File | None] = {}
        self._database = database
        self._against = against
        self._watch = watch
        self.root = root
        self._before: list[Repo] = []
        self._index: Index | None = None
        self._pytest: PytestSettings | None = None
        self._worked_out: dict[
            tuple[Callable[..., object], tuple[str, ...]], tuple[object, frozenset[Fact]]
        ] = {}
        self.here = here
        self.kept = Kept()
        self.sketches = False
        self.asked: set[Fact] = set()

    def of(self, path: str) -> Repo:
        """The same repository as seen from one file, with nothing asked yet."""
        seen = Repo.__new__(type(self))
        seen.__dict__.update(self.__dict__)
        seen.here, seen.asked = path, set()
        seen._index = seen._pytest = None  # What is asked is noted in `asked`.
        return seen

    def sketched(self) -> Repo:
        """The same view, questions kept in the same place, with files whose units are sketched."""
        seen = Repo.__new__(type(self))
        seen.__dict__.update(self.__dict__)
        seen.sketches = True
        return seen

    def __getstate__(self) -> dict[str, object]:
        # Into another process goes what the questions are asked of, not what was answered.
        kept = ("_config", "_files", "_database", "_against", "root", "here")
        return {name: self.__dict__[name] for name in kept}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__init__()  # type: ignore[misc]
        self.__dict__.update(state)

    def lasting(self, path: str) -> str:
        """A file's path as fingerprints have it: the same from whatever folder the command runs in."""
        if self.root is None:
            return path
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    # What rules ask.

    @property
    def config(self) -> Config:
        """The `[tool.reviewbot]` that governs this run."""
        return self._ask(("config", ""), Config)

    @property
    def pytest(self) -> PytestSettings:
        """pytest's options for the file under review: from the nearest settings file at or above it."""
        if self._pytest is None:
            self._pytest = self._ask(("pytest", self._folder()), PytestSettings)
        return self._pytest

    @property
    def requires_python(self) -> tuple[int, int] | None:
        """The least Python version that the project around the file supports, (3, 9), or None if unsaid."""
        found = self._ask(("requires-python", self._folder()), tuple)
        return (found[0], found[1]) if found else None

    def read(self, path: str) -> bytes | None:
        """The content of another file of the repository, or None where there is none."""
        found = self._ask(("file", path), tuple)
        return found[0] if found else None

    def file(self, path: str) -> File | None:
        """Another Python file of the repository, parsed once; None where there is none that parses."""
        from reviewbot.source.units import File

        content = self.read(path)
        if path in self._parsed:
            # To the end: what was asked for last is let go last.
            self._parsed[path] = self._parsed.pop(path)
        else:
            try:
                self._parsed[path] = None if content is None else File(path, content)
            except UnreadableFile:
                self._parsed[path] = None
        found = self._parsed[path]
        return found.sketched if found and self.sketches else found

    @property
    def index(self) -> Index:
        """The facts of the whole repository, gathered at the first question."""
        if self._index is None:
            from reviewbot.index.index import Index

            self._index = Index(self._look)
        return self._index

    def once(self, work_out: Callable[..., _Value], *about: str) -> _Value:
        """`work_out(repo, *about)`, worked out once for every file that asks; `repo.here` is none of them.

        The value must hold no file, unit or node: these are let go of between one file and the next.
        """
        key = work_out, about
        if key not in self._worked_out:
            whole = self.of("")
            self._worked_out[key] = work_out(whole, *about), frozenset(whole.asked)
        value, asked = self._worked_out[key]
        for fact in asked:
            self.asked.add(fact)
        return value  # type: ignore[return-value]

    @property
    def diff(self) -> tuple[FileDiff, ...]:
        """What the change under review did to each file; nothing where no change is under review."""
        return self._ask(("diff", ""), tuple)

    @property
    def change(self) -> FileDiff | None:
        """What it did to the file under review; None where it left it as it was."""
        found = self._ask(("change", self.here), tuple)
        return found[0] if found else None

    @property
    def base(self) -> Repo | None:
        """The repository before the change, None where no change is under review."""
        if not self._ask(("base", ""), bool):
            return None
        seen = self.before().of(self.here)
        seen.asked = _AskedOfBase(self.asked)
        return seen

    def _look(self, kind: str, name: str) -> tuple[At, ...]:
        return self._ask((f"index:{kind}", name), tuple)

    # What the engine asks.

    def let_go(self) -> None:
        """Lets go of the other files that were parsed, but for the last few, once a file has been looked at:
        all of a repository parsed would take some hundred times its size."""
        held = sum(len(parsed.content) for parsed in self._parsed.values() if parsed is not None)
        for path, parsed in list(self._parsed.items()):
            if held <= KEPT_BYTES:
                return
            if parsed is not None:
                held -= len(parsed.content)
                parsed.close()
                del self._parsed[path]

    def before(self) -> Repo:
        """The repository before the change, as a whole: for who looks at it, not for who compares with it."""
        assert self._against is not None
        if not self._before:
            self._before.append(
                Repo(self._config, self._against.files, database=self._database, watch=self._watch)
            )
        return self._before[0]

    def digest(self, fact: Fact) -> str:
        """A digest of what a question is answered with now."""
        if fact not in self._digests:
            answer = repr(self._answer(fact)).encode()
            self._digests[fact] = hashlib.blake2b(answer, digest_size=8).hexdigest()
        return self._digests[fact]

    def _ask(self, fact: Fact, kind: type[_Value]) -> _Value:
        self.asked.add(fact)
        answer = self._answer(fact)
        assert isinstance(answer, kind)
        return answer

    def _answer(self, fact: Fact) -> object:
        if fact not in self._known:
            question, about = fact
            if question.startswith("base:"):
                held = self._against is not None
                self._known[fact] = self.before()._answer((question[5:], about)) if held else None
            elif question.startswith("index:"):
                self._known[fact] = self._looked_up(question.removeprefix("index:"), about)
            else:
                self._known[fact] = _QUESTIONS[question](self, about)
        return self._known[fact]

    def _looked_up(self, kind: str, name: str) -> tuple[At, ...]:
        # The rule that happens to ask first must not be cut off for what is gathered then.
        with untimed():
            if self._database is None:
                return self._facts(None).look(kind, name)
            from reviewbot.index.store import BrokenStore

            try:
                return self._facts(self._database).look(kind, name)
            except BrokenStore:
                self._store.clear()
                return self._facts(None).look(kind, name)

    def _facts(self, database: Path | None) -> Memory | Store:
        # Kept in a list that all views share: gathering is done once for them all.
        if not self._store:
            from reviewbot.index.gather import is_wanted, unwatched

            every, watch = self._files.every(is_wanted), self._watch or unwatched
            self._store.append(_store(database, every, self.kept, watch))
        return self._store[0]

    def _folder(self) -> str:
        return self.here.rpartition("/")[0] or ("/" if self.here.startswith("/") else ".")

    def _above(self, folder: str) -> list[str]:
        if folder not in self._chains:
            self._chains[folder] = list(self._files.folders(f"{folder}/_"))
        return self._chains[folder]


def _store(database: Path | None, every: Iterable[Source], kept: Kept, watch: Watch) -> Memory | Store:
    """Where the facts of files are kept: in memory alone without a database."""
    if database is None:
        from reviewbot.index.memory import Memory

        return Memory(every, kept, watch)
    from reviewbot.index.store import Store

    store = Store(database)
    store.update(every, kept, watch)
    return store


class _AskedOfBase(set[Fact]):
    """What is asked of the base, remembered by who asked as asked of the base."""

    def __init__(self, asked: set[Fact]) -> None:
        super().__init__()
        self._asked = asked

    def add(self, fact: Fact) -> None:
        self._asked.add((f"base:{fact[0]}", fact[1]))


def _pytest(repo: Repo, folder: str) -> PytestSettings:
    found = (pytest_settings(repo._files, above) for above in repo._above(folder))
    return next((settings for settings in found if settings is not None), PytestSettings())


def _requires_python(repo: Repo, folder: str) -> tuple[int, ...]:
    found = (requires_python(repo._files, above) for above in repo._above(folder))
    return next((version for version in found if version is not None), ())


def _file(repo: Repo, path: str) -> tuple[bytes, ...]:
    content = repo._files.read(path)
    return () if content is None else (content,)


# Answers have a `repr` that is equal for equal answers, in every process: no sets, no object addresses.
_QUESTIONS: dict[str, Callable[[Repo, str], object]] = {
    "config": lambda repo, _: repo._config,
    "pytest": _pytest,
    "requires-python": _requires_python,
    "file": _file,
    "diff": lambda repo, _: repo._against.diff if repo._against else (),
    "change": lambda repo, path: (
        tuple(one for one in repo._against.diff if one.path == path) if repo._against else ()
    ),
    "base": lambda repo, _: repo._against is not None,
}
