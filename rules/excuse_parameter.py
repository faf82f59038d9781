"""A comparison takes a parameter that weakens it, and what it leaves out is the default or the rule.

## Why
`ignore=("loss",)` in a helper's signature means that no caller compares the loss, and no caller says so. A
`strict=False` that nobody ever sets means that the strict part never runs. The test reads as if everything
were compared.

## Instead
Let the default compare everything, and let each caller name what it leaves out, with the reason beside it.
Delete a parameter that nobody passes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from reviewbot.flow.calls import bind, callers, defaults, module_value
from reviewbot.flow.detours import Detour, detours
from reviewbot.flow.judgements import judged_names, records
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.patterns import pattern
from reviewbot.flow.suspects import compares_two, is_comparer, may_fail
from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, literal
from reviewbot.flow.values import Values, values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Unit, step

_VOLATILE = pattern(
    r"(?i)time|date|stamp|(^|_)(path|dir|file|pid|uuid|host|port|version|url|ts|at|log|logger|cache|device)(_|$)"
    r"|elapsed|duration|latency|created|updated|_id$|^id$"
)


class ExcuseParameter(Rule):
    kinds = ("function", "method")
    bad = (
        Example(
            """
            def compare(before, after, ignore=("loss", "grad_norm")):  # <- here
                for key in before:
                    if key in ignore:
                        continue
                    assert before[key] == after[key]
            """
        ),
        Example(
            """
            SKIPPED = frozenset({"advantages"})

            def assert_same(left, right, skip=SKIPPED):  # <- here
                assert all(left[k] == right[k] for k in left if k not in skip)
            """
        ),
        Example(
            """
            def _compare(left, right, strict=False):  # <- here
                assert len(left) == len(right)
                for a, b in zip(left, right):
                    if not strict:
                        continue
                    assert a.tokens == b.tokens

            def main(left, right):
                _compare(left, right)
            """,
            path="tools/parity.py",
        ),
        Example(
            """
            def compare(left, right, allow={"reward"}):  # <- here
                for key in left.keys() - allow:
                    assert left[key] == right[key]
            """
        ),
    )
    good = (
        # Everything is compared unless the caller says otherwise; what differs on every run is left out.
        Example(
            """
            def compare(before, after, ignore=(), volatile=("timestamp", "log_path")):
                for key in before:
                    if key in ignore or key in volatile:
                        continue
                    assert before[key] == after[key]

            def test_rows(run):
                compare(run(), run(), ignore=("seed",))
            """
        ),
        # A setting that callers do set, or that a test is given.
        Example(
            """
            import pytest

            def _compare(left, right, strict=False):
                for a, b in zip(left, right, strict=True):
                    if not strict:
                        continue
                    assert a == b

            def test_rows(run):
                _compare(run(), run(), strict=True)
                _compare(run(), run())

            @pytest.mark.parametrize("skip", [("a",), ()])
            def test_some(run, skip):
                left, right = run(), run()
                for key in left:
                    if key not in skip:
                        assert left[key] == right[key]
            """
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        tree = unit.tree
        if unit.is_test or not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        has_defaults = bool(tree.args.defaults) or any(tree.args.kw_defaults)
        return has_defaults and is_comparer(unit) and may_fail(unit) and compares_two(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if unit.is_test or not is_comparer(unit):
            return
        usual = defaults(unit)
        reported: set[str] = set()
        for asked in _asked(unit):
            recorded = any(records(unit, one) & judged_names(unit) for one in asked.detour.body)
            if asked.name not in usual or asked.name in reported or recorded:
                continue
            found = self._weak(unit, asked, usual[asked.name], repo)
            if found is not None:
                reported.add(asked.name)
                yield found

    def _weak(self, unit: Unit, asked: Asked, default: cst.BaseExpression, repo: Repo) -> Finding | None:
        detour, name, sites = asked.detour, asked.name, callers(unit)
        steps = [step(unit, detour.condition, "what it holds leads around the check")]
        steps.extend(step(unit, one.left, "not reached then") for one in detour.missed[:2])
        if asked.leaves_out:
            volatile = repo.config.volatile_fields
            kept = [w for w in _listed(unit, default) if not _VOLATILE.search(w) and w not in volatile]
            if not kept:
                return None
            message = f"unless a caller says otherwise, `{name}` keeps {_say(kept)} out of the comparison"
        else:
            if not sites or asked.open_at is None or literal(default) is not asked.open_at:
                return None
            if any(name in bind(site.call, unit) or _is_open(site.call) for site in sites):
                return None
            steps.extend(step(site.caller, site.call, f"`{name}` is left as it is") for site in sites[:3])
            message = f"no call of `{unit.name}` here sets `{name}`, so what it guards is never compared"
        return self.finding(
            unit,
            _parameter(unit, name),
            message,
            certainty="question" if _is_explained(unit, name) else "likely",
            steps=steps,
            still_catches=still_catches(
                unit,
                *(side for one in detour.missed for side in (one.left, one.right)),
                but=[detour.node, *(one.node for one in detour.missed)],
                repo=repo,
            ),
        )


def _is_explained(unit: Unit, name: str) -> bool:
    """Whether the docstring of a function says what a parameter is for."""
    tree = unit.tree
    said = ast.get_docstring(tree) if isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    return said is not None and re.search(rf"\b{re.escape(name)}\b", said) is not None


@dataclass(frozen=True, slots=True)
class Asked:
    """A detour and the parameter that its condition asks. `leaves_out`: what the parameter holds is left
    out. `open_at`: the value of a flag that opens the detour."""

    detour: Detour
    name: str
    leaves_out: bool = False
    open_at: bool | None = None


def _asked(unit: Unit) -> Iterator[Asked]:
    flow = values(unit)
    for detour in detours(unit):
        if isinstance(detour.node, cst.For):
            if _is_parameter(flow, detour.condition):
                yield Asked(detour, canonical(detour.condition), leaves_out=True)
            continue
        for node, negated in _operands(detour.condition, False):
            if isinstance(node, cst.Comparison):
                operator, asked = node.comparisons[0].operator, node.comparisons[0].comparator
                inside = isinstance(operator, cst.In) is (detour.outcome is not negated)
                if isinstance(operator, (cst.In, cst.NotIn)) and _is_parameter(flow, asked):
                    yield Asked(detour, canonical(asked), leaves_out=inside)
            elif node is _plain(detour.condition) and _is_parameter(flow, node):
                yield Asked(detour, canonical(node), open_at=detour.outcome is not negated)


def _is_parameter(flow: Values, node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and any(b.kind == "parameter" for b in flow.reaching(node))


def _operands(node: cst.BaseExpression, negated: bool) -> Iterator[tuple[cst.BaseExpression, bool]]:
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        yield from _operands(node.expression, not negated)
    elif isinstance(node, cst.BooleanOperation):
        yield from _operands(node.left, negated)
        yield from _operands(node.right, negated)
    else:
        yield node, negated


def _plain(node: cst.BaseExpression) -> cst.BaseExpression:
    while isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        node = node.expression
    return node


def _listed(unit: Unit, default: cst.BaseExpression) -> list[str]:
    """The words that a default holds: written out, in a module's constant, or in `frozenset((…))`."""
    value = literal(default)
    if isinstance(default, cst.Call) and dotted(default.func) in ("frozenset", "set", "tuple", "list"):
        value = literal(default.args[0].value) if default.args else ()
    if isinstance(default, cst.Name) and (constant := module_value(unit.file, default.value)) is not None:
        return _listed(unit, cst.parse_expression(ast.unparse(constant)))
    if value is UNKNOWN or not isinstance(value, (tuple, list, set, frozenset, dict)):
        return []
    return sorted(one for one in value if isinstance(one, str))


def _say(words: list[str]) -> str:
    shown = ", ".join(f"`{word}`" for word in words[:3])
    return shown if len(words) <= 3 else f"{shown} and {len(words) - 3} more"


def _is_open(call: cst.Call) -> bool:
    return any(arg.star for arg in call.args)


def _parameter(unit: Unit, name: str) -> cst.CSTNode:
    found = next(b.node for b in values(unit).bindings(name) if b.kind == "parameter")
    return found.name if isinstance(found, cst.Param) else found
