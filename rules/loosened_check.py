"""The change makes a check say less than before.

## Why
A tolerance that grows, an equality that becomes a membership, a skip, a field that is no longer compared, an
assertion that goes: the test is green again, and what it caught it catches no more. In a diff this is one
line among many; it reads like a repair.

## Instead
Repair what made the check fail. If the check was wrong, say in the change why it was, and check the right
thing instead.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from reviewbot.flow.assertions import RAISING_CONTEXTS
from reviewbot.flow.ci import is_ci
from reviewbot.flow.ci_verdicts import of_workflow
from reviewbot.flow.deleted_tests import Deleted, deleted
from reviewbot.flow.demands import demands
from reviewbot.flow.file_versions import looser_file, unraised_file
from reviewbot.flow.judging import in_test_file, judges
from reviewbot.flow.lenient_steps import Lenient, lenient
from reviewbot.flow.loosening import Loosened
from reviewbot.flow.moved import Known, Moved
from reviewbot.flow.run_lists import YAML
from reviewbot.flow.script_versions import dropped
from reviewbot.flow.summaries import dotted_name
from reviewbot.flow.unlooked import Unlooked, unlooked
from reviewbot.flow.versions import beside, lines_of, pairs, where_stood
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, line_span, tree_span

_SHOWN = 4
_STILL_RUNS = "what the list still names"
_STILL_DIFFERS = "what differs by more than is now allowed"
_LONGEST = 80  # characters of a command in a message
_ROWS = """
def test_rows(run, reference):
    rows = run(1)
    assert len(rows) == 4
    assert rows[0].loss == reference.loss
    for field in ("tokens", "mask", "reward"):
        assert rows[0][field] == reference[field]
"""


class LoosenedCheck(Rule):
    kinds = ("module", "script", "settings")
    bad = (
        # The test stands in another class now, and its loop may walk nothing.
        Example(
            """
            class TestTideTable:
                def test_no_tide(self):
                    "Where nothing moves all is zero."
                    table = TideTable(hours=4)
                    table.add_all([still(hour) for hour in range(4)])
                    highs, lows = table.compute()
                    for hour in highs:  # <- here
                        assert highs[hour] == 0.0
                        assert lows[hour] == 0.0

                def test_tides(self):
                    highs, _ = compute_tides([rising(hour) for hour in range(4)])
                    assert set(highs.keys()) == {"1", "2", "4"}
                    assert highs["4"] == 1.5
            """,
            before={
                "tests/test_example.py": """
class TestComputeTides:
    def test_no_tide(self):
        "Where nothing moves all is zero."
        highs, lows = compute_tides([still(hour) for hour in range(4)], hours=4)
        assert set(highs.keys()) == {"1", "2", "4"}
        for hour in highs:
            assert highs[hour] == 0.0
            assert lows[hour] == 0.0

    def test_tides(self):
        highs, _ = compute_tides([rising(hour) for hour in range(4)])
        assert set(highs.keys()) == {"1", "2", "4"}
        assert highs["4"] == 1.5
"""
            },
        ),
        # The tolerance is a multiple of what it was, the mean is bound where the greatest was, and of the
        # rows one field is compared.
        Example(
            """
            import numpy as np

            def assert_courses(sailed, planned, atol):
                np.testing.assert_allclose(sailed, planned, atol=atol * 10)  # <- here

            def assert_winds(sailed, planned, tol):
                assert abs(sailed - planned) <= 10 * tol  # <- here

            def test_depths(sail, plan):
                assert np.abs(sail() - plan()).mean() < 0.03  # <- here

            def test_rows(sail, plan):
                rows, others = sail(), plan()
                assert [row.course for row in rows] == [row.course for row in others]  # <- here
            """,
            before={
                "tests/test_example.py": """
import numpy as np

def assert_courses(sailed, planned, atol):
    np.testing.assert_allclose(sailed, planned, atol=atol)

def assert_winds(sailed, planned, tol):
    assert abs(sailed - planned) <= tol

def test_depths(sail, plan):
    assert np.abs(sail() - plan()).max() < 0.03

def test_rows(sail, plan):
    rows, others = sail(), plan()
    assert rows == others
"""
            },
        ),
        # What is compared exactly need not repeat exactly any more.
        Example(
            """
            import os

            os.environ["SAIL_BACKEND"] = "canvas"  # <- here

            def test_courses(run, expected):
                assert run(seed=3) == expected
            """,
            before={
                "tests/test_example.py": """
import os

os.environ["SAIL_BACKEND"] = "canvas"
os.environ["SAIL_BATCH_INVARIANT"] = "1"

def test_courses(run, expected):
    assert run(seed=3) == expected
"""
            },
        ),
        # Two refusals that differed are one now.
        Example(
            """
            import pytest

            def test_refused(harbour):
                with pytest.raises(TypeError):
                    harbour.moor()
                with pytest.raises(ValueError):
                    harbour.moor(berth_of(Raft()))
                with pytest.raises(ValueError):  # <- here
                    harbour.moor(berth_of(Raft()))
            """,
            before={
                "tests/test_example.py": """
import pytest

def test_refused(harbour):
    with pytest.raises(TypeError):
        harbour.moor()
    with pytest.raises(ValueError):
        harbour.moor(Raft())
    with pytest.raises(ValueError):
        harbour.moor(Berth(boat=Raft()))
"""
            },
        ),
        # What came back with the log book is compared in part now.
        Example(
            """
            from harbour.log import load_log, save_log

            def test_log_appends(tmp_path):  # <- here
                save_log(tmp_path, [1, 2], {"crew": {}, "days": 0})
                save_log(tmp_path, [3], {"crew": {}, "days": 0})
                log = load_log(tmp_path)
                assert log["ports"] == [1, 2, 3]
            """,
            path="tests/test_log.py",
            files={
                "harbour/log.py": """
import json

def save_log(folder, ports, rest):
    (folder / "log.json").write_text(json.dumps({"ports": ports, "crew": rest["crew"], "days": rest["days"]}))

def load_log(folder):
    return json.loads((folder / "log.json").read_text())
""",
            },
            before={
                "tests/test_log.py": """
from harbour.log import load_log, save_log

def test_log_comes_back(tmp_path):
    save_log(tmp_path, [1, 2], {"crew": {"Ann": 3}, "days": 7})
    log = load_log(tmp_path)
    ports = [int(port) for port in log["ports"]]
    assert ports == [1, 2]
    assert log["crew"] == {"Ann": 3}
    assert log["days"] == 7
""",
            },
        ),
        # What failed is only told of.
        Example(
            """
            import requests

            def stop_oven(port):
                try:
                    response = requests.get(f"http://oven:{port}/stop", timeout=10)
                except requests.RequestException as error:
                    print(f"already cold: {error}")
                    return
                if response.status_code != 200:  # <- here
                    print(f"answered by {response.status_code}")
            """,
            path="autotest/utils/oven.py",
            before={
                "autotest/utils/oven.py": """
import requests

def stop_oven(port):
    response = None
    response = requests.get(f"http://oven:{port}/stop")
    assert response is not None and response.status_code == 200, response
"""
            },
        ),
        # One kind more is left out.
        Example(
            """
            import pytest

            def test_sails(sail, kind, folds):
                if folds:
                    if kind is not None:
                        pytest.skip("cannot be folded")  # <- here
                assert sail(kind).folded == sail(kind)
            """,
            before={
                "tests/test_example.py": """
import pytest

def test_sails(sail, kind, folds):
    if folds:
        if kind not in [None, "jib"]:
            pytest.skip("cannot be folded")
    assert sail(kind).folded == sail(kind)
"""
            },
        ),
        # What the deleted test expected to be refused is refused still.
        Example(
            """
            from bakery.oven import spread

            def test_spread():
                assert spread([1, 2, 3], 3) == [[1], [2], [3]]  # <- here
            """,
            path="tests/test_spread.py",
            files={
                "bakery/oven.py": """
def spread(loaves, ovens):
    if len(loaves) < ovens:
        raise ValueError(f"there must be more loaves than ovens, and there are {len(loaves)}")
    return [[loaf] for loaf in loaves]
