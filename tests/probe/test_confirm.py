"""Lint and probe meet: a finding that a run confirms is proved, one that a run refutes is withdrawn."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

CASES = Path(__file__).parent.parent / "cases"


@pytest.fixture
def case(tmp_path):
    """A copy of a case's repository, with further files."""

    def copy(name, **files):
        folder = Path(shutil.copytree(CASES / name / "repo", tmp_path / name))
        (folder / "pyproject.toml").touch()
        for path, text in files.items():
            (folder / "tests" / f"{path}.py").write_text(text)
        return folder

    return copy


@pytest.fixture
def linted(reviewbot):
    """Lints a folder with --probe for one rule and gives its findings and what was said."""

    def lint(folder, rule, *words):
        ran = reviewbot(
            *("lint", "--no-cache", "--probe", "--select", rule, "--output-format", "json", *words, "."),
            cwd=folder,
        )
        return json.loads(ran.out), ran.err

    return lint


def test_an_excuse_is_proved_with_its_witness(linted, case):
    (finding,), said = linted(case("excuse-branch"), "excuse-branch")
    assert finding["certainty"] == "proved"
    assert finding["evidence"]["entry"] == "tests/parity.py::main"
    (change,) = finding["evidence"]["witness"]["changes"]
    assert change["where"] == "restored_rows[0].token_ids[4]"
    assert "tests/parity.py:40: excuse-branch: confirmed" in said


def test_without_inputs_a_finding_stays_as_it_was(linted, case):
    folder = case("excuse-branch")
    (folder / "tests" / "test_parity.py").unlink()
    (finding,), said = linted(folder, "excuse-branch")
    assert "evidence" not in finding
    assert "not run to an end: no test of this repository mentions" in said


def test_an_excuse_that_takes_two_changes_says_what_became_of_the_one(linted, tmp_path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "test_trips.py").write_text(
        """
def compare(baseline, resumed):
    for planned, driven in zip(baseline, resumed, strict=True):
        if driven["state"] == "aborted":
            continue
        assert planned["km"] == driven["km"]

def test_trips():
    compare([{"state": "done", "km": 3.5}], [{"state": "done", "km": 3.5}])
"""
    )
    (finding,), said = linted(tmp_path, "excuse-branch")
    assert finding["certainty"] == "likely"
    assert "not run to an end: 1 change took the branch, of which the check caught 0" in said


ROWS = """
import copy
from row_parity import compare_rows
from trainer.advantage import add_advantages

def rows():
    made = [
        {"group_id": g, "token_ids": [1, 2, 3], "token_mask": [0, 1, 1], "sample_mask": 1.0,
         "reward": reward, "logprobs": [0.0, -0.5, -0.25]}
        for g, reward in (("a", 1.0), ("a", 0.0), ("b", 0.25), ("b", 0.75))
    ]
    add_advantages(made)
    return made

def test_same():
    compare_rows(rows(), copy.deepcopy(rows()))
"""


def test_an_implied_check_is_proved_once_the_producer_was_run(linted, case):
    (finding,), said = linted(case("implied-check", test_rows=ROWS), "implied-check")
    assert finding["certainty"] == "proved"
    assert "trainer/advantage.py:17 run again it catches" in finding["evidence"]["says"]
    assert "none of them alone" in finding["evidence"]["says"]
    assert "confirmed" in said


LOG = """
import logging
from restore_parity import check_boundaries
from worker.generation import Cut, finish_call

def test_log(caplog):
    with caplog.at_level(logging.INFO):
        finish_call("c2", Cut("c1", [5, 6, 7]), [8, 9])
    check_boundaries(caplog.text, {"c1": 3})
"""


def test_arithmetic_of_a_log_line_never_fires_on_what_the_worker_logs(linted, case):
    (finding,), _ = linted(case("restated-arithmetic", test_log=LOG), "restated-arithmetic")
    assert finding["certainty"] == "proved"
    assert "worker/generation.py:15 run again it never fires" in finding["evidence"]["says"]


