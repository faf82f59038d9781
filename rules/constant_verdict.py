"""A check whose condition has the same value on every run.

## Why
Python takes a non-empty tuple, a generator, a function or a message as true. An assertion over one of
them, or over a flag that nothing ever sets to false, passes whatever the code under test does.

## Instead
Assert the comparison itself, and put the message after a comma outside the parentheses. Give a flag a path
on which it becomes false; call the function; compare with `assertEqual`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import libcst as cst

<<<<<<< HEAD
from reviewbot.flow.nearby import still_catches
=======
from reviewbot.flow.calls import callee
from reviewbot.flow.catches import names_read, still_catches
from reviewbot.flow.checks import Check, checks
from reviewbot.flow.syntax import argument, canonical, dotted, last_name, literal, qualified
from reviewbot.flow.truth import Truth, display, is_length, truth
from reviewbot.flow.values import values
>>>>>>> 292ee74 (wip)
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Fix, Rule, Unit, rewrite, step

_ONE_VALUE = {
    "assertTrue": "assertEqual",
    "assertFalse": "assertEqual",
    "assertIsNotNone": "",
    "assertIsNone": "",
}
_ORDER = {"assertGreaterEqual": cst.GreaterThanEqual, "assertGreater": cst.GreaterThan}
_MESSAGE = re.compile(r"msg|mess|err|reason|desc|text|output|hint|info|label|name|title|str|fmt|detail", re.I)
_PREDICATES = {f"{m}.{f}" for m in ("numpy", "torch", "math", "jax.numpy") for f in (
    "allclose", "isclose", "array_equal", "equal", "all", "any")}  # fmt: skip


class ConstantVerdict(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example("def test_rows(run):\n    assert (run(1) == [2], 'wrong')  # <- here\n"),
        Example("def test_rows(run):\n    assert (r == 2 for r in run(1))  # <- here\n"),
        Example("def test_rows(run):\n    assert [r == 2 for r in run(1)]  # <- here\n"),
        Example("def test_rows(run):\n    assert lambda: run(1) == [2]  # <- here\n"),
        Example("def test_rows(run):\n    assert f'rows differ: {run(1)}'  # <- here\n"),
        Example("def test_rows(run):\n    assert run(1) == [2] or 'differ'  # <- here\n"),
        Example("def test_rows(run):\n    assert run(1) == 1 or 2  # <- here\n"),
        Example("def test_rows(run):\n    assert len(run(1)) >= 0  # <- here\n"),
        Example("def test_rows(run):\n    assert run(1) == [2], run(2) == [3]  # <- here\n"),
        Example(
            "def test_rows(run, rows):\n    same = True\n    for a, b in rows:\n        if run(a) != b:\n"
            "            print(a, b)\n    assert same  # <- here\n"
        ),
        Example(
            "def compare(left, right):\n    failures = []\n    for a, b in zip(left, right, strict=True):\n"
            "        if a != b:\n            print(a, b)\n    if failures:\n"
            "        raise AssertionError(failures)  # <- here\n"
        ),
        Example("def same(a, b):\n    return a == b\n\ndef test(run):\n    assert same  # <- here\n"),
        Example("async def same(a):\n    return a\n\ndef test(run):\n    assert same(run)  # <- here\n"),
        Example("import torch\n\ndef test(a, b):\n    assert torch.equal  # <- here\n"),
        Example("def test(a, b):\n    assert (a == b).all  # <- here\n"),
        Example(
            "from unittest import TestCase\n\nclass T(TestCase):\n    def test(self):\n"
            "        self.assertTrue(run(1), 2)  # <- here\n        self.assertTrue(run(1) or True)  # <- here\n"
            "        self.assertGreaterEqual(len(run(1)), 0)  # <- here\n"
            "        self.assertIsNotNone(run(1) == 2)  # <- here\n"
            "        self.assertTrue((run(1) == 2, 'wrong'))  # <- here\n"
        ),
        Example("def test_reached(run):\n    run()\n    assert True  # <- here\n"),
    )
    good = (
        Example("def test_rows(run):\n    assert run(1) == [2], 'wrong'\n"),
        Example("def test_rows(run):\n    assert all(r == 2 for r in run(1))\n    assert len(run(1)) > 0\n"),
        # A filter makes the list a search: it is empty where nothing fits.
        Example("def test_rows(run):\n    assert [r for r in run(1) if r == 2]\n    assert [*run(1)]\n"),
        # The marker of a place that must not be reached.
        Example("def test(run):\n    if run():\n        assert False, 'unreachable'\n    assert 0\n"),
        # A flag that a callback, a handler or a loop may set.
        Example(
            "def test(run):\n    called = False\n    def on_row(row):\n        nonlocal called\n"
            "        called = True\n    run(on_row)\n    assert called\n"
        ),
        Example(
            "def test(run):\n    try:\n        run()\n    except ValueError:\n        raised = True\n"
            "    assert raised\n"
        ),
        Example(
            "def compare(rows):\n    ok = True\n    for a, b in rows:\n        ok = ok and a == b\n    assert ok\n"
        ),
        Example(
            "def compare(left, right):\n    failures = []\n    check(left, right, failures)\n"
            "    assert not failures\n"
        ),
        Example(
            "def test(run):\n    errors = 0\n    for r in run():\n        errors += r.bad\n    assert errors == 0\n"
        ),
        Example(
            "from unittest import TestCase\n\nclass T(TestCase):\n    def test(self):\n"
            "        self.assertTrue(run(1), 'no rows')\n        self.assertTrue(run(1), f'{run} failed')\n"
            "        self.assertTrue(run(1), msg=run)\n        self.assertGreaterEqual(len(run(1)), 1)\n"
        ),
        Example("def test(x):\n    assert x is None or x > 0\n    assert x == 1 or x == 2\n"),
        Example("import pytest\n\ndef test():\n    with pytest.raises(E):\n        assert bool(Strange())\n"),
    )

    def suspect(self, unit: Unit) -> bool:
        flags = _constant_names(unit)
        if any(_may_hold(node.test, flags, unit) or _compares(node.msg) for node in unit.asts(ast.Assert)):
            return True
        if unit.has(ast.Raise) and any(_may_hold(node.test, flags, unit) for node in unit.asts(ast.If)):
            return True
        for call in unit.asts(ast.Call):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            if name in _ORDER or name in _ONE_VALUE and call.args:
                if name in _ORDER or len(call.args) > 1 or _may_hold(call.args[0], flags, unit):
                    return True
                if name == "assertIsNotNone":
                    return True
        return False

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
<<<<<<< HEAD
        for node in unit.find(cst.Assert):
            if isinstance(node.test, cst.Tuple) and node.test.elements:
                yield self.finding(
                    unit,
                    node,
                    "the assertion is about a tuple, which is true whatever stands in it",
                    certainty="proved",
                    still_catches=still_catches(unit, node),
                    fix=self._unwrap(unit, node),
                )
=======
        for check in checks(unit):
            call = check.node.value if isinstance(check.node, cst.Expr) else None
            if isinstance(call, cst.Call) and last_name(call) in _ONE_VALUE and len(call.args) > 1:
                found = self._second_argument(unit, check, call)
                if found is not None:
                    yield found
                    continue
            always = self._always(unit, check)
            if always is not None and always.value is not check.fails_when:
                yield from self._report(unit, check, always)
            elif check.condition is not None and check.kind in ("assert", "call"):
                yield from self._list(unit, check, check.condition)
                if isinstance(check.node, cst.Assert) and _is_comparison(check.node.msg):
                    yield self._message(unit, check)
>>>>>>> 292ee74 (wip)

    def _always(self, unit: Unit, check: Check) -> Truth | None:
        node = check.condition
        if node is None:
            return _of_call(check)
        uncalled = _uncalled(unit, node)
        if uncalled is not None:
            return uncalled
        found = truth(node, values(unit))
        # `if False:` and `if DEBUG:` switch code off on purpose.
        if (
            found is not None
            and check.kind not in ("assert", "call")
            and literal(node) in (True, False, 0, 1)
        ):
            return None
        return found

    def _report(self, unit: Unit, check: Check, always: Truth) -> Iterator[Finding]:
        marker = check.condition is not None and literal(check.condition) in (True, 1)
        names = names_read(unit, check.node if check.condition is None else check.condition)
        if marker and len(checks(unit)) > 1:
            return
        yield self.finding(
            unit,
            check.node,
            f"this check can never fail: {always.why}",
            certainty="question" if marker else "proved",
            steps=[step(unit, node, says) for node, says in always.places],
            still_catches=still_catches(unit, [check.node], names),
            fix=_fix(unit, check),
        )

    def _list(self, unit: Unit, check: Check, node: cst.BaseExpression) -> Iterator[Finding]:
        """A list comprehension without a filter is as long as what it runs over."""
        if not isinstance(node, (cst.ListComp, cst.SetComp)) or node.for_in.ifs or node.for_in.inner_for_in:
            return
        if check.fails_when or not _is_verdict(node.elt):
            return
        over = unit.text(node.for_in.iter)
        bracketed = unit.text(node.elt) + unit.text(node.for_in)
        text = f"all({' '.join(bracketed.split())})"
        yield self.finding(
            unit,
            check.node,
            f"this check fails only if `{over}` is empty: a list of verdicts is true whatever they are",
            certainty="proved" if _never_empty(node.for_in.iter) else "likely",
            still_catches=still_catches(unit, [check.node], names_read(unit, node)),
            fix=Fix(f"assert that all of them hold: `{text}`", (rewrite(unit, node, text),)),
        )

    def _message(self, unit: Unit, check: Check) -> Finding:
        assert isinstance(check.node, cst.Assert) and check.node.msg is not None
        message = check.node.msg
        return self.finding(
            unit,
            check.node,
            f"`{canonical(message)}` is the assertion's message, so nothing ever compares it",
            certainty="likely",
            still_catches=still_catches(unit, [check.node], names_read(unit, message)),
        )

    def _second_argument(self, unit: Unit, check: Check, call: cst.Call) -> Finding | None:
        first, second = call.args[0], call.args[1]
        if second.keyword is not None or second.star or first.star or len(call.args) > 2:
            return None
        certain = _not_a_message(values(unit).resolve(second.value))
        if certain is None:
            return None
        name, code = last_name(call), canonical(second.value)
        instead = _ONE_VALUE[name]
        fix = None
        if instead and name == "assertTrue":
            text = f"{dotted(call.func).rpartition('.')[0]}.{instead}({unit.text(first.value)}, {code})"
            fix = Fix("compare the two", (rewrite(unit, call, text),))
        return self.finding(
            unit,
            check.node,
            f"`{name}` takes `{code}` as its message, so nothing ever compares the two",
            certainty="proved" if certain else "likely",
            still_catches=still_catches(unit, [check.node], names_read(unit, call)),
            fix=fix,
        )


def _of_call(check: Check) -> Truth | None:
    """The verdict of `assertGreaterEqual(len(x), 0)` and `assertIsNotNone(a == b)`."""
    call = check.node.value if isinstance(check.node, cst.Expr) else None
    if not isinstance(call, cst.Call) or not call.args:
        return None
    name, first = last_name(call), call.args[0].value
    if name == "assertIsNotNone":
        target = cst.ComparisonTarget(cst.IsNot(), cst.Name("None"))
    elif name in _ORDER and len(call.args) > 1 and is_length(first):
        target = cst.ComparisonTarget(_ORDER[name](), call.args[1].value)
    else:
        return None
    from reviewbot.flow.values import Values

    found = truth(cst.Comparison(first, [target]), Values(cst.Module([])))
    return found if found is not None and found.value else None


def _uncalled(unit: Unit, node: cst.BaseExpression) -> Truth | None:
    """A function, a bound method or a coroutine in the place of its result."""
    if isinstance(node, cst.Call):
        made = callee(unit, node)
        if made is not None and isinstance(made.tree, ast.AsyncFunctionDef) and not made.tree.decorator_list:
            generates = any(isinstance(below, (ast.Yield, ast.YieldFrom)) for below in ast.walk(made.tree))
            kind = "an async generator" if generates else "a coroutine that nobody awaits"
            return Truth(True, f"`{canonical(node)}` is {kind}, which is true")
        return None
    if isinstance(node, cst.Attribute):
        if node.attr.value in ("all", "any") and isinstance(node.value, cst.Comparison):
            return Truth(True, f"`.{node.attr.value}` is not called, and a method is true")
        if qualified(node, unit.file.imports) in _PREDICATES:
            return Truth(True, f"`{dotted(node)}` is not called, and a function is true")
    if isinstance(node, cst.Name):
        reaching = values(unit).reaching(node)
        if unit.is_function and reaching:
            nested = [binding.node for binding in reaching]
            plain = all(isinstance(n, cst.FunctionDef) and not n.decorators for n in nested)
            return Truth(True, f"`{node.value}` is not called, and a function is true") if plain else None
        named = unit.file.unit(node.value)
        if named is not None and named.kind == "function" and not named.tree.decorator_list:  # type: ignore[union-attr]
            if node.value not in _rebound(unit):
                return Truth(True, f"`{node.value}` is not called, and a function is true")
    return None


def _rebound(unit: Unit) -> set[str]:
    names = (n for n in ast.walk(unit.file.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return {name.id for name in names} | set(unit.file.imports)


def _not_a_message(node: cst.BaseExpression) -> bool | None:
    """True: surely no message. False: probably none. None: may well be one."""
    value = literal(node)
    if isinstance(value, str) or value is None:
        return None
    if isinstance(value, (bool, int, float, bytes, list, tuple, dict, set)):
        return True
    if isinstance(node, (cst.Comparison, cst.List, cst.Tuple, cst.Dict, cst.ListComp)):
        return True
    if isinstance(
        node, (cst.FormattedString, cst.ConcatenatedString, cst.BinaryOperation, cst.Call, cst.Lambda)
    ):
        return None
    named = last_name(node)
    return False if named and not _MESSAGE.search(named) and not isinstance(node, cst.Name) else None


def _is_comparison(node: cst.BaseExpression | None) -> bool:
    return isinstance(node, cst.Comparison)


def _is_verdict(node: cst.BaseExpression) -> bool:
    if isinstance(node, (cst.Comparison, cst.BooleanOperation)):
        return True
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        return True
    name = last_name(node) if isinstance(node, cst.Call) else ""
    return name in ("isinstance", "allclose", "equal", "array_equal", "isclose", "all", "any", "startswith")


def _never_empty(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Call) and dotted(node.func) == "range" and len(node.args) == 1:
        count = literal(node.args[0].value)
        return isinstance(count, int) and count > 0
    found = display(node)
    return found is not None and found.value and isinstance(node, (cst.List, cst.Tuple, cst.Set))


def _fix(unit: Unit, check: Check) -> Fix | None:
    """The assertion without what makes it constant."""
    node = check.node
    if not isinstance(node, cst.Assert):
        return None
    if isinstance(node.test, cst.Tuple) and len(node.test.elements) == 2 and node.msg is None:
        condition, message = (element.value for element in node.test.elements)
        if isinstance(message, (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)):
            text = f"assert {unit.text(condition)}, {unit.text(message)}"
            says = "assert the comparison and give the message after it"
            return Fix(says, (rewrite(unit, node, text),), safe=True)
    if isinstance(node.test, cst.BooleanOperation) and isinstance(node.test.operator, cst.Or):
        constant = literal(node.test.right)
        message = node.msg
        if isinstance(constant, str) and message is None:
            text = f"assert {unit.text(node.test.left)}, {unit.text(node.test.right)}"
            return Fix("make the text the assertion's message", (rewrite(unit, node, text),), safe=True)
        if constant is True:
            text = f"assert {unit.text(node.test.left)}"
            text += f", {unit.text(message)}" if message is not None else ""
            return Fix("drop `or True`", (rewrite(unit, node, text),), safe=True)
    if isinstance(node.test, cst.GeneratorExp):
        inner = unit.text(node.test.elt) + unit.text(node.test.for_in)
        text = f"all({' '.join(inner.split())})"
        return Fix(f"assert that all of them hold: `{text}`", (rewrite(unit, node.test, text),))
    return None


# The same questions asked of `ast`, so that few units are parsed twice.


def _constant_names(unit: Unit) -> set[str]:
    """Names that are assigned a boolean, a number or an empty collection."""
    found: set[str] = set()
    for node in (*unit.asts(ast.Assign), *unit.asts(ast.AnnAssign)):
        value = node.value
        empty = isinstance(value, (ast.List, ast.Dict)) and not (
            getattr(value, "elts", None) or getattr(value, "keys", None)
        )
        if isinstance(value, ast.Constant) or empty or isinstance(value, ast.Tuple):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {
                name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
            }
    return found


def _may_hold(node: ast.expr, flags: set[str], unit: Unit) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _may_hold(node.operand, flags, unit)
    if isinstance(node, ast.BoolOp):
        return isinstance(node.op, ast.Or) or any(_may_hold(value, flags, unit) for value in node.values)
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        if any(isinstance(side, ast.Constant) and side.value is None for side in sides):
            return not isinstance(node.left, (ast.Name, ast.Attribute, ast.Subscript, ast.Await))
        names = {side.id for side in sides if isinstance(side, ast.Name)}
        return not names.isdisjoint(flags) or any(_is_len(side) for side in sides)
    if isinstance(node, ast.Name):
        named = unit.file.unit(node.id)
        return node.id in flags or named is not None or unit.has(ast.FunctionDef)
    if isinstance(node, ast.Attribute):
        return node.attr in ("all", "any") or node.attr in {name.rpartition(".")[2] for name in _PREDICATES}
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name == "bool":
            return True
        return any(isinstance(u.tree, ast.AsyncFunctionDef) and u.tree.name == name for u in unit.file.units)
    return not isinstance(node, (ast.Subscript, ast.BinOp, ast.Await))


def _is_len(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def _compares(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Compare)
