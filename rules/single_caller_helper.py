"""A helper of a line or a few is called in one place, and only adds a step to follow.

## Why
The reader leaves the test to find out what the name stands for, finds one line, and comes back. A name pays
for itself where it is used twice, or where it says what the code does not.

## Instead
Write the line where it is used. Keep the helper if its name says something that a comment would have to, or
if a second caller is on its way in the same change.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.flow.collection import is_fixture
from reviewbot.flow.helpers import (
    ScriptFunction,
    body_lines,
    calls_here,
    forwards,
    is_short,
    is_used_otherwise,
    jq_functions,
    shell_functions,
    used_elsewhere,
    words_at,
)
from reviewbot.flow.judging import in_test_file
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, line_span, once, tree_step

_Words = tuple[str, ...]
_MOST_STATEMENTS = 2
_MOST_LINES = 3
_MOST_FILE_LINES = 50
_HOOKS = ("test", "pytest_", "setup", "teardown", "main", "_main", "Test")
_EMPTY = {"tests/test_example.py": ""}


class SingleCallerHelper(Rule):
    kinds = ("function", "script")
    bad = (
        Example("""
            def _load(path, kind):  # <- here
                return read_rows(path, kind)

            def test_rows(tmp_path):
                rows = _load(tmp_path / "rows.jsonl", "train")
                assert rows == [1]
        """),
        Example(
            """
            def _last(rows):  # <- here
                ordered = sorted(rows, key=lambda row: row.step)
                return ordered[-1]

            def test_rows(run):
                assert _last(run(1)).step == 4
            """,
            before=_EMPTY,
        ),
        Example(
            """
            set -e
            start_run() {  # <- here
                python -m trainer.run "$@"
            }
            start_run --steps 4
            """,
            path="tests/resume.sh",
            before={"tests/resume.sh": "set -e\n"},
        ),
        Example(
            """
            [.rows[] | select(.open) | {id, step}]  # <- here
            | sort_by(.step)
            """,
            path="tests/open.jq",
            files={"tests/resume.sh": "jq -f tests/open.jq rows.json\n"},
            before={"tests/open.jq": ""},
        ),
        Example(
            """
            def hour(event): event.start | split("T")[1] | split(":")[0];  # <- here
            def busy: any(.events[]; .open);
            [.rows[] | select(busy) | {id, at: hour(.)}] + [.late[] | select(busy)]
            """,
            path="tests/rows.jq",
            before={"tests/rows.jq": ".rows\n"},
        ),
    )
    good = (
        Example("""
            import pytest

            def _load(path):
                return read_rows(path)

            def _twice(rows):
                return [row * 2 for row in rows]

            @pytest.fixture
            def rows():
                return read_rows("rows.jsonl")

            def test_rows(tmp_path, rows):
                assert _load(tmp_path) == _load(tmp_path / "again")
                assert _twice(rows) == [2]
        """),
        Example(
            """
            def load(path):
                return read_rows(path)

            def key(row):
                return (row.step, row.sample)

            def test_rows(tmp_path):
                assert sorted(load(tmp_path), key=key) == []
            """,
            before=_EMPTY,
            files={
                "tests/test_more.py": "from tests.test_example import load\n\nrows = load('rows.jsonl')\n"
            },
        ),
        # It says why it is there, or has more lines than a name hides.
        Example(
            """
            def _parted(left, right):
                \"\"\"Rows that part after the prompt.\"\"\"
                return {key for key in left if left[key][:3] == right[key][:3]}

            def _behind_a_wrapper(left):
                # One more frame, as a caller of the package has.
                return show(left)

            def _noisy(left, right):
                return {
                    key
                    for key in left
                    if left[key] != right[key]
                }

            def test_rows(run):
                assert _parted(run(1), run(2)) == set()
                assert _behind_a_wrapper(run(1))
                assert _noisy(run(1), run(2)) == set()
            """,
            before=_EMPTY,
        ),
        # One of two that are named alike, to be compared.
        Example("""
            from library import fast_mean

            def _compute_legacy_mean(rows):
                total = 0
                for row in rows:
                    total += row
                return total / len(rows)

            def _compute_fast_mean(rows):
                return fast_mean(rows)

            def test_mean(rows):
                assert _compute_legacy_mean(rows) == _compute_fast_mean(rows)
        """),
        Example(
            """
            run() {
                python -m trainer.run "$@"
            }
            run --steps 4
            run --steps 8
            """,
            path="tests/resume.sh",
            before={"tests/resume.sh": "set -e\n"},
        ),
        Example(
            """
            set -e
            cleanup() {
                rm -rf "$WORK"
            }
            trap cleanup EXIT
            """,
            path="tests/resume.sh",
            before={"tests/resume.sh": "set -e\n"},
        ),
    )

    told_by = (("check-result-dropped", "place"),)

    def suspect(self, unit: Unit) -> bool:
        if unit.kind == "script":
            return True
        tree = unit.tree
        if not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)) or tree.decorator_list:
            return False
        named = tree.name.startswith(_HOOKS) or tree.name.startswith("__")
        return not named and not unit.indented and is_short(tree, _MOST_STATEMENTS)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not self.suspect(unit):
            return
        if unit.kind == "script":
            yield from self._scripts(unit, repo)
            return
        tree = unit.tree
        assert isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef))
        if is_fixture(tree) or not in_test_file(unit.file.path):
            return
        passed_on = forwards(tree)
        if _says_why(unit, tree):
            return
        if passed_on is None and not (
            _is_new(unit.line, unit.end_line, repo) and body_lines(tree) <= _MOST_LINES
        ):
            return
        calls = calls_here(unit)
        if len(calls) != 1 or calls[0][0] is unit or is_used_otherwise(unit) or used_elsewhere(unit, repo):
            return
        if _has_sibling(unit):
            return
        caller, call = calls[0]
        where = f"`{caller.name}`" if caller.name else "the module"
        does = (
            f"only hands on to `{ast.unparse(passed_on.func)}`"
            if passed_on
            else f"is {_count(body_lines(tree))}"
        )
        yield self.finding_at(
            unit,
            line_span(unit, tree.lineno, tree.lineno),
            f"`{unit.name}` {does} and is called from {where} alone",
            # What has stood there for long may be there for a traceback, or to be patched.
            certainty="likely"
            if passed_on and unit.name.startswith("_") and _is_new(unit.line, unit.end_line, repo)
            else "question",
            steps=[tree_step(unit, call, "its one caller")],
            still_catches=("the same checks: nothing but the name goes",),
        )

    def _scripts(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        lines = unit.file.lines
        jq = unit.file.path.endswith(".jq")
        if jq and len(lines) <= _MOST_FILE_LINES and _is_new(1, len(lines), repo):
            yield from self._file(unit, repo)
        functions = list(jq_functions(lines) if jq else shell_functions(lines))
        for one in functions:
            if not 0 < len(one.body) <= _MOST_LINES or not _is_new(one.line, one.end_line, repo):
                continue
            at = words_at(lines, one.name, one)
            if len(at) != 1 or _is_handed_on(lines[at[0] - 1], one) or _named_by_others(unit, one, repo):
                continue
            yield self.finding_at(
                unit,
                line_span(unit, one.line, one.line),
                f"`{one.name}` is {_count(len(one.body))} and is called in one place",
                certainty="question",
                steps=[Step(unit.file.path, at[0], at[0], "its one caller")],
                still_catches=("the same checks: nothing but the name goes",),
            )

    def _file(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        """A file of its own for one program that one script runs."""
        name = unit.file.path.rpartition("/")[2]
        users = [
            (path, mention.line) for path, mention in repo.index.mentions(name) if path != unit.file.path
        ]
        if len(users) == 1:
            path, line = users[0]
            yield self.finding_at(
                unit,
                line_span(unit, 1, 1),
                f"`{name}` is {_count(len(unit.file.lines))} that `{path.rpartition('/')[2]}` alone runs",
                certainty="question",
                steps=[Step(path, line, line, "its one caller")],
                still_catches=("the same checks: the program only moves to where it is run",),
            )


def _says_why(unit: Unit, tree: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a docstring, or a comment in the function or above it, says what its name does not."""
    lines = unit.file.lines[max(0, tree.lineno - 2) : tree.end_lineno]
    return ast.get_docstring(tree) is not None or any(line.lstrip().startswith("#") for line in lines)