def test_two_tests_that_notice_the_same_are_duplicates(linted, case):
    (finding,), _ = linted(case("duplicate-tests"), "duplicate-test")
    assert finding["certainty"] == "proved"
    assert finding["evidence"]["says"].startswith("both fail on the same change")


def test_two_tests_that_notice_different_things_are_none(linted, case):
    folder = case("duplicate-tests")
    assert len(linted(folder, "duplicate-test")[0]) == 1
    file = folder / "tests" / "test_cut.py"
    text = file.read_text()
    mended = text.replace(
        '    if f"prefix={count}" not in log:',
        '    if "7" in log:\n        raise AssertionError("wrong prefix")\n'
        '    if f"prefix={count}" not in log and "7" not in log:',
    )
    assert mended != text
    file.write_text(mended)
    findings, said = linted(folder, "duplicate-test")
    assert findings == []
    assert re.search(r"withdrawn: \d+ changes of the code that they run fail only one of them", said)


def test_a_dropped_field_is_proved_by_filling_every_field(linted, case):
    (finding,), _ = linted(case("field-dropped-on-rebuild"), "field-dropped-on-rebuild")
    assert finding["certainty"] == "proved"
    assert finding["evidence"]["says"] == "with every field filled, `saved_prefix` comes out empty"


LOOPS = """
def load(kind):
    return [kind, kind]

def test_never_over_anything():
    for row in [r for r in load(1) if r > 5]:
        assert row == 1

def test_over_something():
    rows = load(1)
    for row in [r for r in rows if r > 0]:
        assert row == 1
    assert rows == [1, 1]
"""


def test_a_loop_over_nothing_is_proved_and_one_whose_inputs_are_checked_is_not(linted, tmp_path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "test_loops.py").write_text(LOOPS)
    findings, said = linted(tmp_path, "loop-may-be-empty")
    by_line = {finding["line"]: finding for finding in findings}
    assert by_line[7]["certainty"] == "proved"
    assert by_line[7]["evidence"]["says"] == "in its own passing run it runs 0 times"
    assert 12 not in by_line or "evidence" not in by_line[12]
    assert "test_loops.py:7: loop-may-be-empty: confirmed" in said


def test_a_review_carries_the_evidence_into_its_comments(reviewbot, repository, case):
    folder = case("excuse-branch")
    files = {f"tests/{path.name}": path.read_text() for path in (folder / "tests").glob("*.py")}
    repository.commit({"README.md": "x"})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit(files)
    words = ("review", "--base", "main", "--head", "topic", "--repository", "ada/parity", "--probe")
    ran = reviewbot(*words, "--output-format", "json", cwd=repository.folder)
    bodies = [
        thread["body"]
        for thread in json.loads(ran.out)["threads"]
        if thread["finding"]["rule"] == "excuse-branch"
    ]
    assert len(bodies) == 1
    assert "restored_rows   10 11 20 21 77 40 41 42 43 44" in bodies[0]
    assert "**Run:** `tests/parity.py::main`" in bodies[0]
    assert repository.git("status", "--porcelain") == ""


def _written(folder, **files):
    """A folder with Python files, as a repository of its own."""
    (folder / "pyproject.toml").touch()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


SCALARS = """
def compare(baseline, candidate, tol):
    for left, right in zip(baseline, candidate, strict=True):
        if abs(left["loss"] - right["loss"]) > tol:
            raise AssertionError("loss")
"""
SCALARS_TEST = """
from scalars import compare

def test_same():
    rows = [{"loss": 2.5}, {"loss": 1.5}]
    compare(rows, [dict(row) for row in rows], 0.1)
"""


def test_a_nan_that_passes_is_proved(linted, tmp_path):
    folder = _written(tmp_path, scalars=SCALARS, test_scalars=SCALARS_TEST)
    (finding,), _ = linted(folder, "nan-passes")
    assert finding["certainty"] == "proved"
    (change,) = finding["evidence"]["witness"]["changes"]
    assert (change["where"], change["after"]) == ("candidate[0].loss", "nan")


