"""A commit's files written into a folder, as code that is to be run needs them."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from reviewbot.source.git import Repository

MOST_FILE_BYTES = 20 << 20
MOST_BYTES = 1 << 30


def export(repository: Repository, commit: str, folder: Path) -> None:
    """Writes the regular files of a commit below `folder`, up to 1 GiB in all.

    Symbolic links and submodules stay out, and names that lead out of the folder: the commit may be hostile.
    """
    left = MOST_BYTES
    for entry in repository.files(commit):
        parts = PurePosixPath(entry.path).parts
        if entry.kind != "file" or not parts or any(part in ("..", "/", ".git") for part in parts):
            continue
        content = repository.blob(entry.id, entry.path)
        left -= len(content)
        if left < 0:
            return
        if len(content) <= MOST_FILE_BYTES:
            path = folder.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
