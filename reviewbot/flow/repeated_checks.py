"""Checks that ask once more what a check before them in the same block has asked, with nothing in between
that could change the answer."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow import assertions
from reviewbot.flow.between import are_bound, between, is_harmless, is_quiet
from reviewbot.flow.checks import Check, call_of, checks, is_library_assertion, operand
from reviewbot.flow.may_judge import CONSTANTS
from reviewbot.flow.patterns import pattern
from reviewbot.flow.reached import swallowed
from reviewbot.flow.suspects import same_code
from reviewbot.flow.syntax import canonical, last_name, walk
from reviewbot.flow.values import values
from reviewbot.source.units import below, called_last, once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

# What a look at something may change.
_CHANGING = pattern(r"(?i)cache|lazy|lru|memory|loaded|called|__dict__|visited|count|consumed|next")
_AGAIN = pattern(
    r"(?i)cache|memo|lazy|twice|again|repeat|idempot|stable|reif|propert|several|iterat|rewind|reusab"
)
# They answer the same each time.
_PURE = frozenset({
    "len", "sum", "max", "min", "sorted", "set", "list", "tuple", "keys", "values", "items", "isinstance",
    "type", "hasattr", "approx", "isclose", "allclose", "equal", "array_equal", "str", "abs", "all", "any",
    "int", "float", "bool", "tolist", "startswith", "endswith",
})  # fmt: skip


def repeated(unit: Unit) -> Iterator[tuple[Check, Check, bool]]:
    """Every such check with the one before it, in source order, and whether nothing stands in between, as
    what a check reads there may compute, and change, something, and they are written the same way round."""
    found = list(_repeated(unit))
    if len(found) > 1 and 2 * len(found) == len(checks(unit)):
        return  # a test of which all is asked twice asks twice on purpose
    for earlier, later, beside in found:
        if not _is_said_again(unit, earlier, later):
            yield earlier, later, beside


def _repeated(unit: Unit) -> Iterator[tuple[Check, Check, bool]]:
    known: dict[tuple[int, Hashable], Check] = {}
    counts = _counts_reads(unit)
    compares = _OF_EQUALITY.search(unit.name.rpartition(".")[2]) is not None
    for check in checks(unit):
        if counts and any(isinstance(below, cst.Attribute) for below in walk(check.node)):
            continue
        line = unit.parent(check.node)
        block = unit.parent(line) if line is not None else None
        asked = _asked(unit, check)
        if block is None or asked is None:
            continue
        earlier = known.get((id(block), asked))
        known[id(block), asked] = check
        if (
            earlier is not None
            and id(earlier.node) not in swallowed(unit)
            and _unchanged(unit, earlier, check)
            and not (compares and _is_exchanged(earlier, check))
        ):
            # The other way round it is the other side whose `__eq__` is asked.
            beside = _are_neighbours(block, unit.parent(earlier.node), line)
            yield earlier, check, beside and not _is_exchanged(earlier, check)


def _counts_reads(unit: Unit) -> bool:
    """Whether a test is about what a second look gives: by its name, or as it counts the calls of a function
    that it hands over."""
    if not unit.facts.names.isdisjoint(_CALL_COUNTS) or not unit.facts.calls.isdisjoint(_CALL_COUNTS):
        return True
    return unit.has(ast.Nonlocal) or _AGAIN.search(unit.name.rpartition(".")[2]) is not None


# What a mock says of how often it was called.
_CALL_COUNTS = frozenset({"assert_called_once", "assert_called_once_with", "call_count", "mock_calls"})


def _is_said_again(unit: Unit, earlier: Check, check: Check) -> bool:
    """Whether a comment right above a check, or above the one that it repeats, says that it repeats."""
    lines = unit.file.lines
    above = [lines[max(unit.span(one.node).line - 2, 0)].strip() for one in (earlier, check)]
    if above[0].startswith("#") and _SEVERAL.search(above[0]) is not None:
        return True
    return above[1].startswith("#") and _ONCE_MORE.search(above[1]) is not None


def _is_exchanged(earlier: Check, check: Check) -> bool:
    """Whether the same two values are compared the other way round."""
    asked, again = map(_asked_first, (earlier, check))
    return asked is not None and again is not None and canonical(asked) != canonical(again)


def _asked_first(check: Check) -> cst.BaseExpression | None:
    """The condition of a check, of a call the first of what it is given."""
    call = call_of(check.node)
    return check.condition if check.condition is not None or call is None else operand(call, 0)


# A test of how a class compares, by its name.
_OF_EQUALITY = pattern(
    r"(?i)(^|_|test)_*(eq|ne|equal\w*|(in|un)equal\w*|symmetr\w*|operators?|ordering|compar(e|es|ison|able))(_|$)"
)
_SEVERAL = pattern(r"(?i)\b((multiple|several|many|two) times|twice|repeatedly|more than once)\b")
_ONCE_MORE = pattern(r"(?i)\b(again|once more|second time|twice|still|unchanged|repeat\w*)\b")


def _are_neighbours(block: cst.CSTNode, first: cst.CSTNode | None, other: cst.CSTNode | None) -> bool:
    body = list(getattr(block, "body", ()))
    return any(one is first and after is other for one, after in pairwise(body))


def _asked(unit: Unit, check: Check) -> Hashable | None:
    """What a check asks, in one form; None where it may not answer the same each time."""
    node = check.condition if check.kind == "assert" else None
    call = call_of(check.node) if check.kind == "call" else None
    if node is None and (call is None or not _may_be_asked_twice(unit, call)):
        return None
    asks: list[cst.BaseExpression] = [arg.value for arg in call.args] if call is not None else []
    if node is not None:
        asks.append(node)
    if not all(map(_is_pure, asks)) or _walks_again(unit, check.node):
        return None
    if not _reads_any(asks if call is not None else [check.node]):
        return None
    if any(_CHANGING.search(word) for word in _words(check.node)):
        return None
    if call is not None:
        left, right = operand(call, 0), operand(call, 1)
        if last_name(call) in ("assertEqual", "assertEquals") and left is not None and right is not None:
            return _equal(left, right)
        return canonical(call)
    assert node is not None
    if any(isinstance(below, cst.Slice) for below in walk(node)):
        return None  # `a[:]` and `a[::]` are two spellings that may be what is tested
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        target = node.comparisons[0]
        if isinstance(target.operator, cst.Equal):
            return _equal(node.left, target.comparator)
    return canonical(node)


def _may_be_asked_twice(unit: Unit, call: cst.Call) -> bool:
    """Whether an assertion's call asks by itself: what is to raise is called, and may answer otherwise."""
    return last_name(call) in _ASSERTIONS and is_library_assertion(call, unit)


