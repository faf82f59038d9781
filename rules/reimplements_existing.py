"""A function writes again what another file already has.

## Why
Two copies of one piece of code go apart: a test then checks its own copy, not what runs. Every line of it
is read, kept and fixed twice. Copies within the product are told of a change that brings one in.

## Instead
Call what exists. If it cannot be called as it stands, make it so (a parameter, a public name), which is a
smaller change than a copy. Where the product runs it under an option, switch that on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.calls import callers
from reviewbot.flow.copies import Copied, large_enough, original_of
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.patterns import pattern
from reviewbot.flow.switches import switch_of
from reviewbot.flow.syntax import walk
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, step

_BENCHMARK = pattern(r"(^|[/_])bench(mark(s|ing)?)?[/_.]")
_REFERENCE = pattern(
    r"(^|_)(ref|reference|naive|oracle|golden|original|baseline|unoptimi[sz]ed|unfused"
    r"|mock(ed)?|fake|dummy|stub)s?(_|$)"
)
_WORD = pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_DEPTH = 2  # functions of a copy between what reads a reference and the part that is written again
_VENDORED = pattern(r"(?i)\b(vendored|(copied|ported|adapted|taken) (verbatim |over )?from)\b")
_DUMP = """
import json

def write_rows(path, step, batch):
    lines = []
    for index, length in enumerate(batch["lengths"]):
        row = {"step": step}
        for field in ("tokens", "mask"):
            row[field] = batch[field][index][:length]
        lines.append(json.dumps(row))
    path.write_text("\\n".join(lines))
"""

_READER = """
import json

def read_rows(path):
    rows = []
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            rows.append(json.loads(line))
    return rows
"""
_CAPPED = """
def first_of(rows):
    found = []
    for row in rows:
        if len(found) < LIMIT:
            found.append(row)
    return found
"""


class ReimplementsExisting(Rule):
    kinds = ("function", "method")
    bad = (
        Example(
            """
            import json

            def record(out, train_step, data):  # <- here
                found = []
                for place, size in enumerate(data["lengths"]):
                    record = {"step": train_step}
                    for name in ("tokens", "mask"):
                        record[name] = data[name][place][:size]
                    found.append(json.dumps(record))
                out.write_text("\\n".join(found))
            """,
            path="tests/recorder.py",
            files={"trainer/dump.py": _DUMP},
        ),
        Example(
            """
            import json

            def load_lines(file):  # <- here
                lines = []
                for line in file.read_text().splitlines():
                    if not line.startswith("#"):
                        lines.append(json.loads(line))
                return lines
            """,
            path="tests/compare.py",
            files={"trainer/reading.py": _READER},
        ),
        Example(
            """
            import json

            def load_lines(file):  # <- here
                lines = []
                for line in file.read_text().splitlines():
                    if not line.startswith("#"):
                        lines.append(json.loads(line))
                return lines
            """,
            path="trainer/restore.py",
            files={"trainer/reading.py": _READER},
            before={"trainer/restore.py": ""},
        ),
    )
    good = (
        Example(
            """
            import json

            def record(out, train_step, data):
                found = []
                for place, size in enumerate(data["lengths"]):
                    record = {"step": train_step}
                    for name in ("tokens", "rewards"):
                        record[name] = data[name][place][:size]
                    found.append(json.dumps(record))
                out.write_text("\\n".join(found))
            """,
            path="tests/recorder.py",
            files={"trainer/dump.py": _DUMP},
        ),
        Example(
            _READER.replace("read_rows", "load_lines"),
            path="tests/compare.py",
            files={"trainer/reading.py": _READER.replace('"#"', '"%"')},
        ),
        # One name, two values.
        Example(
            "LIMIT = 3\n" + _CAPPED,
            path="tests/compare.py",
            files={"trainer/reading.py": "LIMIT = 4\n" + _CAPPED},
        ),
        # It was there before the change.
        Example(
            _READER.replace("read_rows", "load_lines"),
            path="trainer/restore.py",
            files={"trainer/reading.py": _READER},
        ),
        Example(_DUMP, path="tests/recorder.py", files={"docs/source/examples/dump.py": _DUMP}),
        Example(_DUMP, path="trainer/dump.py"),
        # A script that nothing can import.
        Example(_DUMP, path="tests/recorder.py", files={"tools/dump-rows.py": _DUMP}),
        # The one that is there is only a stand-in for a compiled one.
        Example(
            _DUMP,
            path="tests/recorder.py",
            files={
                "trainer/dump.py": "try:\n    from fast import write_rows\nexcept ImportError:\n"
                + _DUMP.replace("\n", "\n    ")
            },
        ),
        Example(_DUMP, path="one/dump.py", files={"two/dump.py": _DUMP}),
    )

    def suspect(self, unit: Unit) -> bool:
        return not unit.is_test and (not in_test_file(unit.file.path) or large_enough(unit))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        # Copies within the product are told of a change that brings one in; of the rest, only those of tests.
        if unit.is_test or not (in_test_file(unit.file.path) or _is_touched(unit, repo)):
            return
        copied = original_of(unit, repo)
        if copied is None:
            return
        path, original = copied.path, copied.original
        if not _is_a_module(path) or (
            original.kind != "method" and not _is_importable(path, original.line, repo)
        ):
            return
        kind = "method" if original.kind == "method" else "function"
        lines = original.end_line - original.line + 1
        steps = [
            Step(path, original.line, original.end_line, f"the {kind} `{original.name}`, {lines} lines"),
            step(unit, unit.node, "the same statements, calls and keys in the same order"),
        ]
        option = switch_of(path, original, repo)
        if option is not None:
            says = f"`{option.name}` switches `{original.name}` on"
            steps.append(Step(option.path, option.line, option.end_line, says))
        on = f"; `{option.name}` switches that on" if option is not None else ""
        yield self.finding(
            unit,
            unit.node,
            f"`{unit.name}` is `{original.name}` of {path} again, {copied.how}{on}",
            certainty="question"
            if _may_stand_alone(unit, copied, repo)
            or _is_installed_alone(unit, path, repo)
            or _may_be_meant(unit, path, repo)
            else "likely",
            steps=steps,
            still_catches=(
                f"whatever checks `{original.name}`; nothing ties this copy to it, so it can go its own way",
            ),
        )


def _is_a_module(path: str) -> bool:
    """Whether a file can be imported by its name: `import-crates.py` cannot."""
    return path.rpartition("/")[2].removesuffix(".py").isidentifier()


def _is_importable(path: str, line: int, repo: Repo) -> bool:
    """Whether a function stands at the top of its file, and not where an import has failed, say."""
    lines = (repo.read(path) or b"").splitlines()
    return line > len(lines) or not lines[line - 1].startswith((b" ", b"\t"))


def _is_touched(unit: Unit, repo: Repo) -> bool:
    """Whether the change under review has lines of a unit."""
    changed = repo.change.changed if repo.change is not None else ()
    return any(unit.line <= last and first <= unit.end_line for first, last in changed)


def _may_stand_alone(unit: Unit, copied: Copied, repo: Repo) -> bool:
    """Whether a copy that no change brings in may be there on purpose: a class may have to stand alone, and
    so may what imports nothing of the other's package."""
    is_method = copied.original.kind == "method"
    return repo.base is None and (is_method or not _imports_of(unit, copied.path))


