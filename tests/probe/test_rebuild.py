"""Fields that a function drops when it builds an object anew, from `reviewbot probe` itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

CASES = Path(__file__).parent.parent / "cases"


@pytest.fixture
def rebuilt(reviewbot, tmp_path):
    """Probes a function of one of the cases, of which no test calls it."""

    def run(case, function, *words):
        folder = Path(shutil.copytree(CASES / case / "repo", tmp_path / "repo"))
        (folder / "pyproject.toml").touch()
        return reviewbot("probe", f"serving/decide.py::{function}", *words, cwd=folder)

    return run


def test_a_dropped_field_is_shown_with_both_values(rebuilt):
    ran = rebuilt("field-dropped-on-rebuild", "decide")
    assert ran.code == 1, ran.err
    assert ran.out.startswith("serving/decide.py::decide: 1 field dropped on rebuild\n")
    assert (
        "with every field filled, `saved_prefix` comes out empty\n   saved_prefix  [706] -> None\n" in ran.out
    )
    assert "not run: no test of this repository mentions decide" in ran.out


def test_it_is_in_the_json(rebuilt):
    ran = rebuilt("field-dropped-on-rebuild", "decide", "--output-format", "json")
    document = json.loads(ran.out)
    assert [(one["class"], one["parameter"], one["fields"]) for one in document["dropped"]] == [
        ("Admission", "admission", ["saved_prefix"])
    ]
    assert document["dropped"][0]["returned"]["saved_prefix"] is None
    assert "seccomp" in document["layers"] or "landlock" in " ".join(document["layers"])


@pytest.mark.parametrize("function", ["decide", "retry", "child"])
def test_what_is_carried_or_set_on_purpose_is_not_dropped(rebuilt, function):
    ran = rebuilt("field-dropped-on-rebuild-clean", function)
    assert (ran.code, "dropped" in ran.out) == (3, False)
    assert "no test of this repository mentions" in ran.err


GAUGES = """\
from dataclasses import dataclass


@dataclass
class Gauge:
    name: str
    levels: list
    station: str = "harbour"
    drift: float = 0.5


def renamed(gauge: Gauge, name: str) -> Gauge:
    return Gauge(name=name, levels=gauge.levels, drift=gauge.drift)


def place(gauge: Gauge) -> str:
    return gauge.station
"""


def test_a_default_that_is_not_empty_is_no_value_that_was_kept(reviewbot, tmp_path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "gauges.py").write_text(GAUGES)
    ran = reviewbot("probe", "gauges.py::renamed", cwd=tmp_path)
    assert ran.code == 1, ran.err
    assert "`station` comes out as the class has it by itself\n" in ran.out
    assert "own station -> harbour" in ran.out
    proved = reviewbot("lint", "--probe", "--output-format", "json", "gauges.py", cwd=tmp_path)
    (finding,) = json.loads(proved.out)
    assert (finding["rule"], finding["certainty"]) == ("field-dropped-on-rebuild", "proved"), proved.err