_WALKING = frozenset({"list", "tuple", "set", "sorted", "sum", "max", "min", "any", "all"})
_KEPT = (cst.List, cst.Tuple, cst.Dict, cst.Set, cst.ListComp, cst.SetComp, cst.DictComp, cst.SimpleString)


def _walks_again(unit: Unit, node: cst.CSTNode) -> bool:
    """Whether a check walks over something by its own `__iter__`, which must give the same again:
    `assert list(chained) == [1, 2]`, twice."""
    flow = values(unit)
    return any(
        type(below) is cst.Call
        and type(below.func) is cst.Name
        and below.func.value in _WALKING
        and len(below.args) == 1
        and isinstance(below.args[0].value, (cst.Name, cst.Attribute))
        and not isinstance(made := flow.resolve(below.args[0].value), _KEPT)
        and not (isinstance(made, cst.Call) and last_name(made) in _WALKING)
        for below in walk(node)
    )


def _equal(left: cst.BaseExpression, right: cst.BaseExpression) -> Hashable:
    codes = canonical(left), canonical(right)
    if isinstance(left, cst.Name) and isinstance(right, cst.Name):
        return "==", codes  # `a == b` and `b == a`: the operator of their class may be what is tested
    return "==", frozenset(codes)


def _reads_any(nodes: Iterable[cst.CSTNode]) -> bool:
    """Whether a name stands in any of these: `0x10 == 16`, without one, asks how a number is spelt."""
    return any(type(one) is cst.Name and one.value not in CONSTANTS for node in nodes for one in walk(node))


