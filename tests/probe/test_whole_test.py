"""What a whole test lets through: rows that it holds against each other, and values that it only reads."""

from __future__ import annotations

import textwrap

import pytest

STOCK = """
    def orders():
        return [
            {"item": "bolt", "amount": 4, "day": 1},
            {"item": "nut", "amount": 7, "day": 2},
            {"item": "washer", "amount": 9, "day": 3},
        ]

    def restored():
        return [dict(order) for order in orders()]

    def backwards():
        return restored()[::-1]

    def counts():
        return {"bolt": 4, "nut": 7}

    def counted_again():
        return counts()

    class Box:
        def __init__(self):
            self.held = []

        def receive(self, amount):
            if amount <= 0:
                raise ValueError("amount must be positive")
            self.held.append(object())
"""
TESTS = """
    from stock import Box, backwards, counted_again, counts, orders, restored

    def test_zipped():
        box = Box()
        box.receive(3)
        for left, right in zip(orders(), restored()):
            assert left == right

    def test_zipped_and_counted():
        assert len(orders()) == 3
        for left, right in zip(orders(), restored(), strict=True):
            assert left == right

    def test_by_index():
        found = restored()
        for index, order in enumerate(orders()):
            assert order == found[index]

    def test_common_keys():
        left, right = counts(), counted_again()
        for name in left.keys() & right.keys():
            assert left[name] == right[name]

    def test_common_items():
        left = {order["item"]: order for order in orders()}
        right = {order["item"]: order for order in backwards()}
        for item in left.keys() & right.keys():
            assert left[item]["amount"] == right[item]["amount"]

    def test_first_alone():
        assert orders()[0] == restored()[0]

    def test_amounts():
        for order in orders():
            assert order["amount"] in (4, 7, 9)
"""


WRITTEN = """
    import unittest
    from stock import orders, restored

    WANTED = [
        {"item": "bolt", "amount": 4, "day": 1},
        {"item": "nut", "amount": 7, "day": 2},
        {"item": "washer", "amount": 9, "day": 3},
    ]

    class Restored(unittest.TestCase):
        def test_wanted(self):
            for left, right in zip(restored(), WANTED):
                self.assertEqual(left, right)

        def test_items(self):
            found = restored()
            items = ["bolt", "nut", "washer"]
            assert all(left["item"] == right for left, right in zip(found, items))

        def test_counted(self):
            self.assertEqual(len(restored()), 3)
            for left, right in zip(restored(), WANTED, strict=True):
                self.assertEqual(left, right)

        def test_days(self):
            for order in restored():
                self.assertIn(order["day"], (1, 2, 3))
"""


@pytest.fixture
def stock(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "stock.py").write_text(textwrap.dedent(STOCK))
    (tmp_path / "test_stock.py").write_text(textwrap.dedent(TESTS))
    (tmp_path / "test_written.py").write_text(textwrap.dedent(WRITTEN))
    return tmp_path


def reasons(document):
    return {one["edit"].partition(":")[0]: one["why"] for one in document["set_aside"]}


def accounted(document):
    """Of a whole test each change that passes is let through, or set aside with a reason."""
    return len(document["let_through"]) + len(document["set_aside"]) == document["passed"]


def test_rows_that_zip_leaves_out_are_a_witness(probed, stock):
    code, document = probed(stock, "test_stock.py::test_zipped")
    assert code == 1
    (witness,) = document["witnesses"]
    assert (witness["why"], witness["changes"][0]["says"]) == ("gap", "last row dropped")
    assert witness["changes"][0]["where"] in ("orders()[2]", "restored()[2]")
    through = [one["edit"].partition(": ") for one in document["let_through"]]
    for what in ("all rows dropped", "last row dropped"):
        assert {place.partition("[")[0] for says, _, place in through if says == what} == {
            "orders()",
            "restored()",
        }
    assert accounted(document)


@pytest.mark.parametrize("name", ["wanted", "items"])
def test_rows_that_a_list_in_the_source_hides_are_a_witness(probed, stock, name):
    code, document = probed(stock, f"test_written.py::Restored::test_{name}")
    assert code == 1
    (witness,) = document["witnesses"]
    (change,) = witness["changes"]
    assert (witness["why"], change["says"]) == ("gap", "last row dropped")
    assert change["where"].startswith("restored()[2]")


@pytest.mark.parametrize("name", ["counted", "days"])
def test_rows_beside_a_list_that_hides_none_are_no_witness(probed, stock, name):
    _, document = probed(stock, f"test_written.py::Restored.test_{name}")
    assert document["witnesses"] == []


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "Restored::test_wantd",
            "has no function 'Restored.test_wantd'; did you mean 'Restored.test_wanted'?",
        ),
        (
            "Restored",
            "is a class; name one of its functions: test_written.py::Restored::test_wanted, test_items",
        ),
        ("missing", "has no function 'missing'; it has Restored.test_wanted, Restored.test_items"),
    ],
)
def test_a_test_of_unittest_that_is_not_there_is_told_with_those_that_are(reviewbot, stock, name, says):
    ran = reviewbot("probe", f"test_written.py::{name}", cwd=stock)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_rows_that_one_side_may_have_more_of_are_a_witness(probed, stock):
    code, document = probed(stock, "test_stock.py::test_by_index")
    assert code == 1
    assert {one["edit"].rpartition(": ")[2].partition("[")[0] for one in document["let_through"]} == {
        "orders()"
    }, "what is lost of the rows that are looked up falls over"
    assert accounted(document)


