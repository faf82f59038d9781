"""Many files to results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from reviewbot.errors import UnreadableFile
from reviewbot.lint import fixes
from reviewbot.lint.engine import Result, examine
from reviewbot.lint.registry import load
from reviewbot.lint.repo import Repo
from reviewbot.model import Finding, Unread
from reviewbot.source import discover

FIX_ROUNDS = 10  # a fix may make another one possible


@dataclass(frozen=True)
class Run:
    """How files are looked at. `rules` are ids. `prefilter` off asks every rule about every unit."""

    rules: tuple[str, ...]
    repo: Repo
    max_file_bytes: int
    prefilter: bool = True

    def files(self, paths: Iterable[str]) -> Iterator[Result]:
        """The result of each file; one that cannot be read has a result that says so."""
        for path in paths:
            try:
                content = discover.read(path, self.max_file_bytes)
            except UnreadableFile as error:
                yield Result(path, read=False, unread=(Unread(error.path, error.why, error.line),))
                continue
            yield self.content(path, content)

    def content(self, path: str, content: bytes) -> Result:
        """The result of one file's content."""
        rules = [load(rule) for rule in self.rules]
        return examine(path, content, rules, self.repo, prefilter=self.prefilter)

    def fixed(
        self, path: str, content: bytes, wanted: Callable[[Finding], bool], rounds: int = FIX_ROUNDS
    ) -> tuple[bytes, int, Result]:
        """The content with the safe fixes of the findings that are wanted, their number, and the result of
        the new content."""
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
