"""What can be probed: methods, functions that return their verdict, pytest tests, command lines; and what
of it can be loaded where packages are missing."""

from __future__ import annotations

import json
import textwrap

import pytest


@pytest.fixture
def repo(tmp_path):
    """Writes files and gives their folder."""

    def write(**files):
        (tmp_path / "pyproject.toml").touch()
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        return tmp_path

    return write


def said(document):
    return {kill["edit"].partition(":")[0] for kill in document["kills"]}


def whys(document):
    return [
        (one["why"], one["changes"][0]["where"], one["changes"][0]["after"]) for one in document["witnesses"]
    ]


# ---- how a check says no ----


def test_a_list_of_errors_and_a_sum_that_is_not_a_number(probed, repo):
    folder = repo(
        scalars="""
        def compare_scalars(baseline, candidate, tol):
            errors = []
            worst = max(abs(a["loss"] - b["loss"]) for a, b in zip(baseline, candidate, strict=True))
            if worst > tol:
                errors.append(f"loss differs by {worst}")
            return errors
        """,
        test_scalars="""
        from scalars import compare_scalars

        def test_same():
            steps = [{"loss": 2.5}, {"loss": 1.5}]
            assert not compare_scalars(steps, [dict(step) for step in steps], 0.1)
        """,
    )
    code, document = probed(folder, "scalars.py::compare_scalars")
    assert code == 1
    assert document["verdict_by"] == "it returns something that is not empty"
    assert [one[0] for one in whys(document)] == ["nan"]
    assert "loss changed" in said(document)
    assert "loss is infinite" in said(document)


def test_a_collection_that_is_returned_holds_the_failures_whatever_its_name(probed, repo):
    folder = repo(
        tide="""
        def faults(forecast, observed, ignore=()):
            found = []
            for at, (f, o) in enumerate(zip(forecast, observed, strict=True)):
                if o["station"] in ignore:
                    continue
                if f["height"] != o["height"]:
                    found.append(f"{at}: height")
                if f["phase"] != o["phase"] and o["phase"] != "slack":
                    found.append(f"{at}: phase")
            return found
        """,
        test_tide="""
        from tide import faults

        def test_same():
            rows = [{"station": "A", "height": 15, "phase": "ebb"}]
            assert not faults(rows, [dict(row) for row in rows])
        """,
    )
    code, document = probed(folder, "tide.py::faults")
    assert code == 1
    # The value that opens the excuse stands in the check, and in no row.
    excuse, unread = whys(document)
    assert excuse == ("excuse", "observed[0].phase", "slack")
    assert unread[:2] == ("unread", "observed[0].station")
    assert document["excuses_taken"] == [{"path": "tide.py", "line": 5, "times": 0}]
    assert {one["line"] for one in document["checks"]} == {7, 9}


def test_an_excuse_that_the_passing_run_takes_too_is_one(probed, repo):
    folder = repo(
        scans="""
        def compare(before, after):
            resumed = {row["scan"] for row in after if row["resumed"]}
            for a, b in zip(before, after, strict=True):
                assert a["scan"] == b["scan"]
                if b["scan"] in resumed:
                    continue
                assert a["pixels"] == b["pixels"]
                assert a["weight"] == b["weight"]
        """,
        test_scans="""
        import copy
        from scans import compare

        def test_same():
            rows = [
                {"scan": n, "resumed": n == 1, "pixels": [n, 7], "loss_mask": [0, 1], "weight": 1.5}
                for n in range(3)
            ]
            compare(rows, copy.deepcopy(rows))
        """,
    )
    code, document = probed(folder, "scans.py::compare")
    assert code == 1
    first = document["witnesses"][0]
    assert (first["why"], first["escapes"][0]["line"]) == ("excuse", 6)
    assert first["changes"][0]["where"].endswith(".pixels[0]")
    assert "unchanged arguments still pass" in first["what_if"]
    assert first["caught_elsewhere"] > 0
    assert {"path": "scans.py", "line": 6, "times": 1} in document["excuses_taken"]


