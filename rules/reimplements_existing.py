"""A test writes again what the product, or another file, already has.

## Why
Two copies of one piece of code go apart: the test then checks its own copy, not what runs. Every line of it
is read, kept and fixed twice.

## Instead
Call what exists. If it cannot be called as it stands, make it so (a parameter, a public name), which is a
smaller change than a copy. Where the product runs it under an option, switch that on.
"""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.flow.judging import in_test_file
from reviewbot.flow.patterns import pattern
from reviewbot.flow.shapes import shape_of
from reviewbot.flow.switches import switch_of
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, once, step

_LEAST_NODES = 45
# What is shown to readers has everything in one file; no test should import it.
_STANDS_ALONE = pattern(r"(^|/)(docs?|examples?|tutorials?|notebooks?|recipes|gallery|demos?|samples?)/")
_BENCHMARK = pattern(r"(^|[/_])bench(mark(s|ing)?)?[/_.]")
_REFERENCE = pattern(r"(^|_)(ref|reference|naive|oracle|golden)(_|$)")
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
        Example(_DUMP, path="tests/recorder.py", files={"docs/source/examples/dump.py": _DUMP}),
        Example(_DUMP, path="trainer/dump.py"),
        Example(_DUMP, path="one/dump.py", files={"two/dump.py": _DUMP}),
    )

    def suspect(self, unit: Unit) -> bool:
        return in_test_file(unit.file.path) and not unit.is_test and _shape(unit) != ""

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not self.suspect(unit):
            return
        others = [
            (path, found)
            for path, found in repo.index.same_shape(_shape(unit))
            if path != unit.file.path and not in_test_file(path) and not _STANDS_ALONE.search(path)
        ]
        if not others:
            return
        path, found = others[0]
        kind = "method" if found.kind == "method" else "function"
        lines = found.end_line - found.line + 1
        steps = [
            Step(path, found.line, found.end_line, f"the {kind} `{found.name}`, {lines} lines"),
            step(unit, unit.node, "the same statements, calls and keys in the same order"),
        ]
        option = switch_of(path, found, repo)
        if option is not None:
            says = f"`{option.name}` switches `{found.name}` on"
            steps.append(Step(option.path, option.line, option.end_line, says))
        on = f"; `{option.name}` switches that on" if option is not None else ""
        yield self.finding(
            unit,
            unit.node,
            f"`{unit.name}` is `{found.name}` of {path} again, with other names{on}",
            certainty="question" if _may_be_meant(unit, path) else "likely",
            steps=steps,
            still_catches=(
                f"whatever checks `{found.name}`; nothing ties this copy to it, so it can go its own way",
            ),
        )


@once
def _shape(unit: Unit) -> str:
    """The shape of a function that is large enough to be one again; "" of any other."""
    shape, size = shape_of(unit.tree)  # type: ignore[arg-type]
    return shape if size >= _LEAST_NODES else ""


def _may_be_meant(unit: Unit, other: str) -> bool:
    """Whether a copy has a reason: a reference is to be independent of what it is compared with, and few
    tests can import a benchmark."""
    names = (unit.name.rpartition(".")[2], unit.file.path.rpartition("/")[2].removesuffix(".py"))
    return _BENCHMARK.search(other) is not None or any(_REFERENCE.search(name) for name in names)
