"""Whether two expressions are one object: steady expressions, aliases, live views of a module's state."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow import assertions
from reviewbot.flow.patterns import pattern
from reviewbot.flow.suspects import same_code
from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, last_name, literal, root_name, same
from reviewbot.flow.values import UNBOUND, Binding, Values, values
from reviewbot.source.tree import walk
from reviewbot.source.units import once, root_of

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

# Builtins and methods without arguments whose result depends on the value alone.
_PURE = frozenset({"len", "sum", "sorted", "min", "max", "abs", "round", "float", "int"})
_PURE_METHODS = frozenset({"tolist", "item", "numpy", "cpu", "detach", "keys", "values", "items", "flatten"})

Steadiness = Literal["value", "attribute", "call"]
"""What the value of a steady expression rests on: `value` a name and what lies under constant or plain
subscripts, `attribute` an attribute too (which may be a property), `call` a call that is known to be pure."""

STATE = frozenset({"state_dict", "parameters", "named_parameters", "buffers", "named_buffers"})
"""Methods that hand out a module's live tensors."""

CHANGES = pattern(r"(step|backward|train_\w+|fit\w*|update\w*|load_state_dict)$")
"""Functions after which a module's tensors may hold other values."""

_CHANGES_GIVEN = pattern(
    r"(?i)(train|finetune|fine_tune|learn|optimi[sz]e|change|mutate|perturb)\w*$|\w+_(train|step)$"
)
# Attributes that hold live tensors, or dictionaries that are changed in place.
_HELD = frozenset({"param_groups"})


def steadiness(node: cst.CSTNode) -> Steadiness | None:
    """Why evaluating an expression twice in a row gives one value; None where it may not.

    Operators and calls can do anything, so only what is known to be pure is steady; a mere literal is none.
    """
    if type(node) is cst.Name:
        return None if node.value in ("True", "False", "None") else "value"
    if isinstance(node, (cst.Tuple, cst.List)):
        # A literal beside others says nothing of its own.
        parts = [one.value for one in node.elements if literal(one.value) is UNKNOWN]
        return _weakest(steadiness(part) for part in parts) if parts else None
    if type(node) is cst.Subscript:
        # `Row[int]` and `tuple[*Ts]` make a new type each time.
        makes_type = root_name(node)[:1].isupper() or root_name(node) in (
            "tuple",
            "list",
            "dict",
            "type",
            "set",
        )
        if makes_type:
            return None
        return _weakest((steadiness(node.value), *(_of_key(element.slice) for element in node.slice)))
    if type(node) is cst.Attribute:
        return "attribute" if _is_plain_path(node) else None
    if type(node) is cst.Call:
        if type(node.func) is cst.Attribute:
            pure = last_name(node) in _PURE_METHODS and not node.args
            return "call" if pure and steadiness(node.func.value) is not None else None
        pure = type(node.func) is cst.Name and node.func.value in _PURE and len(node.args) == 1
        return "call" if pure and steadiness(node.args[0].value) is not None else None
    return None


def _weakest(found: Iterable[Steadiness | None]) -> Steadiness | None:
    every = {*found}
    if None in every:
        return None
    return "call" if "call" in every else "attribute" if "attribute" in every else "value"


def _of_key(node: cst.BaseSlice) -> Steadiness | None:
    if type(node) is not cst.Index or node.star is not None:
        return None
    return "value" if literal(node.value) is not UNKNOWN else steadiness(node.value)


def _is_plain_path(node: cst.Attribute) -> bool:
    """`out.loss`, `back.policy.weights`: names of public data on a name. What is private is rather
    computed."""
    owner: cst.BaseExpression = node
    while type(owner) is cst.Attribute:
        if owner.attr.value.startswith("_"):
            return False
        owner = owner.value
    return type(owner) is cst.Name or steadiness(owner) == "value"