def test_an_error_that_is_returned_at_once_is_a_check_and_no_excuse(probed, repo):
    folder = repo(
        span="""
        def agree(first, second):
            if len(first) != len(second):
                print("counts differ")
                return {"count": 1}
            kinds = {}
            for one, two in zip(first, second):
                if one["from"] + one["length"] != two["from"] + two["length"]:
                    kinds["end"] = kinds.get("end", 0) + 1
            return kinds
        """
    )
    row = {"from": 3, "length": 4}
    (folder / "e.json").write_text(json.dumps({"first": [row], "second": [row]}))
    code, document = probed(folder, "span.py::agree", "--example", "e.json")
    assert code == 1
    # Each alone is caught; together they cancel out.
    (one,) = document["witnesses"]
    assert [change["where"] for change in one["changes"]] == ["second[0].from", "second[0].length"]
    assert document["excuses_taken"] == []
    assert {one["line"] for one in document["checks"]} == {3, 8}


def test_a_value_that_nothing_reads_is_shown_once(probed, repo):
    folder = repo(
        crates="""
        def check(crates, manifest):
            for crate, entry in zip(crates, manifest, strict=True):
                assert crate["total"] == sum(crate["levels"])
                assert crate["levels"] == entry["levels"]
        """
    )
    rows = [{"total": 3, "levels": [1, 2]}]
    (folder / "e.json").write_text(json.dumps({"crates": rows, "manifest": rows}))
    code, document = probed(folder, "crates.py::check", "--example", "e.json")
    assert code == 1
    # That it may be missing too is the same hole.
    assert whys(document) == [("gap", "manifest[0].total", 4)]


def test_none_where_all_is_well_and_a_text_where_it_is_not(probed, repo):
    folder = repo(
        first="""
        def fault(want, have):
            for one, two in zip(want, have, strict=True):
                if one["mass"] != two["mass"]:
                    return f"mass {one['mass']} became {two['mass']}"
            return None
        """
    )
    row = {"mass": 3, "name": "x"}
    (folder / "e.json").write_text(json.dumps({"want": [row], "have": [row]}))
    code, document = probed(folder, "first.py::fault", "--example", "e.json")
    assert (code, [one[:2] for one in whys(document)]) == (1, [("unread", "have[0].name")])
    assert "mass changed" in said(document)
    assert document["never_compared"] == ["name"]
    assert {one["line"] for one in document["checks"]} == {4}


def test_a_nan_passes_a_tolerance_that_no_small_change_exceeds(probed, repo):
    folder = repo(
        wide="""
        def agrees(forecast, observed):
            worst = max(abs(f - o) for f, o in zip(forecast, observed, strict=True))
            return not worst > 50.0
        """,
        test_wide="""
        from wide import agrees

        def test_same():
            assert agrees([1.5, 2.5], [1.5, 2.5])
        """,
    )
    code, document = probed(folder, "wide.py::agrees")
    assert code == 1
    assert whys(document) == [("nan", "observed[0]", "nan")]
    assert document["witnesses"][0]["numbers_caught"] > 0


def test_a_truth_value_and_the_row_that_only_one_side_has(probed, repo):
    folder = repo(
        same="""
        def rows_match(left, right):
            for a, b in zip(left, right):
                if a != b:
                    return False
            return True
        """,
        test_same="""
        from same import rows_match

        def test_same():
            assert rows_match([[1, 2], [3]], [[1, 2], [3]])
        """,
    )
    code, document = probed(folder, "same.py::rows_match")
    assert code == 1
    assert document["verdict_by"] == "it returns something false"
    assert ("gap", "right[1]", None) in whys(document)
    assert {"path": "same.py", "line": 4} in document["kills"][0]["caught_by"]


