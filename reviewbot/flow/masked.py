"""Two values that are compared only where masks of both let them: `left[both]` against `right[both]`.

What one side alone masks is never looked at, and a fault in the masks themselves leaves out what it spoils.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import checks, comparisons
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import canonical, last_name, root_name
from reviewbot.flow.values import values
from reviewbot.source.tree import walk
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_MASK = pattern(r"(?i)mask|valid|isnan|isfinite|isinf|(^|_)(both|keep|kept|common|shared)(_|$)")
_AND = frozenset({"logical_and", "bitwise_and"})
_VALID = frozenset(
    {"isfinite", "isnan", "isinf", "notna", "notnull", "isna", "isnull", "is_finite", "is_nan"}
)
_COUNTS = frozenset({"all", "sum", "mean", "count_nonzero"})


@dataclass(frozen=True, slots=True, eq=False)
class Masked:
    """`left` and `right` are compared by `check` where masks hold: `mine`, of the left, and `theirs`, of the
    right. `shared`: one mask is made of both and applied to both; else each is cut by its own."""

    check: cst.CSTNode
    left: cst.BaseExpression
    right: cst.BaseExpression
    mine: cst.BaseExpression
    theirs: cst.BaseExpression
    shared: bool


@once
def may_mask(unit: Unit) -> bool:
    """Whether a unit could compare two values where masks of both hold; never no wrongly."""
    if not unit.names_any(_says_mask):
        return False
    return unit.has(ast.Subscript, ast.BinOp)


def _says_mask(name: str) -> bool:
    return _MASK.search(name) is not None


def masked(unit: Unit) -> Iterator[Masked]:
    """The comparisons of a unit that see two values only where masks of both hold, and no check of which
    compares the masks."""
    for one in comparisons(unit):
        if one.relation not in ("equal", "close"):
            continue
        left, right = _cut(unit, one.left), _cut(unit, one.right)
        if left is None or right is None:
            continue
        found = _of_two(unit, one.check.node, left, right)
        if found is not None and not _is_asked(unit, found):
            yield found


@dataclass(frozen=True, slots=True, eq=False)
class OneSided:
    """`left` and `right` are compared by `check` where `mask` holds, which asks of one of them alone where it
    is a number. `of` is the name of that one, `beside` that of the other."""

    check: cst.CSTNode
    left: cst.BaseExpression
    right: cst.BaseExpression
    mask: cst.BaseExpression
    of: str
    beside: str


def one_sided(unit: Unit) -> Iterator[OneSided]:
    """The comparisons of a unit that see two values only where one of them is a number, and no check of which
    looks at where they are."""
    for one in comparisons(unit):
        if one.relation not in ("equal", "close"):
            continue
        left, right = _cut(unit, one.left), _cut(unit, one.right)
        if left is None or right is None or canonical(left[1]) != canonical(right[1]):
            continue
        mask = values(unit).resolve(left[1])
        asked, names = _asked_of(mask), (root_name(left[0]), root_name(right[0]))
        if asked is None or not all(names) or names[0] == names[1]:
            continue
        whose = _comes_from(unit, asked, *names)
        if whose:
            of, beside = names if whose == "mine" else names[::-1]
            found = OneSided(one.check.node, left[0], right[0], mask, of, beside)
            if not _is_looked_at(unit, found, left[1]):
                yield found


def _asked_of(mask: cst.BaseExpression) -> cst.BaseExpression | None:
    """The value of which a mask asks where it is a number: `x` of `~np.isnan(x)` and of `x.isfinite()`."""
    mask = _bare(mask)
    if not isinstance(mask, cst.Call) or last_name(mask) not in _VALID:
        return None
    if mask.args:
        return mask.args[0].value if len(mask.args) == 1 else None
    return mask.func.value if isinstance(mask.func, cst.Attribute) else None


def _is_looked_at(unit: Unit, found: OneSided, applied: cst.BaseExpression) -> bool:
    """Whether another check reads the mask, or asks where one of the two is a number."""
    mask = applied.value if isinstance(applied, cst.Name) else ""
    for check in checks(unit):
        looks_at = check.node if check.condition is None else check.condition
        if check.node is found.check:
            continue
        parts = [looks_at, *(b.value for b in values(unit).slice(looks_at) if b.value is not None)]
        cut = canonical(applied) in canonical(looks_at) and _is_cut_only(unit, looks_at, applied)
        for below in (node for part in parts for node in walk(part)):
            if type(below) is cst.Call and last_name(below) in _VALID and not cut:
                return True
            if type(below) is cst.Name and below.value == mask and not cut:
                return True
    return False


def _is_cut_only(unit: Unit, looks_at: cst.CSTNode, applied: cst.BaseExpression) -> bool:
    """Whether a check reads a mask only to cut what it compares by it."""
    text = canonical(applied)
    indexes = [
        node for node in walk(looks_at) if isinstance(node, cst.Index) and canonical(node.value) == text
    ]
    return len(indexes) == canonical(looks_at).count(text)


_Cut = tuple[cst.BaseExpression, cst.BaseExpression]


def _cut(unit: Unit, node: cst.BaseExpression) -> _Cut | None:
    """A value and the mask that it is cut by, or multiplied with."""
    node = values(unit).resolve(node)
    if isinstance(node, cst.Subscript) and len(node.slice) == 1:
        index = node.slice[0].slice
        if isinstance(index, cst.Index) and isinstance(
            index.value, (cst.Name, cst.Attribute, cst.BinaryOperation, cst.Call, cst.UnaryOperation)
        ):
            return (node.value, index.value) if _names_mask(unit, index.value) else None
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
        return (node.left, node.right) if _names_mask(unit, node.right) else None
    if (
        isinstance(node, cst.Call)
        and last_name(node) == "masked_select"
        and isinstance(node.func, cst.Attribute)
    ):
        return (node.func.value, node.args[0].value) if len(node.args) == 1 else None
    return None


def _names_mask(unit: Unit, node: cst.BaseExpression) -> bool:
    text = canonical(values(unit).resolve(node))
    return _MASK.search(text) is not None or _MASK.search(canonical(node)) is not None


def _of_two(unit: Unit, check: cst.CSTNode, left: _Cut, right: _Cut) -> Masked | None:
    mine, theirs = root_name(left[0]), root_name(right[0])
    if not mine or not theirs or mine == theirs:
        return None
    if canonical(left[1]) == canonical(right[1]):
        for one, other in _operands(values(unit).resolve(left[1])):
            of = (_comes_from(unit, one, mine, theirs), _comes_from(unit, other, mine, theirs))
            if of == ("mine", "theirs"):
                return Masked(check, left[0], right[0], _bare(one), _bare(other), True)
            if of == ("theirs", "mine"):
                return Masked(check, left[0], right[0], _bare(other), _bare(one), True)
        return None
    paths = [canonical(node)[len(root_name(node)) :] for node in (left[1], right[1])]
    own = root_name(left[1]) == mine and root_name(right[1]) == theirs
    if own and paths[0] == paths[1] and paths[0]:
        return Masked(check, left[0], right[0], left[1], right[1], False)
    return None


def _operands(node: cst.BaseExpression) -> Iterator[_Cut]:
    """The two that must both hold."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.BitAnd, cst.Multiply)):
        yield node.left, node.right
    elif isinstance(node, cst.Call) and last_name(node) in _AND and len(node.args) == 2:
        yield node.args[0].value, node.args[1].value


