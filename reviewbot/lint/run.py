"""Many files to results: from the cache what an earlier run has seen, the others from one process or more."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reviewbot.errors import UnreadableFile
from reviewbot.lint.repo import Repo
from reviewbot.lint.results import Result
from reviewbot.model import Finding, Unread
from reviewbot.source import discover
from reviewbot.source.kept import Kept
from reviewbot.source.uncollected import uncollected

if TYPE_CHECKING:
    from reviewbot.lint.cache import Cache

COMPARING = ("loosened-check", "new-field-unchecked")  # rules that say nothing of code as it stands
FIX_ROUNDS = 10  # a fix may make another one possible


@dataclass(frozen=True)
class Run:
    """How files are looked at. `rules` are ids. `jobs` is the number of processes, where more than one pays.

    `prefilter` off asks every rule about every unit.
    """

    rules: tuple[str, ...]
    repo: Repo
    max_file_bytes: int
    jobs: int = 1
    cache: Cache | None = None
    prefilter: bool = True

    def files(self, paths: Iterable[str]) -> Iterator[Result]:
        """The result of each file, in any order; one that cannot be read has a result that says so."""
        missed: list[tuple[str, int]] = []
        for path in paths:
            try:
                content = discover.read(path, self.max_file_bytes)
            except UnreadableFile as error:
                yield _unread(error)
                continue
            known = self.cache and self.cache.get(path, content, self.repo)
            if known:
                yield known
            else:
                missed.append((path, len(content)))
        from reviewbot.lint import methods

        try:
            with uncollected(), methods.kept("runs") if missed else nullcontext():
                for result, made in self._missed(missed):
                    if self.cache and made is not None:
                        self.cache.put(*made)
                    yield result
        finally:
            if self.cache:
                self.cache.close()

    def _missed(self, paths: list[tuple[str, int]]) -> Iterator[_Made]:
        work = _Work(self, self.cache.salt if self.cache else None)
        if not paths:
            return iter(())
        if self.jobs > 1 and len(paths) > 1:
            from reviewbot.lint import pool
            from reviewbot.lint.registry import loaded

            if sum(size for _, size in paths) >= pool.WORTHWHILE:
                # What the children need is imported once, before they are made.
                loaded(self._asked)
                return pool.each(work, paths, self.jobs, _lost)
        # In several processes each would keep what another looks at.
        self.repo.kept = Kept(path for path, _ in paths)
        return _one_by_one(work, paths)

    def content(self, path: str, content: bytes) -> Result:
        """The result of one file's content."""
        from reviewbot.lint.registry import loaded

        asked = self._asked
        rules = loaded(asked)
        from reviewbot.lint.engine import examine

        result = examine(path, content, rules, self.repo, prefilter=self.prefilter)
        if asked == self.rules or not result.read:
            return result
        # What is said holds for as long as there is nothing to compare with.
        return replace(result, asked=tuple(sorted({*result.asked, ("base", "")})))

    @property
    def _asked(self) -> tuple[str, ...]:
        """The rules that can say something: to import those that compare takes time, too."""
        if self.repo.base is not None:
            return self.rules
        return tuple(rule for rule in self.rules if rule not in COMPARING)

    def fixed(
        self, path: str, content: bytes, wanted: Callable[[Finding], bool], rounds: int = FIX_ROUNDS
    ) -> tuple[bytes, int, Result]:
        """The content with the safe fixes of the findings that are wanted, their number, and the result of
        the new content."""
        from reviewbot.lint import fixes

        count = 0
        result = self.content(path, content)
        for _ in range(rounds):
            edits = fixes.safe(filter(wanted, result.findings), path)
            after, applied = fixes.applied(path, content, edits)
            if not applied:
                break
            content, count = after, count + applied
            result = self.content(path, content)
        return content, count, result


_Made = tuple[Result, tuple[bytes, bytes] | None]


class _Work:
    """What a process does with a path: its result, and how the cache keeps it."""

    def __init__(self, run: Run, salt: bytes | None) -> None:
        # A database does not cross from one process into another.
        self._run, self._salt = replace(run, cache=None), salt

    def __call__(self, path: str) -> _Made:
        try:
            content = discover.read(path, self._run.max_file_bytes)
        except UnreadableFile as error:
            return _unread(error), None
        result = self._run.content(path, content)
        if self._salt is None:
            return result, None
        from reviewbot.lint.cache import key, packed

        made = packed(result, self._run.repo)
        return result, None if made is None else (key(self._salt, path, content), made)


def _one_by_one(work: _Work, paths: list[tuple[str, int]]) -> Iterator[_Made]:
    from reviewbot.lint.limit import limited

    with limited():
        for path, _ in paths:
            yield work(path)


def _unread(error: UnreadableFile) -> Result:
    return Result(error.path, read=False, unread=(Unread(error.path, error.why, error.line),))


def _lost(path: str) -> _Made:
    return _unread(UnreadableFile(path, "the process that read it died over it")), None


def processes() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
