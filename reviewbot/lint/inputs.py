"""What a run is asked to look at: paths, standard input, what changed since a commit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot.source.discover import IN_CHANGE
from reviewbot.source.files import named

if TYPE_CHECKING:
    from reviewbot.lint.against import Against


def common_folder(paths: Sequence[str]) -> Path:
    """The deepest folder that holds all of the paths: its configuration governs the run."""
    whole = [os.path.abspath(path) for path in paths]
    common = os.path.commonpath(whole) if whole else os.getcwd()
    return Path(common) if os.path.isdir(common) else Path(common).parent


def against(base: str, folder: Path) -> Against:
    """What the work tree is compared with: the commit where HEAD left `base`. Raises `GitError`."""
    from reviewbot.errors import GitError
    from reviewbot.lint.against import Against
    from reviewbot.source.git import AtCommit, Repository

    repository = Repository(folder)
    root = repository.root
    if root is None:
        raise GitError(f"{folder}: a bare repository has no work tree to compare with {base}")
    start = repository.merge_base(repository.commit(base), repository.commit("HEAD"))

    def shown(path: str | None) -> str | None:
        return None if path is None else named(os.path.relpath(root / path), root)

    diff = (
        replace(one, path=shown(one.path), old_path=shown(one.old_path))
        for one in repository.diff(start).files()
    )
    return Against(AtCommit(repository, start, Path(os.path.relpath(root)).as_posix()), tuple(diff))


def changed(against: Against) -> list[str]:
    """The changed files that are looked at."""
    return sorted(one.path for one in against.diff if one.path is not None and one.path.endswith(IN_CHANGE))


def among(paths: Iterable[str], given: Iterable[str]) -> list[str]:
    """Those of the paths that stand at or under the given ones."""
    tops = [os.path.abspath(path) for path in given]
    return [
        path for path in paths if any(os.path.commonpath((top, os.path.abspath(path))) == top for top in tops)
    ]