def test_an_exit_code(probed, repo):
    folder = repo(
        gate="""
        import sys

        def gate(a, b):
            if a["n"] != b["n"]:
                sys.exit(1)
        """,
        test_gate="""
        from gate import gate

        def test_gate():
            gate({"n": 1, "note": "x"}, {"n": 1, "note": "x"})
        """,
    )
    code, document = probed(folder, "gate.py::gate")
    assert (code, [one[:2] for one in whys(document)]) == (1, [("unread", "b.note")])
    assert "n changed" in said(document)
    assert document["never_compared"] == ["note"]


def test_a_kind_for_each_row(probed, repo):
    folder = repo(
        kinds="""
        def classify(a, b):
            return {i: "same" if x == y else "other" for i, (x, y) in enumerate(zip(a, b))}
        """,
        test_kinds="""
        from kinds import classify

        def test_kinds():
            assert classify([1, 2], [1, 2]) == {0: "same", 1: "same"}
        """,
    )
    code, document = probed(folder, "kinds.py::classify")
    assert document["verdict_by"] == "it returns another value than for the unchanged arguments"
    assert "b[0] changed" in said(document)
    # zip stops at the shorter side, so that what only one side has gets no kind at all.
    assert code == 1
    assert [change["says"] for one in document["witnesses"] for change in one["changes"]] == [
        "b longer by one"
    ]


def test_a_method_on_an_object_of_the_repository(probed, repo):
    folder = repo(
        ledger="""
        from dataclasses import dataclass

        @dataclass
        class Row:
            key: str
            amount: float

        class Ledger:
            def __init__(self, tolerance):
                self.tolerance = tolerance

            def check(self, expected, actual):
                for a, b in zip(expected, actual, strict=True):
                    if a.key != b.key:
                        raise ValueError("keys differ")
                    if abs(a.amount - b.amount) > self.tolerance:
                        raise ValueError("amounts differ")
        """,
        test_ledger="""
        from ledger import Ledger, Row

        def test_ledger():
            Ledger(0.5).check([Row("a", 1.5)], [Row("a", 1.5)])
        """,
    )
    code, document = probed(folder, "ledger.py::Ledger.check")
    assert code == 1
    assert whys(document) == [("nan", "actual[0].amount", "nan")]
    assert "key changed" in said(document)


# ---- pytest tests ----

LENGTHS = """
def row_lengths(rows):
    lengths = [len(row["tokens"]) for row in rows]
    return {"total": sum(lengths), "mask": [row["mask"] for row in rows], "mean": sum(lengths) / len(rows)}
"""
TEST_LENGTHS = """
import math
from lengths import row_lengths

ROWS = [{"tokens": [1, 2, 3], "mask": [0, 1, 1]}, {"tokens": [4], "mask": [1]}]

def test_lengths():
    found = row_lengths(ROWS)
    other = row_lengths(ROWS[:1])
    row_lengths(ROWS)
    again = row_lengths(ROWS[1:])
    total = found["total"]
    assert total == 4
    assert total > 0
    assert not math.isnan(found["mean"])
    assert found["mean"] == 2.0
    assert len(found["mask"]) == 2
    for row in other["mask"][1:]:
        assert row == [1]
"""


def test_assertions_of_a_test_that_decide_and_those_that_do_not(probed, repo):
    folder = repo(lengths=LENGTHS, test_lengths=TEST_LENGTHS)
    code, document = probed(folder, "test_lengths.py::test_lengths")
    assert code == 0
    dead = {(one["line"], one["tier"]): one["says"] for one in document["dead"]}
    assert dead[(14, 2)].startswith("never alone: L13")
    assert dead[(19, 0)] == "never reached here"
    assert (13, 2) not in dead
    assert document["never_compared"].count("mask") == 1


