"""Conditions that have the same truth value on every run, and why.

Only what the expression itself says, and local names whose every reaching definition says the same. What a
call, a parameter or a global may yield stays unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, literal
from reviewbot.flow.values import UNBOUND, Binding, Values
from reviewbot.source.tree import walk

_NEVER_NONE = frozenset({"len", "isinstance", "issubclass", "str", "repr", "bool", "int", "float", "list"})


@dataclass(frozen=True, slots=True)
class Truth:
    """A condition is always `value`, because `why` (a clause); `places` are the nodes that make it so."""

    value: bool
    why: str
    places: tuple[tuple[cst.CSTNode, str], ...] = ()


def truth(node: cst.BaseExpression, flow: Values) -> Truth | None:
    """Whether an expression is always true, or always false; None where that cannot be known."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        inner = truth(node.expression, flow)
        return None if inner is None else Truth(not inner.value, inner.why, inner.places)
    if isinstance(node, cst.BooleanOperation):
        return _boolean(node, flow)
    if isinstance(node, cst.Comparison):
        return _comparison(node, flow)
    if isinstance(node, cst.Name):
        return _flag(node, flow) or _empty(node, flow)
    if isinstance(node, cst.NamedExpr):
        return truth(node.value, flow)
    if isinstance(node, cst.IfExp):
        then, other = truth(node.body, flow), truth(node.orelse, flow)
        if then is not None and other is not None and then.value == other.value:
            return Truth(then.value, "both arms of the conditional expression are", then.places)
        return None
    if isinstance(node, cst.Call) and dotted(node.func) == "bool" and len(node.args) == 1:
        return truth(node.args[0].value, flow)
    return display(node)


def display(node: cst.BaseExpression) -> Truth | None:
    """The truth of what is written out: literals, displays, functions, generators, formatted strings."""
    if isinstance(node, cst.Tuple) and _has_plain(node):
        return Truth(True, "a tuple that holds something is true whatever stands in it")
    if isinstance(node, (cst.List, cst.Set)) and _has_plain(node):
        kind = "list" if isinstance(node, cst.List) else "set"
        return Truth(True, f"a {kind} that holds something is true whatever stands in it")
    if isinstance(node, cst.Dict) and any(isinstance(e, cst.DictElement) for e in node.elements):
        return Truth(True, "a dict that holds something is true whatever stands in it")
    if isinstance(node, cst.GeneratorExp):
        return Truth(True, "a generator is true before it has yielded anything")
    if isinstance(node, cst.Lambda):
        return Truth(True, "a function that is not called is true")
    if isinstance(node, cst.FormattedString):
        if any(isinstance(p, cst.FormattedStringText) and p.value for p in node.parts):
            return Truth(True, "a formatted string with text of its own is never empty")
        return None
    if isinstance(node, cst.ConcatenatedString):
        left, right = display(node.left), display(node.right)
        found = left if left is not None and left.value else right
        return found if found is not None and found.value else None
    if isinstance(node, (cst.Name, cst.BaseNumber, cst.SimpleString, cst.UnaryOperation)):
        value = literal(node)
        if value is UNKNOWN:
            return None
        return Truth(bool(value), f"`{canonical(node)}` is a constant")
    return None


def _has_plain(node: cst.Tuple | cst.List | cst.Set) -> bool:
    return any(isinstance(element, cst.Element) for element in node.elements)


def _boolean(node: cst.BooleanOperation, flow: Values) -> Truth | None:
    decides = isinstance(node.operator, cst.Or)
    word = "or" if decides else "and"
    left, right = truth(node.left, flow), truth(node.right, flow)
    for side, found in ((node.right, right), (node.left, left)):
        if found is not None and found.value is decides:
            code = _short(canonical(side))
            why = f"`{word} {code}` decides it: {found.why}" if side is node.right else found.why
            return Truth(decides, why, found.places)
    if left is not None and right is not None:
        return Truth(left.value, f"{left.why}, and {right.why}", (*left.places, *right.places))
    if decides and _opposite(node.left, node.right):
        return Truth(True, "one side of the `or` is the opposite of the other")
    return None


