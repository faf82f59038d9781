"""Code in one form."""

from __future__ import annotations

import libcst as cst
import pytest

from reviewbot.flow.syntax import canonical


@pytest.mark.parametrize(
    ("code", "form"),
    [
        ('"a b"', "'a b'"),
        ("( a==b )", "a == b"),
        ("f(a,\n  b)", "f(a, b)"),
        ("await  f()", "await f()"),
    ],
)
def test_an_expression_has_one_form(code, form):
    assert canonical(cst.parse_expression(code)) == form


@pytest.mark.parametrize(
    ("code", "form"), [("x  =  1", "x = 1"), ("if x :\n  y( )", "if x:\n    y()"), ("'''a'''", "'a'")]
)
def test_a_statement_has_one_form(code, form):
    assert canonical(cst.parse_statement(code)) == form
