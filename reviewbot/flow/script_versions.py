"""Two versions of a script or of a settings file: everything that a change makes looser in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reviewbot.flow.ci import is_ci
from reviewbot.flow.limits import flags
from reviewbot.flow.run_lists import YAML, Dropped, fewer_listed, more_let_through, raised, unlisted

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo


def dropped(text: str, new: list[str], path: str, repo: Repo) -> Iterator[Dropped]:
    """What the new lines of the file at `path` say less than its old text, each old line once."""
    old = text.splitlines()
    found = list(_flags(old, new))
    if is_ci(path, repo):
        found += unlisted(old, new, lambda word: _runs_nowhere(word, path, repo))
    if path.endswith(YAML):
        after = "\n".join(new)
        found += [*fewer_listed(text, after), *more_let_through(text, after), *raised(text, after)]
    told: set[int | None] = set()
    for one in found:
        # A list that names tests is what runs.
        if one.before is None or one.before not in told:
            told.add(one.before)
            yield one


def _flags(old: list[str], new: list[str]) -> Iterator[Dropped]:
    before, after = flags(old), flags(new)
    for flag, places in after.items():
        for (line, number), (was_line, was) in zip(places, before.get(flag, []), strict=False):
            if number > was and len(places) == len(before[flag]):
                yield Dropped(f"`{flag}` goes from {was:g} to {number:g}", was_line, line)


def _runs_nowhere(word: str, path: str, repo: Repo) -> bool:
    """Whether a test that a CI file named is still there, and no other file names it."""
    file = word.partition("::")[0].removeprefix("./").rstrip("/")
    name = file.rpartition("/")[2]
    there = any(f"/{at.path}".endswith(f"/{file}") for at in repo.index.look("path", name))
    there = there or bool(repo.index.paths_in(file))
    return there and not any(where != path for where, _ in repo.index.mentions(name))
