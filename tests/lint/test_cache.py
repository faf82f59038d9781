"""What an earlier run has seen is taken again as long as nothing that it was made from has changed."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
WEAK = "import pytest\n\n\ndef test_rows(run):\n    assert (run(1) == [2], 'wrong')\n"
XFAIL = "import pytest\n\n\n@pytest.mark.xfail\ndef test_rows(run):\n    assert run(1) == [2]\n"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A copy of the program that a test may change."""
    copy = tmp_path / "program"
    for name in ("reviewbot", "rules", "templates"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture
def lint(tmp_path: Path):
    """Runs `reviewbot lint`; returns the findings' (path, line, rule) and whether LibCST was imported."""
    (tmp_path / "project/.git").mkdir(parents=True)

    def run(*words: str, program: Path = ROOT, caches: Path = tmp_path / "caches") -> tuple[Counter, bool]:
        script = (
            "import sys\nfrom reviewbot.cli.main import main\n"
            "code = main(['lint', '--output-format', 'json', *sys.argv[1:]])\n"
            "print('libcst' in sys.modules, file=sys.stderr)\nsys.exit(code)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, *words],
            cwd=tmp_path / "project",
            env={**os.environ, "PYTHONPATH": str(program), "XDG_CACHE_HOME": str(caches)},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode in (0, 1), done.stderr
        found = Counter((one["path"], one["line"], one["rule"]) for one in json.loads(done.stdout))
        return found, done.stderr.splitlines()[-1] == "True"

    return run


def write(tmp_path: Path, **files: str) -> None:
    for name, text in files.items():
        (tmp_path / "project" / name.replace("__", "/").replace("_DOT_", ".")).write_text(text)


def test_a_run_over_what_is_known_imports_no_libcst_and_finds_the_same(lint, tmp_path):
    write(tmp_path, test_a_DOT_py=WEAK, b_DOT_py="x = 1\n", broken_DOT_py="def f(:\n")
    first, parsed = lint()
    assert parsed
    assert first == {("test_a.py", 5, "constant-verdict"): 1}
    assert lint() == (first, False)
    assert lint("--no-cache") == (first, True)


def test_changed_content_a_new_path_and_another_choice_of_rules_are_looked_at(lint, tmp_path):
    write(tmp_path, test_a_DOT_py=WEAK)
    lint()
    write(tmp_path, test_a_DOT_py="\n" + WEAK)
    assert lint()[0] == {("test_a.py", 6, "constant-verdict"): 1}
    write(tmp_path, test_b_DOT_py="\n" + WEAK)
    assert lint()[0] == {("test_a.py", 6, "constant-verdict"): 1, ("test_b.py", 6, "constant-verdict"): 1}
    assert lint("--select", "loop-may-be-empty")[0] == {}


@pytest.mark.parametrize(
    "settings",
    [
        ("pytest.ini", "[pytest]\nxfail_strict = true\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\nxfail_strict = true\n"),
        ("tox.ini", "[pytest]\nxfail_strict = true\n"),
        ("setup.cfg", "[tool:pytest]\nxfail_strict = true\n"),
    ],
    ids=lambda pair: pair[0],
)
def test_a_finding_falls_when_a_settings_file_that_it_stood_on_changes(lint, tmp_path, settings):
    write(tmp_path, test_a_DOT_py=XFAIL)
    there = {("test_a.py", 4, "xfail-not-strict"): 1}
    assert lint("--select", "xfail-not-strict")[0] == there
    name, text = settings
    (tmp_path / "project" / name).write_text(text)
    assert lint("--select", "xfail-not-strict")[0] == {}
    (tmp_path / "project" / name).unlink()
    assert lint("--select", "xfail-not-strict")[0] == there
    assert lint("--select", "xfail-not-strict") == (there, False)


def test_a_changed_rule_or_a_changed_engine_asks_again(lint, tmp_path, code):
    write(tmp_path, test_a_DOT_py=WEAK)
    lint(program=code)
    assert lint(program=code)[1] is False
    rule = code / "rules/constant_verdict.py"
    rule.write_text(rule.read_text() + "# changed\n")
    assert lint(program=code)[1] is True
    flow = code / "reviewbot/flow/checks.py"
    flow.write_text(flow.read_text() + "# changed\n")
    assert lint(program=code)[1] is True
    assert lint(program=code)[1] is False


def test_an_editor_that_locks_a_rule_is_none_of_our_concern(lint, tmp_path, code):
    write(tmp_path, test_a_DOT_py=WEAK)
    before = lint(program=code)[0]
    (code / "rules/.#constant_verdict.py").symlink_to("somebody@host.1234")
    assert lint(program=code)[0] == before


def test_a_cache_that_cannot_be_used_changes_nothing(lint, tmp_path):
    write(tmp_path, test_a_DOT_py=WEAK)
    right = {("test_a.py", 5, "constant-verdict"): 1}
    caches = tmp_path / "caches/reviewbot"
    lint()
    (caches / "lint.sqlite").write_bytes(b"not a database at all" * 100)
    assert lint() == (right, True)
    assert lint() == (right, False)
    with sqlite3.connect(caches / "lint.sqlite") as db:
        db.execute("UPDATE result SET value = x'00ff'")
    assert lint() == (right, True)
    assert lint(caches=Path("/dev/null")) == (right, True)


def test_a_repository_cannot_bring_a_cache_along(lint, tmp_path):
    write(tmp_path, test_a_DOT_py=WEAK)
    lint()
    left = {path.name for path in (tmp_path / "project").rglob("*")}
    assert left == {".git", "test_a.py"}
