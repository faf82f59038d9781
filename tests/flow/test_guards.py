"""What is made sure of around a loop, and what an iterable is made from."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest

from reviewbot.flow.guards import non_empty, same_keys, same_length
from reviewbot.flow.iteration import iterable
from reviewbot.source.units import File


def function(code, name="f"):
    unit = File("code.py", textwrap.dedent(code).encode()).unit(name)
    assert unit is not None
    return unit


def last_zip(unit):
    call = [node for node in unit.find(cst.Call) if unit.text(node.func) == "zip"][-1]
    return call, call.args[0].value, call.args[1].value


def body(text):
    return "def f(a, b, n):\n" + textwrap.indent(text, "    ")


LOOP = "\nfor x, y in zip(a, b):\n    assert x == y\n"

EQUAL = [
    "assert len(a) == len(b)" + LOOP,
    LOOP + "assert len(a) == len(b)",
    "self.assertEqual(len(a), len(b))" + LOOP,
    "if len(a) != len(b):\n    raise AssertionError('rows')" + LOOP,
    "assert a.shape == b.shape" + LOOP,
    "assert len(a) == n\nassert n == len(b)" + LOOP,
    "assert len(a) == 3 and len(b) == 3" + LOOP,
    "k = len(a)\nassert len(b) == k" + LOOP,
    "b = [g(x) for x in a]" + LOOP,
    "b = list(map(g, a))" + LOOP,
    "a = [1, 2]\nb = (3, 4)" + LOOP,
    "a = [0] * n\nb = range(n)" + LOOP,
    "a, b = zip(*n)" + LOOP,
    "assert a.keys() == b.keys()" + LOOP,
    "assert list(a) == list(b)" + LOOP,
    "compare_lengths(a, b)" + LOOP,
    "for x, y in zip(a, b, strict=True): pass" + LOOP,
]
UNEQUAL = [
    LOOP,
    "assert len(a) == 3" + LOOP,
    "print(len(a) == len(b))" + LOOP,
    "b = [g(x) for x in a if x]" + LOOP,
    "assert len(a) == len(b)\na = a[1:]" + LOOP,
    "if n:\n    assert len(a) == len(b)" + LOOP,
    "a = [1, 2]\nb = [1, 2, 3]" + LOOP,
    "assert a[0] == b[0]" + LOOP,
    "assert len(a) > 0 and len(b) > 0" + LOOP,
]


@pytest.mark.parametrize("text", EQUAL)
def test_lengths_are_known_to_be_equal(text):
    unit = function(body(text))
    assert same_length(unit, *last_zip(unit))


@pytest.mark.parametrize("text", UNEQUAL)
def test_lengths_are_not_known_to_be_equal(text):
    unit = function(body(text))
    assert not same_length(unit, *last_zip(unit))


@pytest.mark.parametrize(
    ("helper", "known"),
    [("assert len(x) == len(y)", True), ("assert x[0] == y[0]", False), ("inner(y, x)", True)],
)
def test_a_helper_of_the_file_is_looked_into(helper, known):
    unit = function(
        f"""
        def inner(p, q):
            if len(p) != len(q):
                raise ValueError("lengths")
        def check_it(x, y):
            {helper}
        def f(a, b):
            check_it(b, a)
            for x, y in zip(a, b):
                assert x == y
        """
    )
    assert same_length(unit, *last_zip(unit)) is known


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("assert a.keys() == b.keys()", True),
        ("assert set(a) == set(b)", True),
        ("self.assertEqual(sorted(a), sorted(b.keys()))", True),
        ("keys = set(a)\nassert keys == set(b.keys())", True),
        ("b = dict(a)", True),
        ("assert a['x'] == b['x']", False),
        ("assert len(a) == len(n)", False),
    ],
)
def test_key_sets(text, known):
    unit = function(body(text + LOOP))
    assert same_keys(unit, *last_zip(unit)) is known


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("assert a", True),
        ("assert len(a) == 3", True),
        ("assert len(a) > 0", True),
        ("if not a:\n    raise ValueError", True),
        ("assert any(x > 1 for x in a)", True),
        ("assert all(x > 1 for x in a)", False),
        ("first = a[0]", True),
        ("k = len(a)\nassert k", True),
        ("assert a == [1]", True),
        ("assert 1 in a", True),
        ("assert b", False),
        ("if n:\n    assert a", False),
        ("verify_not_empty(a)", True),
    ],
)
def test_a_collection_is_known_to_hold_something(text, known):
    unit = function(body(text + "\nfor x in a:\n    assert x\n"))
    (loop,) = unit.find(cst.For)
    assert non_empty(unit, loop, loop.iter) is known


@pytest.mark.parametrize(
    ("code", "made", "empty"),
    [
        ("[1, 2]", "literal", False),
        ("[]", "literal", True),
        ("TABLE", "literal", False),
        ("TABLE.items()", "literal", False),
        ("range(3)", "range", False),
        ("range(0)", "range", True),
        ("range(n)", "range", None),
        ("enumerate(TABLE)", "literal", False),
        ("[x for x in a if x]", "filtered", None),
        ("[x for x in TABLE]", "literal", False),
        ("filter(None, a)", "filtered", None),
        ("sorted(p.glob('*.json'))", "loaded", None),
        ("open(n)", "loaded", None),
        ("a.get('x', [])", "lookup", None),
        ("a.get('x') or []", "lookup", None),
        ("getattr(a, 'x', ())", "lookup", None),
        ("a.keys() & b.keys()", "common", None),
        ("set(a).intersection(b)", "common", None),
        ("db.execute(n).fetchall()", "query", None),
        ("a", "parameter", None),
        ("a[0]", "item", None),
        ("g(a)", "call", None),
        ("rows(a)", "filtered", None),
        ("zip(TABLE, [x for x in a if x])", "filtered", None),
        ("'a b'.split()", "literal", False),
        ("a.split()", "call", None),
    ],
)
def test_what_an_iterable_is_made_from(code, made, empty):
    unit = function(
        f"""
        TABLE = {{"a": 1}}
        def rows(a):
            return [x for x in a if x.ok]
        def f(a, b, n, p, db):
            it = {code}
            for x in it:
                assert x
        """
    )
    (loop,) = unit.find(cst.For)
    found = iterable(unit, loop.iter)
    assert (found.made, found.empty) == (made, empty)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("it = zip(a, b)\nlist(it)", "used-up"),
        ("it = (x for x in a)\nfor x in it: g(x)", "used-up"),
        ("it = (x for x in a)\nif n: list(it)", "parameter"),
        ("it = list(a)\nlist(it)", "parameter"),
        ("it = []\nfor x in a:\n    if x: it.append(x)", "filtered"),
        ("it = []\nfor x in a: it.append(x)", "unknown"),
    ],
)
def test_what_happened_to_an_iterable_before(text, made):
    unit = function(body(text + "\nfor x in it:\n    assert x\n"))
    assert iterable(unit, unit.find(cst.For)[-1].iter).made == made
