"""What became of what a check looked at, and of the check itself, elsewhere in a change."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from reviewbot.flow.demands import demands
from reviewbot.flow.judging import in_test_file

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo

_EVERYWHERE = ((1, 1 << 30),)
_LEAST_TEXT = 5  # letters of a text that is looked for


class Known:
    """Whether the code under test still has what a check looked at."""

    def __init__(self, repo: Repo, base: Repo) -> None:
        self._repo, self._base = repo, base

    def __call__(self, name: str, of: str) -> bool:
        """`of` is "attribute", "text", or the function that has a parameter of that name."""
        if of == "text":
            return not self._is_gone(name)
        was, now = (
            one.index.definitions(name if of == "attribute" else of) for one in (self._base, self._repo)
        )
        if of != "attribute":
            had, has = ([one for _, one in found if name in one.parameters] for found in (was, now))
            return bool(has) or not had
        reads = [path for path, _ in self._base.index.attribute_reads(name) if not in_test_file(path)]
        return bool(now or self._repo.index.attribute_reads(name)) or not (was or reads)

    def given(self, function: str, name: str) -> bool:
        """Whether a call of a function gives it a parameter by its name, as something that may hold."""
        for path, definition in self._repo.index.definitions(function.rpartition(".")[2]):
            for at in {at for at, _ in self._repo.index.callers(path, definition)}:
                content = self._repo.read(at) or b""
                if re.search(rb"\b%s\s*=\s*(?!False|None)\w" % name.encode(), content):
                    return True
        return False

    def dropped(self, text: str) -> bool:
        """Whether the change takes a text, as it is quoted, out of a file of the code under test."""
        for one in self._repo.diff:
            if not text or one.old_path is None or in_test_file(one.old_path):
                continue
            before = self._base.read(one.old_path) or b""
            after = (self._repo.read(one.path) if one.path else None) or b""
            words = [f"{quote}{text}{quote}".encode() for quote in "\"'"]
            if any(word in before for word in words) and not any(word in after for word in words):
                return True
        return False

    def _is_gone(self, text: str) -> bool:
        """Whether the change takes a text, but for its numbers, out of the code under test."""
        words = max(re.split(r"[^A-Za-z _-]+", text), key=len).strip()
        for one in self._repo.diff:
            if len(words) < _LEAST_TEXT or one.old_path is None or in_test_file(one.old_path):
                continue
            before = self._base.read(one.old_path) or b""
            after = (self._repo.read(one.path) if one.path else None) or b""
            if words.encode() in before and words.encode() not in after:
                return True
        return False


class Moved:
    """Whether a check that is gone here came in elsewhere in the change."""

    def __init__(self, repo: Repo, base: Repo) -> None:
        self._repo, self._base = repo, base
        self._come: dict[str, Counter[str]] = {}

    def __call__(self, text: str) -> bool:
        words = {word.encode() for word in re.findall(r"\w+", text)}
        for one in self._repo.diff:
            content = self._repo.read(one.path) if one.path and one.changed else None
            # To parse a file costs more than to see that it does not hold these words.
            if one.path and content and all(word in content for word in words):
                if one.path not in self._come:
                    was = _demanded(self._base, one.old_path, _EVERYWHERE)
                    came: Counter[str] = Counter()
                    now = _demanded(self._repo, one.path, one.changed)
                    # Function by function: what one loses, another may have got.
                    for name, texts in now.items():
                        came += texts - was.get(_before(name, was), Counter())
                    self._come[one.path] = came
                if self._come[one.path][text] > 0:
                    return True
        return False


def _before(name: str, was: dict[str, Counter[str]]) -> str:
    """The name that a function had: its own, or the one that ends like it, where its class has another."""
    if name in was:
        return name
    same = [one for one in was if one.rpartition(".")[2] == name.rpartition(".")[2]]
    return same[0] if len(same) == 1 else name


def _demanded(repo: Repo, path: str | None, lines: tuple[tuple[int, int], ...]) -> dict[str, Counter[str]]:
    """What each of the functions demands that have any of these lines, by its name."""
    file = repo.file(path) if path and path.endswith(".py") and lines else None
    return {
        unit.name: Counter(demand.text for demand in demands(unit.tree.body))
        for unit in (file.units if file is not None else ())
        if unit.is_function and any(unit.line <= last and first <= unit.end_line for first, last in lines)
    }
