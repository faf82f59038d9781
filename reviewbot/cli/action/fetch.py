"""Mode fetch: the files of one commit, as data, without a git folder and without a token beside them."""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

from reviewbot.cli.action import runner
from reviewbot.errors import UsageError


def source() -> Path:
    """The folder that the files are written into."""
    return runner.temporary() / "reviewbot-source"


def run(options: argparse.Namespace) -> int:
    """Fetches commit --sha. Raises `GitError`."""
    from reviewbot.github.commits import fetch
    from reviewbot.source.export import export
    from reviewbot.source.git import Repository

    if not options.sha:
        raise UsageError("mode fetch needs --sha, the full id of a commit")
    objects, files = runner.temporary() / "reviewbot-objects", source()
    for folder in (objects, files):
        shutil.rmtree(folder, ignore_errors=True)
    token = os.environ.get("GITHUB_TOKEN", "")
    try:
        fetch(objects, runner.server(), runner.slug(), [options.sha], token, depth=1)
        files.mkdir(parents=True)
        export(Repository(objects), options.sha, files)
    finally:
        shutil.rmtree(objects, ignore_errors=True)
    # The nearest folder with this file is taken for the repository's own.
    if not (files / "pyproject.toml").exists():
        (files / "pyproject.toml").touch()
    print(f"fetched {options.sha} as data")
    return 0