def _comes_from(unit: Unit, node: cst.BaseExpression, mine: str, theirs: str) -> str:
    """Which of two names a mask is read off, `mine` or `theirs`; "" where it is none or both."""
    flow = values(unit)
    read = {name.value for name in walk(node) if isinstance(name, cst.Name)}
    read |= {b.name for b in flow.slice(node)}
    if (mine in read) is (theirs in read):
        return ""
    return "mine" if mine in read else "theirs"


def _bare(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.expression if isinstance(node, cst.UnaryOperation) else node


def _is_asked(unit: Unit, found: Masked) -> bool:
    """Whether a check looks at both masks, or at how much they let through."""
    flow = values(unit)
    texts = {canonical(one) for one in (found.mine, found.theirs)}
    for one in comparisons(unit):
        if one.check.node is found.check or (_cut(unit, one.left) and _cut(unit, one.right)):
            continue
        said = f"{canonical(one.left)} {canonical(one.right)}"
        if all(text in said for text in texts):
            return True
    for check in checks(unit):
        looks_at = check.node if check.condition is None else check.condition
        if check.node is found.check:
            continue
        if any(
            isinstance(call, cst.Call)
            and last_name(call) in _COUNTS
            and any(_MASK.search(name.value) for name in flow.reads(call))
            for call in walk(looks_at)
        ):
            return True
    return False
