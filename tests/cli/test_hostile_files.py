"""Files that nobody writes by accident: each is named, and the rest of the run goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CHECK = "def test_rows(run):\n    assert (run(1) == [2], 'rows')\n"
NO_TEXT = ("rot13", "zlib_codec", "punycode", "undefined")
NOT_UTF8 = os.fsdecode(b"tests/test_\xff.py")


@pytest.fixture
def declared(repository):
    """A branch that adds, beside a weak check, a file for each encoding that makes no text of it."""
    repository.commit({"README.md": "x\n"})
    repository.git("checkout", "--quiet", "-b", "topic")
    files = {f"tests/test_{name}.py": f"# coding: {name}\n{CHECK}" for name in NO_TEXT}
    repository.commit({"tests/test_rows.py": CHECK, **files})
    return repository


def test_lint_names_a_file_whose_declared_encoding_makes_no_text(reviewbot, declared):
    ran = reviewbot("lint", "--no-cache", "--output-format", "json", ".", cwd=declared.folder)
    assert {finding["path"] for finding in json.loads(ran.out)} == {"tests/test_rows.py"}
    for name in NO_TEXT:
        assert f"tests/test_{name}.py: not text in {name}" in ran.err


@pytest.mark.parametrize("command", ["review", "size"])
def test_a_change_with_such_files_is_looked_at_all_the_same(reviewbot, declared, command):
    ran = reviewbot(command, "--base", "main", "--output-format", "json", cwd=declared.folder)
    last = json.loads(ran.out)["rounds"][-1]
    unread = {one["path"] for one in last["unread"]}
    assert (ran.code, unread) == (int(command == "review"), {f"tests/test_{name}.py" for name in NO_TEXT})


def test_pages_are_written_of_such_a_change(reviewbot, declared):
    ran = reviewbot("report", "--base", "main", "--out", "pages", cwd=declared.folder)
    assert ran.code == 0, ran.err
    pages = "".join(page.read_text() for page in (declared.folder / "pages").rglob("*.html"))
    assert "test_rows.py" in pages


@pytest.fixture
def misnamed(repository):
    """A branch that adds a weak check under a plain name, and one under a name that is not UTF-8."""
    repository.commit({"README.md": "x\n"})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"tests/test_rows.py": CHECK, NOT_UTF8: CHECK})
    return repository


@pytest.mark.parametrize("form", ["text", "json", "sarif", "markdown", "github"])
def test_a_name_that_is_not_utf8_is_spelled_out_in_every_format(reviewbot, misnamed, form):
    env = {"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8:strict"}
    ran = reviewbot("lint", "--output-format", form, ".", cwd=misnamed.folder, env=env)
    shown = "tests/test_%FF.py" if form == "sarif" else r"tests/test_\xff.py"
    assert ran.code == 1, ran.err
    assert shown in ran.out.replace("\\\\", "\\")


def test_such_a_file_is_compared_and_accepted_as_any_other(reviewbot, misnamed):
    words = ("lint", "--diff", "main", ".")
    assert r"tests/test_\xff.py" in reviewbot(*words, cwd=misnamed.folder).out
    reviewbot(*words, "--write-baseline", "--baseline", "accepted.json", cwd=misnamed.folder)
    assert reviewbot(*words, "--baseline", "accepted.json", cwd=misnamed.folder).code == 0


@pytest.mark.parametrize("command", ["review", "size"])
def test_a_change_with_such_a_name_is_looked_at_all_the_same(reviewbot, misnamed, command):
    ran = reviewbot(command, "--base", "main", "--output-format", "json", cwd=misnamed.folder)
    last = json.loads(ran.out)["rounds"][-1]
    assert (ran.code, [one["path"] for one in last["unread"]]) == (
        int(command == "review"),
        [r"tests/test_\xff.py"],
    )


# Elsewhere than on Linux processes start afresh.
AFRESH = """
from reviewbot.source import apart
apart.FORKS, apart.METHOD = False, "spawn"
from reviewbot.lint import pool
pool.WORTHWHILE = 0
from reviewbot.cli.entry import run
if __name__ == "__main__":
    run()
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_modules_of_the_repository_are_not_run_where_processes_start_afresh(tmp_path, jobs):
    program = tmp_path / "bin" / "reviewbot"
    program.parent.mkdir()
    program.write_text(AFRESH)
    work = tmp_path / "work"
    work.mkdir()
    for name in ("struct", "socket", "pickle", "json", "dataclasses", "sqlite3", "sitecustomize", "libcst"):
        (work / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit('ran')\n")
    (work / "test_newer.py").write_text("type Rows[T] = list[T]\n\n\ndef test_rows():\n    assert (1, 2)\n")
    (work / "test_rows.py").write_text("def test_rows():\n    assert (1, 2)\n")
    done = subprocess.run(
        [sys.executable, program, "lint", "--no-cache", "-j", jobs, "--select", "constant-verdict", "."],
        cwd=work,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert not (tmp_path / "ran").exists(), done.stderr
    assert done.returncode == 1
    assert done.stdout.count("[constant-verdict]") == 2, done.stdout + done.stderr


@pytest.mark.parametrize(
    "words", [("lint", "."), ("lint", "--no-cache", "."), ("review", "--base", "main"), ("rule",)]
)
def test_a_repository_that_holds_packages_of_our_own_names_has_none_imported(reviewbot, repository, words):
    repository.commit({"README.md": "x\n"})
    repository.git("checkout", "--quiet", "-b", "topic")
    evil = "raise SystemExit('imported: ' + __name__)\n"
    names = ("libcst", "pygments", "msgspec", "rich", "jinja2", "pygit2", "yaml", "ast", "json", "typing")
    files = {f"{name}/__init__.py": evil for name in names} | {
        f"{name}.py": evil for name in ("shtab", "bisect")
    }
    repository.commit({"tests/test_rows.py": CHECK, **files})
    ran = reviewbot(*words, cwd=repository.folder)
    assert "imported" not in ran.err and ran.code in (0, 1), ran.err
    assert "constant-verdict" in ran.out