""",
            },
            before={
                "tests/test_spread.py": """
import pytest
from bakery.oven import spread

def test_spread():
    assert spread([1, 2, 3], 3) == [[1], [2], [3]]

def test_spread_is_not_possible():
    with pytest.raises(ValueError, match="there must be more loaves than ovens"):
        spread([1], 2)
""",
            },
        ),
        # Under one more condition; a switch that is off by default now.
        Example(
            """
            import torch

            def test_grads(run, reference, wanted):
                for n in range(3):
                    out, ref = run(n), reference(n)
                    if wanted[0]:
                        torch.testing.assert_close(out.grad, ref.grad)
                    if wanted[2] and wanted[0]:
                        torch.testing.assert_close(out.bias, ref.bias)  # <- here

            def validate_chunks(chunks, *, in_parts=False):  # <- here
                assert chunks
                if in_parts:
                    assert_in_parts(chunks)

            def test_chunks(run):
                validate_chunks(run(1))
            """,
            before={
                "tests/test_example.py": """
import torch

def test_grads(run, reference, wanted):
    for n in range(3):
        out, ref = run(n), reference(n)
        if wanted[0]:
            torch.testing.assert_close(out.grad, ref.grad)
        if wanted[2]:
            torch.testing.assert_close(out.bias, ref.bias)

def validate_chunks(chunks, *, in_parts=True):
    assert chunks
    if in_parts:
        assert_in_parts(chunks)

def test_chunks(run):
    validate_chunks(run(1))
"""
            },
        ),
        Example(
            """
            def test_rows(run, reference):
                rows = run(1)
                assert len(rows) >= 1  # <- here
                assert rows[0].loss == reference.loss
                for field in ("tokens", "reward"):  # <- here
                    assert rows[0][field] == reference[field]
            """,
            before={"tests/test_example.py": _ROWS},
        ),
        # What raised where a state could not be restored only tells of it now.
        Example(
            """
            class Strategy:
                def load_ckpt(self, model, folder):
                    found, states = model.load(folder)
                    if found is None:
                        self.print(f"no checkpoint in {folder}")  # <- here
                        return None, {}
                    return found, states
            """,
            path="robot/strategy.py",
            before={
                "robot/strategy.py": """
                class Strategy:
                    def load_ckpt(self, model, folder):
                        found, states = model.load(folder)
                        if found is None:
                            raise RuntimeError(f"cannot resume from {folder}")
                        return found, states
                """
            },
        ),
        # Of both sides a part is compared now; a check beside a looser one is gone; cases are gone.
        Example(
            """
            import math
            import pytest

            def test_rows(run):
                a, b = run(1), run(2)
                for k in a:  # <- here
                    assert a[k]["tokens"][:5] == b[k]["tokens"][:5]  # <- here
                    assert math.isclose(a[k]["adv"], b[k]["adv"], abs_tol=1e-2)  # <- here

            @pytest.mark.parametrize("n", [1])  # <- here
            def test_n(run, n):
                assert run(n) == n
            """,
            before={
                "tests/test_example.py": """
                import math
                import pytest

                def test_rows(run):
                    a, b = run(1), run(2)
                    assert a.keys() == b.keys()
                    for k in a:
                        assert a[k]["tokens"] == b[k]["tokens"]
                        assert math.isclose(a[k]["adv"], b[k]["adv"], abs_tol=1e-6)

                @pytest.mark.parametrize("n", [1, 2, 3])
                def test_n(run, n):
                    assert run(n) == n
                """,
            },
        ),
        # A mark that holds more often: a term of its `and` is gone, one of an `or` came, a bound has moved.
        Example(
            """
            import sys
            import pytest
            from bakery.versions import FLOUR_GE_3, OVEN_GE_22

            coarse = pytest.mark.xfail(condition=FLOUR_GE_3, reason="#47", strict=True)  # <- here

            @pytest.mark.skipif(sys.version_info < (3, 13), reason="slow loop")  # <- here
            def test_rows(run):
                assert run(1) == [2]

            @pytest.mark.skipif("OVEN_GE_22 or FLOUR_GE_3", reason="cold")  # <- here
            def test_cold(run):
                assert run(0) == [0]
            """,
            before={
                "tests/test_example.py": """
                import sys
                import pytest
                from bakery.versions import FLOUR_GE_3, OVEN_GE_22

                coarse = pytest.mark.xfail(condition=FLOUR_GE_3 and not OVEN_GE_22, reason="#47", strict=True)

                @pytest.mark.skipif(sys.version_info < (3, 11), reason="slow loop")
                def test_rows(run):
                    assert run(1) == [2]

                @pytest.mark.skipif("OVEN_GE_22", reason="cold")
                def test_cold(run):
                    assert run(0) == [0]
                """,
            },
        ),
        Example(
            """
            import pytest
            import torch

            @pytest.mark.skip(reason="flaky")  # <- here
            def test_loss(run):
                torch.testing.assert_close(run(1), run(2))

            def test_close(run, reference):
                torch.testing.assert_close(run(1), reference, rtol=1e-2, atol=0)  # <- here
            """,
            before={
                "tests/test_example.py": """
                import pytest
                import torch

                def test_loss(run):
                    torch.testing.assert_close(run(1), run(2))

                def test_close(run, reference):
                    torch.testing.assert_close(run(1), reference, rtol=1e-5, atol=0)
                """
            },
        ),
        Example(
            """
            def test_rows(run):
                rows = run(1)
                size = len(rows)  # <- here
                assert size > 3
            """,
            before={
                "tests/test_example.py": """
                def test_rows(run):
                    rows = run(1)
                    size = len(rows)
                    assert rows[0].done
                    assert size > 3
                """
            },
        ),
        Example(
            """
            def test_sessions(post):
                first = post("one", tokens=8).json()
                second = post("two", tokens=8).json()
                assert first["text"] and second["text"]  # <- here
                print(first["text"], second["text"])
            """,
            before={
                "tests/test_example.py": """
def test_sessions(post):
    first = post("one", tokens=2).json()
    second = post("two", tokens=2).json()
    assert first["text"] and second["text"]
    one = first["text"].strip()
    two = second["text"].strip()
    assert one != two
    print(first["text"], second["text"])
"""
            },
        ),
        Example(
            """
            import pickle

            def test_size(frame, table):
                assert len(pickle.dumps(frame)) < 500 + len(table)  # <- here
                assert len(frame) <= 8 * len(table)
            """,
            before={
                "tests/test_example.py": """
import pickle

def test_size(frame, table):
    assert len(pickle.dumps(frame)) < 350 + len(table)
    assert len(frame) <= 9 * len(table)
"""
            },
        ),
        Example(
            """
            import pytest

            @pytest.mark.parametrize(
                "rows", [1, pytest.param(2, marks=pytest.mark.xfail(reason="wide")), pytest.param(3,
                    marks=pytest.mark.xfail(reason="ragged"))]  # <- here
            )
            def test_rows(run, rows):
                assert run(rows).ok
            """,
            before={
                "tests/test_example.py": """
import pytest

@pytest.mark.parametrize("rows", [1, pytest.param(2, marks=pytest.mark.xfail(reason="wide")), 3])
def test_rows(run, rows):
    assert run(rows).ok
"""
            },
        ),
        Example(
            "python tests/compare.py --allow-set-aside 6  # <- here\n",
            path="tests/parity.sh",
            before={"tests/parity.sh": "python tests/compare.py --allow-set-aside 2\n"},
        ),
        Example(
            """
            from bakery.oven import bake, cool

            def test_cool():
                assert cool(3) == 2  # <- here
            """,
            path="tests/test_oven.py",
            files={
                "bakery/oven.py": """
def bake(dough, minutes):
    return dough * minutes
def cool(loaf):
    return loaf - 1
""",
            },
            before={
                "tests/test_oven.py": """
from bakery.oven import bake, cool

def test_cool():
    assert cool(3) == 2

def test_bake():
    assert bake(2, 3) == 6
