"""How many requests a round costs, on the GitHub of our own that the tests use.

Prints, for changes of several sizes, the requests of the first round, of the same round once more, of a round
after a push that mends one finding, and of one after a push that changes nothing of it: all of them, and
those that write. The last column is the longest text that was sent, in characters, of which GitHub takes
65,536. git's own fetch is not counted. Words pick rows: `300/3000` is 300 findings in 3,000 files.
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

# Findings, and files without any beside them. GitHub names 3,000 files.
SIZES = ((0, 0), (1, 0), (3, 0), (40, 0), (300, 0), (300, 2_700))
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


def requests(findings: int, others: int) -> tuple[list[tuple[int, int]], int]:
    """All requests and those that write, of four rounds; and the longest text that was sent."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        git(folder, "init", "--quiet", "--initial-branch=main")
        base = commit(folder, {"README.md": "text\n"})
        files = {f"test_{n}.py": weak(f"t{n}") for n in range(findings)}
        files |= {f"module_{n}.py": f"x = {n}\n" for n in range(others)}
        with FakeGitHub(folder) as fake:
            fake.open_pull(base, commit(folder, files))
            github = GitHub(fake.slug, "poster", fake.api, pace=Pace(0, 0, 0, 0))
            counts = []
            for turn in range(4):
                if turn >= 2:
                    fake.push(commit(folder, {"test_0.py": strong("t0")}))
                calls, writes = len(fake.calls), len(fake.writes)
                remote = Remote("github.com", "acme", "trainer")
                telling.tell(
                    telling.Task(github, github.pull(7), Repository(folder), remote, lambda commit: None)
                )
                counts.append((len(fake.calls) - calls, len(fake.writes) - writes))
            assert fake.drift == []
            longest = max((len(text) for call in fake.writes for text in _texts(call.body)), default=0)
    return counts, longest


def _texts(body: object) -> list[str]:
    """The texts of a request, each of which has GitHub's limit to itself."""
    if isinstance(body, str):
        return [body]
    inside = body.values() if isinstance(body, dict) else body if isinstance(body, list) else ()
    return [text for one in inside for text in _texts(one)]


def main(words: list[str]) -> int:
    """Counts and prints."""
    print("findings  files   first round   once more   one mended   nothing new   longest text")
    for findings, others in SIZES:
        if words and f"{findings}/{findings + others}" not in words:
            continue
        counts, longest = requests(findings, others)
        columns = (f"{calls:6} ({writes:2})" for calls, writes in counts)
        print(f"{findings:8}  {findings + others:5}   {'  '.join(columns)}   {longest:9}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