def _has_sibling(unit: Unit) -> bool:
    """Whether a function of the file is named as this one is, but for one word or some at the end: the two
    show what differs between two ways."""
    words = tuple(unit.name.strip("_").split("_"))
    begun, named = _names(unit.file)
    if len(words) < 3:
        return False
    return words in begun or any(len(named.get(blank, ())) > 1 for blank in _but_one(words))


@once
def _names(file: File) -> tuple[set[_Words], dict[_Words, set[_Words]]]:
    """The beginnings of the functions' names, in words, and the names by what they are but for one word."""
    begun: set[_Words] = set()
    named: dict[_Words, set[_Words]] = {}
    for one in file.units:
        if one.kind == "function":
            words = tuple(one.name.strip("_").split("_"))
            begun.update(words[:count] for count in range(1, len(words)))
            for blank in _but_one(words):
                named.setdefault(blank, set()).add(words)
    return begun, named


def _but_one(words: _Words) -> Iterator[_Words]:
    """The words with each in turn left blank."""
    for at in range(len(words)):
        yield (*words[:at], "", *words[at + 1 :])


def _is_new(first: int, last: int, repo: Repo) -> bool:
    """Whether the change under review adds all of these lines."""
    change = repo.change
    return change is not None and any(start <= first and last <= end for start, end in change.changed)


def _is_handed_on(line: str, function: ScriptFunction) -> bool:
    """Whether a line gives the function's name to something that calls it later or elsewhere."""
    before = line.partition(function.name)[0].split()
    return bool(before) and before[0] in ("trap", "export", "xargs", "timeout", "declare", "type", "command")


def _named_by_others(unit: Unit, function: ScriptFunction, repo: Repo) -> bool:
    """Whether a script that names this one, to source it, calls the function too."""
    name = unit.file.path.rpartition("/")[2]
    for path in {path for path, _ in repo.index.mentions(name)} - {unit.file.path}:
        text = (repo.read(path) or b"").decode("utf-8", "replace")
        if words_at(text.splitlines(), function.name, None):
            return True
    return unit.file.path.endswith(".jq") and "import" in "".join(unit.file.lines[:5])


def _count(lines: int) -> str:
    return "one line" if lines == 1 else f"{lines} lines"