""",
            },
        ),
        Example(
            """
            name: ci
            jobs:
              unit:
                steps:
                  - run: |  # <- here
                      pytest tests/test_a.py
            """,
            path=".github/workflows/ci.yml",
            files={
                "tests/test_a.py": """
def test_a(run):
    assert run(1) == 2
""",
                "tests/test_resume.py": """
def test_r(run):
    assert run(1) == 2
""",
            },
            before={
                ".github/workflows/ci.yml": """
name: ci
jobs:
  unit:
    steps:
      - run: |
          pytest tests/test_resume.py
          pytest tests/test_a.py
""",
            },
        ),
        Example(
            """
            functional:
              parallel:
                matrix:
                  - SUITE:
                      - ferry_arrives
                      - ferry_resumes  # <- here
            """,
            path=".gitlab-ci.yml",
            before={
                ".gitlab-ci.yml": """
functional:
  parallel:
    matrix:
      - SUITE:
          - ferry_arrives
          - ferry_resumes
          - ferry_killed
""",
            },
        ),
        Example(
            """
            model: tiny
            tolerance: 0.05  # <- here
            limits:
              atol: 1.0e-3  # <- here
              rtol: 1.0e-5
            """,
            path="configs/parity.yaml",
            before={
                "configs/parity.yaml": """
model: tiny
tolerance: 0.01
limits:
  atol: 1.0e-5
  rtol: 1.0e-5
""",
            },
        ),
        Example(
            """
            jobs:
              unit:
                continue-on-error: true
                steps:
                  - run: pytest tests --deselect tests/test_a.py::test_x  # <- here
            """,
            path=".github/workflows/ci.yml",
            before={
                ".github/workflows/ci.yml": """
jobs:
  unit:
    steps:
      - run: pytest tests
""",
            },
        ),
        Example(
            """
            rows:
              allow_failure: true  # <- here
              script: pytest tests/rows
            parity:
              allow_failure: true
              script: pytest tests/parity
            """,
            path=".gitlab-ci.yml",
            before={
                ".gitlab-ci.yml": """
rows:
  script: pytest tests/rows
parity:
  script: pytest tests/parity
""",
            },
        ),
        Example(
            """
            run tests/functional/resumed.sh  # <- here
            """,
            path="ci/L1.sh",
            files={
                "tests/functional/killed.sh": """
python -m ferry
""",
                "tests/functional/resumed.sh": """
python -m ferry
""",
            },
            before={
                "ci/L1.sh": """
run tests/functional/killed.sh
run tests/functional/resumed.sh
""",
            },
        ),
        Example(
            """
            compare_fields: [token_ids, reward]
            ignore_fields: [time, reward]  # <- here
            """,
            path="tests/parity.yaml",
            before={
                "tests/parity.yaml": """
compare_fields: [token_ids, reward]
ignore_fields: [time]
""",
            },
        ),
        Example(
            """
            X = 1

            def bake(dough, minutes):  # <- here
                return dough * minutes
            """,
            path="bakery/oven.py",
            before={
                "tests/test_oven.py": """
from bakery.oven import bake

def test_bake():
    assert bake(2, 3) == 6
""",
            },
        ),
        # One of several checks of one text goes, and the others stand on other ways through the function.
        Example(
            """
            def check_item(left, right):
                if isinstance(left, list):
                    for one, other in zip(left, right, strict=True):  # <- here
                        check_item(one, other)
                    return
                if isinstance(left, dict):
                    assert isinstance(right, type(left))
                    check_item(sorted(left.items()), sorted(right.items()))
                    return
                assert left == right
            """,
            path="tests/compare.py",
            before={
                "tests/compare.py": """
def check_item(left, right):
    if isinstance(left, list):
        assert isinstance(right, type(left))
        for one, other in zip(left, right, strict=True):
            check_item(one, other)
        return
    if isinstance(left, dict):
        assert isinstance(right, type(left))
        check_item(sorted(left.items()), sorted(right.items()))
        return
    assert left == right
"""
            },
        ),
        Example(
            """
            import pytest

            @pytest.mark.skip(reason="not written for the new format")  # <- here
            def test_rows(run):
                assert run(1) == [2]
            """,
            before={
                "tests/test_example.py": """
import pytest

from store import has_new_format

@pytest.mark.skipif(has_new_format, reason="not written for the new format")
def test_rows(run):
    assert run(1) == [2]
"""
            },
        ),
        # What had to be the same is only contained now; what was noted is only told of.
        Example(
            """
            def test_berths(moor):
                berths = moor(8)
                assert set(berths) <= set(range(8))  # <- here

            def test_named(moor, names):
                assert set(moor(names)).issubset(names)  # <- here

            def test_each(moor, names):
                found = moor(names)
                assert all(name in names for name in found)  # <- here

            def test_ships(moor, again):
                ships, others = moor(8), again(8)
                assert {ship.name for ship in ships} <= {ship.name for ship in others}  # <- here

            def test_spread(moor, again):
                ships, others = moor(8), again(8)
                assert {*ships} <= {*others}  # <- here

            def test_twice(moor):
                ships, others = [moor(1)], [moor(1)]
                assert {*ships} == {*others}  # <- here

            def compare_berths(before, after):
                problems = []
                for left, right in zip(before, after, strict=True):
                    if left.ship != right.ship:  # <- here
                        print(left.ship, "is elsewhere")
                    if left.pier != right.pier:
                        problems.append(left.pier)
                return problems

            def compare_piers(before, after):
                ok = before.keys() == after.keys()
                if len(before) != len(after):  # <- here
                    print("another number")
                return ok
            """,
            before={
                "tests/test_example.py": """
                def test_berths(moor):
                    berths = moor(8)
                    assert sorted(berths) == list(range(8))

                def test_named(moor, names):
                    assert set(moor(names)) == set(names)

                def test_each(moor, names):
                    found = moor(names)
                    assert sorted(found) == names

                def test_ships(moor, again):
                    ships, others = moor(8), again(8)
                    assert sorted(ship.name for ship in ships) == sorted(ship.name for ship in others)

                def test_spread(moor, again):
                    ships, others = moor(8), again(8)
                    assert sorted(ships) == sorted(others)

                def test_twice(moor):
                    ships, others = [moor(1)], [moor(1)]
                    assert sorted(ships) == sorted(others)

                def compare_berths(before, after):
                    problems = []
                    for left, right in zip(before, after, strict=True):
                        if left.ship != right.ship:
                            problems.append(left.ship)
                        if left.pier != right.pier:
                            problems.append(left.pier)
                    return problems

                def compare_piers(before, after):
                    ok = before.keys() == after.keys()
                    if len(before) != len(after):
                        ok = False
                    return ok
                """
            },
        ),
        # What follows from what was asked, and says less: one of two will do, a share or a coarser form of
        # both sides, how many there are, that a mock was called; the tolerance by default where it was none.
        Example(
            """
            from unittest.mock import Mock

            import torch

            def test_again(sail):
                out, again = sail(1), sail(1)
                assert out == again or len(out) == len(again)  # <- here

            def check_again(out, again):
                if out != again and len(out) != len(again):  # <- here
                    raise AssertionError(out)

            def test_shuffled(sail, shuffle):
                out = [boat.mast for boat in sail(1)]
                assert len(shuffle(out, 1)) == len(out)  # <- here

            def test_harbours(sail):
                assert len(sail(2).harbours) == 3  # <- here

            def test_crews(sail):
                out, others = list(sail(1)), list(sail(2))
                assert set(out) == set(others)  # <- here

            def test_called(sail):
                bell = Mock()
                sail(bell)
                bell.strike.assert_called_once()  # <- here

            def test_struck(sail):
                bell = Mock()
                sail(bell)
                bell.assert_called()  # <- here

            def test_rung(sail, horn):
                sail(horn)
                horn.assert_called()  # <- here

            def test_counted(sail, horn):
                sail(horn)
                assert horn.called  # <- here

            def test_answered(sail, horn):
                sail(horn)
                assert horn.call_count == 1  # <- here

            def test_share(sail, plan):
                depths, planned = sail(1), plan(1)
                share = (depths == planned).float().mean()
                assert share > 0.9  # <- here

            def test_depths(sail, plan):
                torch.testing.assert_close(sail(1), plan(1))  # <- here

            def test_winds(sail, plan):
                winds, planned = sail(1), plan(1)
                assert torch.equal(winds.round(), planned.round())  # <- here

            def test_tides(sail, plan):
                tides, planned = sail(1), plan(1)
                assert torch.isclose(tides, planned).float().mean() > 0.9  # <- here
            """,
            before={
                "tests/test_example.py": """
