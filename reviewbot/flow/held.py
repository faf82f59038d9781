"""What an expression looks at: which value it starts from, which part of that it reads, and what is made of
it before it is compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.syntax import UNKNOWN, canonical, children, last_name, literal
from reviewbot.flow.values import UNBOUND, Binding, values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

# What keeps all that could differ.
_WHOLE = frozenset({
    "list", "tuple", "dict", "str", "repr", "float", "array", "asarray", "tensor", "as_tensor", "asdict",
    "vars", "dumps", "approx", "deepcopy", "copy", "cast", "tolist", "cpu", "detach", "numpy", "clone",
    "double", "contiguous", "item", "items", "to", "tobytes", "model_dump", "to_dict", "state_dict",
})  # fmt: skip
_ANY = "*"
_DEPTH = 20


@dataclass(frozen=True, slots=True)
class Held:
    """The part at `path` of the value `root`, of which `about` is taken ("" for all of it: `len`, `keys`).

    `root` is the binding that alone reaches a name, or code with the bindings that reach into it. A part is
    an attribute (`.loss`), an item (`[0]`, `['tokens']`), one that `.get` looks up, or `*`: any item.
    """

    root: object
    path: tuple[str, ...] = ()
    about: str = ""

    def covers(self, other: Held) -> bool:
        """Whether two of these that are equal are also equal in the other."""
        if self.root != other.root or len(self.path) > len(other.path):
            return False
        for mine, theirs in zip(self.path, other.path, strict=False):
            if mine not in (theirs, _ANY) and mine != theirs.removeprefix("get "):
                return False
        return not self.about or (len(self.path) == len(other.path) and self.about == other.about)

    def is_at(self, other: Held) -> bool:
        """Whether both look at the same part of one value, whatever they take of it."""
        return len(self.path) == len(other.path) and replace(self, about="").covers(other)


def held(unit: Unit, node: cst.BaseExpression) -> Held | None:
    """What an expression looks at; None for what is written out."""
    return _held(unit, node, _DEPTH)


def parts(unit: Unit, node: cst.CSTNode) -> list[Held]:
    """What the operands in an expression look at: of `max(abs(a - b))` both `a` and `b`."""
    if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)) or _is_known_call(node):
        one = held(unit, node)  # type: ignore[arg-type]
        return [one] if one is not None else []
    below = children(node)
    if type(node) is cst.Call:
        below = [arg.value for arg in node.args]
    if isinstance(node, (cst.ListComp, cst.GeneratorExp, cst.SetComp)):
        below = [node.elt]  # whose names are the parts of what it runs over
    return [one for part in below for one in parts(unit, part)]


def _is_known_call(node: cst.CSTNode) -> bool:
    return type(node) is cst.Call and (last_name(node) in _WHOLE or last_name(node) in ("len", "keys", "get"))


def _held(unit: Unit, node: cst.BaseExpression, left: int) -> Held | None:
    if left == 0 or literal(node) is not UNKNOWN:
        return None
    if type(node) is cst.Name:
        return _named(unit, node, left)
    if type(node) is cst.Attribute:
        return _with(_held(unit, node.value, left - 1), f".{node.attr.value}")
    if type(node) is cst.Subscript:
        owner = _held(unit, node.value, left - 1)
        inner = node.slice[0].slice if len(node.slice) == 1 else None
        if type(inner) is cst.Index:
            return _with(owner, _key(unit, inner.value))
        return _taking(owner, canonical(node)[len(canonical(node.value)) :])
    if type(node) is cst.Call:
        return _called(unit, node, left)
    if isinstance(node, (cst.ListComp, cst.GeneratorExp)) and not node.for_in.ifs:
        return _each(unit, node, left)
    return _own(unit, node)


def _called(unit: Unit, call: cst.Call, left: int) -> Held | None:
    name = last_name(call)
    inner = call.func.value if type(call.func) is cst.Attribute else None
    if inner is not None and type(inner) is cst.Name and inner.value in unit.file.imports:
        inner = None  # `copy.deepcopy(rows)`
    given = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
    if inner is not None and name == "get" and given:
        return _with(_held(unit, inner, left - 1), f"get {_key(unit, given[0])}")
    subject = inner if inner is not None else (given[0] if given else None)
    if subject is None or (inner is not None and given and name not in _WHOLE):
        return _own(unit, call)
    if name in _WHOLE:
        return _held(unit, subject, left - 1)
    if inner is None and type(call.func) is cst.Name and (values(unit).reaching(call.func) or given[1:]):
        return _own(unit, call)
    if inner is None and name not in (
        "len",
        "set",
        "sorted",
        "sum",
        "max",
        "min",
        "frozenset",
        "abs",
        "bool",
    ):
        return _own(unit, call)
    if inner is not None and name not in ("keys", "values", "size", "numel", "sum", "mean", "max", "min"):
        return _own(unit, call)
    return _taking(_held(unit, subject, left - 1), name)


def _each(unit: Unit, node: cst.ListComp | cst.GeneratorExp, left: int) -> Held | None:
    """`[row["tokens"] for row in rows]`: that part of any item."""
    return _held(unit, node.elt, left - 1) or _own(unit, node)


def _named(unit: Unit, name: cst.Name, left: int) -> Held | None:
    reaching = values(unit).reaching(name) - {UNBOUND}
    if not reaching:
        return Held(name.value)
    if len(reaching) != 1:
        return Held(reaching)
    (binding,) = reaching
    if binding.value is not None and binding.kind in ("assign", "walrus") and binding.role == "whole":
        inner = _held(unit, binding.value, left - 1) if _only_reads(binding.value) else None
        return inner if inner is not None and not inner.about else Held(binding)
    if binding.value is not None and binding.role in ("item", "value") and literal(binding.value) is UNKNOWN:
        return _with(_held(unit, binding.value, left - 1), _ANY) or Held(binding)
    return Held(binding)


def _only_reads(node: cst.BaseExpression) -> bool:
    """Whether an expression hands on a part of another value, and makes none of its own."""
    return isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)) or _is_known_call(node)


def _key(unit: Unit, node: cst.BaseExpression) -> str:
    if type(node) is cst.Name:
        reaching = values(unit).reaching(node)
        bound: Binding | None = next(iter(reaching)) if len(reaching) == 1 else None
        if bound is not None and bound.role in ("item", "key", "counter", "value", "part"):
            written = bound.value is not None and literal(bound.value) is not UNKNOWN
            return f"[{node.value}]" if written else _ANY
    return f"[{canonical(node)}]"


def _own(unit: Unit, node: cst.BaseExpression) -> Held:
    """An expression that makes a value of its own, told from others by its code and what reaches into it."""
    flow = values(unit)
    into = frozenset().union(*(flow.reaching(name) for name in flow.reads(node)))
    return Held((canonical(node), into))


def _with(owner: Held | None, part: str) -> Held | None:
    if owner is None:
        return None
    if owner.about:
        return replace(owner, about=f"{owner.about} {part}")
    return replace(owner, path=(*owner.path, part))


def _taking(owner: Held | None, what: str) -> Held | None:
    return replace(owner, about=f"{owner.about} {what}".strip()) if owner is not None else None