def test_what_a_test_awaits_are_values_too(probed, repo):
    folder = repo(
        harbour="""
        import asyncio

        async def berths(ships):
            await asyncio.sleep(0)
            return [{"ship": ship, "metres": len(ship) * 10} for ship in ships]

        async def count(ships):
            return len(ships)
        """,
        test_harbour="""
        import unittest
        from harbour import berths, count

        class Harbour(unittest.IsolatedAsyncioTestCase):
            async def test_berths(self):
                found = await berths(["Aal", "Hecht"])
                unused = await count(["Aal"])
                self.assertEqual(found[0]["ship"], "Aal")
                self.assertEqual(len(found), 2)
        """,
    )
    _, document = probed(folder, "test_harbour.py::Harbour.test_berths")
    assert document["unread_values"] == ["count(['Aal'])"]
    assert {"ship changed", "row dropped"} <= said(document)
    assert {"metres"} <= set(document["never_compared"])


def test_a_call_whose_value_no_assertion_reads_is_named(probed, repo):
    folder = repo(lengths=LENGTHS, test_lengths=TEST_LENGTHS)
    _, document = probed(folder, "test_lengths.py::test_lengths")
    assert document["unread_values"] == ["row_lengths(ROWS[1:])"]


TILL = """
def pay(price, given):
    if price < 0:
        raise ValueError("negative price")
    if given < 0:
        raise ValueError("negative coin")
    if given < price:
        raise ValueError("negative change: too little")
    return given - price
"""
TILL_TESTS = """
import pytest
from till import pay

def test_negative_coin():
    with pytest.raises(ValueError, match="negative"):
        pay(5, -1)

def test_too_little():
    with pytest.raises(ValueError, match="too little"):
        pay(5, 3)

def test_not_enough():
    with pytest.raises(ValueError, match="little"):
        pay(9, 3)
"""


def test_a_test_that_passes_without_the_check_that_it_is_about(probed, reviewbot, repo):
    folder = repo(till=TILL, test_till=TILL_TESTS)
    code, document = probed(folder, "test_till.py::test_negative_coin")
    assert code == 3
    assert document["unmissed"] == [{"path": "till.py", "line": 5, "text": "given < 0"}]
    assert (document["noticed_in_code"], document["twins"]) == (0, [])
    ran = reviewbot("probe", "test_till.py::test_negative_coin", cwd=folder)
    assert "it still passes without the check at till.py:5: given < 0" in ran.out


def test_tests_that_notice_the_same_changes_of_the_code_are_named(probed, repo):
    folder = repo(till=TILL, test_till=TILL_TESTS)
    _, document = probed(folder, "test_till.py::test_too_little", "--budget", "60s")
    assert (document["unmissed"], document["noticed_in_code"]) == ([], 1)
    assert document["twins"] == ["test_not_enough"]
    # Nothing was changed in its data, so that nothing is said of what did not fire.
    assert (document["edits_tried"], document["dead"]) == (0, [])


def test_a_test_with_fixtures_parameters_and_an_expected_error(probed, repo):
    folder = repo(
        lengths=LENGTHS,
        test_lengths="""
        import pytest
        from lengths import row_lengths

        @pytest.mark.parametrize("count", [2, 3])
        def test_lengths(tmp_path, monkeypatch, count):
            monkeypatch.setenv("X", "1")
            (tmp_path / "x").write_text("x")
            found = row_lengths([{"tokens": [1], "mask": [1]}] * count)
            assert found["total"] == count
            with pytest.raises(ZeroDivisionError):
                row_lengths([])
        """,
    )
    code, document = probed(folder, "test_lengths.py::test_lengths")
    assert code == 0
    assert "total changed" in said(document)


# ---- command lines ----

COMPARE = """
import argparse, json, sys
parser = argparse.ArgumentParser()
parser.add_argument("--a")
parser.add_argument("--b")
options = parser.parse_args()
left, right = ([json.loads(line) for line in open(path)] for path in (options.a, options.b))
errors = []
for x, y in zip(left, right):
    if x["tokens"] != y["tokens"]:
        errors.append("tokens")
if errors:
    print(errors)
    sys.exit(1)
"""


