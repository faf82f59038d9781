from __future__ import annotations

import ast

import pytest

from reviewbot.flow.suspects import same_code


def parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("a.b[0]", "a.b[0]", True),
        ("a.b[0]", "a.b[1]", False),
        ("a.b.c", "d.b.c", False),
        ("f(a, b)", "f(a)", False),
        ("f(x=1)", "f(y=1)", False),
        ("[a, 1]", "[a, 1.0]", False),
        ("a + b", "a - b", False),
        ("a", "1", False),
    ],
)
def test_two_expressions_are_the_same_code(left, right, expected):
    assert same_code(parsed(left), parsed(right)) is expected


def test_where_a_value_is_given_and_where_it_is_read_are_the_same_code():
    given = ast.parse("a.b = 1").body[0]
    assert isinstance(given, ast.Assign)
    assert same_code(given.targets[0], parsed("a.b"))


def test_a_chain_may_be_as_long_as_python_reads_it():
    chain = "a" + ".b().c[0]" * 400
    assert same_code(parsed(chain), parsed(chain))
    assert not same_code(parsed(chain), parsed("d" + chain[1:]))