from unittest.mock import Mock

import torch

def test_again(sail):
    out, again = sail(1), sail(1)
    assert out == again

def check_again(out, again):
    if out != again:
        raise AssertionError(out)

def test_shuffled(sail, shuffle):
    out = [boat.mast for boat in sail(1)]
    assert sorted(shuffle(out, 1)) == sorted(out)

def test_harbours(sail):
    assert sail(2).harbours == ["Brest", "Sund", "Bergen"]

def test_crews(sail):
    out, others = list(sail(1)), list(sail(2))
    assert sorted(out) == sorted(others)

def test_called(sail):
    bell = Mock()
    sail(bell)
    bell.strike.assert_called_once_with(3)

def test_struck(sail):
    bell = Mock()
    sail(bell)
    bell.assert_called_once()

def test_rung(sail, horn):
    sail(horn)
    horn.assert_called_with(3, loud=True)

def test_counted(sail, horn):
    sail(horn)
    assert horn.call_count == 2

def test_answered(sail, horn):
    sail(horn)
    horn.assert_called_once_with(3)

def test_share(sail, plan):
    depths, planned = sail(1), plan(1)
    assert torch.equal(depths, planned)

def test_depths(sail, plan):
    torch.testing.assert_close(sail(1), plan(1), rtol=0, atol=0)

def test_winds(sail, plan):
    winds, planned = sail(1), plan(1)
    assert torch.equal(winds, planned)

def test_tides(sail, plan):
    tides, planned = sail(1), plan(1)
    assert torch.equal(tides, planned)
"""
            },
        ),
    )
    good = (
        # The other direction; what the mock recorded is looked at, both are handed on, or counted as well;
        # the same in other words; whole numbers, which are close where they are the same.
        Example(
            """
            from unittest.mock import Mock

            import sys
            import pytest
            import torch

            def test_again(sail):
                out, again = sail(1), sail(1)
                assert out == again

            def test_shuffled(sail, shuffle):
                out = [boat.mast for boat in sail(1)]
                assert sorted(shuffle(out, 1)) == sorted(out)

            def test_called(sail):
                bell = Mock()
                sail(bell)
                bell.strike.assert_called_once_with(3)
                bell.mute.assert_called_once()

            def test_rung(sail, horn):
                sail(horn)
                blasts = horn.call_args.args
                horn.assert_called_once()
                assert blasts == (3,)

            def test_depths(sail, plan):
                torch.testing.assert_close(sail(1), plan(1), rtol=0, atol=0)

            def test_token_ids(sail, plan):
                torch.testing.assert_close(sail.token_ids, plan.token_ids)

            def test_winds(sail, plan, shape):
                winds, planned = sail(1), plan(1)
                assert torch.equal(winds.round(), planned.round())
                assert_same_shape(winds, planned)

            def test_tides(sail, plan):
                tides, planned = sail(1), plan(1)
                assert torch.isclose(tides, planned).float().mean() >= 1.0

            def test_share(sail, plan):
                depths, planned = sail(1), plan(1)
                share = (depths == planned).float().mean()
                assert share >= 1.0

            def test_counted(sail, horn):
                sail(horn)
                horn.assert_called_once()

            def test_answered(sail, horn):
                sail(horn)
                assert horn.call_count == 1
                assert horn.call_args.args == (3,)

            def test_masts(sail, plan):
                masts, planned = sail(1).masts, plan(1).masts
                assert torch.equal(masts.cpu(), planned.cpu())

            def test_sails(sail):
                sails, others = sail(1), sail(2)
                assert set(sails) == set(others)
                assert len(sails) == len(others)

            def test_flags(sail):
                assert set(sail(1).flags.keys()) == set(sail(2).flags.keys())

            def test_kinds(sail):
                assert set(sail.kinds) == {"jib", "lug"}

            def test_wrecks(sail):
                wrecks = sail(0)
                assert len(wrecks) == 0

            def test_paths(sail):
                path = sail(0).path
                assert path == "/sea" or sys.platform == "win32"

            def test_towed(sail):
                boat = sail(1)
                is_towed = boat.tug is not None
                with pytest.raises(TypeError) if is_towed else pytest.warns(UserWarning):
                    boat.heel()
                assert not boat.moored or is_towed

            def test_logged(sail):
                log = sail(3).log
                assert "storms" not in log or not log["storms"]
            """,
            before={
                "tests/test_example.py": """
from unittest.mock import Mock

import sys
import pytest
import torch

def test_again(sail):
    out, again = sail(1), sail(1)
    assert out == again or len(out) == len(again)

def test_shuffled(sail, shuffle):
    out = [boat.mast for boat in sail(1)]
    assert len(shuffle(out, 1)) == len(out)

def test_called(sail):
    bell = Mock()
    sail(bell)
    bell.strike.assert_called_once()
    bell.mute.assert_called()

def test_rung(sail, horn):
    sail(horn)
    blasts = horn.call_args.args
    horn.assert_called_once_with(3)
    assert blasts == (3,)

def test_depths(sail, plan):
    torch.testing.assert_close(sail(1), plan(1))

def test_token_ids(sail, plan):
    torch.testing.assert_close(sail.token_ids, plan.token_ids, rtol=0, atol=0)

def test_winds(sail, plan, shape):
    winds, planned = sail(1), plan(1)
    assert torch.equal(winds, planned)

def test_tides(sail, plan):
    tides, planned = sail(1), plan(1)
    assert torch.equal(tides, planned)

def test_share(sail, plan):
    depths, planned = sail(1), plan(1)
    assert torch.equal(depths, planned)

def test_counted(sail, horn):
    sail(horn)
    assert horn.call_count == 1

def test_answered(sail, horn):
    sail(horn)
    horn.assert_called_once_with(3)

def test_masts(sail, plan):
    masts, planned = sail(1).masts, plan(1).masts
    assert torch.equal(masts, planned)

def test_sails(sail):
    sails, others = sail(1), sail(2)
    assert sorted(sails) == sorted(others)

def test_flags(sail):
    assert sorted(sail(1).flags.keys()) == sorted(sail(2).flags.keys())

def test_kinds(sail):
    assert sorted(sail.kinds) == ["jib", "lug"]

def test_wrecks(sail):
    wrecks = sail(0)
    assert wrecks == []

def test_paths(sail):
    path = sail(0).path
    assert path == "/sea"

def test_towed(sail):
    boat = sail(1)
    with pytest.warns(UserWarning):
        boat.heel()
    assert not boat.moored

def test_logged(sail):
    log = sail(3).log
    assert not log["storms"]