def _words(node: cst.CSTNode) -> Iterator[str]:
    """The names and texts that stand in some code."""
    return (one.value for one in walk(node) if isinstance(one, (cst.Name, cst.SimpleString)))


_ACTING = frozenset({cst.Await, cst.NamedExpr, cst.Yield})


def _is_pure(node: cst.CSTNode) -> bool:
    return not any(
        type(below) in _ACTING or (type(below) is cst.Call and last_name(below) not in _PURE)
        for below in walk(node)
    )


def _unchanged(unit: Unit, earlier: Check, later: Check) -> bool:
    inside = between(unit, [earlier.node], later.node)
    flow = values(unit)
    read = {name.value for name in flow.reads(later.node)}
    kept = dict.fromkeys(name.value for name in flow.reads(earlier.node))
    for name in flow.reads(later.node):
        mine = {
            b for other in flow.reads(earlier.node) if other.value == name.value for b in flow.reaching(other)
        }
        if name.value in kept and mine != set(flow.reaching(name)):
            return False
    quiet = is_quiet(inside) and not any(
        isinstance(node, (cst.Await, cst.With, cst.AugAssign)) for node in inside
    )
    # What is only read may compute: `_ = frame.values`, `model.scale` as a statement.
    looks = any(
        (isinstance(node, cst.Expr) and not isinstance(node.value, cst.Call))
        or (isinstance(node, cst.Assign) and not isinstance(node.value, cst.Name))
        for node in inside
    )
    stores = looks or any(
        isinstance(node, cst.AssignTarget) and not isinstance(node.target, cst.Name) for node in inside
    )
    return quiet and not stores and not are_bound(unit, read, inside)


@once
def may_repeat(unit: Unit) -> bool:
    """Whether two checks of a block might ask the same, and nothing in between changes it, by `ast`."""
    if len(unit.asts(ast.Assert)) + len(unit.calls_of(_ASSERTIONS)) < 2:
        return False
    nodes = unit.facts.nodes
    return any(
        _may_repeat_in(block)
        for kind in _WITH_BLOCKS.intersection(nodes)
        for node in nodes[kind]
        for field in ("body", "orelse", "finalbody")
        if len(block := getattr(node, field, ())) > 1
    )


_WITH_BLOCKS: frozenset[type[ast.AST]] = frozenset({
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar, ast.ExceptHandler, ast.With),
    *(ast.AsyncWith, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.match_case),
})  # fmt: skip


def _may_repeat_in(block: Sequence[ast.stmt]) -> bool:
    # The checks after the last statement that might change something: the first of them, and, once there are
    # two, all of them by what equal ones share.
    first: ast.Assert | ast.Call | None = None
    known: dict[Hashable, list[ast.Assert | ast.Call]] = {}
    each = [_check_in(statement) for statement in block]
    if len(each) - each.count(None) < 2:
        return False
    while each[-1] is None:
        each.pop()
    for statement, check in zip(block, each, strict=False):
        pure = calm = False
        if check is not None:
            pure, calm = _purity(
                [check.test] if isinstance(check, ast.Assert) else [*check.args, *check.keywords]
            )
        if check is not None and pure:
            if first is None:
                first = check
            else:
                if not known:
                    known[_shared(first)] = [first]
                before = known.setdefault(_shared(check), [])
                if before and any(_may_ask_the_same(one, check) for one in before):
                    return True
                before.append(check)
        if first is not None and not calm and not _may_be_quiet(statement):
            first, known = None, {}
    return False


