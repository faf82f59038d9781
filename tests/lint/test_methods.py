"""Methods of dataclasses, kept as they were compiled by an earlier run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
# A class of a library, made anew in a process, and what its methods say; then how often Python compiled.
PROGRAM = """
import builtins, re, sys
from reviewbot.lint import methods
compiled = []
parse = re._parser.parse
re._parser.parse = lambda text, *rest: compiled.append(text) or parse(text, *rest)
methods.compile = lambda text, *rest, **more: compiled.append(text) or builtins.compile(text, *rest, **more)
with methods.kept("a_test"):
    from dataclasses import FrozenInstanceError, dataclass, field, replace
    @dataclass(frozen=True, order=True)
    class Row:
        tokens: tuple[int, ...] = ()
        notes: list[str] = field(default_factory=list)
    @dataclass
    class Loss:
        value: float
    step = re.compile("(?i)(?P<name>loss|r\\u00fcckweg)-(?P<step>[0-9a-f]+?)$", re.ASCII)
row = Row((1, 2))
try:
    row.tokens = ()
    raise SystemExit("not frozen")
except FrozenInstanceError:
    pass
print(row, row == Row((1, 2)), row < Row((1, 3)), replace(row, notes=["cut"]), Loss(0.5))
print(row.notes is Row().notes)
print(step.search("the LOSS-7").groupdict(), step.flags == re.I | re.A, step.groups)
print(len(compiled), file=sys.stderr)
"""
SAYS = "Row(tokens=(1, 2), notes=[]) True True Row(tokens=(1, 2), notes=['cut']) Loss(value=0.5)\nFalse\n"
SAYS += "{'name': 'LOSS', 'step': '7'} True 2\n"


def compiled(pycache: Path, *options: str) -> int:
    """Runs the program, checks what it says, and tells how many texts it compiled."""
    done = subprocess.run(
        [sys.executable, *options, "-X", f"pycache_prefix={pycache}", "-c", PROGRAM],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == SAYS
    return int(done.stderr)


def kept(pycache: Path) -> Path:
    (found,) = pycache.rglob("methods_of_a_test.*")
    return found


def test_a_second_run_compiles_nothing(tmp_path: Path) -> None:
    assert compiled(tmp_path) > 0
    assert compiled(tmp_path) == 0


@pytest.mark.parametrize("left", [0, 4, 40, 600], ids="{} bytes".format)
def test_a_file_that_is_there_in_part_is_made_again(tmp_path: Path, left: int) -> None:
    first = compiled(tmp_path)
    file = kept(tmp_path)
    file.write_bytes(file.read_bytes()[:left])
    assert compiled(tmp_path) == first
    assert compiled(tmp_path) == 0


def test_a_damaged_file_is_made_again(tmp_path: Path) -> None:
    first = compiled(tmp_path)
    file = kept(tmp_path)
    whole = file.read_bytes()
    for place in range(8, len(whole), len(whole) // 4):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert compiled(tmp_path) == first
        assert compiled(tmp_path) == 0


def test_code_of_another_python_is_not_taken(tmp_path: Path) -> None:
    first = compiled(tmp_path)
    file = kept(tmp_path)
    file.write_bytes(b"\0\0\r\n" + file.read_bytes()[4:])
    assert compiled(tmp_path) == first


def test_nothing_is_written_where_python_writes_no_bytecode(tmp_path: Path) -> None:
    first = compiled(tmp_path, "-B")
    assert compiled(tmp_path, "-B") == first
    assert not list(tmp_path.rglob("*"))


def test_a_folder_that_cannot_be_written_is_none_of_our_concern(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert compiled(tmp_path / "file" / "below") > 0


def test_patterns_are_compiled_as_ever_where_re_has_no_such_compiler(tmp_path):
    program = (
        "import re; from reviewbot.lint import methods; compiler = re._compiler; del re._compiler\n"
        "with methods.kept('a_test'):\n"
        "    pass\n"
        "re._compiler = compiler\n"
        "print(re.compile('loss-[0-9]+').search('a loss-7').group())"
    )
    done = subprocess.run(
        [sys.executable, "-X", f"pycache_prefix={tmp_path}", "-c", program],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "loss-7\n"