def test_a_command_line_is_run_on_changed_files(probed, repo, reviewbot):
    folder = repo(compare=COMPARE)
    rows = [json.dumps({"tokens": [1, 2]}), json.dumps({"tokens": [3]})]
    for name in ("a.jsonl", "b.jsonl"):
        (folder / name).write_text("\n".join(rows) + "\n")
    command = "python compare.py --a a.jsonl --b b.jsonl"
    code, document = probed(folder, command)
    assert (code, document["verdict_by"]) == (1, "it ends with an exit code other than 0")
    assert [change["says"] for one in document["witnesses"] for change in one["changes"]] == [
        "last row dropped"
    ]
    caught = {kill["edit"].partition(":")[0]: kill["caught_by"] for kill in document["kills"]}
    assert caught["token 0 changed"] == [{"path": "compare.py", "line": 10}]
    assert (folder / "b.jsonl").read_text() == "\n".join(rows) + "\n"
    # The folder of one run is another one in the next.
    assert "reviewbot-probe-" not in json.dumps(document)
    reviewbot("probe", command, "--save", "e.json", cwd=folder)
    assert reviewbot("probe", "replay", "e.json", cwd=folder).code == 0


def test_a_loop_over_ids_makes_no_check_of_its_own_of_each(probed, repo):
    folder = repo(
        pages="""
        def compare(old, new):
            by_url = {row["url"]: row for row in new}
            for url, row in {row["url"]: row for row in old}.items():
                for name in ("status", "length"):
                    if by_url[url][name] != row[name]:
                        raise AssertionError(f"{url}: {name}")

        def tables(old, new):
            for url in old:
                if old[url] != new[url]:
                    raise AssertionError(url)
        """,
        test_pages="""
        import copy
        from pages import compare, tables

        def test_same():
            old = [{"url": f"/{n}", "status": 200 + n, "length": n} for n in range(5)]
            compare(old, copy.deepcopy(old))

        def test_tables():
            old = {f"/{n}": {"status": 200 + n, "length": n} for n in range(9)}
            tables(old, copy.deepcopy(old))
        """,
    )
    _, document = probed(folder, "pages.py::compare")
    assert [one["text"].rpartition(" [")[2] for one in document["checks"]] == ["length]", "status]"]
    assert document["dead"] == []
    _, document = probed(folder, "pages.py::tables")
    assert document["dead"] == []


def test_of_large_dumps_the_first_rows_are_taken_and_a_large_file_is_refused(probed, reviewbot, repo):
    folder = repo(
        judge="""
        import json
        import sys

        def compare(reference, other):
            for a, b in zip(reference, other, strict=True):
                assert a["token_ids"] == b["token_ids"]

        if __name__ == "__main__":
            compare(*([json.loads(line) for line in open(path)] for path in sys.argv[1:]))
        """
    )
    rows = [json.dumps({"id": n, "token_ids": [n % 7] * 60}) for n in range(2000)]
    for name in ("a", "b"):
        (folder / f"{name}.jsonl").write_text("\n".join(rows))
    code, document = probed(folder, "judge.py::compare", "--dump", "a.jsonl", "b.jsonl")
    assert (code, document["inputs"]) == (1, "a.jsonl and b.jsonl (the first 793 of 2000 rows)")
    assert [one[:2] for one in whys(document)] == [("unread", "other[0].id")]
    assert "token 0 changed" in said(document)
    ran = reviewbot("probe", "python judge.py a.jsonl b.jsonl", cwd=folder)
    assert ran.code == 2
    assert "hold more than 200,000 values" in ran.err