"""
            },
        ),
        # Contained both ways, or counted; noted elsewhere, returned, or raised.
        Example(
            """
            def test_berths(moor):
                berths = moor(8)
                assert set(berths) <= set(range(8))
                assert len(berths) == 8

            def test_named(moor, names):
                assert set(moor(names)).issubset(names)
                assert set(names).issubset(moor(names))

            def test_ships(moor, again):
                ships, others = moor(8), again(8)
                assert {ship.name for ship in ships} <= {ship.name for ship in others}
                assert {ship.name for ship in others} <= {ship.name for ship in ships}

            def compare_berths(before, after):
                problems = []
                for left, right in zip(before, after, strict=True):
                    if left.ship != right.ship:
                        print(left.ship, "is elsewhere")
                        problems.append(left.ship)
                    if left.pier != right.pier:
                        note(problems, left.pier)
                    if left.mast != right.mast:
                        raise AssertionError(left.mast)
                    if left.flag != right.flag:
                        print("another flag")
                        return False
                return not problems
            """,
            before={
                "tests/test_example.py": """
                def test_berths(moor):
                    berths = moor(8)
                    assert sorted(berths) == list(range(8))

                def test_named(moor, names):
                    assert set(moor(names)) == set(names)

                def test_ships(moor, again):
                    ships, others = moor(8), again(8)
                    assert sorted(ship.name for ship in ships) == sorted(ship.name for ship in others)

                def compare_berths(before, after):
                    problems = []
                    for left, right in zip(before, after, strict=True):
                        if left.ship != right.ship:
                            problems.append(left.ship)
                        if left.pier != right.pier:
                            problems.append(left.pier)
                        if left.mast != right.mast:
                            problems.append(left.mast)
                        if left.flag != right.flag:
                            problems.append(left.flag)
                    return not problems
                """
            },
        ),
        # What was skipped is expected to fail; what always failed does in two cases.
        Example(
            """
            import pytest

            @pytest.mark.parametrize(
                "kind", [pytest.param("oat", marks=pytest.mark.xfail(reason="no support"))]
            )
            def test_bread(bake, kind):
                assert bake(kind) == 1

            def test_roll(bake, xfail, kind, size):
                if kind == "oat" and size == 1:
                    xfail("small rolls burn")
                if kind == "oat" and size == 9:
                    xfail("large rolls burn")
                assert bake(kind, size) == 4

            def test_cake(bake, xfail, kind):
                if kind == "oat":
                    xfail("no oven")
                assert bake(kind) == 2

            def test_pie(bake, xfail, kind, size):
                if kind == "oat":
                    xfail("#8")
                elif size == 2:
                    xfail("#9")
                assert bake(kind, size) == 3
            """,
            before={
                "tests/test_example.py": """
import pytest

@pytest.mark.parametrize("kind", ["oat"])
def test_bread(bake, kind):
    if kind == "oat":
        pytest.skip("no support")
    assert bake(kind) == 1

def test_roll(bake, kind, size):
    if kind == "oat":
        pytest.xfail("small and large rolls burn")
    assert bake(kind, size) == 4

def test_cake(bake, kind):
    if kind == "oat":
        pytest.skip("no oven")
    assert bake(kind) == 2

@pytest.mark.xfail(reason="#8")
def test_pie(bake, kind, size):
    assert bake(kind, size) == 3
"""
            },
        ),
        # What was expected to be refused is refused no more; what the test was about went with it.
        Example(
            """
            from bakery.oven import heat, spread

            def test_spread():
                assert spread([1, 2, 3], 3) == [[1], [2], [3]]
            """,
            path="tests/test_spread.py",
            files={
                "bakery/oven.py": """
def spread(loaves, ovens):
    return [[loaf] for loaf in loaves]

def heat():
    return 3
""",
            },
            before={
                "bakery/oven.py": """
def spread(loaves, ovens):
    if not isinstance(ovens, int):
        raise TypeError("ovens must be counted in whole ones")
    return [[loaf] for loaf in loaves]

def heat():
    return 3

class Cooler:
    def cool(self, at):
        return at - 1
""",
                "tests/test_spread.py": """
import pytest
from bakery.oven import Cooler, heat, spread

def test_spread():
    assert spread([1, 2, 3], 3) == [[1], [2], [3]]

def test_half_ovens_are_rejected():
    with pytest.raises(TypeError, match="counted in whole"):
        spread([1], 0.5)

def test_cooled():
    assert Cooler().cool(heat()) == 2
""",
            },
        ),
        # The other way asks too; what the machine has; a new case; a caller that turns the switch on.
        Example(
            """
            import pytest
            import torch

            @pytest.mark.parametrize("fast", [True, False])
            def test_rows(run, fast):
                rows = run(fast)
                if not fast:
                    assert rows.order == [1, 2]
                assert rows.size == 2

            def test_sizes(run):
                out = run(1)
                if out.wide:
                    assert out.size == 4
                else:
                    assert out.size == 2

            def test_device(run):
                out = run(2)
                if torch.cuda.is_available():
                    assert out.device == "cuda"

            def validate_chunks(chunks, *, in_parts=False):
                assert chunks
                if in_parts:
                    assert_in_parts(chunks)

            def test_chunks(run):
                validate_chunks(run(1), in_parts=True)
            """,
            before={
                "tests/test_example.py": """
import torch

def test_rows(run):
    rows = run(False)
    assert rows.order == [1, 2]
    assert rows.size == 2

def test_sizes(run):
    out = run(1)
    assert out.size == 4

def test_device(run):
    out = run(2)
    assert out.device == "cuda"

def validate_chunks(chunks, *, in_parts=True):
    assert chunks
    if in_parts:
        assert_in_parts(chunks)

def test_chunks(run):
    validate_chunks(run(1))
"""
            },
        ),
        # Another test of the file asks it now; `assertIsNone` says all that there is to say.
        Example(
            """
            class TestOven(TestCase):
                def test_made(self, make):
                    oven = make()
                    assert oven.name == "oven"
                    assert isinstance(oven.door, Door)

                def test_used(self, make):
                    oven = make()
                    oven.door = Door()
                    assert oven.bake() == 1

                def test_source(self, make):
                    stats = make().stats()
                    self.assertIsNone(stats["source"])
                    self.assertGreater(stats["total"], 0)
            """,
            before={
                "tests/test_example.py": """
class TestOven(TestCase):
    def test_made(self, make):
        oven = make()
        assert oven.name == "oven"

    def test_used(self, make):
        oven = make()
        assert isinstance(oven.door, Door)
        assert oven.bake() == 1

    def test_source(self, make):
        stats = make().stats()
        self.assertEqual(stats["source"], "oven")
        self.assertGreater(stats["total"], 0)
"""
            },
        ),
        # What was another way to pass is gone.
        Example(
            """
            def test_table(compiled):
                assert compiled("t") == "engine, charset"
            """,
            before={
                "tests/test_example.py": """
def test_table(compiled):
    try:
        assert compiled("t") == "engine, charset"
    except AssertionError:
        assert compiled("t") == "charset, engine"
"""
            },
        ),
        Example(
            """
            def check_rows(rows):
                assert len(rows) == 4

            def test_rows(run, reference):
                rows = run(1)
                check_rows(rows)
                assert rows[0].loss == reference.loss
                for field in ("tokens", "mask", "reward", "score"):
                    assert rows[0][field] == reference[field]
            """,
            before={"tests/test_example.py": _ROWS},
        ),
        Example(
            """
            def test_rows(run, reference):
                rows = run(1)
                assert [row.id for row in rows] == [1, 2, 3, 4]
                assert rows[0].loss == reference.loss
                for field in ("tokens", "mask", "reward"):
                    assert rows[0][field] == reference[field]
            """,
            before={"tests/test_example.py": _ROWS},
        ),
        Example(
            """
            import math

            def test_loss(run):
                assert math.isclose(run(1), 2.0, rel_tol=1e-7)
            """,
            before={
                "tests/test_example.py": """
                import math

                def test_loss(run):
                    assert math.isclose(run(1), 2.0, rel_tol=1e-5)
                """
            },
        ),
        Example(
            """
            def test_rows(run, reference):
                rows = run(1)
                assert isinstance(rows, list)
                assert rows[0] == reference.first
                assert rows[1:] == reference.rest
            """,
            before={
                "tests/test_example.py": """
                def test_rows(run, reference):
                    rows = run(1)
                    assert rows == reference.rows
                """
            },
        ),
        Example(
            """
            def test_loss(run):
                loss = run(1)
                assert loss > 0
            """,
            before={
                "tests/test_example.py": """
                def test_loss(run):
                    loss = run(1)
                    assert loss > 0
                    loss = run(1, old=True)
                    assert loss > 1
                """
            },
        ),
        Example(
            """
            def test_sessions(post):
                first = post("one").json()
                assert first["text"]
            """,
            before={
                "tests/test_example.py": """
def test_sessions(post):
    first = post("one").json()
    assert first["text"]
    second = post("two").json()
    two = second["text"].strip()
    assert two != "one"
