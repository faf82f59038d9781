"""What GitHub computes from git: a pull request's files with their patches, and where a line went."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
LARGEST_PATCH = 100_000  # characters; GitHub leaves the patch of a larger one out
MOST_FILES = 3_000
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@dataclass(frozen=True)
class FileDiff:
    """One file of a diff. `patch` is None for binary, unchanged and very large ones."""

    path: str
    previous: str | None
    status: str
    blob: str
    patch: str | None

    @property
    def sides(self) -> dict[tuple[str, int], int]:
        """The number of the hunk that each line of either side stands in."""
        found: dict[tuple[str, int], int] = {}
        hunk = left = right = 0
        for line in (self.patch or "").split("\n"):
            head = HUNK.match(line)
            if head:
                hunk, left, right = hunk + 1, int(head[1]), int(head[3])
            elif line.startswith("+"):
                found["RIGHT", right] = hunk
                right += 1
            elif line.startswith("-"):
                found["LEFT", left] = hunk
                left += 1
            elif hunk and not line.startswith("\\"):
                found["LEFT", left] = found["RIGHT", right] = hunk
                left, right = left + 1, right + 1
        return found


@dataclass
class Git:
    """A real repository, asked through git itself; what it said of commits is remembered."""

    folder: Path
    _files: dict[tuple[str, str], list[FileDiff]] = field(default_factory=dict)

    def ask(self, *words: str, fails: bool = True) -> str:
        """What git prints; "" where it fails and may."""
        return self.raw(*words, fails=fails).decode("utf-8", "surrogateescape")

    def raw(self, *words: str, fails: bool = True) -> bytes:
        """The bytes that git prints."""
        command = ["git", "-C", str(self.folder), "-c", "core.quotePath=false", *words]
        done = subprocess.run(command, capture_output=True)
        if done.returncode and fails:
            raise AssertionError(done.stderr.decode())
        return b"" if done.returncode else done.stdout

    def has(self, commit: str) -> bool:
        """Whether there is such a commit."""
        return bool(self.ask("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}", fails=False))

    def merge_base(self, base: str, head: str) -> str:
        """The best common ancestor; the empty tree where there is none."""
        return self.ask("merge-base", base, head, fails=False).strip() or EMPTY_TREE

    def commits(self, base: str, head: str) -> list[str]:
        """The commits that a pull request brings, the oldest first."""
        return self.ask("rev-list", "--reverse", f"{base}..{head}").split()

    def files(self, base: str, head: str) -> list[FileDiff]:
        """The files of the diff from where `head` left `base`."""
        if (base, head) not in self._files:
            self._files[base, head] = list(self._diff(self.merge_base(base, head), head))
        return self._files[base, head]

    def _diff(self, old: str, new: str):
        words = ("diff", "-M", "--full-index", "--no-color", "--no-ext-diff", old, new)
        names = self.ask("diff", "-M", "--raw", "-z", "--no-abbrev", old, new).split("\0")
        patches = re.split(r"(?m)^(?=diff --git )", self.ask(*words))[1:]
        at = 0
        for patch in patches:
            _, _, _, blob, letter = names[at].split(" ")
            previous, path = names[at + 1], names[at + 1]
            at += 2
            if letter[0] in "RC":
                path, at = names[at], at + 1
            status = {"A": "added", "D": "removed", "R": "renamed", "C": "copied"}.get(letter[0], "modified")
            start = patch.find("\n@@ ")
            text = patch[start + 1 :].rstrip("\n") if start >= 0 else None
            if text is not None and len(text) > LARGEST_PATCH:
                text = None
            yield FileDiff(path, previous if status == "renamed" else None, status, blob, text)

    def line_now(self, path: str, line: int, then: str, now: str) -> int | None:
        """Where a line of `path` at commit `then` stands at `now`; None where it changed or went."""
        if then == now:
            return line
        if not self.ask("ls-tree", now, "--", path, fails=False):
            return None
        moved = 0
        for head in HUNK.finditer(self.ask("diff", "-U0", "--no-ext-diff", then, now, "--", path)):
            start, count = int(head[1]), int(head[2] or 1)
            first = start if count else start + 1
            if first > line:
                break
            if first <= line < first + count:
                return None
            moved += int(head[4] or 1) - count
        return line + moved