def test_two_dumps_are_the_sides(probed, repo, reviewbot):
    folder = repo(
        rows="""
        def compare(restored, reference, atol=0.1):
            for left, right in zip(reference, restored, strict=True):
                if left != right:
                    raise AssertionError("rows")
        """
    )
    for side in ("one", "two"):
        (folder / side).mkdir()
        for step in (2, 10):
            row = {"tokens": [step, 1], "advantages": [0.0, 0.0], "total": step + 3, "head": 3, "tail": step}
            (folder / side / f"step{step}.jsonl").write_text(
                json.dumps(row) + "\n" + json.dumps({**row, "total": 3 + step})
            )
    code, document = probed(folder, "rows.py::compare", "--dump", "one", "two")
    assert code == 0
    assert "token 0 changed" in said(document)
    same, following = document["questions"]
    assert "advantages is [0.0, 0.0] and head is 3 in all 4 rows" in same
    assert following.partition(" (4 of 4 rows")[0].endswith("total and tail follow from tokens")
    (folder / "two" / "step2.jsonl").write_text("{}\n{")
    ran = reviewbot("probe", "rows.py::compare", "--dump", "one", "two", cwd=folder)
    assert ran.code == 2
    assert "step2.jsonl:2: is not JSON" in ran.err


# ---- where packages are missing ----


def test_a_pure_function_of_a_file_whose_imports_are_absent(probed, repo):
    folder = repo(
        engine="""
        import absent_torch as torch
        from absent_vllm import LLM

        @torch.no_grad()
        def heavy(x: torch.Tensor) -> torch.Tensor:
            return x

        def compare(a, b):
            assert a == b
        """
    )
    (folder / "f.json").write_text(json.dumps({"a": [1, 2], "b": [1, 2]}))
    code, document = probed(folder, "engine.py::compare", "--example", "f.json")
    assert (code, document["witnesses"]) == (0, [])
    assert document["loaded"].startswith("cut out of its file: 2 of")


@pytest.mark.parametrize(
    "body",
    [
        "assert torch.equal(a, b)",
        "assert torch.allclose(a, b) is not False",
        "torch.testing.assert_close(a, b)",
        """try:
                assert torch.equal(a, b)
            except Exception:
                pass""",
    ],
)
def test_a_verdict_that_a_stub_touched_is_unknown(reviewbot, repo, body):
    folder = repo(
        engine=f"""
        import absent_torch as torch

        def compare(a, b):
            {body}
        """
    )
    (folder / "f.json").write_text(json.dumps({"a": [1, 2], "b": [1, 2]}))
    ran = reviewbot("probe", "engine.py::compare", "--example", "f.json", cwd=folder)
    assert ran.code == 3
    assert "absent_torch" in ran.err


def test_names_that_come_in_by_a_star_are_cut_out_with_what_gives_them(probed, repo):
    folder = repo(
        core="""
        from depth import *
        from unused import *
        from math import *

        def compare(before, after):
            for a, b in zip(before, after, strict=True):
                if floor(a) != floor(b) and not near(a, b):
                    raise AssertionError("level")
        """,
        depth="""
        from tolerance import *
        __all__ = ["near"]

        def near(a, b):
            return abs(a - b) < LIMIT
        """,
        tolerance="LIMIT = 0.5",
        unused="raise RuntimeError('no such lake')",
    )
    (folder / "f.json").write_text(json.dumps({"before": [3.5, 1.25], "after": [3.5, 1.25]}))
    code, document = probed(folder, "core.py::compare", "--example", "f.json")
    assert (code, document["witnesses"]) == (0, [])
    assert document["kills"]
    # The import that can be read and gives nothing stays behind.
    assert document["loaded"] == "cut out of its file: 6 of 10 lines"


def test_a_module_that_cannot_be_imported_even_with_stubs(probed, repo, reviewbot):
    folder = repo(
        engine="""
        import absent_torch as torch
        NAMES = {getattr(torch, name): name for name in torch.list_of_names()}
        raise RuntimeError("no accelerator")

        def compare(a, b):
            assert a == b
        """
    )
    (folder / "f.json").write_text(json.dumps({"a": [1, 2], "b": [1, 2]}))
    code, document = probed(folder, "engine.py::compare", "--example", "f.json")
    assert code == 0
    assert "cut out of its file" in document["loaded"]
    said = reviewbot(
        *("probe", "engine.py::compare", "--example", "f.json", "--output-format", "markdown"), cwd=folder
    )
    assert "cut out of its file: " in said.out