def alias(unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression) -> Binding | None:
    """The binding that makes one expression another name for the other (`b = a`, `a = b = f()`), if every
    path leads there; both may go on with one and the same path (`a.rows[0]`, `b.rows[0]`)."""
    flow = values(unit)
    (one, path), (other, other_path) = _split(left), _split(right)
    if one is None or other is None or path != other_path or one.value == other.value:
        return None
    if not _set_elsewhere(unit).isdisjoint((one.value, other.value)):
        return None
    sources = {id(source): binding for source, binding in _chain(flow, one)}
    for source, binding in _chain(flow, other):
        if id(source) in sources:
            return binding if binding is not None else sources[id(source)]
    return None


@once
def _set_elsewhere(unit: Unit) -> frozenset[str]:
    """The names that other code sets as well, while a call or an `await` of this unit lasts."""
    return frozenset(item.name.value for node in unit.find(cst.Nonlocal, cst.Global) for item in node.names)  # type: ignore[attr-defined]


def _split(node: cst.BaseExpression) -> tuple[cst.Name | None, str]:
    """The name at the left of a path such as `a.rows[0]`, and the rest of the path."""
    root: cst.BaseExpression = node
    while isinstance(root, (cst.Attribute, cst.Subscript)):
        if type(root) is cst.Subscript and literal(_index(root)) is UNKNOWN:
            return None, ""
        root = root.value
    if type(root) is not cst.Name:
        return None, ""
    return root, canonical(node)[len(root.value) :]


def _index(node: cst.Subscript) -> cst.CSTNode:
    inner = node.slice[0].slice
    return inner.value if type(inner) is cst.Index and len(node.slice) == 1 else node


def _chain(flow: Values, name: cst.Name) -> Iterator[tuple[object, Binding | None]]:
    """What a name stands for, from itself to the first value: each source with the binding that led there."""
    last: Binding | None = None
    for _ in range(20):
        reaching = flow.reaching(name)
        if len(reaching) != 1 or UNBOUND in reaching:
            return
        (binding,) = reaching
        yield binding, last
        if binding.kind != "assign" or binding.role != "whole" or binding.value is None:
            return
        last = binding
        if type(binding.value) is not cst.Name:
            yield binding.value, last
            return
        name = binding.value


@dataclass(frozen=True, slots=True)
class LiveState:
    """`taken` is what took a module's state without a copy, `change` the later call that changes the same
    tensors in place."""

    taken: cst.BaseExpression
    change: cst.Call


def live_state(unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression) -> LiveState | None:
    """Whether one expression holds what `model.state_dict()` gave before a change and the other what the
    same call gives after it: PyTorch hands out the live tensors both times."""
    sides = [_states(unit, side) for side in (left, right)]
    rank = unit.index.rank
    for mine, others in (sides, sides[::-1]):
        for early in mine:
            for late in others:
                if rank(early) >= rank(late) or not _of_one(unit, early, late):
                    continue
                for call in unit.find(cst.Call):
                    if rank(early) < rank(call) < rank(late) and _changes(call, root_name(early)):
                        return LiveState(early, call)
    return None


def _changes(call: cst.Call, owner: str) -> bool:
    """Whether a call may give a module's tensors other values: `optimizer.step()`, `train(model)`."""
    name = last_name(call)
    if CHANGES.match(name):
        return True
    given = {root_name(arg.value) for arg in call.args}
    return type(call.func) is cst.Name and owner in given and _CHANGES_GIVEN.match(name) is not None


def _of_one(unit: Unit, early: cst.BaseExpression, late: cst.BaseExpression) -> bool:
    """Whether two expressions take the state of one object: the same code but for what hands on the same
    tensor, and no name in it stands for another."""
    one, other = _owner(early), _owner(late)
    if not same(one, other):
        return False
    flow = values(unit)
    reached = [{(name.value, flow.reaching(name)) for name in flow.reads(node)} for node in (one, other)]
    return reached[0] == reached[1]


def _owner(node: cst.BaseExpression) -> cst.BaseExpression:
    """What a state is taken of, without `.detach()`, `.data` and their like."""
    while True:
        if type(node) is cst.Call and type(node.func) is cst.Attribute and last_name(node) in _SAME_TENSOR:
            node = node.func.value
        elif type(node) is cst.Attribute and node.attr.value == "data":
            node = node.value
        else:
            return node