def _opposite(left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    for one, other in ((left, right), (right, left)):
        negated = isinstance(one, cst.UnaryOperation) and isinstance(one.operator, cst.Not)
        if negated and canonical(one.expression) == canonical(other):  # type: ignore[attr-defined]
            return not _has_call(other)
    if not isinstance(left, cst.Comparison) or not isinstance(right, cst.Comparison):
        return False
    if len(left.comparisons) != 1 or len(right.comparisons) != 1 or _has_call(left):
        return False
    operators = {type(left.comparisons[0].operator), type(right.comparisons[0].operator)}
    same = canonical(left.left) == canonical(right.left) and canonical(
        left.comparisons[0].comparator
    ) == canonical(right.comparisons[0].comparator)
    return same and operators in ({cst.Is, cst.IsNot}, {cst.In, cst.NotIn}, {cst.Equal, cst.NotEqual})


def _has_call(node: cst.CSTNode) -> bool:
    return any(isinstance(below, (cst.Call, cst.Await, cst.Yield)) for below in walk(node))


def _comparison(node: cst.Comparison, flow: Values) -> Truth | None:
    if len(node.comparisons) != 1:
        return None
    left, operator, right = node.left, node.comparisons[0].operator, node.comparisons[0].comparator
    length = _length(left, operator, right) or _length(right, _MIRRORED.get(type(operator), operator), left)
    if length is not None:
        return length
    if isinstance(operator, (cst.Is, cst.IsNot)) and literal(right) is None and _never_none(left):
        code = _short(canonical(left))
        return Truth(isinstance(operator, cst.IsNot), f"`{code}` is never None")
    constant = literal(right)
    if isinstance(operator, (cst.Is, cst.Equal, cst.IsNot, cst.NotEqual)) and isinstance(constant, bool):
        found = _flag(left, flow) if isinstance(left, cst.Name) else None
        if found is not None:
            equal = isinstance(operator, (cst.Is, cst.Equal))
            return Truth((found.value is constant) is equal, found.why, found.places)
    return _untouched(left, operator, right, flow)


_MIRRORED: dict[type, cst.BaseCompOp] = {
    cst.GreaterThan: cst.LessThan(),
    cst.LessThan: cst.GreaterThan(),
    cst.GreaterThanEqual: cst.LessThanEqual(),
    cst.LessThanEqual: cst.GreaterThanEqual(),
}


def is_length(node: cst.BaseExpression) -> bool:
    """Whether an expression is a count by construction: `len(x)`."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "len"


def _length(left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression) -> Truth | None:
    if not is_length(left):
        return None
    bound = literal(right)
    if not isinstance(bound, (int, float)) or isinstance(bound, bool):
        return None
    why = f"`{_short(canonical(left))}` is never less than 0"
    if isinstance(operator, cst.GreaterThanEqual) and bound <= 0:
        return Truth(True, why)
    if isinstance(operator, (cst.GreaterThan, cst.NotEqual)) and bound < 0:
        return Truth(True, why)
    if isinstance(operator, cst.LessThan) and bound <= 0:
        return Truth(False, why)
    if isinstance(operator, (cst.LessThanEqual, cst.Equal)) and bound < 0:
        return Truth(False, why)
    return None


def _never_none(node: cst.BaseExpression) -> bool:
    if isinstance(node, (cst.Comparison, cst.FormattedString, cst.ListComp, cst.DictComp, cst.SetComp)):
        return True
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        return True
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in _NEVER_NONE


def _flag(node: cst.Name, flow: Values) -> Truth | None:
    """The truth of a local name that holds the same boolean on every path."""
    plain = literal(node)
    if plain is True or plain is False or plain is None:
        return Truth(bool(plain), f"`{node.value}` is a constant")
    reaching = flow.reaching(node)
    found: set[bool] = set()
    for binding in reaching:
        value = _constant(binding)
        if not isinstance(value, bool):
            return None
        found.add(value)
    if len(found) != 1:
        return None
    value = found.pop()
    places = tuple(
        (binding.node, f"`{node.value}` becomes {value} here") for binding in flow.all if binding in reaching
    )
    return Truth(value, f"`{node.value}` is {value} on every path that leads here", places)


def _constant(binding: Binding) -> object:
    if binding is UNBOUND or binding.kind != "assign" or binding.role != "whole" or binding.value is None:
        return UNKNOWN
    return literal(binding.value)


def _untouched(
    left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression, flow: Values
) -> Truth | None:
    """`failures == []`, `errors == 0`, `len(failures) == 0` over a name that nothing ever changes."""
    name = left.args[0].value if isinstance(left, cst.Call) and is_length(left) and left.args else left
    if not isinstance(operator, cst.Equal) or not isinstance(name, cst.Name):
        return None
    expected = literal(right)
    value = untouched(name, flow)
    if value is UNKNOWN or isinstance(expected, bool):
        return None
    if name is not left:
        value = len(value) if isinstance(value, (list, dict, set)) else UNKNOWN
    if value is UNKNOWN or type(value) is not type(expected) or value != expected or value:
        return None
    (binding,) = flow.reaching(name)
    place = (binding.node, f"`{name.value}` starts as `{canonical(binding.value)}`")  # type: ignore[arg-type]
    return Truth(True, f"nothing ever changes `{name.value}`", (place,))


def untouched(name: cst.Name, flow: Values) -> object:
    """The literal that a local name still holds: assigned once, never changed, never handed to anything."""
    reaching = flow.reaching(name)
    if len(reaching) != 1 or len(flow.bindings(name.value)) != 1:
        return UNKNOWN
    (binding,) = reaching
    value = _constant(binding)
    if isinstance(value, (int, float)):
        return value
    if not isinstance(value, (list, dict, set)) or flow.mutations(name.value):
        return UNKNOWN
    # Handed on by another name, an argument or a return, it may be changed out of sight.
    return UNKNOWN if flow.handed_on(name.value) else value


def _empty(node: cst.Name, flow: Values) -> Truth | None:
    value = untouched(node, flow)
    if not isinstance(value, (list, dict, set)) or value:
        return None
    (binding,) = flow.reaching(node)
    return Truth(False, f"nothing is ever put into `{node.value}`", ((binding.node, "it starts empty here"),))


def _short(code: str) -> str:
    return code if len(code) <= 60 else code[:57] + "..."
