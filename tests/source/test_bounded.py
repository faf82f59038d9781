"""What a few objects name without end is refused before anything walks through it."""

from __future__ import annotations

import pytest

from reviewbot.errors import GitError
from reviewbot.source.git import Repository


def bomb(repository, levels: int, width: int) -> str:
    """A commit whose folders each hold the one below `width` times: `width ** levels` files."""
    repository.commit({"a.py": "x = 1\n"})
    tree = repository.git("rev-parse", "HEAD^{tree}")
    for _ in range(levels):
        lines = "".join(f"040000 tree {tree}\tf{number}\n" for number in range(width))
        (repository.folder / "list").write_text(lines)
        tree = repository.git("-c", "alias.make=!git mktree < list", "make")
    return repository.git("commit-tree", "-m", "many", tree)


@pytest.mark.parametrize(("levels", "width"), [(9, 10), (30, 2), (300, 1)])
def test_a_commit_of_files_or_folders_without_end_is_refused(repository, levels, width):
    commit = bomb(repository, levels, width)
    with pytest.raises(GitError, match="holds more than"):
        Repository(repository.folder).bounded(commit)


def test_a_commit_of_the_size_that_people_make_is_not(repository):
    commit = bomb(repository, 4, 10)
    Repository(repository.folder).bounded(commit)
    with pytest.raises(GitError):
        Repository(repository.folder).bounded(commit, 9_999)
    Repository(repository.folder).bounded(commit, 10_000)
