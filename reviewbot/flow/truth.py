"""Conditions that have the same truth value on every run, and why.

Only what the expression itself says, local names whose every reaching definition says the same, and
functions of the file that are not called. What a call, a parameter or a global may yield stays unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import libcst as cst

from reviewbot.flow.assertions import PREDICATES
from reviewbot.flow.bounds import may_be_bounded, never_more
from reviewbot.flow.calls import callee
from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, literal, qualified
from reviewbot.flow.values import MUTATORS, UNBOUND, Binding, Values, values
from reviewbot.source.tree import walk
from reviewbot.source.units import once, walked

if TYPE_CHECKING:
    from reviewbot.source.units import File, FunctionTree, Unit

_NEVER_NONE = frozenset({"len", "isinstance", "issubclass", "str", "repr", "bool", "int", "float", "list"})


@dataclass(frozen=True, slots=True)
class Truth:
    """A condition is always `value`, because `why` (a clause); `places` are the nodes that make it so."""

    value: bool
    why: str
    places: tuple[tuple[cst.CSTNode, str], ...] = ()


def truth(node: cst.BaseExpression, unit: Unit) -> Truth | None:
    """Whether an expression is always true, or always false; None where that cannot be known."""
    if type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        inner = truth(node.expression, unit)
        return None if inner is None else Truth(not inner.value, inner.why, inner.places)
    if type(node) is cst.BooleanOperation:
        return _boolean(node, unit)
    if type(node) is cst.Comparison:
        return _comparison(node, unit)
    if type(node) is cst.Name:
        flow = values(unit)
        return _flag(node, flow) or _empty(node, flow) or _lazy(node, unit) or _function(node, unit)
    if type(node) is cst.NamedExpr:
        return truth(node.value, unit)
    if type(node) is cst.IfExp:
        then, other = truth(node.body, unit), truth(node.orelse, unit)
        if then is not None and other is not None and then.value == other.value:
            return Truth(then.value, "both arms of the conditional expression are", then.places)
        return None
    if type(node) is cst.Call:
        if dotted(node.func) == "bool" and len(node.args) == 1:
            return truth(node.args[0].value, unit)
        return _type(node, unit) or _iterator(node, unit) or _coroutine(node, unit)
    if type(node) is cst.Attribute:
        return _method(node, unit)
    return display(node)


def _type(call: cst.Call, unit: Unit) -> Truth | None:
    """`type(row)`, which is true whatever the row is."""
    if type(call.func) is not cst.Name or call.func.value != "type" or len(call.args) != 1:
        return None
    if call.args[0].keyword is not None or call.args[0].star or values(unit).reaching(call.func):
        return None
    taken = "type" in unit.file.imports or unit.file.unit("type") is not None
    return None if taken else Truth(True, "a type is true, whichever it is")


_ITERATORS = frozenset({"map", "filter", "zip", "enumerate"})


def _iterator(call: cst.Call, unit: Unit) -> Truth | None:
    """`map(same, rows)`, and what a generator function of the file gives."""
    name = dotted(call.func)
    if name in _ITERATORS and type(call.func) is cst.Name and not values(unit).reaching(call.func):
        taken = name in unit.file.imports or unit.file.unit(name) is not None
        return None if taken else Truth(True, f"what `{name}` gives is true before it has yielded anything")
    made = callee(unit, call)
    if made is None or not isinstance(made.tree, ast.FunctionDef) or made.tree.decorator_list:
        return None
    if not _yields(made.tree):
        return None
    return Truth(True, f"`{_short(canonical(call))}` is a generator, which is true")


def _yields(tree: ast.AST) -> bool:
    """Whether a function is a generator: what stands in a function within it is that one's."""
    work = list(ast.iter_child_nodes(tree))
    while work:
        node = work.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            work.extend(ast.iter_child_nodes(node))
    return False


def _lazy(node: cst.Name, unit: Unit) -> Truth | None:
    """The truth of a local name that holds, on every path, what is made later: a generator, a function."""
    reaching = values(unit).reaching(node) if unit.is_function else frozenset()
    found = [_held(binding, unit) for binding in reaching]
    if not found or any(one is None for one in found):
        return None
    places = tuple((one.node, f"`{node.value}` is made here") for one in values(unit).in_order(reaching))
    return Truth(True, "; ".join(dict.fromkeys(one.why for one in found if one is not None)), places)


