"""Settings and baselines that nobody writes by accident: a line says what is wrong, and nothing is run on."""

from __future__ import annotations

import os

import pytest

WEAK = "def test_rows(run):\n    assert (run(1), 2)\n"
DEEP = f"x = {'[' * 3000}{']' * 3000}\n"


@pytest.mark.parametrize(("table", "code"), [("", 1), ("[tool.reviewbot]\n", 2)])
def test_a_deeply_nested_file_is_read_as_one_that_does_not_parse(reviewbot, tmp_path, table, code):
    (tmp_path / "test_a.py").write_text(WEAK)
    (tmp_path / "pyproject.toml").write_text(table + DEEP)
    ran = reviewbot("lint", "--no-cache", cwd=tmp_path)
    assert ran.code == code
    assert ("constant-verdict" in ran.out) == (code == 1)
    assert ("not valid TOML: nested too deeply" in ran.err) == (code == 2)
    assert len(ran.err.splitlines()) == code - 1


@pytest.mark.parametrize("command", ["review", "size"])
def test_so_is_one_in_the_base(reviewbot, repository, command):
    repository.commit({"pyproject.toml": DEEP})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"test_a.py": WEAK})
    ran = reviewbot(command, "--base", "main", cwd=repository.folder)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "not valid TOML: nested too deeply" in ran.err


@pytest.mark.parametrize("writes", [(), ("--write-baseline",)])
def test_a_baseline_of_a_name_that_no_file_can_have(reviewbot, tmp_path, writes):
    (tmp_path / "test_a.py").write_text(WEAK)
    (tmp_path / "pyproject.toml").write_text('[tool.reviewbot]\nbaseline = "\\u0000"\n')
    ran = reviewbot("lint", "--no-cache", *writes, cwd=tmp_path)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "<U+0000>: the baseline cannot be" in ran.err


def _device(tmp_path):
    return "/dev/zero"


def _pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    return "pipe"


def _vast(tmp_path):
    with (tmp_path / "vast.json").open("wb") as file:
        file.truncate(1 << 33)
    return "vast.json"


@pytest.mark.parametrize(
    ("made", "why"),
    [(_device, "not a regular file"), (_pipe, "not a regular file"), (_vast, "more than 64 MiB")],
)
@pytest.mark.parametrize("configured", [False, True])
def test_a_baseline_without_end_is_refused(reviewbot, tmp_path, made, why, configured):
    (tmp_path / "test_a.py").write_text(WEAK)
    name = made(tmp_path)
    if configured:
        (tmp_path / "pyproject.toml").write_text(f'[tool.reviewbot]\nbaseline = "{name}"\n')
    ran = reviewbot("lint", "--no-cache", *(() if configured else ("--baseline", name)), cwd=tmp_path)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert why in ran.err