def _is_view(node: cst.BaseExpression) -> bool:
    """`model.weight.detach()`, `model.weight.data`: the tensor of an attribute by another name."""
    owner = _owner(node)
    return owner is not node and type(owner) is cst.Attribute and type(owner.value) is not cst.Call


def _states(unit: Unit, side: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The expressions such as `model.state_dict()` whose very tensors an expression may hold."""
    found: list[cst.BaseExpression] = []
    if _is_a_count(unit, side) or _is_plain(unit, side):
        return found
    held = [binding.value for binding in values(unit).slice(side, mutations=False)]
    for value in (side, *held):
        node = value
        if isinstance(node, (cst.ListComp, cst.SetComp)) and same(node.elt, node.for_in.target):
            node = node.for_in.iter
        while type(node) is cst.Call and dotted(node.func) in _HOLDS_THE_SAME:
            node = node.args[0].value if node.args else None
        if type(node) is cst.Call and last_name(node) == "copy" and type(node.func) is cst.Attribute:
            node = node.func.value  # a dictionary's own copy holds the same tensors
        if type(node) is cst.Call and last_name(node) == "items" and type(node.func) is cst.Attribute:
            node = node.func.value
        if (
            type(node) is cst.Call
            and last_name(node) in STATE
            and not node.args
            and not _copied(unit, node)
            and not _counts_steps(unit, node)
        ) or (type(node) is cst.Attribute and node.attr.value in _HELD):
            found.append(node)
        elif value is not None and (_is_view(value) or (value is side and type(value) is cst.Attribute)):
            found.append(value)
    return found


_HOLDS_THE_SAME = frozenset({
    "dict", "list", "tuple", "enumerate", "zip", "copy.copy", "OrderedDict", "collections.OrderedDict",
})  # fmt: skip
_OF_NUMBERS = pattern(r"(?i)(sched|scheduler|sampler|loader|iterator|counter|scaler)\d*$")


def _counts_steps(unit: Unit, call: cst.Call) -> bool:
    """Whether what a state is taken of, or what made that, is by its name one whose state is numbers: those
    of a scheduler or a loader are copied with the dictionary that holds them."""
    owner = call.func.value if type(call.func) is cst.Attribute else call.func
    names = (last_name(owner), last_name(values(unit).resolve(owner)))
    return any(_OF_NUMBERS.search(name) for name in names)


def _copied(unit: Unit, call: cst.Call) -> bool:
    """Whether a comprehension makes something new of each tensor that a call hands out."""
    for above in unit.ancestors(call):
        if type(above) is cst.DictComp:
            element = above.value
        elif isinstance(above, (cst.ListComp, cst.SetComp, cst.GeneratorExp)):
            element = above.elt
        elif isinstance(above, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return False
        else:
            continue
        while type(element) is cst.Call and type(element.func) is cst.Attribute:
            if element.func.attr.value not in _SAME_TENSOR:
                return True
            element = element.func.value
        return type(element) is cst.Call
    return False


_SAME_TENSOR = frozenset({
    "detach", "cpu", "cuda", "to", "numpy", "view", "reshape", "flatten", "view_as", "requires_grad_",
    "items", "keys", "values", "float", "double", "half", "contiguous",
})  # fmt: skip


def _is_plain(unit: Unit, side: cst.BaseExpression) -> bool:
    """Whether a comprehension takes of each tensor what is no tensor: a flag, a shape, a name."""
    value = values(unit).resolve(side)
    if type(value) is cst.DictComp:
        value = value.value
    elif isinstance(value, (cst.ListComp, cst.SetComp)):
        value = value.elt
    return type(value) is cst.Attribute and value.attr.value in _PLAIN


_PLAIN = frozenset({"requires_grad", "shape", "dtype", "device", "ndim", "is_leaf", "training", "layout"})


def _is_a_count(unit: Unit, side: cst.BaseExpression) -> bool:
    """Whether an expression is a number of things or of their elements, which no training step changes."""
    value = values(unit).resolve(side)
    if type(value) is not cst.Call:
        return False
    return dotted(value.func) == "len" or (
        dotted(value.func) == "sum" and any(last_name(below) in COUNTS for below in walk(value))
    )


COUNTS = frozenset({"numel", "nelement", "size", "len", "element_size"})

# The same asked of `ast`, so that few units need to be parsed twice.

_COMPARING = (
    frozenset(assertions.KNOWN)
    | frozenset(assertions.PREDICATE_METHODS)
    | frozenset(name.rpartition(".")[2] for name in assertions.PREDICATES)
)


def may_compare_one(unit: Unit) -> bool:
    """Whether something in the unit could compare or subtract one value with itself, under one name or two;
    yes too often, never no wrongly."""
    compared = [*unit.asts(ast.Compare), *unit.calls_of(_COMPARING)]
    if compared:
        names = _second_names(unit)
        for node in compared:
            if _twice(node, names):
                return True
    for difference in unit.asts(ast.BinOp):
        if same_code(difference.left, difference.right):
            return True
    taken = not STATE.isdisjoint(unit.facts.calls) or not _TAKING.isdisjoint(unit.facts.names)
    return taken and (unit.calls_any(CHANGES.match) or unit.calls_any(_CHANGES_GIVEN.match))


_TAKING = frozenset({"param_groups", "data", "detach", "view"})


def _second_names(unit: Unit) -> dict[str, str]:
    """For each name that is given to another name, or shares a chained assignment, one name of its group."""
    group: dict[str, str] = {}
    pairs: list[tuple[ast.expr, ast.expr]] = []
    for node in unit.asts(ast.Assign):
        if len(node.targets) == 1 and type(node.value) not in _NAMING:
            continue
        first, *rest = node.targets
        pairs.extend((first, other) for other in rest)
        values_ = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        targets = first.elts if isinstance(first, ast.Tuple) else [first]
        pairs.extend(zip(targets, values_, strict=False))
    pairs.extend((node.target, node.value) for node in unit.asts(ast.AnnAssign) if node.value is not None)
    pairs.extend((node.target, node.value) for node in unit.asts(ast.NamedExpr))
    for one, other in pairs:
        if isinstance(one, ast.Name) and isinstance(other, ast.Name):
            keep, lose = group.get(one.id, one.id), group.get(other.id, other.id)
            group.update({name: keep for name, head in group.items() if head == lose})
            group[one.id] = group[other.id] = keep
    return group


_NAMING = frozenset({ast.Name, ast.Tuple})


def _twice(node: ast.expr, names: dict[str, str]) -> bool:
    """Whether a node could compare one value with itself, under one name or two."""
    sides: list[ast.expr] = []
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
    elif isinstance(node, ast.Call):
        sides = node.args[:2]
        if len(sides) < 2:
            owner = [node.func.value] if sides and isinstance(node.func, ast.Attribute) else []
            sides = [*owner, *sides, *(keyword.value for keyword in node.keywords)][:2]
    for one, other in pairwise(sides):
        if type(one) is type(other) and same_code(one, other):
            return True
        if type(other) in _COLLECTIONS and _holds(other, one):
            return True
        if names and _aliases(_asked(one), _asked(other), names):
            return True
    return False


def _asked(node: ast.expr) -> str:
    """The name at the left of a path, through methods without arguments and what is made of one value."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        if not isinstance(node, ast.Call):
            node = node.value
        elif isinstance(node.func, ast.Name) and len(node.args) == 1:
            node = node.args[0]
        elif isinstance(node.func, ast.Attribute) and not node.args:
            node = node.func.value
        else:
            return ""
    return root_of(node)


def _last(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _aliases(one: str, other: str, names: dict[str, str]) -> bool:
    return one != other and names.get(one, one) == names.get(other, other)


_COLLECTIONS = frozenset({ast.List, ast.Tuple, ast.Set})


def _holds(collection: ast.expr, element: ast.expr) -> bool:
    """Whether a collection that is written out holds the element."""
    if not isinstance(collection, (ast.List, ast.Tuple, ast.Set)):
        return False
    return any(same_code(part, element) for part in collection.elts)