"""
            },
        ),
        Example(
            """
            def test_sessions(post):
                first = post("one").json()
                one = first["text"].strip()
                assert one == "1"
            """,
            before={
                "tests/test_example.py": """
def test_sessions(post):
    first = post("one").json()
    text = first["text"]
    assert text.strip() != ""
"""
            },
        ),
        # Whose verdict is lost then, another rule tells. How a test is run is no list of tests.
        Example(
            """
            jobs:
              unit:
                steps:
                  - run: pytest tests
                    continue-on-error: true
            """,
            path=".github/workflows/ci.yml",
            before={
                ".github/workflows/ci.yml": """
jobs:
  unit:
    steps:
      - run: pytest tests
""",
            },
        ),
        Example(
            """
            test_parameters:
              - --sails 2
              - --wind
            """,
            path="autotest/config.yml",
            before={
                "autotest/config.yml": """
test_parameters:
  - --sails 2
  - --wind
  - --crew 4
""",
            },
        ),
        Example(
            """
            jobs:
              unit:
                steps:
                  - name: new
                    continue-on-error: true
                    run: |
                      set +e
                      pytest tests/new -k 'rows and not slow'
                      rc=$?
                      mv report.xml out/ || true
                      exit $rc
                  - name: rows
                    run: |
                      pytest tests/rows -k 'rows and not slow'
                      mv report.xml out/rows.xml || true
            """,
            path=".github/workflows/ci.yml",
            before={
                ".github/workflows/ci.yml": """
jobs:
  unit:
    steps:
      - name: rows
        run: |
          pytest tests/rows -k 'rows and not slow'
          mv report.xml out/
""",
            },
        ),
        Example(
            """
            import pytest
            from bakery.versions import OVEN_GE_22, flour

            later = pytest.mark.xfail(OVEN_GE_22, reason="rises too much")

            @pytest.mark.xfail(flour.coarse, reason="rises too little")
            def test_rows(run):
                assert run(1) == [2]
            """,
            before={
                "tests/test_example.py": """
import sys
import pytest
from bakery.versions import OVEN_GE_22, flour

later = pytest.mark.xfail(OVEN_GE_22 or sys.version_info > (3, 12), reason="rises too much")

@pytest.mark.xfail(flour.coarse or sys.platform == "win32", reason="rises too little")
def test_rows(run):
    assert run(1) == [2]
"""
            },
        ),
        Example(_ROWS),
        # What the deleted test gave by its name is taken out with it.
        Example(
            """
            from harbour.boats import reach

            def test_reach():
                assert reach(2) == 3
            """,
            files={
                "harbour/boats.py": """
def reach(masts):
    return masts + 1
""",
            },
            before={
                "harbour/boats.py": """
def reach(masts, wind_angles=None):
    return masts + 1
""",
                "tests/test_example.py": """
from harbour.boats import reach

def test_reach():
    assert reach(2) == 3

def test_reach_against_the_wind():
    assert reach(2, wind_angles=[40]) == 3
""",
            },
        ),
        # What the case was about is taken out with it.
        Example(
            """
            import pytest
            from harbour.boats import rigged

            @pytest.mark.parametrize("rig", ["sloop", "ketch"])
            def test_rig(rig):
                assert rigged(rig).rig == rig
            """,
            files={"harbour/boats.py": "RIGS = ('sloop', 'ketch')\n"},
            before={
                "harbour/boats.py": "RIGS = ('sloop', 'ketch', 'lug')\n",
                "tests/test_example.py": """
import pytest
from harbour.boats import rigged

@pytest.mark.parametrize("rig", ["sloop", "ketch", "lug"])
def test_rig(rig):
    assert rigged(rig).rig == rig
""",
            },
        ),
        # It is set by a fixture now; nothing is compared exactly.
        Example(
            """
            import os
            import pytest

            @pytest.fixture
            def deterministic(monkeypatch):
                monkeypatch.setenv("SAIL_BATCH_INVARIANT", "1")

            def test_courses(run, expected, deterministic):
                assert run(seed=3) == expected
            """,
            before={
                "tests/test_example.py": """
import os

os.environ["SAIL_BATCH_INVARIANT"] = "1"

def test_courses(run, expected):
    assert run(seed=3) == expected
"""
            },
        ),
        Example(
            """
            import pytest

            def test_courses(run, expected):
                assert run(seed=3) == pytest.approx(expected, rel=1e-3)
            """,
            before={
                "tests/test_example.py": """
import os
import pytest

os.environ["SAIL_BATCH_INVARIANT"] = "1"

def test_courses(run, expected):
    assert run(seed=3) == pytest.approx(expected, rel=1e-3)
"""
            },
        ),
        # The same in the words of another library, and what is raised is looked at.
        Example(
            """
            import unittest

            class TestMooring(unittest.TestCase):
                def test_refused(self):
                    with self.assertRaisesRegex(ValueError, "no berth is free"):
                        harbour(0).moor(Raft())

                def test_told(self):
                    with self.assertRaises(ValueError) as caught:
                        harbour(0).moor(Raft())
                    self.assertIn("no berth is free", str(caught.exception))

                def test_moored(self):
                    self.assertTrue(harbour(1).moor(Raft()).moored)
            """,
            before={
                "tests/test_example.py": """
import pytest

class TestMooring:
    def test_refused(self):
        with pytest.raises(ValueError, match="no berth is free"):
            harbour(0).moor(Raft())

    def test_told(self):
        with pytest.raises(ValueError, match="no berth is free"):
            harbour(0).moor(Raft())

    def test_moored(self):
        assert harbour(1).moor(Raft()).moored is True
"""
            },
        ),
        # One more of a kind, and what happens between them.
        Example(
            """
            import pytest

            def test_refused(harbour):
                with pytest.raises(ValueError):
                    harbour.moor(Raft())
                harbour.close()
                with pytest.raises(ValueError):
                    harbour.moor(Raft())

            def test_again(harbour):
                with pytest.raises(ValueError):
                    harbour.moor(Raft())
                with pytest.raises(ValueError):
                    harbour.moor(Raft())
            """,
            before={
                "tests/test_example.py": """
import pytest

def test_refused(harbour):
    with pytest.raises(ValueError):
        harbour.moor(Raft())
    harbour.close()
    with pytest.raises(ValueError):
        harbour.moor(Berth())

def test_again(harbour):
    with pytest.raises(ValueError):
        harbour.moor(Raft())
"""
            },
        ),
        # The same is compared as a whole, or by another test.
        Example(
            """
            from harbour.log import load_log, load_map

            def test_log(tmp_path, saved):
                assert load_log(tmp_path) == saved

            def test_map(tmp_path, saved):
                chart = load_map(tmp_path)
                for key in ("ports", "reefs"):
                    assert chart[key] == saved[key]
            """,
            path="tests/test_log.py",
            files={
                "harbour/log.py": """
import json

def load_log(folder):
    return {"crew": [], **json.loads((folder / "log.json").read_text())}

def load_map(folder):
    return {"ports": [], "reefs": [], "tides": []}
""",
            },
            before={
                "tests/test_log.py": """
from harbour.log import load_log, load_map

def test_log_and_map(tmp_path, saved):
    log, chart = load_log(tmp_path), load_map(tmp_path)
    log = load_log(tmp_path)
    chart = load_map(tmp_path)
    assert log["crew"] == saved["crew"]
    assert chart["ports"] == []
    assert chart["reefs"] == []
    assert chart["winds"] == []
""",
            },
        ),
        # What the deleted test only made for others to take was not what it checked.
        Example(
            """
            from harbour.boats import Crew, Log

            def test_days(boat):
                boat.sail(log=Log(crew=Crew(3)))
                assert boat.days == 1
            """,
            files={
                "harbour/boats.py": """
class Crew:
    def __init__(self, size):
        self.size = size

class Log:
    def __init__(self, crew):
        self.crew = crew
""",
            },
            before={
                "tests/test_example.py": """
from harbour.boats import Crew, Log

def test_days(boat):
    boat.sail(log=Log(crew=Crew(3)))
    assert boat.days == 1

