"""A command is a list and goes to a shell, so that only its first word is run.

## Why
With `shell=True` the first item of a list is the whole command, and the rest are arguments of the shell
itself. A test that starts `["python", "-c", code]` that way starts a bare interpreter: none of its code runs,
the child ends with 0, and whoever looks at the exit code is content. (Windows alone joins the list again.)

## Instead
Leave out `shell=True`, or write the command as one string.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.nearby import still_catches
from reviewbot.flow.syntax import keyword_argument, last_name, literal, qualified
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Unit, step

_STARTS = frozenset({"Popen", "run", "call", "check_call", "check_output"})
_ELSEWHERE = ("win32", "os.name", "windows", "platform")


class ShellDropsArguments(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example("""
            import subprocess
            import sys

            def test_workers(code):
                children = []
                for _ in range(2):
                    command = [sys.executable, "-c", code]
                    children.append(subprocess.Popen(command, shell=True))  # <- here
                assert [child.wait() for child in children] == [0, 0]
        """),
        Example("""
            from subprocess import check_call

            check_call(("make", "parity"), shell=True, cwd="build")  # <- here
        """),
    )
    good = (
        # Only the shell of Windows knows it, which is given the whole list.
        Example("""
            import subprocess

            def test_variable():
                assert "=" in subprocess.check_output(["set", "KNOTS"], shell=True, text=True)
        """),
        Example("""
            import subprocess
            import sys

            def test_workers(code, command):
                subprocess.run([sys.executable, "-c", code], check=True)
                subprocess.run("make parity", shell=True, check=True)
                subprocess.run(["make parity"], shell=True, check=True)
                subprocess.run(["make", "parity"], shell=False)
                subprocess.run(command, shell=True)
                if sys.platform == "win32":
                    subprocess.run(["dir", "/b"], shell=True)
        """),
        Example("""
            from jobs import run

            def test_own():
                assert run(["make", "parity"], shell=True)
        """),
    )

    def concerns(self, file: File) -> bool:
        return file.calls(*_STARTS)

    def suspect(self, unit: Unit) -> bool:
        return unit.calls(*_STARTS) and any(
            keyword.arg == "shell" and getattr(keyword.value, "value", None) is True
            for call in unit.asts(ast.Call)
            for keyword in call.keywords
        )

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        for call in unit.find(cst.Call):
            shell = keyword_argument(call, "shell")
            if last_name(call) not in _STARTS or shell is None or literal(shell) is not True or not call.args:
                continue
            if not qualified(call.func, unit.file.imports).startswith("subprocess."):
                continue
            command = values(unit).resolve(call.args[0].value)
            if not isinstance(command, (cst.List, cst.Tuple)) or len(command.elements) < 2:
                continue
            if _is_for_windows(unit, call):
                continue
            first = unit.text(command.elements[0].value)
            if first.strip("\"'") in _OF_CMD:
                continue
            yield self.finding(
                unit,
                call,
                f"with `shell=True` only `{first}` is run: the rest of the list goes to the shell itself",
                certainty="likely",
                steps=(
                    step(unit, command, "the command is a list"),
                    step(unit, shell, "and goes to a shell"),
                ),
                still_catches=still_catches(unit, call, repo=repo),
            )


# They are no programs, and only the shell of Windows knows them, which is given all of the list.
_OF_CMD = frozenset({"set", "dir", "ver", "type", "copy", "del", "cls", "mklink", "where"})


def _is_for_windows(unit: Unit, call: cst.Call) -> bool:
    """Whether a call stands under a condition on the platform."""
    return any(
        any(word in unit.text(above.test).lower() for word in _ELSEWHERE)
        for above in unit.ancestors(call)
        if isinstance(above, (cst.If, cst.IfExp))
    )