def _held(binding: Binding, unit: Unit) -> Truth | None:
    if binding is UNBOUND or binding.kind != "assign" or binding.role != "whole":
        return None
    if isinstance(binding.value, (cst.GeneratorExp, cst.Lambda)):
        return display(binding.value)
    return _iterator(binding.value, unit) if type(binding.value) is cst.Call else None


def display(node: cst.BaseExpression) -> Truth | None:
    """The truth of what is written out: literals, displays, functions, generators, formatted strings."""
    if type(node) is cst.Tuple and _has_plain(node):
        return Truth(True, "a tuple that holds something is true whatever stands in it")
    if isinstance(node, (cst.List, cst.Set)) and _has_plain(node):
        kind = "list" if type(node) is cst.List else "set"
        return Truth(True, f"a {kind} that holds something is true whatever stands in it")
    if type(node) is cst.Dict and any(type(e) is cst.DictElement for e in node.elements):
        return Truth(True, "a dict that holds something is true whatever stands in it")
    if type(node) is cst.GeneratorExp:
        return Truth(True, "a generator is true before it has yielded anything")
    if type(node) is cst.Lambda:
        return Truth(True, "a function that is not called is true")
    if type(node) is cst.FormattedString:
        if any(type(p) is cst.FormattedStringText and p.value for p in node.parts):
            return Truth(True, "a formatted string with text of its own is never empty")
        return None
    if type(node) is cst.ConcatenatedString:
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
    return any(type(element) is cst.Element for element in node.elements)


def _boolean(node: cst.BooleanOperation, unit: Unit) -> Truth | None:
    decides = type(node.operator) is cst.Or
    word = "or" if decides else "and"
    left, right = truth(node.left, unit), truth(node.right, unit)
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
        negated = type(one) is cst.UnaryOperation and type(one.operator) is cst.Not
        if negated and canonical(one.expression) == canonical(other):  # type: ignore[attr-defined]
            return not _has_call(other)
    if type(left) is not cst.Comparison or type(right) is not cst.Comparison:
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


def _comparison(node: cst.Comparison, unit: Unit) -> Truth | None:
    """The truth of a comparison; of a chain where each of its links always holds."""
    found, left = [], node.left
    for target in node.comparisons:
        settled = _link(left, target.operator, target.comparator, unit)
        if settled is None or not (settled.value or len(node.comparisons) == 1):
            return None
        found.append(settled)
        left = target.comparator
    why = ", and ".join(dict.fromkeys(one.why for one in found))
    return Truth(found[0].value, why, tuple(place for one in found for place in one.places))


def _link(
    left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression, unit: Unit
) -> Truth | None:
    flow = values(unit)
    length = _length(left, operator, right) or _length(right, _MIRRORED.get(type(operator), operator), left)
    if length is not None:
        return length
    if isinstance(operator, (cst.Is, cst.IsNot)) and literal(right) is None and _never_none(left):
        code = _short(canonical(left))
        return Truth(type(operator) is cst.IsNot, f"`{code}` is never None")
    constant = literal(right)
    if isinstance(operator, (cst.Is, cst.Equal, cst.IsNot, cst.NotEqual)) and isinstance(constant, bool):
        found = _flag(left, flow) if type(left) is cst.Name else None
        if found is not None:
            equal = isinstance(operator, (cst.Is, cst.Equal))
            return Truth((found.value is constant) is equal, found.why, found.places)
    settled = _of_literals(left, operator, right) or _untouched(left, operator, right, flow)
    return settled or _bounded(left, operator, right, unit)


def _bounded(
    left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression, unit: Unit
) -> Truth | None:
    """A count against the length of what it counts among, and a share against 0 and 1."""
    if isinstance(operator, (cst.LessThanEqual, cst.GreaterThan)):
        why = never_more(left, right, unit)
    elif isinstance(operator, (cst.GreaterThanEqual, cst.LessThan)):
        why = never_more(right, left, unit)
    else:
        return None
    holds = isinstance(operator, (cst.LessThanEqual, cst.GreaterThanEqual))
    return None if why is None else Truth(holds, why)


_MIRRORED: dict[type, cst.BaseCompOp] = {
    cst.GreaterThan: cst.LessThan(),
    cst.LessThan: cst.GreaterThan(),
    cst.GreaterThanEqual: cst.LessThanEqual(),
    cst.LessThanEqual: cst.GreaterThanEqual(),
}