def _is_installed_alone(unit: Unit, path: str, repo: Repo) -> bool:
    """Whether the original is part of something with requirements of its own, of which the copy's file
    imports nothing: the one may be there without the other."""
    own, imports = unit.file.path.split("/")[:-1], unit.file.imports.values()
    folders = path.split("/")[:-1]
    for depth in range(1, len(folders) + 1):
        part = folders[:depth]
        if own[:depth] == part or any(part[-1] in name.split(".") for name in imports):
            continue
        if any(repo.read("/".join([*part, name])) is not None for name in _REQUIREMENTS):
            return True
    return False


_REQUIREMENTS = ("pyproject.toml", "setup.py", "requirements.txt")


def _imports_of(unit: Unit, path: str) -> bool:
    """Whether a file imports of the package that another one stands in."""
    folders = set(path.split("/")[:-1])
    imports = unit.file.imports.values()
    return any(name.startswith(".") or name.partition(".")[0] in folders for name in imports)


def _may_be_meant(unit: Unit, other: str, repo: Repo) -> bool:
    """Whether a copy has a reason: a reference is to be independent of what it is compared with, as is the
    original that a project was ported from, and few tests can import a benchmark."""
    names = [unit.name.rpartition(".")[2], unit.file.path.rpartition("/")[2].removesuffix(".py")]
    names += [unit.owner.name] if unit.owner is not None else []
    names += _used_as(unit, _DEPTH) if unit.is_function else ()
    if _BENCHMARK.search(other) is not None:
        return True
    if any(_REFERENCE.search(_WORD.sub("_", name).lower()) for name in names):
        return True
    return any(text is not None and _VENDORED.search(text) for text in _said_of(unit, repo))


def _used_as(unit: Unit, depth: int) -> Iterator[str]:
    """The names of a function's callers, and of what they make of it: `ref_q, ref_k = rotate(q, k)`."""
    for site in callers(unit):
        yield site.caller.name.rpartition(".")[2]
        given = site.caller.parent(site.call)
        if isinstance(given, cst.Assign):
            targets = (below for one in given.targets for below in walk(one.target))
            yield from (below.value for below in targets if isinstance(below, cst.Name))
        if depth > 1 and site.caller.is_function and site.caller is not unit:
            yield from _used_as(site.caller, depth - 1)


def _said_of(unit: Unit, repo: Repo) -> Iterator[str | None]:
    """The docstrings of a function, of its file and of the package that the file belongs to."""
    if isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield ast.get_docstring(unit.tree, clean=False)
    yield ast.get_docstring(unit.file.tree, clean=False)
    folder, slash, _ = unit.file.path.rpartition("/")
    package = folder + slash + "__init__.py"
    if package != unit.file.path and repo.read(package) is not None:
        yield ast.get_docstring(repo.file(package).tree, clean=False)
