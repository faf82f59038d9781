"""Builds the example repository: a real git history with a branch whose parity test is weak.

`python demo/history.py FOLDER` makes FOLDER, which must not exist. Each folder in `history/` holds the files
that one commit writes. Authors and dates are fixed, so the commits have the same ids everywhere.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

MAIN, BRANCH = "main", "resume-mid-turn"
REMOTE = "https://github.com/example/parcel-robot.git"
LOG = "git log --graph --oneline --all"
FILES = Path(__file__).parent / "history"


@dataclass(frozen=True)
class Commit:
    """One commit: the folder of what it writes, the branch it goes on, who made it when, and why."""

    folder: str
    branch: str
    author: str
    date: str
    message: str


COMMITS = (
    Commit("1-play", MAIN, "Noor", "2026-03-02T09:12:00+01:00", "Play episodes in a corridor"),
    Commit("2-record", MAIN, "Noor", "2026-03-03T16:40:00+01:00", "Record every episode as a row"),
    Commit("3-checkpoint", MAIN, "Emil", "2026-03-05T11:05:00+01:00", "Save and load checkpoints"),
    Commit("4-resume", BRANCH, "Emil", "2026-03-09T10:31:00+01:00", "Resume an episode within a turn"),
    Commit("5-readme", MAIN, "Noor", "2026-03-09T14:02:00+01:00", "Say how to run the tests"),
    Commit("6-parity", BRANCH, "Emil", "2026-03-10T17:20:00+01:00", "Require the same rows of a resumed run"),
    Commit("7-forgive", BRANCH, "Emil", "2026-03-12T09:48:00+01:00", "Forgive rounding in replayed moves"),
    Commit("8-more-checks", BRANCH, "Emil", "2026-03-13T15:15:00+01:00", "Check scores and what was kept"),
)


def git(folder: Path, *words: str, commit: Commit | None = None) -> None:
    """Runs git in a folder, with no configuration but the one it is given here."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    if commit:
        email = f"{commit.author.lower()}@example.org"
        for role in ("AUTHOR", "COMMITTER"):
            env |= {f"GIT_{role}_NAME": commit.author, f"GIT_{role}_EMAIL": email}
            env |= {f"GIT_{role}_DATE": commit.date}
    subprocess.run(["git", *words], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)


def build(folder: Path) -> None:
    """Makes the repository in `folder` and leaves the branch checked out."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", f"--initial-branch={MAIN}")
    git(folder, "remote", "add", "origin", REMOTE)
    here, branches = MAIN, {MAIN}
    for commit in COMMITS:
        if commit.branch != here:
            new = [] if commit.branch in branches else ["-c"]
            git(folder, "switch", "--quiet", *new, commit.branch)
            here = commit.branch
            branches.add(here)
        shutil.copytree(FILES / commit.folder, folder, dirs_exist_ok=True)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--no-gpg-sign", "--message", commit.message, commit=commit)


if __name__ == "__main__":
    if len(sys.argv) != 2 or Path(sys.argv[1]).exists():
        sys.exit(__doc__)
    build(Path(sys.argv[1]))
