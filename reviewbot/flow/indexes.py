"""Where rows are indexed: put into a dict by a key that is read from each of them.

Three forms: `{key(row): row for row in rows}`, `dict(…)` over pairs, and a loop that stores into a dict of
the same function. `reached` follows the calls of a file, so that a helper which indexes its parameter counts
as a build of the argument, at the call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import bind, call_sites, defaults
from reviewbot.flow.control import guards, leaves, statements
from reviewbot.flow.syntax import UNKNOWN, canonical, dotted, last_name, literal, root_name, walk
from reviewbot.flow.values import UNBOUND, Binding, Values, values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import File, Unit

_DEPTH = 4
_DICTS = frozenset(
    {"dict", "defaultdict", "OrderedDict", "collections.defaultdict", "collections.OrderedDict"}
)
# What these give is a mapping or a numbering already; copying one is no index.
_NOT_ROWS = frozenset({
    "items", "named_parameters", "state_dict", "named_modules", "named_buffers", "named_children",
    "enumerate", "range", "zip", "count", "keys",
})  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Build:
    """One index over one collection, as seen from `unit`.

    `rows` is the binding of the name in `unit` that holds the collection, `node` the build or the call in
    `unit` that leads to it. `key` and `shape` are the key and the whole index as text with the loops' own
    names left open. `site` is the place that decided to build: the build, or the call of a helper that
    indexes what it is given and returns the index. `made` is the build itself, `hops` calls away. `whole`:
    the index holds the rows themselves, and not something that was made of each.
    """

    unit: Unit
    node: cst.CSTNode
    rows: Binding
    key: str
    shape: str
    site: tuple[Unit, cst.CSTNode]
    made: tuple[Unit, cst.CSTNode]
    hops: int = 0
    whole: bool = True


# What these yield comes out of a text or a collection that one of their arguments is.
_PARSING = frozenset({"findall", "finditer", "splitlines", "split", "loads", "map", "filter", "read_text"})


# The node that builds, the rows, the key, the shape, and whether it holds the rows.
_Made = tuple[cst.CSTNode, Binding, str, str, bool]


def builds(unit: Unit) -> list[Build]:
    """The indexes that a unit builds itself, in source order."""
    return [
        Build(unit, node, rows, key, shape, (unit, node), (unit, node), whole=whole)
        for node, rows, key, shape, whole in _built(unit)
    ]


@once
def _built(unit: Unit) -> list[_Made]:
    found = [*_comprehensions(unit), *_loops(unit)] if may_build(unit) else []
    found.sort(key=lambda one: unit.index.rank(one[0]))
    return found


def reached(unit: Unit, depth: int = _DEPTH) -> list[Build]:
    """The indexes that a call of `unit` builds, itself and through functions of its file, over collections
    that are parameters or locals of `unit`."""
    found = builds(unit)
    if depth:
        for site in call_sites(unit):
            if site.callee is unit or not leads_to_build(site.callee):
                continue
            given = bind(site.call, site.callee)
            for inner in reached(site.callee, depth - 1):
                seen = moved(unit, site.call, inner, given)
                if seen is not None:
                    found.append(seen)
    found.sort(key=lambda build: unit.index.rank(build.node))
    return found


def moved(unit: Unit, call: cst.Call, inner: Build, given: dict[str, cst.BaseExpression]) -> Build | None:
    """A callee's build as its caller sees it, or None where the caller does not hold the rows by name."""
    argument = given.get(inner.rows.name) if inner.rows.kind == "parameter" else None
    if argument is None:
        return None
    rows = holder(values(unit), argument)
    if rows is None:
        return None
    key, shape = (_settings(unit, call, inner.unit, text, given) for text in (inner.key, inner.shape))
    is_helper = inner.hops == 0 and inner.site == inner.made
    site = (unit, call) if is_helper and _hands_out(inner) else inner.site
    return replace(
        inner, unit=unit, node=call, rows=rows, key=key, shape=shape, site=site, hops=inner.hops + 1
    )


def _hands_out(build: Build) -> bool:
    """Whether the function that builds an index is there to build it: it returns it."""
    unit, node = build.made
    flow = values(unit)
    for returned in unit.find(cst.Return):
        if returned.value is None:
            continue
        if any(below is node for below in walk(returned.value)):
            return True
        if type(returned.value) is cst.Name:
            held = flow.reaching(returned.value)
            stored = type(node) is cst.For or any(b.value is node for b in held)
            if stored and (type(node) is not cst.For or _stores_into(node, returned.value.value)):
                return True
    return False