@pytest.mark.slow
def test_a_nan_that_something_else_catches_is_withdrawn(linted, tmp_path):
    guarded = SCALARS.replace(
        "    for left",
        "    if any(row['loss'] != row['loss'] for row in (*baseline, *candidate)):\n"
        "        raise AssertionError('not a number')\n    for left",
    )
    folder = _written(tmp_path, scalars=guarded, test_scalars=SCALARS_TEST)
    findings, said = linted(folder, "nan-passes")
    assert findings == []
    assert "nan-passes: withdrawn: each of the" in said


RECORDS = """
def compare(baseline, candidate):
    if len(baseline) != len(candidate):
        raise AssertionError("rows")
    for left, right in zip(baseline, candidate, strict=True):
        if left.get("reward") != right.get("reward"):
            raise AssertionError("reward")
"""
RECORDS_TEST = """
from records import compare

def test_same():
    rows = [{"reward": 1.0, "group": 1}, {"reward": 0.0, "group": 1}]
    compare(rows, [dict(row) for row in rows])
"""


@pytest.mark.slow
def test_a_key_that_both_sides_lack_is_proved(linted, tmp_path):
    folder = _written(tmp_path, records=RECORDS, test_records=RECORDS_TEST)
    (finding,), _ = linted(folder, "missing-equals-missing")
    assert finding["certainty"] == "proved"
    changes = finding["evidence"]["witness"]["changes"]
    assert sorted(change["where"] for change in changes) == ["baseline[0].reward", "candidate[0].reward"]


@pytest.mark.slow
def test_a_key_that_is_missed_elsewhere_is_withdrawn(linted, tmp_path):
    guarded = RECORDS.replace(
        "    for left",
        "    for row in baseline:\n        if set(row) != {'reward', 'group'}:\n"
        "            raise AssertionError('keys')\n    for left",
    )
    folder = _written(tmp_path, records=guarded, test_records=RECORDS_TEST)
    findings, said = linted(folder, "missing-equals-missing")
    assert findings == []
    assert "missing-equals-missing: withdrawn: each of the" in said


@pytest.mark.slow
def test_an_excuse_behind_which_everything_is_compared_is_withdrawn(linted, case):
    folder = case("excuse-branch")
    assert len(linted(folder, "excuse-branch")[0]) == 1
    file = folder / "tests" / "parity.py"
    text = file.read_text()
    mended = text.replace('EXCUSED_EXACT = ("reward", "sample_mask")', "EXCUSED_EXACT = EXACT")
    assert mended != text
    file.write_text(mended)
    findings, said = linted(folder, "excuse-branch")
    assert findings == []
    assert "excuse-branch: withdrawn: each of the" in said


@pytest.mark.slow
def test_a_field_that_is_put_back_by_other_means_is_withdrawn(linted, case):
    folder = case("field-dropped-on-rebuild")
    file = folder / "serving" / "decide.py"
    text = file.read_text()
    start = text.index("    return Admission(", text.index("def decide"))
    end = text.index("    )\n", start) + len("    )\n")
    built = text[start:end].replace("return Admission(", "built = Admission(")
    kept = (
        "    for name in vars(admission):\n        if getattr(built, name) is None:\n"
        "            object.__setattr__(built, name, getattr(admission, name))\n    return built\n"
    )
    file.write_text(text[:start] + built + kept + text[end:])
    findings, said = linted(folder, "field-dropped-on-rebuild")
    assert findings == []
    assert "withdrawn: every field that is filled comes out filled" in said


