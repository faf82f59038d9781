"""What is a check: a place where code can fail because two things differ, or because a condition is false.

Checks are `assert`, assertion calls of unittest, pytest, numpy, torch, jax, chex, pandas and their like,
`raise` under a condition, `pytest.fail`, `sys.exit(1)`, blocks that must raise, and calls of a function of
the same file that holds one of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow import assertions
from reviewbot.flow.assertions import Relation
from reviewbot.flow.places import Places
from reviewbot.flow.summaries import Summaries
from reviewbot.flow.syntax import UNKNOWN, dotted, last_name, literal, qualified
from reviewbot.flow.values import values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

CheckKind = Literal["assert", "call", "raise", "fail", "exit", "context", "helper"]

_OPERATORS: dict[type[cst.BaseCompOp], Relation] = {
    cst.Equal: "equal",
    cst.NotEqual: "different",
    cst.Is: "identical",
    cst.IsNot: "distinct",
    cst.In: "member",
    cst.NotIn: "absent",
    cst.LessThan: "order",
    cst.LessThanEqual: "order",
    cst.GreaterThan: "order",
    cst.GreaterThanEqual: "order",
}
_OPPOSITE: dict[Relation, Relation] = {
    "equal": "different", "different": "equal", "close": "different", "identical": "distinct",
    "distinct": "identical", "member": "absent", "absent": "member", "true": "false", "false": "true",
}  # fmt: skip


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

    @property
    def anchor(self) -> cst.CSTNode:
        """Where a finding about this check belongs: the deciding condition of a `raise`, else `node`."""
        decides_elsewhere = self.kind in ("raise", "fail", "exit") and self.condition is not None
        return self.condition if decides_elsewhere and self.condition is not None else self.node


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two values that a check compares: `node` is the comparison or the call, `relation` what must hold of
    `left` and `right` for the check to pass (after any `not` around it)."""

    check: Check
    node: cst.CSTNode
    left: cst.BaseExpression
    right: cst.BaseExpression
    relation: Relation


def is_assertion_call(call: cst.Call, unit: Unit | None = None) -> bool:
    """Whether a call raises when something does not hold.

    With `unit` a function of the same file is judged by what it does, and only what is not in the file by
    its name.
    """
    if unit is not None:
        summary = Summaries.of(unit.file).called(called_name(call), unit)
        if summary is not None:
            return summary.asserts and not summary.generator
    return assertions.asserts_by_name(last_name(call))


def may_assert(call: cst.Call, unit: Unit) -> bool:
    """Whether a call could hold a check: an assertion call, a function of the file that may assert, or
    something unknown whose name or origin suggests that it checks."""
    if is_assertion_call(call, unit):
        return True
    summary = Summaries.of(unit.file).called(called_name(call), unit)
    if summary is not None:
        return summary.may_assert or summary.wrapped
    if assertions.may_assert_by_name(last_name(call)):
        return True
    return assertions.from_testing_module(qualified(call.func, unit.file.imports))


def called_name(call: cst.Call) -> str:
    """The dotted name of what is called, `super().f` for a method of the base, "" for the rest."""
    name = dotted(call.func)
    if not name and type(call.func) is cst.Attribute and type(call.func.value) is cst.Call:
        inner = call.func.value
        if type(inner.func) is cst.Name and inner.func.value == "super":
            return f"super().{call.func.attr.value}"
    return name


def call_of(statement: cst.CSTNode) -> cst.Call | None:
    """The call that a statement consists of, awaited or not."""
    value = statement.value if type(statement) is cst.Expr else statement
    if type(value) is cst.Await:
        value = value.expression
    return value if type(value) is cst.Call else None


# What these do not take: written out, it is a `fail` by another name.
_REFUSES = {"assertTrue": False, "assertFalse": True}


def fails(statement: cst.CSTNode) -> CheckKind | None:
    """Whether a small statement fails outright: `raise`, `pytest.fail()`, `sys.exit(1)`, `assert False`,
    `self.assertTrue(False)`."""
    if type(statement) is cst.Raise:
        return "raise"
    if type(statement) is cst.Assert and literal(statement.test) in (False, 0, None, ""):
        return "fail"
    call = call_of(statement)
    if call is None:
        return None
    name = dotted(call.func)
    if assertions.fails_by_name(name) and (name != "fail" or len(call.args) < 2):
        return "fail"
    refused = _REFUSES.get(name.rpartition(".")[2])
    if refused is not None and call.args and literal(call.args[0].value) is refused:
        return "fail"
    if name in assertions.EXITING:
        if name == "parser.error":
            return "exit"
        code = literal(call.args[0].value) if call.args else 0
        return None if code in (0, None, False) else "exit"
    return None