_COMPARED: dict[type, Callable[[Any, Any], bool]] = {
    cst.Equal: lambda left, right: left == right,
    cst.NotEqual: lambda left, right: left != right,
    cst.LessThan: lambda left, right: left < right,
    cst.LessThanEqual: lambda left, right: left <= right,
    cst.GreaterThan: lambda left, right: left > right,
    cst.GreaterThanEqual: lambda left, right: left >= right,
    cst.In: lambda left, right: left in right,
    cst.NotIn: lambda left, right: left not in right,
}


_LOOKED_UP = (cst.Call, cst.Attribute, cst.BinaryOperation)


def _of_literals(
    left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression
) -> Truth | None:
    """`1 == 1`, `"a" in "abc"`: both sides are written out."""
    compare = _COMPARED.get(type(operator))
    # `float("1")` or `math.inf` may be the very thing that is tested.
    if compare is None or any(isinstance(side, _LOOKED_UP) for side in (left, right)):
        return None
    written = literal(left), literal(right)
    if any(value is UNKNOWN for value in written):
        return None
    try:
        value = bool(compare(*written))
    except TypeError:
        return None
    return Truth(value, "both sides are written out here")


def is_length(node: cst.BaseExpression) -> bool:
    """Whether an expression is a count by construction: `len(x)`."""
    return type(node) is cst.Call and type(node.func) is cst.Name and node.func.value == "len"


def _length(left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression) -> Truth | None:
    if not is_length(left):
        return None
    bound = literal(right)
    if not isinstance(bound, (int, float)) or isinstance(bound, bool):
        return None
    why = f"`{_short(canonical(left))}` is never less than 0"
    if type(operator) is cst.GreaterThanEqual and bound <= 0:
        return Truth(True, why)
    if isinstance(operator, (cst.GreaterThan, cst.NotEqual)) and bound < 0:
        return Truth(True, why)
    if type(operator) is cst.LessThan and bound <= 0:
        return Truth(False, why)
    if isinstance(operator, (cst.LessThanEqual, cst.Equal)) and bound < 0:
        return Truth(False, why)
    return None


def _never_none(node: cst.BaseExpression) -> bool:
    if isinstance(node, (cst.Comparison, cst.FormattedString, cst.ListComp, cst.DictComp, cst.SetComp)):
        return True
    if type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        return True
    return type(node) is cst.Call and type(node.func) is cst.Name and node.func.value in _NEVER_NONE


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
    # A flag that some line sets the other way tells whether that line ran, even where only one reaches.
    every = [_constant(binding) for binding in flow.bindings(node.value)]
    if len(found) != 1 or any(value not in found for value in every if value is not UNKNOWN):
        return None
    value = found.pop()
    places = tuple(
        (binding.node, f"`{node.value}` becomes {value} here") for binding in flow.in_order(reaching)
    )
    return Truth(value, f"`{node.value}` is never anything but {value}", places)


def _constant(binding: Binding) -> object:
    if binding is UNBOUND or binding.kind != "assign" or binding.role != "whole" or binding.value is None:
        return UNKNOWN
    return literal(binding.value)


def _untouched(
    left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression, flow: Values
) -> Truth | None:
    """`failures == []`, `errors == 0`, `len(failures) == 0` over a name that nothing ever changes."""
    name = left.args[0].value if type(left) is cst.Call and is_length(left) and left.args else left
    if type(operator) is not cst.Equal or type(name) is not cst.Name:
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
    if not isinstance(value, (list, dict, set)):
        return None
    (binding,) = flow.reaching(node)
    if value:
        place = (binding.node, "it is written out here, and is never empty")
        return Truth(True, f"`{node.value}` holds what is written out", (place,))
    return Truth(False, f"nothing is ever put into `{node.value}`", ((binding.node, "it starts empty here"),))


def _function(node: cst.Name, unit: Unit) -> Truth | None:
    reaching = values(unit).reaching(node) if unit.is_function else frozenset()
    why = f"`{node.value}` is not called, and a function is true"
    if reaching:
        defined = [binding.node for binding in reaching]
        plain = all(type(made) is cst.FunctionDef and not made.decorators for made in defined)
        return Truth(True, why) if plain else None
    named = unit.file.unit(node.value)
    if named is None or named.kind != "function" or node.value in _rebound(unit.file):
        return None
    assert isinstance(named.tree, (ast.FunctionDef, ast.AsyncFunctionDef))
    return None if named.tree.decorator_list else Truth(True, why)