@pytest.mark.slow
def test_fields_that_are_given_anew_are_not_said_to_be_dropped(linted, case):
    folder = case("field-dropped-on-rebuild")
    file = folder / "serving" / "decide.py"
    text = file.read_text()
    head, tail = text.split("    )\n\n\ndef prompt_for", 1)
    # A new attempt has a call of its own, and that is said.
    file.write_text(
        head.replace("call_id=admission.call_id", 'call_id=""') + "    )\n\n\ndef prompt_for" + tail
    )
    (finding,), said = linted(folder, "field-dropped-on-rebuild")
    assert finding["certainty"] == "proved"
    assert "confirmed: with every field filled, `saved_prefix` comes out empty" in said


GUARDED = """
def compare(rows):
    for row in rows:
        assert row["ok"] == 1
    if len(rows) < 2:
        raise AssertionError("rows are missing")
"""
GUARDED_TEST = """
from guarded import compare

def test_same():
    compare([{"keep": True, "ok": 1}, {"keep": True, "ok": 1}])
"""


@pytest.mark.slow
def test_a_loop_over_what_a_filter_leaves_is_not_withdrawn_because_all_rows_are_counted(linted, tmp_path):
    filtered = GUARDED.replace("in rows:", "in [row for row in rows if row['keep']]:")
    folder = _written(tmp_path, guarded=filtered, test_guarded=GUARDED_TEST)
    (finding,), said = linted(folder, "loop-may-be-empty")
    assert "evidence" not in finding
    assert "not run to an end: emptied inputs are caught (1 tried); none was found over which" in said


# Static analysis sees that it reads `reward`; that `row.values()` holds a bonus too shows only when it runs.
HIDDEN = """
def add_advantages(rows):
    for row in rows:
        total = sum(value for value in row.values() if isinstance(value, float))
        row["advantages"] = [total - row["reward"] / 2] * 2
    return rows
"""


@pytest.mark.slow
def test_a_check_that_alone_sees_what_its_producer_read_is_withdrawn(linted, case):
    folder = case(
        "implied-check", test_rows=ROWS.replace('"sample_mask": 1.0,', '"sample_mask": 1.0, "bonus": 0.5,')
    )
    assert (folder / "tests" / "test_rows.py").read_text().count("bonus") == 1
    (folder / "trainer" / "advantage.py").write_text(HIDDEN)
    findings, said = linted(folder, "implied-check")
    assert findings == []
    assert "implied-check: withdrawn: with trainer/advantage.py:2 run again it alone catches" in said


MANY = """
def compare_{name}(baseline, restored):
    if len(baseline) != len(restored):
        raise AssertionError("rows")
    noisy = {{i for i, (a, b) in enumerate(zip(baseline, restored)) if a["{name}"][-1] != b["{name}"][-1]}}
    for i, (left, right) in enumerate(zip(baseline, restored)):
        if i in noisy:
            continue
        if left["{name}"] != right["{name}"]:
            raise AssertionError("{name}")
"""
MANY_TEST = """
def test_{name}():
    rows = [{{"{name}": [1, 2, 3]}}, {{"{name}": [4, 5, 6]}}]
    parity.compare_{name}(rows, copy.deepcopy(rows))
"""


@pytest.mark.slow
def test_at_most_three_findings_carry_a_witness(linted, tmp_path):
    names = ("canal", "lock", "bridge", "weir", "quay")
    folder = _written(
        tmp_path,
        parity="".join(MANY.format(name=name) for name in names),
        test_parity="import copy\nimport parity\n" + "".join(MANY_TEST.format(name=name) for name in names),
    )
    findings, said = linted(folder, "excuse-branch")
    assert [one["certainty"] for one in findings] == ["proved"] * 5
    shown = [one["evidence"].get("witness") is not None for one in findings]
    assert shown == [True, True, True, False, False]
    assert said.count("excuse-branch: confirmed") == 5


