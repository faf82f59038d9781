"""Each case in cases/ is reported as its expected.toml says. cases/README.md says what that file means."""

from __future__ import annotations

import ast
import json
import re
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reviewbot.model import CERTAINTIES

CASES = Path(__file__).parent / "cases"
MARKER = re.compile(r" *# BAD (?P<rule>[a-z-]+)$", re.MULTILINE)

Reported = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """Lines of a file, both ends included."""

    path: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.path}:{self.first}-{self.last}"

    def overlaps(self, other: Place) -> bool:
        return self.path == other.path and self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Expected:
    """One finding that a case lists."""

    rule: str
    place: Place
    steps: tuple[Place, ...] = ()
    certainty_at_most: str = "proved"
    related: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Case:
    """What a case lists. `optional` and `silent` are places."""

    name: str
    findings: tuple[Expected, ...]
    silent: tuple[Place, ...]
    optional: tuple[Place, ...]
    marked: str | None


def place(table: dict[str, Any]) -> Place:
    return Place(table["path"], *table["lines"])


def read(folder: Path) -> Case:
    """Reads expected.toml. An unknown key is an error, so that nothing in it goes unchecked."""
    document = tomllib.loads((folder / "expected.toml").read_text(encoding="utf-8"))
    unknown = set(document) - {
        "about", "finding", "silent", "optional", "witness", "still_caught", "markers", "path"
    }  # fmt: skip
    assert not unknown, f"{folder.name}: {unknown}"
    findings = [expected(table) for table in document.get("finding", [])]
    silent = [place(table) for table in document.get("silent", [])]
    optional = [place(table) for table in document.get("optional", [])]
    marked = document["path"] if document.get("markers") else None
    if marked:
        text = (folder / "repo" / marked).read_text(encoding="utf-8")
        lines = list(enumerate(text.splitlines(), 1))
        marks = [(line, match) for line, code in lines if (match := MARKER.search(code))]
        findings += [Expected(match["rule"], Place(marked, line, line)) for line, match in marks]
        silent += unmarked(marked, text, {line for line, _ in marks})
    return Case(folder.name, tuple(findings), tuple(silent), tuple(optional), marked)


def expected(table: dict[str, Any]) -> Expected:
    unknown = set(table) - {"rule", "path", "lines", "about", "steps", "certainty_at_most", "related"}
    assert not unknown, unknown
    return Expected(
        table["rule"],
        place(table),
        tuple(place(step) for step in table.get("steps", [])),
        table.get("certainty_at_most", "proved"),
        tuple(Place(table["path"], *lines) for lines in table.get("related", [])),
    )


def unmarked(path: str, text: str, marks: set[int]) -> list[Place]:
    """Every line that is in no function with a marked line, as places of one line each."""
    welcome: set[int] = set()
    for node in ast.parse(text).body:
        lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        if isinstance(node, ast.FunctionDef) and marks.intersection(lines):
            welcome.update(lines)
    return [Place(path, line, line) for line in range(1, len(text.splitlines()) + 1) if line not in welcome]


ALL = [read(folder) for folder in sorted(CASES.iterdir()) if folder.is_dir() and folder.name != "dumps"]
LISTED = [
    pytest.param(case, finding, id=f"{case.name}-{finding.rule}-{finding.place.first}")
    for case in ALL
    for finding in case.findings
]
SILENT = [pytest.param(case, id=case.name) for case in ALL if case.silent]


@pytest.fixture(scope="module")
def reports() -> dict[str, list[Reported]]:
    """What was reported of each case so far: a case with many findings is run once."""
    return {}


@pytest.fixture
def report(tmp_path, reviewbot, reports):
    """What `reviewbot lint` reports of a case, run in a copy of its repository without the markers."""

    def run(case: Case) -> list[Reported]:
        if case.name not in reports:
            reports[case.name] = lint(case)
        return reports[case.name]

    def lint(case: Case) -> list[Reported]:
        repo = shutil.copytree(CASES / case.name / "repo", tmp_path / "repo")
        if case.marked:
            file = repo / case.marked
            file.write_text(MARKER.sub("", file.read_text(encoding="utf-8")), encoding="utf-8")
        ran = reviewbot("lint", "--output-format", "json", "--fail-on", "never", ".", cwd=repo)
        assert ran.code == 0, ran.err
        found: list[Reported] = json.loads(ran.out)
        return found

    return run


def where(finding: Reported) -> Place:
    return Place(finding["path"], finding["line"], finding["end_line"])


def in_short(findings: list[Reported]) -> str:
    return (
        "\n".join(f"{where(f)} {f['certainty']} {f['rule']}: {f['message']}" for f in findings) or "nothing"
    )


@pytest.mark.parametrize(("case", "finding"), LISTED)
def test_a_listed_finding_is_reported_once_with_its_argument(report, case, finding):
    reported = report(case)
    own = [found for found in reported if found["rule"] == finding.rule]
    here = [found for found in own if where(found).overlaps(finding.place)]
    again = [found for found in own if found not in here and any(map(where(found).overlaps, finding.related))]
    assert len(here) == 1, f"{finding.rule} at {finding.place}; reported:\n{in_short(reported)}"
    assert not again, f"the same cause again:\n{in_short(again)}"

    strength = CERTAINTIES[::-1].index
    assert strength(here[0]["certainty"]) <= strength(finding.certainty_at_most), in_short(here)

    steps = [Place(step["path"], step["line"], step["end_line"]) for step in here[0]["steps"]]
    missing = [str(step) for step in finding.steps if not any(map(step.overlaps, steps))]
    assert not missing, f"no step at {missing}; its steps: {list(map(str, steps))}"


@pytest.mark.parametrize("case", SILENT)
def test_nothing_is_reported_on_silent_lines(report, case):
    right = [finding.place for finding in case.findings] + list(case.optional)
    wrong = [
        found
        for found in report(case)
        if any(map(where(found).overlaps, case.silent)) and not any(map(where(found).overlaps, right))
    ]
    assert not wrong, in_short(wrong)
