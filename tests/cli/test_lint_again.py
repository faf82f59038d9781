"""A lint run over what has not changed says again what it said, and whatever changes is seen."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from binascii import crc32
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from reviewbot.source.seen import FINE_NS

WORDS = ("lint", "--select", "constant-verdict,never-collected-test", "--output-format", "json", ".")
WEAK = "def test_rows():\n    assert (1, 2)\n"
SOUND = "def test_rows():\n    assert rows()\n"
OTHER = "def test_more():\n    assert 'x' or rows()\n"


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def add_file(folder: Path) -> None:
    (folder / "tests" / "test_more.py").write_text(OTHER)


def add_file_in_new_folder(folder: Path) -> None:
    (folder / "new").mkdir()
    (folder / "new" / "test_more.py").write_text(OTHER)


def delete_file(folder: Path) -> None:
    (folder / "tests" / "test_rows.py").unlink()


def edit_in_place(folder: Path) -> None:
    """Another text of the same length, in the same file, under the same time."""
    file = folder / "tests" / "test_rows.py"
    before = file.stat()
    assert len(SOUND) == len(WEAK)
    file.write_text(SOUND)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def swap(folder: Path) -> None:
    tests = folder / "tests"
    os.rename(tests / "test_sound.py", tests / "aside")
    os.rename(tests / "test_rows.py", tests / "test_sound.py")
    os.rename(tests / "aside", tests / "test_rows.py")


def configure(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.reviewbot]\nexclude = ["test_r*"]\n')


def configure_above(folder: Path) -> None:
    (folder.parent / "pyproject.toml").write_text('[tool.reviewbot]\nexclude = ["test_rows.py"]\n')


def configure_above_git(folder: Path) -> None:
    configure_above(folder)


def configure_pytest(folder: Path) -> None:
    (folder / "pytest.ini").write_text("[pytest]\npython_files = check_*.py\n")


def ignore(folder: Path) -> None:
    (folder / ".gitignore").write_text("hidden/\ntest_rows.py\n")


def ignore_for_oneself(folder: Path) -> None:
    (folder / ".git" / "info" / "exclude").write_text("test_rows.py\n")


def ignore_by_configuration(folder: Path) -> None:
    mine = folder.parent / "mine"
    mine.write_text("test_rows.py\n")
    git(folder, "config", "core.excludesFile", str(mine))


def track_what_is_ignored(folder: Path) -> None:
    git(folder, "add", "-f", "hidden/test_hidden.py")


def nothing(folder: Path) -> None:
    """For tests that change something else."""


PLAIN = [add_file, add_file_in_new_folder, delete_file, edit_in_place, swap, configure, configure_above]
IN_GIT = [configure_above_git, ignore, ignore_for_oneself, ignore_by_configuration, track_what_is_ignored]
CHANGES = [*PLAIN, configure_pytest, *IN_GIT]


@dataclass(frozen=True)
class Odd:
    """A change that is only told by looking where one would not think of it."""

    name: str
    change: Callable[[Path], None]
    words: tuple[str, ...] = (".",)
    cwd: str = "."
    env: Mapping[str, str] = field(default_factory=dict)
    kept: bool = True  # whether it is known what git goes by


def track_no_more(folder: Path) -> None:
    git(folder, "rm", "--quiet", "--cached", "tests/test_rows.py")


def leave_no_repository(folder: Path) -> None:
    (folder / ".git" / "HEAD").unlink()


def edit_behind_link(folder: Path) -> None:
    (folder / "real" / "test_rows.py").write_text(SOUND)


def make_repository_behind_link(folder: Path) -> None:
    git(folder / "real", "init", "-q")


ODD = [
    Odd("the user's excludes, from below the top", ignore_by_configuration, cwd="tests"),
    Odd("a path that leads out of a link", edit_behind_link, ("link/../test_rows.py",)),
    Odd("a repository around a link's target", make_repository_behind_link, ("link",)),
    Odd("a repository that is none any more", leave_no_repository, ("tests",)),
    Odd(
        "a repository of somebody else",
        ignore_for_oneself,
        ("tests",),
        env={"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"},
        kept=False,
    ),
    Odd("another index", track_no_more, ("tests",), env={"GIT_INDEX_FILE": "other"}, kept=False),
]


@pytest.fixture(scope="module")
def odd_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """For each odd change a repository with one file that is tracked and ignored, and a link to a folder
    in which nothing is asked of git."""
    made = {}
    for odd in ODD:
        folder = tmp_path_factory.mktemp("odd") / "work"
        (folder / "tests").mkdir(parents=True)
        (folder / "tests" / "test_rows.py").write_text(WEAK)
        (folder / "tests" / "test_sound.py").write_text(SOUND)
        git(folder, "init", "-q")
        if odd.change in (track_no_more, leave_no_repository):
            (folder / ".gitignore").write_text("test_rows.py\n")
        if odd.change is track_no_more:
            git(folder, "add", "-f", "tests")
        if "link" in odd.words[0]:
            shutil.rmtree(folder / ".git")
            (folder / "real" / "deep").mkdir(parents=True)
            (folder / "real" / ".gitignore").write_text("test_rows.py\n")
            for name in ("test_rows.py", "deep/test_rows.py", "deep/.gitignore"):
                (folder / "real" / name).write_text(WEAK if name.endswith("py") else "")
            (folder / "link").symlink_to("real/deep")
        made[odd.name] = folder
    time.sleep(2 * FINE_NS / 1e9)
    return made


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """For each change a folder of its own, old enough for times to tell."""
    made = {}
    for change in (*CHANGES, nothing):
        folder = tmp_path_factory.mktemp(change.__name__) / "work"
        (folder / "tests").mkdir(parents=True)
        (folder / "tests" / "test_rows.py").write_text(WEAK)
        (folder / "tests" / "test_sound.py").write_text(SOUND)
        if change in IN_GIT:
            (folder / "hidden").mkdir()
            (folder / "hidden" / "test_hidden.py").write_text(WEAK)
            (folder / ".gitignore").write_text("hidden/\n")
            git(folder, "init", "-q")
            git(folder, "add", "tests/test_sound.py")
        made[change.__name__] = folder
    time.sleep(2 * FINE_NS / 1e9)
    return made


@pytest.fixture
def lint(reviewbot, tmp_path):
    """Runs the command in a folder, with a cache of this test's own, and gives its outcome."""

    def run(folder: Path, *words: str) -> tuple[int, str, str]:
        ran = reviewbot(*WORDS, *words, cwd=folder, env={"XDG_CACHE_HOME": str(tmp_path / "caches")})
        return ran.code, ran.out, ran.err

    return run