@once
def _rebound(file: File) -> set[str]:
    names = (n for n in walked(file.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return {name.id for name in names} | set(file.imports)


def _coroutine(node: cst.Call, unit: Unit) -> Truth | None:
    made = callee(unit, node)
    if made is None or not isinstance(made.tree, ast.AsyncFunctionDef) or made.tree.decorator_list:
        return None
    generates = any(isinstance(below, (ast.Yield, ast.YieldFrom)) for below in walked(made.tree))
    kind = "an async generator" if generates else "a coroutine that nobody awaits"
    return Truth(True, f"`{_short(canonical(node))}` is {kind}, which is true")


def _method(node: cst.Attribute, unit: Unit) -> Truth | None:
    if node.attr.value in ("all", "any") and type(node.value) is cst.Comparison:
        return Truth(True, f"`.{node.attr.value}` is not called, and a method is true")
    if qualified(node, unit.file.imports) in PREDICATES:
        return Truth(True, f"`{dotted(node)}` is not called, and a function is true")
    return None


# The same asked of `ast`, so that few units need to be parsed twice.


def may_be_constant(node: ast.expr, unit: Unit) -> bool:
    """Whether `truth` could know the value of this condition; yes too often, never no wrongly."""
    if isinstance(node, ast.UnaryOp):
        return may_be_constant(node.operand, unit)
    if isinstance(node, ast.BoolOp):
        if any(may_be_constant(value, unit) for value in node.values):
            return True
        return isinstance(node.op, ast.Or) and _may_be_opposite(node.values)
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return all(
            may_be_settled(sides[n], type(kind), sides[n + 1], unit) for n, kind in enumerate(node.ops)
        )
    if isinstance(node, ast.Name):
        return (
            node.id in _flags(unit)
            or node.id in _lazies(unit)
            or unit.file.unit(node.id) is not None
            or any(function.name == node.id for function in _functions(unit))
        )
    if isinstance(node, ast.Attribute):
        return node.attr in _PREDICATE_NAMES
    if isinstance(node, ast.Call):
        name = _called(node)
        if name in ("bool", "type") or name in _ITERATORS:
            return True
        return name in _async_names(unit.file) or name in _generators(unit.file)
    return not isinstance(node, (ast.Subscript, ast.BinOp, ast.Await))


def _may_be_opposite(values: list[ast.expr]) -> bool:
    """Whether one of these could be the opposite of another."""
    negated = any(isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not) for value in values)
    return negated or sum(isinstance(value, ast.Compare) for value in values) > 1


def may_be_settled(left: ast.expr, kind: type[ast.cmpop], right: ast.expr, unit: Unit) -> bool:
    """Whether `truth` could know the value of a single comparison."""
    if _is_len(left) and _may_be_low(kind, right):
        return True
    if _is_len(right) and _may_be_low(_MIRRORED_KINDS.get(kind, kind), left):
        return True
    looked_up = isinstance(left, _LOOKED_UP_TREES) or isinstance(right, _LOOKED_UP_TREES)
    if not looked_up and _is_written_out(left) and _is_written_out(right):
        return True
    if may_be_bounded(left, kind, right, unit):
        return True
    if isinstance(right, ast.Constant) and right.value is None and kind in (ast.Is, ast.IsNot):
        named = left.func.id if isinstance(left, ast.Call) and isinstance(left.func, ast.Name) else ""
        never = (ast.Compare, ast.JoinedStr, ast.ListComp, ast.DictComp, ast.SetComp, ast.UnaryOp)
        return named in _NEVER_NONE or isinstance(left, never)
    held = left.args[0] if isinstance(left, ast.Call) and _is_len(left) and left.args else left
    if not isinstance(held, ast.Name) or held.id not in _flags(unit):
        return False
    if isinstance(right, ast.Constant) and isinstance(right.value, bool):
        return kind in (ast.Is, ast.Eq, ast.IsNot, ast.NotEq)
    return kind is ast.Eq and _is_written_out(right)


def _is_written_out(node: ast.expr) -> bool:
    """Whether a value could be a literal with all that it holds."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Dict):
        return all(key is not None and _is_written_out(key) for key in node.keys) and all(
            map(_is_written_out, node.values)
        )
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return all(map(_is_written_out, node.elts))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant) and type(node.operand.value) in (int, float, complex)
    if isinstance(node, ast.BinOp):
        # A complex number: `1 + 2j`.
        return isinstance(node.right, ast.Constant) and type(node.right.value) is complex
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    return _is_call_of(node, "float" if len(node.args) == 1 else "set") and len(node.args) < 2


def _is_call_of(node: ast.expr, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


_LOOKED_UP_TREES = (ast.Call, ast.Attribute, ast.BinOp)  # see `_LOOKED_UP`
_MIRRORED_KINDS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.Lt, ast.Lt: ast.Gt, ast.GtE: ast.LtE, ast.LtE: ast.GtE,
}  # fmt: skip
_NEVER_LESS = (ast.GtE, ast.Lt)  # than 0
_ABOVE_LESS = (*_NEVER_LESS, ast.Gt, ast.NotEq, ast.LtE, ast.Eq)  # than what is below 0


def _may_be_low(operator: type[ast.cmpop], bound: ast.expr) -> bool:
    """Whether a number could be written here by which it is settled how a length compares with it."""
    if isinstance(bound, ast.Constant):
        return operator in _NEVER_LESS and isinstance(bound.value, (int, float)) and bound.value <= 0
    return operator in _ABOVE_LESS and (isinstance(bound, ast.UnaryOp) or _is_call_of(bound, "float"))


_PREDICATE_NAMES = frozenset(name.rpartition(".")[2] for name in PREDICATES)


def _is_len(node: ast.expr) -> bool:
    if type(node) is not ast.Call:
        return False
    function = node.func
    return type(function) is ast.Name and function.id == "len"


@once
def _async_names(file: File) -> set[str]:
    return {unit.tree.name for unit in file.units if isinstance(unit.tree, ast.AsyncFunctionDef)}


@once
def _generators(file: File) -> set[str]:
    return {
        unit.tree.name for unit in file.units if isinstance(unit.tree, ast.FunctionDef) and unit.has(*_YIELDS)
    }


_YIELDS = (ast.Yield, ast.YieldFrom)


@once
def _lazies(unit: Unit) -> frozenset[str]:
    """Names that are given something that is made later."""
    making = (*_ITERATORS, *_generators(unit.file))
    return frozenset(
        target.id
        for node in unit.asts(ast.Assign)
        if isinstance(node.value, (ast.GeneratorExp, ast.Lambda))
        or (isinstance(node.value, ast.Call) and _called(node.value) in making)
        for target in node.targets
        if isinstance(target, ast.Name)
    )


def _called(call: ast.Call) -> str:
    named = call.func
    return named.id if isinstance(named, ast.Name) else named.attr if isinstance(named, ast.Attribute) else ""


@once
def _flags(unit: Unit) -> frozenset[str]:
    """Names that are given a literal, and could hold it wherever they are read."""
    given: dict[str, list[ast.expr]] = {}
    for node in unit.asts(ast.Assign):
        for target in node.targets if _is_literal(node.value) else ():
            for name in walked(target):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    given.setdefault(name.id, []).append(node.value)
    for one in (*unit.asts(ast.AnnAssign), *unit.asts(ast.NamedExpr)):
        assert isinstance(one, (ast.AnnAssign, ast.NamedExpr))
        if one.value is not None and _is_literal(one.value) and isinstance(one.target, ast.Name):
            given.setdefault(one.target.id, []).append(one.value)
    staying = {name for name, literals in given.items() if _may_stay(name, literals, unit)}
    return frozenset(staying - _put_into(unit) if staying else staying)


def _put_into(unit: Unit) -> set[str]:
    """The local names on which a method is called that changes what they hold."""
    changed = {
        call.func.value.id
        for call in unit.calls_of(MUTATORS)
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    }
    # In a function that takes one of that name it is another.
    return changed - {one.arg for one in unit.asts(ast.arg)} if changed else changed


def _may_stay(name: str, given: list[ast.expr], unit: Unit) -> bool:
    """Whether a name could be known to hold one value, by the literals that it is given, and by what else
    gives it any."""
    told = {node.value for node in given if isinstance(node, ast.Constant) and isinstance(node.value, bool)}
    if told or any(isinstance(node, ast.Tuple) for node in given):
        return len(told) < 2
    return sum(isinstance(node.ctx, ast.Store) for node in unit.facts.stored[name]) == 1


def _functions(unit: Unit) -> list[FunctionTree]:
    return [*unit.asts(ast.FunctionDef), *unit.asts(ast.AsyncFunctionDef)]


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float))
    return isinstance(node, (ast.List, ast.Dict, ast.Set, ast.Tuple, ast.UnaryOp)) or _is_call_of(node, "set")


def _short(code: str) -> str:
    return code if len(code) <= 60 else code[:57] + "..."
