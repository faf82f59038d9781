"""Of two runs only that the one holds the other is asked: what one of them has beyond that is never compared.

## Why
`restored.startswith(baseline)` and `set(restored) <= set(baseline)` hold where rows or tokens are missing on
the smaller side, and where there is nothing on it at all. A run that stopped after the first token passes.

## Instead
Compare the two as a whole, or ask both ways. Where one is a part of the other on purpose, compare how long it
is as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from reviewbot.flow.checks import Check, checks
from reviewbot.flow.judgements import judgements
from reviewbot.flow.judging import in_test_file, judges, may_be_two_sides
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.patterns import pattern
from reviewbot.flow.projections import named_apart
from reviewbot.flow.suspects import may_fail
from reviewbot.flow.syntax import canonical, dotted, last_name, literal, root_name
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Unit, step

# The first holds what it is called with; those of unittest take the part first, or the whole.
_HOLDS = frozenset({"startswith", "endswith", "issuperset", "__contains__"})
_HELD = frozenset({"issubset"})
_ASSERTS_HELD = frozenset({"assertIn", "assertLessEqual", "assert_in", "assertDictContainsSubset"})
_ASSERTS_HOLDS = frozenset({"assertStartsWith", "assertEndsWith", "assertGreaterEqual"})
_FORMS = frozenset(
    {"set", "frozenset", "list", "tuple", "sorted", "keys", "items", "values", "lower", "strip"}
)
# A part that is meant to be one.
_PART = pattern(
    r"(?i)(^|_)(prefix\w*|part\w*|subset\w*|superset\w*|head|tail|saved|short\w*|cut|trunc\w*|stream\w*|contain\w*"
    r"|includ\w*|extra\w*|starts?|ends?|suffix\w*|min\w*|filter\w*|sample\w*|allowed|known|continu\w*|extend\w*)(_|$)"
)
_WANTED = pattern(r"(?i)(^|_)(expect\w*|want\w*|required|must|desired|needed)(_|$)")
_COLLECTS = (cst.GeneratorExp, cst.ListComp)
# What the test writes out itself.
_WRITTEN = (
    *(cst.List, cst.Set, cst.Dict, cst.Tuple),
    *(cst.SimpleString, cst.FormattedString, cst.ConcatenatedString),
)


class OneWayCompare(Rule):
    kinds = ("function", "method")
    bad = (
        Example("""
            def test_text(run, resume):
                baseline, restored = run(), resume()
                assert restored.startswith(baseline)  # <- here

            def test_log(run, resume):
                want, got = run(), resume()
                assert got.text in want.text  # <- here

            def test_names(run, resume):
                baseline, restored = run(), resume()
                assert set(restored) <= set(baseline)  # <- here

            def test_rows(run, resume):
                baseline, restored = run(), resume()
                assert all(row in baseline for row in restored)  # <- here

            def test_tokens(run, resume):
                baseline, restored = run(), resume()
                assert baseline.tokens[: len(restored.tokens)] == restored.tokens  # <- here

            def test_lost(run, resume):
                baseline, restored = run(), resume()
                assert not set(baseline) - set(restored)  # <- here
        """),
    )
    good = (
        # The product chooses a side, and refuses what fits neither.
        Example(
            """
            def split(pairs, left, right):
                for pair in pairs:
                    if left in pair.left.tables and right in pair.right.tables:
                        yield pair.left, pair.right
                    elif left in pair.right.tables and right in pair.left.tables:
                        yield pair.right, pair.left
                    else:
                        raise ValueError(pair)
            """,
            path="tables/joins.py",
        ),
        # A name that the test makes up is looked up in what came out.
        Example("""
            def test_crates_match_the_list(unload):
                output, unloaded = unload()
                for deck in range(3):
                    base = f"deck.{deck}.crate"
                    assert base in unloaded
                    assert f"{base}.seal" in output
        """),
        Example("""
            def test_both_ways(run, resume):
                baseline, restored = run(), resume()
                assert set(restored) <= set(baseline)
                assert set(baseline) <= set(restored)

            def test_as_many(run, resume):
                baseline, restored = run(), resume()
                assert len(baseline) == len(restored)
                assert all(row in baseline for row in restored)

            def test_continued(run, resume):
                baseline = run()
                restored = resume(baseline)
                assert restored.startswith(baseline)

            def test_is_a_prefix(run, resume):
                baseline, restored = run(), resume()
                assert baseline.startswith(restored)

            def test_also_whole(run, resume):
                baseline, restored = run(), resume()
                assert restored.startswith(baseline)
                assert restored == baseline

            def test_written(run):
                expected = {"a", "b"}
                assert expected <= set(run())
                got = run()
                assert got.startswith("Once")
        """),
    )

    def suspect(self, unit: Unit) -> bool:
        return judges(unit) and may_be_two_sides(unit) and may_fail(unit) and _may_hold(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not judges(unit) or _PART.search(unit.name.rpartition(".")[2]):
            return
        found = [one for check in checks(unit) for one in _of_check(unit, check)]
        for one in found:
            if (
                _chooses(unit, one)
                or not _are_two_runs(unit, one)
                or _is_asked_back(one, found)
                or _is_compared(unit, one)
            ):
                continue
            part, whole = canonical(one.part), canonical(one.whole)
            yield self.finding(
                unit,
                one.check.anchor,
                f"only that `{whole}` holds `{part}` is checked: is what else it holds of no interest?",
                certainty="question",  # a part may be all that the one is to keep of the other
                steps=[step(unit, one.part, "this may be any part of the other, or nothing")],
                still_catches=still_catches(unit, one.part, one.whole, but=[one.check.node], repo=repo),
            )


def _chooses(unit: Unit, one: _Held) -> bool:
    """Whether code of the product takes another way where the one does not hold the other, and refuses what
    fits none: no comparison."""
    node = one.check.node
    return (
        not in_test_file(unit.file.path)
        and isinstance(node, cst.Raise)
        and node.exc is not None
        and last_name(node.exc) not in ("AssertionError", "SystemExit")
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """`check` asks that `whole` holds `part`."""

    check: Check
    part: cst.BaseExpression
    whole: cst.BaseExpression


def _may_hold(unit: Unit) -> bool:
    """Whether something could be asked for as a part of another, by `ast`."""
    names = _HOLDS | _HELD | _ASSERTS_HELD | _ASSERTS_HOLDS
    if not names.isdisjoint(unit.facts.calls):
        return True
    order = (ast.In, ast.LtE, ast.GtE, ast.Lt, ast.Gt)
    for node in unit.asts(ast.Compare):
        if isinstance(node.ops[0], order) and _names_any(node.left) and _names_any(node.comparators[0]):
            return True
        if any(isinstance(one, ast.Subscript) for one in (node.left, node.comparators[0])) and unit.has(
            ast.Slice
        ):
            return True
    return any(isinstance(node.op, ast.Sub) for node in unit.asts(ast.BinOp)) and unit.calls("set", "keys")


def _names_any(node: ast.expr) -> bool:
    return not isinstance(node, ast.Constant)


def _of_check(unit: Unit, check: Check) -> Iterator[_Held]:
    if check.condition is not None:
        yield from _of(unit, check, check.condition, holds=not check.fails_when)
    elif check.kind == "call" and isinstance(check.node, cst.Expr) and isinstance(check.node.value, cst.Call):
        call = check.node.value
        given = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
        name = last_name(call)
        if name in ("assertTrue", "assertFalse") and given:
            yield from _of(unit, check, given[0], holds=name == "assertTrue")
        elif len(given) > 1 and name in _ASSERTS_HELD | _ASSERTS_HOLDS:
            pair = given[:2] if name in _ASSERTS_HELD else [given[1], given[0]]
            if "Equal" not in name or all(map(_is_set, pair)):
                yield _Held(check, _plain(pair[0]), _plain(pair[1]))


def _of(unit: Unit, check: Check, node: cst.BaseExpression, *, holds: bool) -> Iterator[_Held]:
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        inner = node.expression
        if holds and isinstance(inner, cst.BinaryOperation) and isinstance(inner.operator, cst.Subtract):
            if _is_set(inner.left) and _is_set(inner.right):
                yield _Held(check, _plain(inner.left), _plain(inner.right))
        else:
            yield from _of(unit, check, inner, holds=not holds)
    elif isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.And) is holds:
        yield from _of(unit, check, node.left, holds=holds)
        yield from _of(unit, check, node.right, holds=holds)
    elif isinstance(node, cst.Call) and holds:
        yield from _of_call(unit, check, node)
    elif isinstance(node, cst.Comparison) and holds and len(node.comparisons) == 1:
        left, right = node.left, node.comparisons[0].comparator
        yield from _of_comparison(check, left, node.comparisons[0].operator, right)


def _of_call(unit: Unit, check: Check, node: cst.Call) -> Iterator[_Held]:
    name = last_name(node)
    if name in _HOLDS | _HELD and isinstance(node.func, cst.Attribute) and len(node.args) == 1:
        owner, given = _plain(node.func.value), _plain(node.args[0].value)
        yield _Held(check, given, owner) if name in _HOLDS else _Held(check, owner, given)
    elif dotted(node.func) == "all" and len(node.args) == 1 and isinstance(node.args[0].value, _COLLECTS):
        made = node.args[0].value
        asked, clause = made.elt, made.for_in
        if not isinstance(asked, cst.Comparison) or clause.ifs or clause.inner_for_in is not None:
            return
        target = asked.comparisons[0]
        if isinstance(target.operator, cst.In) and canonical(asked.left) == canonical(clause.target):
            yield _Held(check, _plain(clause.iter), _plain(target.comparator))


def _of_comparison(
    check: Check, left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression
) -> Iterator[_Held]:
    within = isinstance(operator, (cst.LessThanEqual, cst.LessThan)) and _is_set(left) and _is_set(right)
    if within or isinstance(operator, cst.In):
        yield _Held(check, _plain(left), _plain(right))
    elif isinstance(operator, (cst.GreaterThanEqual, cst.GreaterThan)) and _is_set(left) and _is_set(right):
        yield _Held(check, _plain(right), _plain(left))
    elif isinstance(operator, cst.Equal):
        for whole, part in ((left, right), (right, left)):
            if _is_cut_to(whole, part):
                assert isinstance(whole, cst.Subscript)
                yield _Held(check, part, whole.value)


def _is_cut_to(node: cst.BaseExpression, part: cst.BaseExpression) -> bool:
    """`rows[: len(part)]`."""
    if not isinstance(node, cst.Subscript) or len(node.slice) != 1:
        return False
    cut = node.slice[0].slice
    if not isinstance(cut, cst.Slice) or cut.lower is not None or not isinstance(cut.upper, cst.Call):
        return False
    return dotted(cut.upper.func) == "len" and canonical(cut.upper.args[0].value) == canonical(part)


def _is_set(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and last_name(node) in ("set", "frozenset", "keys", "items")


def _plain(node: cst.BaseExpression) -> cst.BaseExpression:
    """What `set(rows)` or `rows.keys()` is made of."""
    while isinstance(node, cst.Call) and last_name(node) in _FORMS:
        if isinstance(node.func, cst.Name) and len(node.args) == 1:
            node = node.args[0].value
        elif isinstance(node.func, cst.Attribute) and not node.args:
            node = node.func.value
        else:
            break
    return node


def _are_two_runs(unit: Unit, one: _Held) -> bool:
    """Whether the two are the sides of one comparison, neither written out nor made from the other."""
    flow = values(unit)
    names = canonical(one.part), canonical(one.whole)
    if any(_PART.search(part) for name in names for part in name.replace("(", ".").split(".")):
        return False
    if _WANTED.search(root_name(one.part)):
        return False  # what must be there, beside whatever else
    if not named_apart(unit, one.part, one.whole) or "[" in names[0]:
        return False
    made = [flow.resolve(side) for side in (one.part, one.whole)]
    if any(isinstance(side, _WRITTEN) for side in made):
        return False
    if any(isinstance(literal(side), (str, list, set, tuple, dict)) for side in made):
        return False
    left, right = (set(flow.slice(side)) for side in (one.part, one.whole))
    direct = ({b for name in flow.reads(side) for b in flow.reaching(name)} for side in (one.part, one.whole))
    mine, others = direct
    return not (mine & right or others & left) or not (mine or others)


def _is_asked_back(one: _Held, found: list[_Held]) -> bool:
    return any(
        canonical(other.part) == canonical(one.whole) and canonical(other.whole) == canonical(one.part)
        for other in found
    )


def _is_compared(unit: Unit, one: _Held) -> bool:
    """Whether another check compares the two, or how many there are."""
    roots = {root_name(one.part), root_name(one.whole)}
    for other in judgements(unit):
        if other.node is not one.check.node and {_root(other.left), _root(other.right)} == roots:
            return True
    return False


def _root(node: cst.BaseExpression) -> str:
    """The name at the left of what `len(rows)` counts, and of what `set(rows)` holds."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and len(node.args) == 1:
        node = node.args[0].value
    return root_name(node)