def _check_in(statement: ast.stmt) -> ast.Assert | ast.Call | None:
    if isinstance(statement, ast.Assert):
        return statement
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Await):
        call = call.value
    return call if isinstance(call, ast.Call) and called_last(call) in _ASSERTIONS else None


def _shared(check: ast.Assert | ast.Call) -> Hashable:
    """What two checks that ask the same share, and most others do not."""
    if isinstance(check, ast.Assert):
        return _outline(check.test)
    if _sides(check):
        return "==", frozenset(map(_outline, _sides(check)))
    return called_last(check), tuple(map(_outline, check.args))


def _sides(check: ast.Assert | ast.Call) -> list[ast.expr]:
    """The two values that a check holds to be equal, as far as they are known without a look at keywords."""
    if isinstance(check, ast.Call):
        equal = called_last(check) in ("assertEqual", "assertEquals") and len(check.args) > 1
        return check.args[:2] if equal else []
    test = check.test
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        return [test.left, test.comparators[0]]
    return []


def _may_ask_the_same(one: ast.Assert | ast.Call, other: ast.Assert | ast.Call) -> bool:
    mine, theirs = _sides(one), _sides(other)
    if mine and theirs:
        return set(map(ast.unparse, mine)) == set(map(ast.unparse, theirs))
    if isinstance(one, ast.Assert) and isinstance(other, ast.Assert):
        return same_code(one.test, other.test)
    return True


def _purity(looked_at: Iterable[ast.AST]) -> tuple[bool, bool]:
    """Whether expressions may answer the same each time, by `ast`; and whether they call nothing at all."""
    stack = [*looked_at]
    calm = True
    while stack:
        current = stack.pop()
        kind = type(current)
        if kind is ast.Name or kind is ast.Constant:
            continue
        if kind is ast.Call:
            calm = False
            if called_last(current) not in _MAY_BE_PURE:  # type: ignore[arg-type]
                return False, False
        elif kind in _IMPURE:
            return False, False
        stack += below(current)
    return True, calm


_ASSERTIONS = frozenset(name for name, (relation, _) in assertions.KNOWN.items() if relation != "raises")
_MAY_BE_PURE = _PURE | {""}
_IMPURE = frozenset({ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom})


def _may_be_quiet(statement: ast.stmt) -> bool:
    """Whether a statement between two checks may leave alone what they look at, by `ast`."""
    stack: list[ast.AST] = [statement]
    while stack:
        current = stack.pop()
        kind = type(current)
        if kind is ast.Name or kind is ast.Constant or kind in _DEFINED:
            continue
        if kind in _CHANGES:
            return False
        if kind is ast.Call:
            name = called_last(current)  # type: ignore[arg-type]
            if name and not is_harmless(name):
                return False
        elif kind is ast.Expr:
            if type(current.value) is not ast.Call:  # type: ignore[attr-defined]
                return False
        elif kind is ast.Assign and type(current.value) is not ast.Name:  # type: ignore[attr-defined]
            return False
        stack += below(current)
    return True


# What stands in a function or class defined there is looked at later.
_DEFINED = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
_CHANGES = frozenset({ast.Await, ast.With, ast.AsyncWith, ast.AugAssign, ast.Delete})


def _outline(node: ast.expr) -> Hashable:
    """What two equal expressions share, and most others do not."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr, _outline(node.value)
    if isinstance(node, ast.Constant):
        return repr(node.value)
    if isinstance(node, ast.Subscript):
        return "[]", _outline(node.value), _outline(node.slice)
    if isinstance(node, ast.Call):
        return (_outline(node.func), *map(_outline, node.args))
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sides = _outline(node.left), _outline(node.comparators[0])
        return (
            ("==", frozenset(sides))
            if isinstance(node.ops[0], ast.Eq)
            else (type(node.ops[0]).__name__, *sides)
        )
    return type(node).__name__