def test_keys_that_one_side_lacks_are_a_witness(probed, stock):
    code, document = probed(stock, "test_stock.py::test_common_keys")
    assert code == 1
    says = [one["changes"][0]["says"] for one in document["witnesses"]]
    assert says == ["bolt missing", "nut missing"]
    assert {one["edit"].partition(":")[0] for one in document["let_through"]} == {
        "bolt missing",
        "nut missing",
    }
    assert accounted(document)


def test_rows_that_come_in_another_order_are_held_against_each_other_too(probed, stock):
    code, document = probed(stock, "test_stock.py::test_common_items")
    assert code == 1
    (witness,) = document["witnesses"]
    assert witness["changes"][0]["says"] == "last row dropped"
    assert reasons(document)["rows swapped"].startswith("the rows are told apart by what they hold")


def test_rows_that_are_counted_leave_no_witness(probed, stock):
    code, document = probed(stock, "test_stock.py::test_zipped_and_counted")
    assert (code, document["witnesses"], document["let_through"]) == (0, [], [])
    assert accounted(document)


@pytest.mark.parametrize("name", ["test_first_alone", "test_amounts"])
def test_what_a_test_only_reads_is_set_aside_with_the_reason(probed, stock, name):
    code, document = probed(stock, f"test_stock.py::{name}")
    assert (code, document["witnesses"], document["let_through"]) == (0, [], [])
    assert document["passed"] > 0
    assert reasons(document)["last row dropped"].startswith("the test compares that list with no other one")
    assert accounted(document)


def test_every_kind_that_passed_is_told_with_its_reason(reviewbot, stock):
    ran = reviewbot("probe", "test_stock.py::test_amounts", cwd=stock)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].endswith("passed; no witness, for the reasons below")
    start = next(n for n, line in enumerate(lines) if line.startswith("passed, and no witness ("))
    told = [line for line in lines[start + 1 :] if line.startswith("  ")]
    assert any("last row dropped" in line and "compares that list with no other one" in line for line in told)
    assert any("day changed" in line and "it is not compared" in line for line in told)


def test_a_check_of_the_product_is_none_of_the_tests_own(reviewbot, probed, stock):
    _, document = probed(stock, "test_stock.py::test_zipped")
    assert [one for one in document["dead"] if one["path"] == "stock.py"] == []
    ran = reviewbot("probe", "test_stock.py::test_zipped", cwd=stock)
    assert "amount <= 0" not in ran.out
    assert "tier" not in ran.out


COMPARED = """
    from stock import orders, restored

    def compare(baseline, other):
        assert len(baseline) == len(other)
        for left, right in zip(baseline, other):
            assert left["item"] == right["item"]
            if right["day"] == 2:
                continue
            assert left["amount"] == right["amount"]

    def test_orders():
        compare(orders(), restored())
"""
ELSEWHERE = """
    from test_compared import compare

    def test_nothing_to_compare():
        compare([], [])
"""


@pytest.fixture
def compared(stock):
    (stock / "test_compared.py").write_text(textwrap.dedent(COMPARED))
    (stock / "test_elsewhere.py").write_text(textwrap.dedent(ELSEWHERE))
    return stock


def test_a_test_says_which_function_judges_for_it(reviewbot, probed, compared):
    _, document = probed(compared, "test_compared.py::test_orders")
    assert document["judges"] == ["test_compared.py::compare"]
    ran = reviewbot("probe", "test_compared.py::test_orders", cwd=compared)
    assert "more may be seen of what it calls: reviewbot probe test_compared.py::compare\n" in ran.out
    _, document = probed(compared, "test_stock.py::test_zipped")
    assert document["judges"] == []


def test_inputs_come_from_the_file_of_the_check_too(probed, compared):
    code, document = probed(compared, "test_compared.py::compare")
    assert (code, document["inputs"]) == (1, "recorded in test_compared.py::test_orders")
    excuse, unread = document["witnesses"]
    assert (excuse["why"], unread["why"]) == ("excuse", "unread")
    assert unread["changes"][0]["says"] == "day changed", "the branch alone reads it"


def test_a_difference_that_passes_counts_in_the_exit_code_of_the_matrix_too(reviewbot, compared):
    ran = reviewbot("probe", "test_compared.py::compare", "--kill-matrix", cwd=compared)
    assert "\nlet through: " in ran.out and "no witness" not in ran.out
    assert ran.code == 1
    # Everything that passes is explained: the test only reads its rows.
    ran = reviewbot("probe", "test_stock.py::test_amounts", "--kill-matrix", cwd=compared)
    assert "\nlet through: " not in ran.out and ran.code == 0


def test_what_stands_in_two_sentences_is_counted_in_two_ways_and_says_so(reviewbot, compared):
    ran = reviewbot("probe", "test_compared.py::compare", cwd=compared)
    assert "of the places tried in other, the same kind of change is caught in " in ran.out
    assert " such changes of amount, in all arguments, pass (" in ran.out