def is_own_exit(unit: Unit, statement: cst.CSTNode) -> bool:
    """Whether a statement calls an `exit`, `quit` or `fail` that the file imports or defines: it may come
    back."""
    call = call_of(statement)
    name = dotted(call.func) if call is not None else ""
    if name == "fail" and unit.file.imports.get(name, "").partition(".")[0] in (
        "pytest",
        "_pytest",
        "unittest",
    ):
        return False
    if name not in ("exit", "quit", "fail"):
        return False
    return name in unit.file.imports or any(other.name == name for other in unit.file.units)


def raising_context(item: cst.WithItem) -> cst.Call | None:
    """The call of a `with` item whose block must raise, warn or log: `pytest.raises(ValueError)`."""
    call = item.item
    if type(call) is cst.Call and last_name(call) in assertions.RAISING_CONTEXTS:
        return call
    return None


@once
def checks(unit: Unit) -> list[Check]:
    """Every check in a unit, in source order. Worked out once, because most rules ask."""
    found: list[Check] = []
    for node in unit.find(cst.Assert, cst.Raise, cst.Expr, cst.With):
        check = _check(unit, node)
        if check is not None:
            found.append(check)
    return found


def checks_in(unit: Unit, node: cst.CSTNode) -> list[Check]:
    """The checks of a unit that stand under a node, in source order."""
    return _placed_checks(unit).under(node)


@once
def _placed_checks(unit: Unit) -> Places[Check]:
    return Places(unit, checks(unit), lambda one: one.node)


def _check(unit: Unit, node: cst.CSTNode) -> Check | None:
    if type(node) is cst.Assert:
        return Check("assert", node, node.test)
    if type(node) is cst.With:
        return Check("context", node) if any(raising_context(item) for item in node.items) else None
    kind = None if is_own_exit(unit, node) else fails(node)
    if kind == "raise":
        assert isinstance(node, cst.Raise)
        return _raise(unit, node)
    if kind is not None:
        condition, when = _condition(unit, node)
        call = call_of(node)
        if kind == "exit" and condition is None and call is not None and call.args:
            code = call.args[0].value
            if type(code) is cst.IfExp:
                return Check(kind, node, code.test, literal(code.body) not in (0, None, False))
            return Check(kind, node, code if literal(code) is UNKNOWN else None, True)
        return Check(kind, node, condition, when)
    call = call_of(node)
    if call is None or not is_assertion_call(call, unit):
        return None
    resolved = Summaries.of(unit.file).called(called_name(call), unit) is not None
    return Check("helper" if resolved else "call", node)


def _raise(unit: Unit, node: cst.Raise) -> Check | None:
    """A `raise` is a check if something decides whether it is reached; a stub's or a fake's is none."""
    raised = last_name(node.exc) if node.exc is not None else ""
    if raised in ("NotImplementedError", "StopIteration", "StopAsyncIteration") or "Skip" in raised:
        return None
    condition, when = _condition(unit, node)
    if (
        condition is None
        and raised not in ("AssertionError", "SystemExit", "Failed")
        and not _handles(unit, node)
    ):
        return None
    return Check("raise", node, condition, when)