def _stores_into(loop: cst.For, name: str) -> bool:
    return any(target == name for target, _, _ in _stores(loop))


def _settings(
    unit: Unit, call: cst.Call, function: Unit, text: str, given: dict[str, cst.BaseExpression]
) -> str:
    """A text of a callee with the arguments that it reads by name put after it."""
    node = function.node
    assert isinstance(node, cst.FunctionDef)
    names = set(re.findall(r"[A-Za-z_]\w*", text))
    read = []
    usual = defaults(function)
    params = node.params
    for param in (*params.posonly_params, *params.params, *params.kwonly_params):
        name = param.name.value
        if name in names and name in given:
            read.append(f"{name}={_versioned(unit, given[name])}")
        elif name in names and name in usual:
            read.append(f"{name}={canonical(usual[name])}")
    for star in (params.star_arg, params.star_kwarg):
        if type(star) is cst.Param and star.name.value in names:
            read.append(", ".join(_versioned(unit, arg.value) for arg in call.args))
    return f"{text} with {', '.join(read)}" if read else text


def _versioned(unit: Unit, node: cst.BaseExpression) -> str:
    """The code of an expression, with a mark for the bindings that its names have there. A name of the
    function's own is marked with it: its callers, who do not know it, have several such."""
    flow = values(unit)
    marks = _marks(flow, node)
    for name in flow.reads(node):
        if any(binding.kind not in ("parameter", "unbound") for binding in flow.reaching(name)):
            marks[name.value] = f"{marks[name.value]}@{unit.line}"
    return re.sub(
        r"[A-Za-z_]\w*", lambda w: f"{w[0]}#{marks[w[0]]}" if marks.get(w[0]) else w[0], canonical(node)
    )


def _marks(flow: Values, node: cst.CSTNode, but: str = "") -> dict[str, str]:
    """For each name that a node reads the numbers of the bindings that reach it."""
    numbers = {binding: str(number) for number, binding in enumerate(flow.all)}
    return {
        name.value: ",".join(
            sorted(numbers[b] for b in flow.reaching(name) if b in numbers and b.kind != but)
        )
        for name in flow.reads(node)
    }


def holder(flow: Values, node: cst.CSTNode) -> Binding | None:
    """The one binding of the plain name that holds a collection; aliases are followed."""
    if type(node) is not cst.Name:
        return None
    resolved = flow.resolve(node)
    name = resolved if type(resolved) is cst.Name else node
    reaching = flow.reaching(name) - {UNBOUND}
    if len(reaching) != 1:
        return None
    (binding,) = reaching
    return binding if binding.kind in ("parameter", "assign", "walrus", "with") else None


def _comprehensions(unit: Unit) -> Iterator[_Made]:
    flow = values(unit)
    for node in unit.find(cst.DictComp):
        if isinstance(unit.parent(node), cst.DictElement):
            continue  # part of a table that is written out, in which nothing is looked up
        found = _over(flow, node, node.for_in, node.key, node.value)
        if found is not None:
            yield node, *found
    for call in unit.find(cst.Call):
        if dotted(call.func) not in _DICTS or not call.args:
            continue
        pairs = call.args[-1].value
        if isinstance(pairs, (cst.GeneratorExp, cst.ListComp)):
            if type(pairs.elt) is cst.Tuple and len(pairs.elt.elements) == 2:
                key, value = (element.value for element in pairs.elt.elements)
                found = _over(flow, pairs, pairs.for_in, key, value)
                if found is not None:
                    yield call, *found
        elif type(pairs) is cst.Call and last_name(pairs) in ("findall", "finditer", "loads", "reader"):
            for arg in pairs.args:
                rows = holder(flow, arg.value)
                if rows is not None:
                    text = canonical(call)
                    yield call, rows, text, text, True


def _over(
    flow: Values, node: cst.CSTNode, clause: cst.CompFor, key: cst.BaseExpression, value: cst.BaseExpression
) -> tuple[Binding, str, str, bool] | None:
    rows = rows_of(flow, clause.iter)
    # What holds the same for each row, `{name: None for name in names}`, is a fresh table to be filled.
    if rows is None or literal(value) is not UNKNOWN:
        return None
    targets: list[cst.BaseExpression] = []
    inner: cst.CompFor | None = clause
    while inner is not None:
        targets.append(inner.target)
        inner = inner.inner_for_in
    own = [name.value for target in targets for name in walk(target) if type(name) is cst.Name]
    if not _is_key(key, own):
        return None
    return rows, _opened(flow, key, own), _opened(flow, node, own, rows.name), _is_row(key, value)