CLIMATE = """
def same_climate(plan, logged, limit):
    for bed, (want, got) in enumerate(zip(plan, logged, strict=True)):
        gap = abs(want["celsius"] - got["celsius"])
        if gap > limit:
            raise AssertionError(bed)
"""
CLIMATE_TEST = """
from climate import same_climate

def test_beds():
    same_climate([{"celsius": 21}, {"celsius": 19}], [{"celsius": 21}, {"celsius": 19}], LIMIT)
"""


def test_a_nan_in_place_of_a_whole_number_is_tried_where_the_bound_is_a_float(linted, tmp_path):
    folder = _written(tmp_path, climate=CLIMATE, test_climate=CLIMATE_TEST.replace("LIMIT", "0.5"))
    (finding,), _ = linted(folder, "nan-passes")
    assert finding["certainty"] == "proved"
    assert finding["evidence"]["says"] == "celsius is NaN and passes; its tests give whole numbers there"
    (change,) = finding["evidence"]["witness"]["changes"]
    assert (change["where"], change["before"], change["after"]) == ("logged[0].celsius", 21, "nan")


@pytest.mark.slow
def test_a_nan_is_not_put_where_everything_is_a_whole_number(linted, tmp_path):
    folder = _written(tmp_path, climate=CLIMATE, test_climate=CLIMATE_TEST.replace("LIMIT", "1"))
    (finding,), said = linted(folder, "nan-passes")
    assert finding["certainty"] == "likely"
    assert "its tests give whole numbers alone for `celsius`, its bound is one too" in said


MENUS = """
def same_menus(printed, served):
    for left, right in zip(printed, served, strict=True):
        assert left["prices"] == right["prices"]
        assert sum(left["prices"]) == sum(right["prices"])
"""
MENUS_TEST = """
from dataclasses import dataclass
from menus import same_menus

def menus():
    return [{"prices": [PRICE(4), PRICE(7)]}, {"prices": [PRICE(3)]}]

def test_menus():
    same_menus(menus(), menus())
"""
CENTS = """
from dataclasses import dataclass

@dataclass(eq=False)
class Price:
    cents: int
    currency: str = "EUR"

    def __eq__(self, other):
        return self.currency == other.currency

    def __radd__(self, other):
        return other + self.cents
"""


def test_a_check_that_an_earlier_one_implies_is_proved(linted, tmp_path):
    folder = _written(tmp_path, menus=MENUS, test_menus=MENUS_TEST.replace("PRICE", ""))
    (finding,), _ = linted(folder, "implied-check")
    assert (finding["line"], finding["certainty"]) == (5, "proved")
    said = finding["evidence"]["says"]
    assert said.startswith("line 4 catches each of the ")
    assert said.endswith(" changes that it catches")


@pytest.mark.slow
def test_a_check_that_sees_what_an_earlier_comparison_leaves_out_is_withdrawn(linted, tmp_path):
    test = MENUS_TEST.replace("PRICE", "Price").replace(
        "import same_menus", "import same_menus\nfrom cents import Price"
    )
    folder = _written(tmp_path, menus=MENUS, cents=CENTS, test_menus=test)
    findings, said = linted(folder, "implied-check")
    assert findings == []
    assert "menus.py:5: implied-check: withdrawn: it alone catches " in said
    assert "which line 4 lets by" in said


# Built by its constructor, a visit looks its patient's allergies up again.
VISITS = """
from dataclasses import dataclass

@dataclass
class Visit:
    patient: str
    ward: str
    doctor: str
    allergies: tuple = ()

    def __post_init__(self):
        KNOWN.setdefault(self.patient, self.allergies)
        self.allergies = KNOWN[self.patient]

KNOWN = {}

def moved(visit: Visit, ward: str) -> Visit:
    return Visit(patient=visit.patient, ward=ward, doctor=visit.doctor)
"""
TYPED = """
from typing import NotRequired, TypedDict

class Visit(TypedDict):
    patient: str
    ward: str
    notes: list
    cut: NotRequired[bytes]

def moved(visit: Visit, ward: str) -> Visit:
    return {"patient": visit["patient"], "ward": ward, "notes": visit["notes"]}

def cut_of(visit: Visit):
    return visit.get("cut")
"""
PLAIN = """
class Voyage:
    def __init__(self, ship, day, cargo=None, pilot=""):
        self.ship, self.day = ship, day
        self.cargo = cargo
        self.pilot = pilot

    def next_day(self) -> "Voyage":
        return Voyage(self.ship, self.day + 1, cargo=self.cargo)

def arrives(voyage: Voyage):
    return (voyage.pilot, voyage.next_day().pilot)
"""
UNREAD = TYPED.partition("\ndef cut_of")[0]