# ---- two guards in series ----


def test_two_changes_that_cancel_out_pass_together(probed, repo):
    folder = repo(
        spans="""
        def check(expected, actual):
            for a, b in zip(expected, actual, strict=True):
                assert a["start"] + a["length"] == b["start"] + b["length"]
        """,
        test_spans="""
        from spans import check

        def test_check():
            check([{"start": 4, "length": 3}], [{"start": 4, "length": 3}])
        """,
    )
    code, document = probed(folder, "spans.py::check")
    assert code == 1
    (witness,) = document["witnesses"]
    assert [change["where"] for change in witness["changes"]] == ["actual[0].start", "actual[0].length"]


HEAVY = """
import socket
import absent_torch as torch
DEVICE = torch.device("cuda")
if not torch.cuda.is_available():
    raise RuntimeError("CUDA is missing")
SERVER = socket.create_connection(("127.0.0.1", 9))
"""
KERNELS = """
import os
from ..heavy import DEVICE, SERVER
from .tools import tidy

CACHE = os.environ["NO_SUCH_VARIABLE"]

def compare(a, b):
    if tidy(a) != tidy(b):
        raise ValueError("differs")

def cached(a, b):
    assert a == b or CACHE

def on_device(a, b):
    assert DEVICE.same(a, b)
"""


@pytest.fixture
def kernels(tmp_path):
    """A package whose import wants a device, a server and a variable of the environment."""
    (tmp_path / "pyproject.toml").touch()
    folder = tmp_path / "pkg" / "sub"
    folder.mkdir(parents=True)
    (tmp_path / "pkg" / "__init__.py").touch()
    (folder / "__init__.py").write_text("from ..heavy import DEVICE\n")
    (tmp_path / "pkg" / "heavy.py").write_text(HEAVY)
    (folder / "kernels.py").write_text(KERNELS)
    (folder / "tools.py").write_text("def tidy(x):\n    return [v for v in x if v is not None]\n")
    (tmp_path / "e.json").write_text(json.dumps({"a": [1, 2], "b": [1, 2]}))
    return tmp_path


def test_what_importing_needs_and_the_check_does_not_stops_nothing(probed, kernels):
    code, document = probed(kernels, "pkg/sub/kernels.py::compare", "--example", "e.json")
    assert (code, document["witnesses"], document["dead"]) == (0, [], [])
    assert "b[0] changed" in said(document)
    assert "pkg/heavy.py:5 (RuntimeError: CUDA is missing)" in document["loaded"]
    assert "pkg/heavy.py:7 (" in document["loaded"]


@pytest.mark.parametrize(("function", "says"), [("cached", "CACHE"), ("on_device", "absent_torch.device")])
def test_what_the_check_needs_of_what_could_not_run_makes_it_unknown(reviewbot, kernels, function, says):
    # Of `cached` the equal arguments pass, and every change asks for the value that is not there.
    ran = reviewbot("probe", f"pkg/sub/kernels.py::{function}", "--example", "e.json", cwd=kernels)
    assert ran.code == 3
    assert f"it depends on {'pkg.sub.kernels.' if says == 'CACHE' else ''}{says}" in ran.err


def test_a_side_that_is_none_and_a_package_that_is_only_looked_for(probed, repo):
    folder = repo(
        optional="""
        import importlib.util

        def compare(reference, candidate):
            if candidate is None:
                return
            if importlib.util.find_spec("absent_jax") is not None:
                import absent_jax
                absent_jax.block(candidate)
            assert reference == candidate
        """
    )
    (folder / "e.json").write_text(json.dumps({"reference": ["oak", "elm7"], "candidate": ["oak", "elm7"]}))
    code, document = probed(folder, "optional.py::compare", "--example", "e.json")
    assert code == 1
    assert whys(document) == [("excuse", "candidate", None)]
    assert document["witnesses"][0]["escapes"][0]["line"] == 5
    assert not any("absent_jax" in one for one in document["not_run"])


