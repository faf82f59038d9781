"""What every test may use: the command line, and real git repositories."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fakegithub import FakeGitHub

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Ran:
    """What a command left: exit code and both streams as text."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Under nohup and in a shell's background interrupts are ignored, and every child would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def caches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for reviewbot's caches: tests leave nothing in the user's own, and take nothing from it."""
    folder = tmp_path_factory.mktemp("caches")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    return folder


@pytest.fixture
def reviewbot(tmp_path: Path) -> Callable[..., Ran]:
    """Runs `reviewbot WORDS` as a user would: another process, in `cwd` (default: an empty folder)."""

    def run(*words: str | Path, cwd: Path = tmp_path, stdin: str = "", env: Mapping[str, str] = {}) -> Ran:
        paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        done = subprocess.run(
            [sys.executable, "-m", "reviewbot", *map(str, words)],
            cwd=cwd,
            input=stdin,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": paths, **env},
            timeout=300,
        )
        assert "Traceback (most recent call last)" not in done.stderr, done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


class Repository:
    """A real git repository in a folder, driven through git itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str) -> str:
        """Runs git here with a fixed author and no other configuration; returns its output, stripped."""
        env = {
            **os.environ,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
        }
        done = subprocess.run(["git", *words], cwd=self.folder, capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Writes files (None deletes one) into the work tree."""
        for name, content in files.items():
            path = self.folder / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, files: Mapping[str, str | bytes | None] = {}, message: str = "change") -> str:
        """Writes, commits everything, and returns the commit's full SHA."""
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """An empty git repository on branch main."""
    return Repository(tmp_path / "repository")


@pytest.fixture
def fake(repository: Repository) -> Iterator[FakeGitHub]:
    """A GitHub of our own around `repository`. What breaks GitHub's description fails the test."""
    from fakegithub import FakeGitHub

    with FakeGitHub(repository.folder) as server:
        yield server
        assert server.drift == []