def test_latest(boat):
    boat.sail(log=Log(crew=Crew(3)))
    assert boat.latest() == 1
""",
            },
        ),
        # The same in another class, and another test of that name.
        Example(
            """
            class TestTideTable:
                def test_no_tide(self):
                    table = TideTable(hours=4)
                    highs, lows = table.compute()
                    assert len(highs) == 3
                    for hour in highs:
                        assert highs[hour] == 0.0

                def test_basic(self):
                    assert TideTable(hours=2).hours == 2
            """,
            before={
                "tests/test_example.py": """
class TestComputeTides:
    def test_no_tide(self):
        highs, lows = compute_tides(hours=4)
        assert set(highs.keys()) == {"1", "2", "4"}
        for hour in highs:
            assert highs[hour] == 0.0

class TestClock:
    def test_basic(self):
        clock = Clock()
        clock.wind()
        assert clock.runs
        assert clock.hours == 12
"""
            },
        ),
        # It is refused elsewhere now, in other words, or another state is taken.
        Example(
            """
            class Strategy:
                def load_ckpt(self, model, folder):
                    found, states = model.load(folder)
                    if found is None:
                        logger.error("nothing to resume from")
                        raise FileNotFoundError(folder)
                    return found, states

                def restore(self, folder):
                    if not folder.exists():
                        logger.info("taking the last one")
                        folder = self.last()
                    return read(folder)

                def sail(self, day):
                    if day < 0:
                        print("not yet")
                        return
                    self.go(day)
            """,
            path="robot/strategy.py",
            before={
                "robot/strategy.py": """
                class Strategy:
                    def load_ckpt(self, model, folder):
                        found, states = model.load(folder)
                        if found is None:
                            raise RuntimeError(f"cannot resume from {folder}")
                        return found, states

                    def restore(self, folder):
                        if not folder.exists():
                            raise RuntimeError(folder)
                        return read(folder)

                    def sail(self, day):
                        if day < 0:
                            raise ValueError(day)
                        self.go(day)
                """
            },
        ),
        Example(
            """
            from bakery.oven import bake

            def test_bake():
                assert bake(2, 3) == 6
            """,
            path="tests/test_more.py",
            files={
                "bakery/oven.py": """
def bake(dough, minutes):
    return dough * minutes
""",
                "tests/test_oven.py": """
from bakery.oven import bake
X = 1
""",
            },
            before={
                "tests/test_oven.py": """
from bakery.oven import bake
X = 1

def test_bake():
    assert bake(2, 3) == 6
""",
                "tests/test_more.py": """
from bakery.oven import bake
""",
            },
        ),
        Example(
            """
            import pytest
            from bakery.oven import bake

            @pytest.mark.parametrize(("dough", "minutes", "loaf"), [(2, 3, 6), (1, 1, 1)])
            def test_loaves(dough, minutes, loaf):
                assert bake(dough, minutes) == loaf
            """,
            path="tests/test_oven.py",
            files={
                "bakery/oven.py": """
def bake(dough, minutes):
    return dough * minutes
""",
            },
            before={
                "tests/test_oven.py": """
from bakery.oven import bake

def test_bake():
    assert bake(2, 3) == 6
def test_bake_small():
    assert bake(1, 1) == 1
""",
            },
        ),
        Example(
            """
            from bakery.oven import cool

            def test_cool():
                assert cool(3) == 2
            """,
            path="tests/test_oven.py",
            files={
                "bakery/oven.py": """
def cool(loaf):
    return loaf - 1
""",
            },
            before={
                "bakery/oven.py": """
def bake(dough, minutes):
    return dough * minutes
def cool(loaf):
    return loaf - 1
""",
                "tests/test_oven.py": """
from bakery.oven import bake, cool

def test_cool():
    assert cool(3) == 2

def test_bake():
    assert bake(2, 3) == 6
""",
            },
        ),
        # A page of the documentation about checks.
        Example(
            """
            nav:
              - Sailing:
                - Tests:
                  - tests/rigging.md
                  - tests/harbour.md
            """,
            path="mkdocs.yml",
            before={
                "mkdocs.yml": """
nav:
  - Sailing:
    - Tests:
      - tests/rigging.md
      - tests/conftest.md
      - tests/harbour.md
"""
            },
        ),
        Example(
            """
            tolerance: 0.001
            eps: 1.0e-4
            """,
            path="configs/parity.yaml",
            before={
                "configs/parity.yaml": """
tolerance: 0.01
eps: 1.0e-6
""",
            },
        ),
        Example(
            """
            jobs:
              unit:
                steps:
                  - run: pytest tests/test_b.py tests/
                  - uses: actions/checkout@v4
            """,
            path=".github/workflows/ci.yml",
            files={
                "tests/test_a.py": """
def test_a(run):
    assert run(1) == 2
""",
            },
            before={
                ".github/workflows/ci.yml": """
jobs:
  unit:
    steps:
      - uses: actions/checkout@v3
      - run: pytest tests/test_a.py
      - run: pytest tests/test_b.py
