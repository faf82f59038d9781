"""Which files say what a repository's CI runs."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo

_FOLDERS = (".ci/", "ci/", ".github/", ".buildkite/", ".circleci/", ".gitlab/", ".azure/", "jenkins/")
_FILES = (
    *(".gitlab-ci.yml", "Jenkinsfile", "tox.ini", "azure-pipelines.yml", ".travis.yml", "Makefile"),
    *("noxfile.py", ".cirrus.yml", "bitbucket-pipelines.yml", "appveyor.yml", ".appveyor.yml"),
)


def is_ci(path: str, repo: Repo) -> bool:
    """Whether a file is one in which a repository lists what its CI runs."""
    name = path.rpartition("/")[2]
    return (
        name in _FILES
        or any(path.startswith(folder) or f"/{folder}" in path for folder in _FOLDERS)
        or any(fnmatch.fnmatch(path, pattern) for pattern in repo.config.ci_lists)
    )