def _handles(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a statement stands in a handler, or in the `else` of a `try` or a loop."""
    for above in unit.ancestors(node):
        if isinstance(above, (cst.ExceptHandler, cst.Else)):
            return True
        if isinstance(above, (cst.FunctionDef, cst.ClassDef)):
            return False
    return False


def _condition(unit: Unit, node: cst.CSTNode) -> tuple[cst.BaseExpression | None, bool]:
    below = node
    for above in unit.ancestors(node):
        if type(above) is cst.If:
            return above.test, above.orelse is not below
        if isinstance(above, (cst.FunctionDef, cst.For, cst.While, cst.Try, cst.With)):
            return None, False
        below = above
    return None, False


@once
def comparisons(unit: Unit) -> list[Comparison]:
    """Every two values that a check of the unit compares, in source order: in an `assert` or in the
    condition of a failing `if` (through `and`, `or`, `not`, `all([…])`), in an assertion call, and in a
    predicate such as `torch.equal(a, b)` that is asserted."""
    return list(_comparisons(unit))


def comparisons_in(unit: Unit, node: cst.CSTNode) -> list[Comparison]:
    """The comparisons of a unit that stand under a node, in the order of `comparisons`."""
    return _placed_comparisons(unit).under(node)


@once
def _placed_comparisons(unit: Unit) -> Places[Comparison]:
    return Places(unit, comparisons(unit), lambda one: one.node)


def _comparisons(unit: Unit) -> Iterator[Comparison]:
    for check in checks(unit):
        if check.condition is not None:
            yield from compared(unit, check, check.condition, holds=not check.fails_when)
        elif check.kind in ("call", "helper"):
            call = call_of(check.node)
            if call is not None:
                yield from _asserted(unit, check, call)


def is_library_assertion(call: cst.Call, unit: Unit) -> bool:
    """Whether an assertion call is unittest's own method or a well-known library's function, which compare
    and do nothing else; a helper of the project may check more than it says."""
    name = last_name(call)
    if name not in assertions.KNOWN or Summaries.of(unit.file).called(called_name(call), unit) is not None:
        return False
    origin = qualified(call.func, unit.file.imports).partition(".")[0]
    return origin in assertions.LIBRARIES or (origin in ("self", "cls") and name[6:7].isupper())


def _asserted(unit: Unit, check: Check, call: cst.Call) -> Iterator[Comparison]:
    known = assertions.KNOWN.get(last_name(call))
    if known is None:
        return
    relation, count = known
    left, right = operand(call, 0), operand(call, 1)
    if relation in ("true", "false"):
        if left is not None and last_name(call) in (
            "assertTrue",
            "assertFalse",
            "assert_",
            "assert_true",
            "ok_",
            "assert_false",
            "failUnless",
            "failIf",
        ):
            yield from compared(unit, check, left, holds=relation == "true")
    elif left is not None and right is not None and count == 2 and relation != "raises":
        yield Comparison(check, call, left, right, relation)


def operand(call: cst.Call, position: int) -> cst.BaseExpression | None:
    """The first (0) or second (1) operand of an assertion call, by position or by any library's keyword."""
    for index, arg in enumerate(call.args):
        if arg.star:
            return None
        if arg.keyword is None and index == position:
            return arg.value
        if arg.keyword is not None and arg.keyword.value in assertions.KEYWORDS[position]:
            return arg.value
    return None


def compared(unit: Unit, check: Check, node: cst.BaseExpression, *, holds: bool) -> Iterator[Comparison]:
    """Every two values that a condition compares; `holds` is the truth value with which `check` passes."""
    if type(node) is cst.Comparison:
        left = node.left
        for target in node.comparisons:
            relation = _OPERATORS.get(type(target.operator))
            if relation is not None:
                yield Comparison(check, node, left, target.comparator, relation if holds else _not(relation))
            left = target.comparator
    elif type(node) is cst.BooleanOperation:
        yield from compared(unit, check, node.left, holds=holds)
        yield from compared(unit, check, node.right, holds=holds)
    elif type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        yield from compared(unit, check, node.expression, holds=not holds)
    elif type(node) is cst.Call:
        yield from _predicate(unit, check, node, holds=holds)


def _not(relation: Relation) -> Relation:
    return _OPPOSITE.get(relation, relation)


def _predicate(unit: Unit, check: Check, call: cst.Call, *, holds: bool) -> Iterator[Comparison]:
    relation = predicate(call, unit)
    name = last_name(call)
    if name in ("all", "any", "bool"):
        inner = call.args[0].value if len(call.args) == 1 else None
        if inner is None and type(call.func) is cst.Attribute:
            inner = call.func.value  # `(a == b).all()`
        if isinstance(inner, (cst.GeneratorExp, cst.ListComp)):
            inner = inner.elt
        if inner is not None:
            yield from compared(unit, check, inner, holds=holds)
        return
    if relation is None or relation == "true":
        return
    if qualified(call.func, unit.file.imports) in assertions.PREDICATES:
        left, right = operand(call, 0), operand(call, 1)
    else:
        assert isinstance(call.func, cst.Attribute)
        left, right = call.func.value, operand(call, 0)
    if left is not None and right is not None:
        yield Comparison(check, call, left, right, relation if holds else _not(relation))


def predicate(call: cst.Call, unit: Unit) -> Relation | None:
    """What a true result of a call means, if it is one that returns a verdict and never raises over a
    difference: `np.allclose(a, b)`, `torch.equal(a, b)`, `a.equals(b)`."""
    name = qualified(call.func, unit.file.imports)
    if name in assertions.PREDICATES:
        # `eq = self.assertEqual` may stand where `from operator import eq` does not reach.
        return None if _is_rebound(unit, call.func) else assertions.PREDICATES[name]
    if type(call.func) is cst.Attribute:
        if call.func.attr.value in assertions.PREDICATE_METHODS and call.args:
            root = dotted(call.func.value)
            if root in unit.file.imports:
                return None  # a function of some other module
            return assertions.PREDICATE_METHODS[call.func.attr.value]
        if call.func.attr.value in ("all", "any"):
            return "true"
    return None


def _is_rebound(unit: Unit, function: cst.BaseExpression) -> bool:
    """Whether the name at the left of what is called is given another meaning inside the unit."""
    while type(function) is cst.Attribute:
        function = function.value
    if not unit.is_function or type(function) is not cst.Name:
        return False
    return any(binding.kind not in ("import", "unbound") for binding in values(unit).reaching(function))
