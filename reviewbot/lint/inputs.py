"""What a run is asked to look at: paths, standard input, the lines that changed since a commit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from reviewbot.source.diff import ChangedLines


def common_folder(paths: Sequence[str]) -> Path:
    """The deepest folder that holds all of the paths: its configuration governs the run."""
    whole = [os.path.abspath(path) for path in paths]
    common = os.path.commonpath(whole) if whole else os.getcwd()
    return Path(common) if os.path.isdir(common) else Path(common).parent


def changed_since(base: str, folder: Path) -> ChangedLines:
    """The lines of Python files that changed between where HEAD left `base` and the work tree, by the paths
    under which findings name them. Raises `GitError`."""
    from reviewbot.errors import GitError
    from reviewbot.source.git import Repository

    repository = Repository(folder)
    if repository.root is None:
        raise GitError(f"{folder}: a bare repository has no work tree to compare with {base}")
    start = repository.merge_base(repository.commit(base), repository.commit("HEAD"))
    ranges = repository.changed_lines(start).ranges
    return ChangedLines({_shown(repository.root / path): lines for path, lines in ranges.items()})


def among(changed: ChangedLines, given: Iterable[str]) -> list[str]:
    """The changed files at or under the given paths."""
    tops = [os.path.abspath(path) for path in given]
    return [
        path
        for path in sorted(changed.ranges)
        if any(os.path.commonpath((top, os.path.abspath(path))) == top for top in tops)
    ]


def _shown(path: Path) -> str:
    return Path(os.path.relpath(path)).as_posix()
