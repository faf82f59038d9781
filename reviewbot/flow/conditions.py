"""What an assertion of unittest demands, as the condition that a plain `assert` would have.

`assertLess(a, b)` is `a < b`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import call_of, operand
from reviewbot.flow.syntax import last_name

if TYPE_CHECKING:
    from reviewbot.flow.checks import Check

TRUTHS = ("assertTrue", "assertFalse", "assert_", "failUnless", "failIf")
COMPARED: dict[str, type[cst.BaseCompOp]] = {
    "assertGreaterEqual": cst.GreaterThanEqual,
    "assertGreater": cst.GreaterThan,
    "assertLess": cst.LessThan,
    "assertLessEqual": cst.LessThanEqual,
    "assertEqual": cst.Equal,
    "assertEquals": cst.Equal,
    "assertNotEqual": cst.NotEqual,
    "assertIn": cst.In,
    "assertNotIn": cst.NotIn,
}
OPERATORS: dict[str, type[ast.cmpop]] = {
    "assertGreaterEqual": ast.GtE,
    "assertGreater": ast.Gt,
    "assertLess": ast.Lt,
    "assertLessEqual": ast.LtE,
    "assertEqual": ast.Eq,
    "assertEquals": ast.Eq,
    "assertNotEqual": ast.NotEq,
    "assertIn": ast.In,
    "assertNotIn": ast.NotIn,
}


def condition_of(check: Check) -> tuple[cst.BaseExpression | None, bool]:
    """The condition of a check and the value with which it fails, also of unittest's calls."""
    if check.condition is not None:
        return check.condition, check.fails_when
    call = call_of(check.node) if check.kind == "call" else None
    first = operand(call, 0) if call is not None else None
    if call is None or first is None:
        return None, False
    name, second = last_name(call), operand(call, 1)
    if name in TRUTHS:
        return first, name in ("assertFalse", "failIf")
    if name == "assertIsNotNone":
        return cst.Comparison(first, [cst.ComparisonTarget(cst.IsNot(), cst.Name("None"))]), False
    if name in COMPARED and second is not None:
        return cst.Comparison(first, [cst.ComparisonTarget(COMPARED[name](), second)]), False
    return None, False