def kept(tmp_path: Path) -> list[Path]:
    return list(tmp_path.glob("caches/reviewbot/runs/*"))


def say_otherwise(record: Path) -> None:
    """Has a record say what no run has said."""
    head, _, body = record.read_bytes().partition(b"\n")
    body = body.replace(b"test_rows.py", b"test_ROWS.py", 1)
    form, day, code, _, lengths = head.split(b" ", 4)
    record.write_bytes(b" ".join((form, day, code, str(crc32(body)).encode(), lengths)) + b"\n" + body)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_is_seen(lint, folders, tmp_path, change):
    folder = folders[change.__name__]
    first = lint(folder)
    assert "test_rows.py" in first[1]
    assert lint(folder) == first
    (record,) = kept(tmp_path)
    say_otherwise(record)
    assert lint(folder)[1] == first[1].replace("test_rows.py", "test_ROWS.py", 1), (
        "nothing else was looked at"
    )

    change(folder)
    then = lint(folder)
    assert then == lint(folder, "--no-cache")
    assert then != first


@pytest.mark.slow
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)
def test_an_odd_change_is_seen(reviewbot, odd_folders, tmp_path, odd):
    folder = odd_folders[odd.name]

    def lint(*options: str) -> tuple[int, str, str]:
        env = {"XDG_CACHE_HOME": str(tmp_path / "caches"), **odd.env}
        words = ("lint", "--select", "constant-verdict", *odd.words, *options)
        ran = reviewbot(*words, cwd=folder / odd.cwd, env=env)
        return ran.code, ran.out, ran.err

    first = lint()
    assert lint() == first
    assert bool(kept(tmp_path)) == odd.kept
    odd.change(folder)
    then = lint()
    assert then == lint("--no-cache")
    assert then != first


def test_a_time_from_the_future_is_not_trusted(lint, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "test_rows.py").write_text(WEAK)
    os.utime(folder / "test_rows.py", (time.time() + 3600,) * 2)
    # reviewbot: ignore[same-run-twice] the second run might read what the first one kept
    assert lint(folder) == lint(folder)
    assert not kept(tmp_path)


@pytest.mark.slow
def test_a_long_run_is_kept_at_once(reviewbot, tmp_path):
    folder = tmp_path / "work"
    (folder / "tests").mkdir(parents=True)
    body = "".join(f"    assert rows({number}) == [{number}]\n" for number in range(40))
    for number in range(240):
        text = f"import pytest\n\n\ndef test_{number}(rows):\n{body}\n\ndef test_b_{number}(rows):\n{body}"
        (folder / "tests" / f"test_{number}.py").write_text(text)
    time.sleep(2 * FINE_NS / 1e9)
    env = {"XDG_CACHE_HOME": str(tmp_path / "caches")}
    first = reviewbot("lint", "--jobs", "2", cwd=folder, env=env)
    (record,) = kept(tmp_path)
    before = record.stat().st_mtime_ns
    again = reviewbot("lint", "--jobs", "2", cwd=folder, env=env)
    assert (again.code, again.out, again.err) == (first.code, first.out, first.err)
    assert record.stat().st_mtime_ns == before
    # What one process looked at is seen to change by all.
    (folder / "pytest.ini").write_text("[pytest]\npython_files = check_*.py\n")
    then = reviewbot("lint", "--jobs", "2", cwd=folder, env=env)
    assert then.out == reviewbot("lint", "--no-cache", "--jobs", "1", cwd=folder, env=env).out != first.out


@pytest.mark.slow
def test_a_record_that_is_there_in_part_is_made_again(lint, folders, tmp_path):
    folder = folders["nothing"]
    first = lint(folder)
    lint(folder)
    (record,) = kept(tmp_path)
    whole = record.read_bytes()
    before_the_last_place = whole.rindex(b"\0", 0, whole.rindex(b"\0"))
    for left in (0, 1, 20, len(whole) // 2, before_the_last_place, len(whole) - 1):
        record.write_bytes(whole[:left])
        assert lint(folder) == first
        assert record.read_bytes() == whole
