"""How many requests a round costs, on the GitHub of our own that the tests use.

Prints, for reviews of several sizes, the requests of the first round, of the same round once more, and of a
round after a push that mends one finding: all of them, and those that write. git's own fetch is not counted.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from fakegithub import FakeGitHub  # noqa: E402 the path comes first
from samples import strong, weak  # noqa: E402 the path comes first

from reviewbot.github import telling  # noqa: E402 the path comes first
from reviewbot.github.client import GitHub  # noqa: E402 the path comes first
from reviewbot.github.patience import Pace  # noqa: E402 the path comes first
from reviewbot.source.git import Repository  # noqa: E402 the path comes first
from reviewbot.source.permalink import Remote  # noqa: E402 the path comes first

SIZES = (0, 3, 40, 300)
WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")


def commit(folder: Path, files: dict[str, str]) -> str:
    """Commits files, and returns the commit's id."""
    for name, text in files.items():
        (folder / name).write_text(text)
    git(folder, "add", "--all")
    git(folder, *WHO, "commit", "--quiet", "--allow-empty", "--message", "change")
    return git(folder, "rev-parse", "HEAD")


def git(folder: Path, *words: str) -> str:
    """What git prints."""
    return subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


def requests(findings: int) -> list[tuple[int, int]]:
    """All requests and those that write, of three rounds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        git(folder, "init", "--quiet", "--initial-branch=main")
        base = commit(folder, {"README.md": "text\n"})
        files = {f"test_{n}.py": weak(f"t{n}") for n in range(findings)}
        with FakeGitHub(folder) as fake:
            fake.open_pull(base, commit(folder, files))
            github = GitHub(fake.slug, "poster", fake.api, pace=Pace(0, 0, 0, 0))
            counts = []
            for turn in range(3):
                if turn == 2:
                    fake.push(commit(folder, {"test_0.py": strong("t0")}))
                calls, writes = len(fake.calls), len(fake.writes)
                remote = Remote("github.com", "acme", "trainer")
                telling.tell(
                    telling.Task(github, github.pull(7), Repository(folder), remote, lambda commit: None)
                )
                counts.append((len(fake.calls) - calls, len(fake.writes) - writes))
            assert fake.drift == []
    return counts


def main() -> int:
    """Counts and prints."""
    print("findings   first round   once more   after a push    (requests, of which write)")
    for findings in SIZES:
        columns = (f"{calls:6} ({writes:2})" for calls, writes in requests(findings))
        print(f"{findings:8}   {'  '.join(columns)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