def test_a_field_that_its_constructor_brings_back_is_withdrawn(linted, tmp_path):
    folder = _written(tmp_path, visits=VISITS)
    findings, said = linted(folder, "field-dropped-on-rebuild")
    assert findings == []
    assert "visits.py:18: field-dropped-on-rebuild: withdrawn: every field that is filled comes out" in said


@pytest.mark.slow
@pytest.mark.parametrize(("text", "lost"), [(TYPED, "cut"), (PLAIN, "pilot")], ids=["typed dict", "method"])
def test_a_field_of_a_typed_dict_or_a_plain_class_is_proved_to_be_dropped(linted, tmp_path, text, lost):
    (finding,), _ = linted(_written(tmp_path, visits=text), "field-dropped-on-rebuild")
    assert finding["certainty"] == "proved"
    assert finding["evidence"]["says"] == f"with every field filled, `{lost}` comes out empty"


PUBLIC = """
from dataclasses import dataclass

@dataclass
class Member:
    id: int
    name: str
    badge: str = ""

    def public(self) -> "Member":
        return Member(self.id, self.name)

def door(member: Member):
    return member.badge
"""


@pytest.mark.parametrize(
    ("text", "lost"),
    [(UNREAD, "cut"), (PUBLIC, "badge")],
    ids=["nobody reads it", "public"],
)
def test_that_a_field_is_lost_is_no_proof_that_it_should_not_be(linted, tmp_path, text, lost):
    (finding,), said = linted(_written(tmp_path, visits=text), "field-dropped-on-rebuild")
    assert finding["certainty"] == "question"
    assert f"`{lost}` comes out empty; whether that is meant no run can tell" in finding["evidence"]["says"]
    assert "field-dropped-on-rebuild: it happens: with every field filled" in said


BEATS = """
WIDE = {4: 10, 5: 20}

def beats(bars, per_bar, rest):
    total = bars * per_bar
    return {"total": total, "played": total - rest}

def width(seat, hall):
    return hall + WIDE[int(seat.partition("-")[2])] % 10
"""
SAME_BEATS = """
from beats import beats

def test_waltz():
    counted = beats(5, 3, 2)
    assert counted["total"] == 15
    assert counted["played"] == 13

def test_dance():
    found = beats(5, 3, 2)
    assert found["total"] == 15
    assert found["played"] == 13
"""
OTHER_SEATS = """
from beats import width

def test_four():
    seat = "seat-4"
    assert width(seat, 3) == 3
    assert width(seat, 8) == 8

def test_five():
    place = "seat-5"
    assert width(place, 3) == 3
    assert width(place, 8) == 8
"""


def test_two_tests_of_code_without_branches_are_duplicates(linted, tmp_path):
    (finding,), _ = linted(_written(tmp_path, beats=BEATS, test_beats=SAME_BEATS), "duplicate-test")
    assert finding["certainty"] == "proved"
    # The product and the difference, and the two keys.
    assert finding["evidence"]["says"].startswith("both fail on the same 4 changes of the code")


def test_two_tests_that_look_up_different_entries_are_none(linted, tmp_path):
    findings, said = linted(_written(tmp_path, beats=BEATS, test_beats=OTHER_SEATS), "duplicate-test")
    assert findings == []
    assert "withdrawn: 2 changes of the code that they run fail only one of them" in said
