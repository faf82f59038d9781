"""What code demands of values, off its `ast`, in a form in which two versions of it can be compared."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from reviewbot.flow import assertions
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.flow.tolerances import KEYWORDS, POSITIONS, real

# How much a relation says of its subject; what is not here is not weighed.
RANKS: dict[str, int] = {
    "equal": 6, "identical": 6, "close": 5, "match": 4, "member": 4, "order": 3, "type": 2, "true": 1,
}  # fmt: skip
_OPERATORS: dict[type[ast.cmpop], tuple[str, str]] = {
    # What has to hold where the comparison is asserted, and where its truth makes the code fail.
    ast.Eq: ("equal", "different"),
    ast.NotEq: ("different", "equal"),
    ast.Is: ("identical", "distinct"),
    ast.IsNot: ("true", "identical"),
    ast.In: ("member", "absent"),
    ast.NotIn: ("absent", "member"),
    ast.Lt: ("order", "order"),
    ast.LtE: ("order", "order"),
    ast.Gt: ("order", "order"),
    ast.GtE: ("order", "order"),
}
_PREDICATES = {
    "allclose": "close", "isclose": "close", "equal": "equal", "array_equal": "equal", "isinstance": "type",
    "hasattr": "type", "startswith": "match", "endswith": "match", "equals": "equal", "callable": "type",
}  # fmt: skip
_RAISING = assertions.RAISING_CONTEXTS
_RUNS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """One thing that has to hold: `subject` stands in `relation` to `other`, as code in one form, "" where
    there is none. Of each of `limits` a larger number is a looser demand."""

    node: ast.stmt | ast.expr
    text: str
    relation: str
    subject: str
    other: str = ""
    limits: tuple[tuple[str, float], ...] = ()
    item: ast.withitem | None = None  # of what must raise

    @property
    def rank(self) -> int:
        """How much it says of its subject, 0 where that is not known."""
        return RANKS.get(self.relation, 0)

    @property
    def names(self) -> frozenset[str]:
        """The names that it reads, without modules and builtins as far as names tell."""
        return names_in(self.node)


def names_in(node: ast.AST) -> frozenset[str]:
    """The names that code reads, without those that everybody has."""
    import builtins

    found = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    return frozenset(name for name in found if not hasattr(builtins, name) and name not in _EVERYBODYS)


_EVERYBODYS = frozenset(
    {"self", "cls", "pytest", "np", "numpy", "torch", "math", "jnp", "testing", "unittest"}
)


def demands(body: Iterable[ast.AST]) -> list[Demand]:
    """Everything that statements demand, in source order."""
    found = [demand for statement in body for node in ast.walk(statement) for demand in _of(node)]
    read = _messages_read(found)
    found = [replace(one, limits=_matched(one)) if id(one.node) in read else one for one in found]
    return sorted(found, key=lambda one: (one.node.lineno, one.node.col_offset))


def _messages_read(found: list[Demand]) -> set[int]:
    """The demands that something is raised of which another demand looks at what was raised."""
    bound = {
        item.optional_vars.id: id(one.node)
        for one in found
        for item in ([one.item] if one.item is not None else [])
        if isinstance(item.optional_vars, ast.Name)
    }
    return {
        bound[name.value.id]
        for one in (found if bound else ())
        for name in ast.walk(one.node)
        if isinstance(name, ast.Attribute)
        and isinstance(name.value, ast.Name)
        and name.value.id in bound
        and name.attr in ("value", "exception", "match")
    }


def _matched(demand: Demand) -> tuple[tuple[str, float], ...]:
    return tuple((name, 0.0 if name == "no match" else number) for name, number in demand.limits)


def _of(node: ast.AST) -> Iterator[Demand]:
    if isinstance(node, ast.Assert):
        yield from _condition(node.test, node, holds=True)
    elif isinstance(node, ast.If) and node.body and _fails(node.body[-1]):
        yield from _condition(node.test, node.test, holds=False)
    elif isinstance(node, (ast.Expr, ast.Await)) and isinstance(node.value, ast.Call):
        yield from _call(node.value)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            call = item.context_expr
            if isinstance(call, ast.Call) and dotted_name(call.func).rpartition(".")[2] in _RAISING:
                yield replace(_raises(call, node), item=item)


_DIFFERS = pattern(r"(?i)AssertionError|SystemExit|mismatch|differ|not equal|diverg|expected")


def _fails(statement: ast.stmt) -> bool:
    """Whether a statement fails over a difference; refusing an argument is another thing."""
    if isinstance(statement, ast.Raise):
        return statement.exc is not None and _DIFFERS.search(ast.unparse(statement.exc)) is not None
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and (
        assertions.fails_by_name(dotted_name(call.func)) or dotted_name(call.func) in assertions.EXITING
    )


def _condition(test: ast.expr, place: ast.stmt | ast.expr, *, holds: bool) -> Iterator[Demand]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _condition(test.operand, place, holds=not holds)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holds else ast.Or):
        for value in test.values:
            yield from _condition(value, place, holds=holds)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        yield _comparison(test, place, holds=holds)
    elif isinstance(test, ast.Call) and holds:
        yield _predicate(test, place)
    else:
        text = ast.unparse(test)
        yield Demand(place, text if holds else f"not {text}", "true" if holds else "false", text)


def _comparison(test: ast.Compare, place: ast.stmt | ast.expr, *, holds: bool) -> Demand:
    operator, left, right = test.ops[0], test.left, test.comparators[0]
    relation = _OPERATORS[type(operator)][not holds]
    limits: tuple[tuple[str, float], ...] = ()
    shape = ""
    if relation == "order":
        bound = _bound(right)
        upper = isinstance(operator, (ast.Lt, ast.LtE)) is holds
        if bound is not None:
            number, shape = bound
            limits = (("at most", number) if upper else ("at least", -number),)
    for side, subject in ((left, right), (right, left)):
        if relation == "equal" and isinstance(side, ast.Call) and _last(side) == "approx" and side.args:
            found = _limits(side)
            return _made(place, ast.unparse(test), "close", subject, side.args[0], found)
    text = ast.unparse(test)
    made = _made(place, text if holds else f"not {text}", relation, left, right, limits)
    return replace(made, other=f"{made.other} {shape}") if shape else made


def _bound(node: ast.expr) -> tuple[float, str] | None:
    """The number by which a bound is to be weighed, a larger one being a larger bound, and the code around
    it: 350 and `_ + len(rows)` of `350 + len(rows)`, "" where it is the number alone."""
    number = _number(node)
    if number is not None:
        return number, ""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
        return None
    for given, other, sign in ((node.left, node.right, 1), (node.right, node.left, -1)):
        number = _number(given)
        if number is None or (isinstance(node.op, ast.Mult) and number < 0):
            continue
        if isinstance(node.op, ast.Sub):
            return sign * number, f"_ - {ast.unparse(other)}" if sign > 0 else f"{ast.unparse(other)} - _"
        return number, f"_ {'+' if isinstance(node.op, ast.Add) else '*'} {ast.unparse(other)}"
    return None


def _predicate(call: ast.Call, place: ast.stmt | ast.expr) -> Demand:
    relation = _PREDICATES.get(_last(call), "")
    text = ast.unparse(call)
    if _last(call) in ("all", "any", "bool") and len(call.args) == 1:
        inner = call.args[0]
        element = inner.elt if isinstance(inner, (ast.GeneratorExp, ast.ListComp)) else inner
        if isinstance(element, ast.Compare) and len(element.ops) == 1 and _last(call) == "all":
            made = _comparison(element, place, holds=True)
            return Demand(place, text, made.relation, made.subject, made.other, made.limits)
    if relation and len(call.args) >= 2:
        return _made(place, text, relation, call.args[0], call.args[1], _limits(call))
    if relation and isinstance(call.func, ast.Attribute) and call.args:
        return _made(place, text, relation, call.func.value, call.args[0], _limits(call))
    return Demand(place, text, "true", text, limits=_limits(call))


def _call(call: ast.Call) -> Iterator[Demand]:
    name = _last(call)
    limits = _limits(call)
    if not assertions.asserts_by_name(name) and not limits:
        return
    relation, count = assertions.KNOWN.get(name, ("", 0))
    if name == "assertIsNone" and call.args:
        text = f"{ast.unparse(call.args[0])} is None"
        yield Demand(call, text, "identical", ast.unparse(call.args[0]), "None")
        return
    if relation in ("true", "false") and call.args:
        yield from _condition(call.args[0], call, holds=relation == "true")
    elif count == 2 and len(call.args) >= 2:
        bounds = limits
        if relation == "order" and (number := _number(call.args[1])) is not None:
            bounds = (("at most", number) if "Less" in name else ("at least", -number),)
        yield _made(call, ast.unparse(call), relation, call.args[0], call.args[1], bounds)
    else:
        subject = f"{dotted_name(call.func)}({', '.join(ast.unparse(arg) for arg in call.args)})"
        yield Demand(call, ast.unparse(call), "helper", subject, limits=limits)


def _raises(call: ast.Call, block: ast.With | ast.AsyncWith) -> Demand:
    kind = ast.unparse(call.args[0]) if call.args else ""
    match = any(keyword.arg == "match" for keyword in call.keywords)
    match = match or (_last(call).endswith("Regex") and len(call.args) + len(call.keywords) > 1)
    broad = float(kind in ("Exception", "BaseException"))
    subject = ast.unparse(block.body[0])
    limits = (("the exception", broad), ("no match", float(not match)))
    return Demand(call, ast.unparse(call), "raises", subject, kind, limits)


def _made(
    place: ast.stmt | ast.expr,
    text: str,
    relation: str,
    left: ast.expr,
    right: ast.expr,
    limits: tuple[tuple[str, float], ...],
) -> Demand:
    # What is literal is what is expected, whichever side it stands on.
    if isinstance(left, ast.Constant) and not isinstance(right, ast.Constant) and relation != "order":
        left, right = right, left
    if relation == "order" and limits:
        return Demand(place, text, relation, ast.unparse(left), limits[0][0], limits)
    return Demand(place, text, relation, ast.unparse(left), ast.unparse(right), limits)


def _limits(call: ast.Call) -> tuple[tuple[str, float], ...]:
    """The tolerances of a call: a number of decimal places as the difference that it allows."""
    places = POSITIONS.get(_last(call), {})
    given = [(places.get(number, ""), arg) for number, arg in enumerate(call.args)]
    given += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
    found = []
    for name, value in given:
        number = _number(value) if name in KEYWORDS else None
        if number is not None:
            exact = name in ("places", "decimal")
            found.append((name, 10.0 ** -max(min(number, 300), -300) if exact else number))
    return tuple(sorted(found))


def _last(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return real(value)
