"""What is a check: a place where code can fail because two things differ, or because a condition is false.

Checks are `assert`, assertion calls of unittest, pytest, torch, numpy, jax and chex, `raise` under a
condition, `pytest.fail`, `sys.exit(1)`, calls of a helper that asserts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.syntax import dotted, last_name, literal

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

CheckKind = Literal["assert", "call", "raise", "fail", "exit"]

# unittest's methods: how many arguments are compared.
UNITTEST = {
    "assertEqual": 2, "assertNotEqual": 2, "assertTrue": 1, "assertFalse": 1, "assertIs": 2,
    "assertIsNot": 2, "assertIsNone": 1, "assertIsNotNone": 1, "assertIn": 2, "assertNotIn": 2,
    "assertIsInstance": 2, "assertNotIsInstance": 2, "assertAlmostEqual": 2, "assertNotAlmostEqual": 2,
    "assertGreater": 2, "assertGreaterEqual": 2, "assertLess": 2, "assertLessEqual": 2,
    "assertRegex": 2, "assertNotRegex": 2, "assertCountEqual": 2, "assertMultiLineEqual": 2,
    "assertSequenceEqual": 2, "assertListEqual": 2, "assertTupleEqual": 2, "assertSetEqual": 2,
    "assertDictEqual": 2, "assertRaises": 1, "assertRaisesRegex": 2, "assertWarns": 1,
    "assertLogs": 0, "assertNoLogs": 0,
}  # fmt: skip

# Functions that raise when their two arguments differ, by last name; the library is implied.
COMPARING_CALLS = frozenset({
    "assert_close", "assert_allclose", "assert_equal", "assert_array_equal", "assert_almost_equal",
    "assert_array_almost_equal", "assert_array_less", "assert_approx_equal", "assert_string_equal",
    "assert_trees_all_equal", "assert_trees_all_close", "assert_tree_all_close", "assert_frame_equal",
    "assert_series_equal", "assert_index_equal", "assert_equal_shape", "assertAllClose", "assertAllEqual",
    "assertArraysEqual", "assertArraysAllClose", "assertTensorClose",
})  # fmt: skip

# Functions that return a verdict and never raise over a difference.
PREDICATES = frozenset({
    "allclose", "isclose", "array_equal", "array_equiv", "equal", "is_close", "all", "any",
})  # fmt: skip

_ASSERT_NAME = re.compile(
    r"_*(assert|expect|verify|check|ensure|validate)(?![a-z])|_*(assert|expect|verify)[A-Z_]"
)


@dataclass(frozen=True, slots=True)
class Check:
    """One place that can fail.

    `node` is the statement or call; `condition` the expression that decides, if there is one (of an
    `assert`, of the `if` around a `raise`); `fails_when` says for which of its truth values it fails.
    """

    kind: CheckKind
    node: cst.CSTNode
    condition: cst.BaseExpression | None = None
    fails_when: bool = False


def is_assertion_call(call: cst.Call) -> bool:
    """Whether a call by its name alone is one that raises when a comparison does not hold."""
    name = last_name(call)
    if name in UNITTEST or name in COMPARING_CALLS:
        return True
    return (name.startswith(("assert_", "assert")) and name != "assert_called") or name.startswith("_assert")


def fails(statement: cst.CSTNode) -> CheckKind | None:
    """Whether a small statement fails outright: `raise`, `pytest.fail()`, `sys.exit(1)`."""
    if isinstance(statement, cst.Raise):
        return "raise"
    if isinstance(statement, cst.Assert) and literal(statement.test) in (False, 0, None, ""):
        return "fail"
    if isinstance(statement, cst.Expr) and isinstance(statement.value, cst.Call):
        name = dotted(statement.value.func)
        if name in ("pytest.fail", "self.fail", "fail"):
            return "fail"
        if name in ("sys.exit", "exit", "os._exit", "quit"):
            args = statement.value.args
            code = literal(args[0].value) if args else 0
            return None if code in (0, None) else "exit"
    return None


def checks(unit: Unit) -> list[Check]:
    """Every check in a unit, in source order."""
    found: list[Check] = []
    for node in unit.find(cst.Assert, cst.Raise, cst.Expr):
        if isinstance(node, cst.Assert):
            found.append(Check("assert", node, node.test, fails_when=False))
            continue
        kind = fails(node)
        if kind:
            condition, when = _condition(unit, node)
            found.append(Check(kind, node, condition, when))
        elif isinstance(node, cst.Expr):
            call = node.value.expression if isinstance(node.value, cst.Await) else node.value
            if isinstance(call, cst.Call) and is_assertion_call(call):
                found.append(Check("call", node))
    return found


def _condition(unit: Unit, node: cst.CSTNode) -> tuple[cst.BaseExpression | None, bool]:
    below = node
    for above in unit.ancestors(node):
        if isinstance(above, cst.If):
            return above.test, above.orelse is not below
        if isinstance(above, (cst.FunctionDef, cst.For, cst.While, cst.Try, cst.With)):
            return None, False
        below = above
    return None, False