def rows_of(flow: Values, node: cst.BaseExpression) -> Binding | None:
    """The name that holds what a loop runs over: `rows`, `rows.values()`, `batch["rows"]`, `sorted(rows)`."""
    if type(node) is cst.Call:
        if last_name(node) in _NOT_ROWS:
            return None
        if type(node.func) is cst.Attribute and not node.args:
            return rows_of(flow, node.func.value)
        if dotted(node.func) in ("sorted", "list", "tuple", "reversed", "iter") and node.args:
            return rows_of(flow, node.args[0].value)
        if last_name(node) in _PARSING:
            parts = [arg.value for arg in node.args]
            if type(node.func) is cst.Attribute:
                parts.append(node.func.value)
            return next((rows for part in parts if (rows := rows_of(flow, part)) is not None), None)
        return None
    while isinstance(node, (cst.Subscript, cst.Attribute)):
        node = node.value
    return holder(flow, node)


def _is_key(key: cst.BaseExpression, own: list[str]) -> bool:
    """Whether a key is read from a row: one of its fields, several of them, or what a call makes of it."""
    if isinstance(key, (cst.Subscript, cst.Attribute, cst.Call)):
        return any(type(below) is cst.Name and below.value in own for below in walk(key))
    if type(key) is cst.Tuple:
        return any(_is_key(element.value, own) for element in key.elements)
    return False


def _loops(unit: Unit) -> Iterator[_Made]:
    flow = values(unit)
    for loop in unit.find(cst.For):
        outer = [above for above in _within_function(unit, loop) if type(above) is cst.For]
        rows = rows_of(flow, loop.iter)
        if rows is None or any(next(_stores(above), None) for above in outer):
            continue  # a store is told of the outermost loop around it
        bound = (name for below in walk(loop) for target in _bound_by(below) for name in walk(target))
        own = [name.value for name in bound if type(name) is cst.Name]
        for name, key, value in _stores(loop):
            made = flow.bindings(name)
            full = flow.resolve(key)
            if len(made) == 1 and _is_empty_dict(made[0].value) and _is_key(full, own):
                text = _opened(flow, full, own)
                filters = "".join(f" if {_opened(flow, test, own)}" for test in _filters(unit, loop, value))
                part = _opened(flow, loop.iter, own, rows.name) if _is_part(loop.iter) else "ROWS"
                shape = f"{text}: {_opened(flow, value, own)} of {part}{filters}"
                yield loop, rows, text, shape, _is_row(full, value)


def _is_part(node: cst.BaseExpression) -> bool:
    """Whether a loop runs over one part of what a name holds: `day["open"]`, and not `day["shut"]`."""
    called = {id(below.func) for below in walk(node) if type(below) is cst.Call}
    return any(isinstance(b, (cst.Subscript, cst.Attribute)) and id(b) not in called for b in walk(node))


def _is_row(key: cst.BaseExpression, value: cst.BaseExpression) -> bool:
    """Whether what is stored is, or holds, the very thing that the key was read from."""
    if isinstance(value, (cst.Tuple, cst.List)):
        return any(_is_row(key, element.value) for element in value.elements)
    return isinstance(value, cst.Name) and any(
        isinstance(below, cst.Name) and below.value == value.value for below in walk(key)
    )