# ---- tables, dates and sums of money ----


def test_tables_are_changed_cell_by_cell(probed, repo):
    folder = repo(
        check="""
        def compare(before, after):
            assert list(before.columns) == list(after.columns)
            assert not (before["level"] - after["level"]).abs().max() > 0.1
        """,
        test_check="""
        import pandas
        from check import compare

        def test_same():
            table = pandas.DataFrame({"level": [1.5, 2.5], "gauge": ["a", "b"]})
            compare(table, table.copy())
        """,
    )
    code, document = probed(folder, "check.py::compare")
    assert code == 1
    assert any("changed: after.level[0] 1.5 -> " in one["edit"] for one in document["kills"])
    afters = [(one["changes"][0]["where"], one["changes"][0]["after"]) for one in document["witnesses"]]
    assert ("after.level[0]", "nan") in afters


def test_dates_and_decimals_are_recorded(probed, repo):
    folder = repo(
        check="""
        def compare(before, after):
            assert before["day"] == after["day"] and before["cost"] == after["cost"]
            assert before["note"] == after["note"]
        """,
        test_check="""
        import datetime, decimal
        from check import compare

        def test_same():
            row = {"day": datetime.date(2020, 1, 2), "cost": decimal.Decimal("1.50"), "note": "paid"}
            compare(row, dict(row))
        """,
    )
    code, document = probed(folder, "check.py::compare")
    assert (code, document["inputs"]) == (0, "recorded in test_check.py::test_same")
    assert document["kills"]


def test_a_verdict_that_is_returned_last_is_told_from_the_figures_before_it(probed, repo):
    folder = repo(
        check="""
        def compare(before, after, most=0.5):
            largest = max(abs(a - b) for a, b in zip(before, after, strict=True))
            return largest, len(before), largest <= most
        """
    )
    (folder / "f.json").write_text(json.dumps({"before": [1.5, 2.5], "after": [1.5, 2.5]}))
    _, document = probed(folder, "check.py::compare", "--example", "f.json")
    assert document["verdict_by"] == "the last of what it returns is false"
    # A difference within what is allowed changes a figure, and is let through.
    assert not any("nudged" in one["edit"] for one in document["kills"])
    assert any("changed" in one["edit"] for one in document["kills"])


def test_distances_by_name_are_judged_by_whoever_calls(probed, repo):
    folder = repo(
        check="""
        def compare(before, after):
            if len(before) != len(after):
                raise ValueError("lengths")
            gaps = [abs(a - b) for a, b in zip(before, after)]
            return {"largest": max(gaps), "mean": sum(gaps) / len(gaps)}
        """
    )
    (folder / "f.json").write_text(json.dumps({"before": [1.5, 2.5], "after": [1.5, 2.5]}))
    code, document = probed(folder, "check.py::compare", "--example", "f.json")
    assert (code, document["witnesses"]) == (0, [])
    assert any("changed" in one["edit"] for one in document["kills"])


@pytest.mark.parametrize("budget", ["0", "3601", "-1s"])
def test_a_budget_out_of_range_is_refused_with_the_range(reviewbot, repo, budget):
    folder = repo(check="def compare(a, b):\n    assert a == b\n")
    ran = reviewbot("probe", "check.py::compare", f"--budget={budget}", cwd=folder)
    assert ran.code == 2
    assert "a budget is above 0 and at most 3600 seconds" in ran.err


def test_a_budget_that_is_up_at_once_is_inconclusive(reviewbot, repo):
    folder = repo(check="def compare(a, b):\n    assert a == b\n")
    (folder / "f.json").write_text(json.dumps({"a": [1, 2], "b": [1, 2]}))
    words = ("probe", "check.py::compare", "--example", "f.json", "--budget", "0.0001s")
    ran = reviewbot(*words, cwd=folder)
    assert (ran.code, ran.out) == (3, "")
    assert "the time was up before a change was tried; a larger budget leaves more" in ran.err