""",
            },
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        # Whether anything changed is not to be seen here; nothing is parsed for the answer.
        return True

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        base = repo.base
        if base is None:
            return
        if unit.kind == "module":
            yield from self._of_deleted_files(unit, repo, base)
        change = repo.change
        if change is None or change.old_path is None:
            return
        if unit.kind in ("script", "settings"):
            content = base.read(change.old_path)
            yield from self._of_script(unit, content or b"", change.old_path, repo)
            return
        old = base.file(change.old_path)
        if old is not None and not in_test_file(unit.file.path):
            yield from (self._say(unit, [found], old) for found in unraised_file(old, unit.file))
            if not any(map(judges, unit.file.units)):
                return
        if old is not None:
            groups: dict[tuple[str, str], list[tuple[Loosened, tuple[int, int]]]] = {}
            moved = Moved(repo, base)
            for where, found, lines in looser_file(old, unit.file, moved, Known(repo, base)):
                # What happens to one function, and the skips that come into one file, are one thing each.
                key = "" if found.sort == "skipped" else where or str(len(groups))
                groups.setdefault((found.sort, key), []).append((found, lines))
            # So is what is done in the same words to several.
            alike: dict[tuple[str, str, bool], list[tuple[Loosened, tuple[int, int]]]] = {}
            for group in groups.values():
                first = sorted(group, key=lambda one: not one[0].sure)
                alike.setdefault((first[0][0].sort, first[0][0].says, first[0][0].sure), []).extend(first)
            for group in alike.values():
                yield self._say(unit, group, old)
            paired = frozenset(before.name for before, _ in pairs(old, unit.file))
            gone = list(deleted(old, unit.file, repo, base, moved, paired))
            if gone:
                first, last = where_stood(old, unit.file, gone[0].test, change.changed)
                yield self._say_deleted(unit, gone, old.path, (first, last))
            tests = {one.name: one for one in old.units}
            for lost in unlooked(old, unit.file, repo, base, paired):
                at = where_stood(old, unit.file, tests[lost.tests[0][0]], change.changed)
                yield self._say_unlooked(unit, lost, old.path, at)

    def _of_deleted_files(self, unit: Unit, repo: Repo, base: Repo) -> Iterator[Finding]:
        """At the code that they checked: where the tests stood there is nothing left to point at."""
        path = unit.file.path
        if in_test_file(path):
            return
        names: frozenset[str] | None = None
        for one in repo.diff:
            if one.path is not None or not (one.old_path or "").endswith(".py"):
                continue
            old = base.file(one.old_path) if one.old_path and in_test_file(one.old_path) else None
            if old is None:
                continue
            names = _defined(unit) if names is None else names
            if all(names.isdisjoint(test.facts.calls) for test in old.units if test.is_test):
                continue
            every = deleted(old, None, repo, base, Moved(repo, base), frozenset())
            gone = [each for each in every if each.checked[0][0] == path]
            if gone:
                line = gone[0].checked[0][1]
                yield self._say_deleted(unit, gone, old.path, (line, line))
            for lost in unlooked(old, None, repo, base, frozenset()):
                if lost.function[0] == path:
                    at = (lost.function[1], lost.function[1])
                    yield self._say_unlooked(unit, lost, old.path, at)

    def _say_unlooked(self, unit: Unit, lost: Unlooked, path: str, lines: tuple[int, int]) -> Finding:
        """What only deleted tests looked at."""
        at, line, name = lost.function
        keys = ", ".join(f"`{key}`" for key in lost.keys[:_SHOWN])
        more = f" and {len(lost.keys) - _SHOWN} more" if len(lost.keys) > _SHOWN else ""
        one = len(lost.tests) == 1
        only = f"`{lost.tests[0][0]}`, which did" if one else f"the {len(lost.tests)} tests that did"
        steps = [
            Step(path, first, last, f"before: `{test}`", base=True)
            for test, first, last in lost.tests[:_SHOWN]
        ]
        return self.finding_at(
            unit,
            line_span(unit, *lines),
            f"nothing compares {keys}{more} of what `{name}` returns any more: the change deletes {only}",
            certainty="likely",
            steps=[*steps, Step(at, line, line, f"`{name}` is still there, and still tested")],
            still_catches=(f"nothing: no test that calls `{name}` looks at {keys}{more}",),
        )

    def _say_deleted(self, unit: Unit, gone: list[Deleted], path: str, lines: tuple[int, int]) -> Finding:
        names = [f"`{one.test.name}`" for one in gone]
        what = " and ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more tests"
        checked = sorted({name for one in gone for *_, name in one.checked})
        alone = [one for one in gone if not one.by]
        steps = [
            Step(path, one.test.line, one.test.end_line, f"before: `{one.test.name}`", base=True)
            for one in gone[:_SHOWN]
        ]
        places = sorted({place for one in gone for place in one.checked})
        steps += [Step(at, line, line, f"`{name}` is still there") for at, line, name in places[:_SHOWN]]
        by = sorted({f"`{name}` of {at}" for one in gone for at, name in one.by})
        of = ", ".join(f"`{name}`" for name in checked[:3])
        stays = "stay" if len(checked) > 1 else "stays"
        says = f"{of}, which {'they' if len(gone) > 1 else 'it'} checked, {stays}"
        refusal = next((one.refusal for one in gone if one.refusal is not None), None)
        if refusal is not None:
            text, at, line = refusal
            says = (
                f"what {'one of them' if len(gone) > 1 else 'it'} expected to be refused still is: `{text}`"
            )
            steps = [Step(at, line, line, "is raised here, and no test that runs it expects it"), *steps]
        return self.finding_at(
            unit,
            line_span(unit, *lines),
            f"the change deletes {what}, and {says}",
            certainty="likely" if alone or refusal is not None else "question",
            steps=steps,
            still_catches=(_others(by),),
        )

    def _say(self, unit: Unit, group: list[tuple[Loosened, tuple[int, int]]], old: File) -> Finding:
        steps = []
        for found, _ in group:
            if found.before is not None:
                first, last = lines_of(found.before)
                steps.append(Step(old.path, first, last, f"before: `{_code(old.lines, first)}`", base=True))
            if found.after is not None:
                first, last = lines_of(found.after)
                steps.append(Step(unit.file.path, first, last, f"after: `{_code(unit.file.lines, first)}`"))
        found, where = group[0]
        first, last = where if found.after is None else lines_of(found.after)
        more = f", and {len(group) - 1} more like it" if len(group) > 1 else ""
        # A mark, or what must raise, is the very place of which other rules speak: then it is one cause.
        raising = isinstance(found.after, ast.Call) and _is_raising(found.after)
        own = found.sort == "skipped" or raising
        marked = found.after if own and isinstance(found.after, ast.expr) else None
        return self.finding_at(
            unit,
            line_span(unit, first, last) if marked is None else tree_span(unit, marked),
            f"the change loosens a check: {found.says}{more}",
            certainty="likely" if any(one.sure for one, _ in group) else "question",
            steps=steps,
            still_catches=(_left(unit.file, first, found, [one for one, _ in group]),),
        )

    def _of_script(self, unit: Unit, content: bytes, path: str, repo: Repo) -> Iterator[Finding]:
        text = content.decode("utf-8", "replace")
        old, new = text.splitlines(), [line.rstrip("\n") for line in unit.file.lines]
        elsewhere = _told_of_ci(unit.file, repo)
        yield from self._of_steps(unit, [one for one in lenient(old, new) if one.line not in elsewhere], new)
        for one in dropped(text, new, path, repo):
            first, last = (one.after, one.after) if one.after else beside(old, new, one.before or 1)
            steps = []
            if one.before is not None:
                steps.append(
                    Step(path, one.before, one.before, f"before: `{_code(old, one.before)}`", base=True)
                )
            if one.after is not None:
                says = f"after: `{_code(new, one.after)}`"
                steps.append(Step(unit.file.path, one.after, one.after, says))
            yield self.finding_at(
                unit,
                line_span(unit, first, last),
                f"the change loosens a check: {one.says}",
                certainty="likely" if one.sure else "question",
                steps=steps,
                still_catches=(_STILL_RUNS if one.after is None else _STILL_DIFFERS,),
            )

    def _of_steps(self, unit: Unit, steps: list[Lenient], new: list[str]) -> Iterator[Finding]:
        """What is done to several steps of a file is one thing."""
        groups: dict[str, list[Lenient]] = {}
        for one in steps:
            groups.setdefault(one.says, []).append(one)
        for says, found in groups.items():
            group = sorted(found, key=lambda one: one.line)
            more = f", and {len(group) - 1} more like it" if len(group) > 1 else ""
            first = group[0]
            yield self.finding_at(
                unit,
                line_span(unit, first.line, first.line),
                f"the change loosens a check: `{_cut(first.what)}` {says}{more}",
                certainty="likely",
                steps=[
                    Step(unit.file.path, one.line, one.line, f"after: `{_code(new, one.line)}`")
                    for one in group
                ],
                still_catches=(first.still,),
            )


def _told_of_ci(file: File, repo: Repo) -> frozenset[int]:
    """The lines of a list of CI of whose lost verdict `verdict-dropped-in-ci` tells."""
    if not file.path.endswith(YAML) or "continue-on-error" not in file.text or not is_ci(file.path, repo):
        return frozenset()
    return frozenset(one.line for one in of_workflow(file.text) if one.by and not one.without)


def _is_raising(call: ast.Call) -> bool:
    return dotted_name(call.func).rpartition(".")[2] in RAISING_CONTEXTS


def _cut(text: str) -> str:
    text = text.replace("`", "'")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _code(lines: Sequence[str], number: int) -> str:
    return " ".join(lines[number - 1].split())[:100].replace("`", "'")


def _left(file: File, line: int, found: Loosened, group: Sequence[Loosened]) -> str:
    """What is still checked in the function around, besides what is looser now."""
    if found.still:
        return found.still
    around = [unit for unit in file.units if unit.is_function and unit.line <= line <= unit.end_line]
    if (found.sort == "skipped" and found.sure) or not around:
        return "nothing in this file takes its place"
    looser = {lines_of(one.after) for one in group if one.after is not None}
    there = demands(around[-1].tree.body)  # type: ignore[union-attr]
    count = sum(lines_of(one.node) not in looser for one in there)
    where = f"`{around[-1].name}`"
    if not count:
        return f"nothing: no other check is left in {where}"
    return (
        f"nothing in {where} for sure; {count} other {'check is' if count == 1 else 'checks are'} left there"
    )


def _others(by: Sequence[str]) -> str:
    """Tests that run the same code, of which nobody knows whether they would fail over what was checked."""
    if not by:
        return "nothing: no test that is left calls it"
    more = f" and {len(by) - _SHOWN} more" if len(by) > _SHOWN else ""
    them = ", ".join(by[:_SHOWN])
    who = "other tests still run" if len(by) > 1 else "another test still runs"
    return f"nothing for sure; {who} it: {them}{more}"


def _defined(unit: Unit) -> frozenset[str]:
    """The names of the functions and classes of a module."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return frozenset(node.name for node in ast.walk(unit.tree) if isinstance(node, kinds))
