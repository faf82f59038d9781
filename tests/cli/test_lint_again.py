"""A lint run over what has not changed says again what it said, and whatever changes is seen."""

from __future__ import annotations

import os
import subprocess
import time
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
    (folder / "mine").write_text("test_rows.py\n")
    git(folder, "config", "core.excludesFile", str(folder / "mine"))


def track_what_is_ignored(folder: Path) -> None:
    git(folder, "add", "-f", "hidden/test_hidden.py")


def nothing(folder: Path) -> None:
    """For tests that change something else."""


PLAIN = [add_file, add_file_in_new_folder, delete_file, edit_in_place, swap, configure, configure_above]
IN_GIT = [configure_above_git, ignore, ignore_for_oneself, ignore_by_configuration, track_what_is_ignored]
CHANGES = [*PLAIN, configure_pytest, *IN_GIT]


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


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_is_seen(lint, folders, tmp_path, change):
    folder = folders[change.__name__]
    first = lint(folder)
    assert "test_rows.py" in first[1]
    assert lint(folder) == first
    (record,) = kept(tmp_path)
    record.write_bytes(record.read_bytes().replace(b"test_rows.py", b"test_ROWS.py", 1))
    assert lint(folder)[1] == first[1].replace("test_rows.py", "test_ROWS.py", 1), (
        "nothing else was looked at"
    )

    change(folder)
    then = lint(folder)
    assert then == lint(folder, "--no-cache")
    assert then != first


def test_a_time_from_the_future_is_not_trusted(lint, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "test_rows.py").write_text(WEAK)
    os.utime(folder / "test_rows.py", (time.time() + 3600,) * 2)
    assert lint(folder) == lint(folder)
    assert not kept(tmp_path)


@pytest.mark.slow
def test_a_long_run_is_kept_at_once(reviewbot, tmp_path):
    folder = tmp_path / "work"
    (folder / "tests").mkdir(parents=True)
    body = "".join(f"    assert rows({number}) == [{number}]\n" for number in range(40))
    for number in range(60):
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
    for left in (0, 1, 20, len(whole) // 2, len(whole) - 1):
        record.write_bytes(whole[:left])
        assert lint(folder) == first
        assert record.read_bytes() == whole