def _filters(unit: Unit, loop: cst.For, value: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """The conditions inside a loop that leave a row out of the index without a failure."""
    for guard in guards(unit, value):
        branch = guard.node
        fails = guard.by_leaving and type(branch) is cst.If and leaves(statements(branch.body)) == "fail"
        if not fails and any(below is guard.condition for below in walk(loop)):
            yield guard.condition


def _within_function(unit: Unit, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for above in unit.ancestors(node):
        if isinstance(above, (cst.FunctionDef, cst.Lambda)):
            return
        yield above


def _bound_by(node: cst.CSTNode) -> list[cst.CSTNode]:
    if type(node) is cst.For:
        return [node.target]
    if type(node) is cst.Assign:
        return [target.target for target in node.targets if isinstance(target.target, (cst.Name, cst.Tuple))]
    return []


def _is_empty_dict(node: cst.BaseExpression | None) -> bool:
    if type(node) is cst.Dict:
        return not node.elements
    return type(node) is cst.Call and dotted(node.func) in _DICTS


def _stores(loop: cst.For) -> Iterator[tuple[str, cst.BaseExpression, cst.BaseExpression]]:
    """What a loop stores: the dict's name, the key, the row."""
    for node in walk(loop):
        if type(node) is cst.Assign and len(node.targets) == 1:
            target = node.targets[0].target
            if type(target) is cst.Subscript and type(target.value) is cst.Name:
                index = _key_of(target)
                if index is not None:
                    yield target.value.value, index, node.value
        elif type(node) is cst.Call and last_name(node) in ("append", "add") and len(node.args) == 1:
            group = node.func.value if type(node.func) is cst.Attribute else None
            if type(group) is cst.Subscript and type(group.value) is cst.Name:
                index = _key_of(group)
                if index is not None:
                    yield group.value.value, index, node.args[0].value
            elif type(group) is cst.Call and last_name(group) == "setdefault" and group.args:
                yield root_name(group), group.args[0].value, node.args[0].value


def _key_of(node: cst.Subscript) -> cst.BaseExpression | None:
    """What is subscripted with: of `by[day, dish]` the tuple."""
    parts = [element.slice.value for element in node.slice if type(element.slice) is cst.Index]
    if len(parts) < len(node.slice):
        return None
    return parts[0] if len(parts) == 1 else cst.Tuple([cst.Element(part) for part in parts])


def _opened(flow: Values, node: cst.CSTNode, own: list[str], rows: str = "") -> str:
    """The code of a node with the loop's own names, and the rows', numbered; others keep their bindings."""
    order: dict[str, str] = {rows: "ROWS"} if rows else {}
    for name in own:
        order.setdefault(name, f"ROW{len(order)}")
    marks = _marks(flow, node, but="parameter")

    def renamed(word: re.Match[str]) -> str:
        if word[0] in order:
            return order[word[0]]
        return f"{word[0]}#{marks[word[0]]}" if marks.get(word[0]) else word[0]

    return re.sub(r"(?<![.\w'\"])[A-Za-z_]\w*", renamed, canonical(node))


@once
def may_build(unit: Unit) -> bool:
    """Whether a unit's `ast` might hold an index of its own."""
    return (
        any(_may_be_key(node.key) for node in unit.asts(ast.DictComp))
        or any(map(_may_pair, unit.calls_of(_PAIRING)))
        or _may_store(unit)
    )


_PAIRING = frozenset(name.rpartition(".")[2] for name in _DICTS)


def _may_be_key(key: ast.expr) -> bool:
    if isinstance(key, ast.Tuple):
        return any(map(_may_be_key, key.elts))
    return isinstance(key, (ast.Subscript, ast.Attribute, ast.Call))


def _may_pair(call: ast.Call) -> bool:
    """Whether a call might make a dict of pairs: what it is given last says."""
    last = [*call.args[-1:], *(keyword.value for keyword in call.keywords[-1:])]
    return any(
        isinstance(pairs, ast.Call)
        or (isinstance(pairs, (ast.GeneratorExp, ast.ListComp)) and isinstance(pairs.elt, ast.Tuple))
        for pairs in last
    )


def _may_store(unit: Unit) -> bool:
    """Whether a loop might store into a dict that is empty at first."""
    if not unit.has(ast.For, ast.AsyncFor):
        return False
    if not unit.calls(*_PAIRING) and all(node.keys for node in unit.asts(ast.Dict)):
        return False
    if unit.calls("setdefault", "append", "add"):
        return True
    return any(isinstance(node.ctx, ast.Store) for node in unit.asts(ast.Subscript))


def leads_to_build(unit: Unit) -> bool:
    """Whether a unit might build an index, itself or through functions of its file; reads `ast` only."""
    return unit.name in _leading(unit.file)


@once
def _leading(file: File) -> frozenset[str]:
    leading = {unit.name for unit in file.units if may_build(unit)}
    named = {name.rpartition(".")[2] for name in leading}
    while True:
        further = [u for u in file.units if u.name not in leading and not named.isdisjoint(u.facts.calls)]
        if not further:
            return frozenset(leading)
        leading |= {unit.name for unit in further}
        named |= {unit.name.rpartition(".")[2] for unit in further}
