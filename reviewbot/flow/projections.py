"""Comparisons of two runs that look at a part of each side only, with nothing that compares the rest.

A projection maps what differs to what is equal: the keys of a mapping, a length or shape, the first few
items, a sum, a number rounded to whole ones. Sorting a list, or the `set` of it, hides no value.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.calls import bind, callee
from reviewbot.flow.carried import REBUILDING
from reviewbot.flow.checks import Check, Comparison, checks, comparisons
from reviewbot.flow.judging import (
    compares,
    function_names,
    in_test_file,
    says_that_it_judges,
    two_sides,
)
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import (
    UNKNOWN,
    canonical,
    dotted,
    keyword_argument,
    last_name,
    literal,
    root_name,
    subscript,
    walk,
)
from reviewbot.flow.taken_out import left_out, may_take_out, popped, taken_by
from reviewbot.flow.two_calls import are_two_calls
from reviewbot.flow.values import UNBOUND, Binding, values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import File, Unit

Kind = Literal[
    "keys", "length", "shape", "slice", "figure", "rounded", "case", "fields", "members", "order", "without",
    "decoded",
]  # fmt: skip
_CALLS: dict[str, Kind] = {"len": "length", "count_nonzero": "figure"}
_METHODS: dict[str, Kind] = {
    "keys": "keys", "numel": "length", "size": "shape",
    "sum": "figure", "mean": "figure", "norm": "figure",
    "lower": "case", "upper": "case", "casefold": "case",
}  # fmt: skip
# They keep the items, and lose in which order they come, or how often.
_GATHERING: dict[str, Kind] = {
    "set": "members",
    "frozenset": "members",
    "sorted": "order",
    "Counter": "order",
}
_POOLING = frozenset({"sum", "max", "min", "mean", "fmean"})
_FIGURE_FUNCTIONS = frozenset({"sum", "mean", "norm"})
_SAYS_SAME = pattern(
    r"(?i)(^|[^a-z])(same|identical|equal|equivalent|equivalence|parity|match|matches|consistent|consistency"
    r"|unchanged|reproduces?|reproducib\w*|determinis\w*|agree|agrees)($|[^a-z])"
)
# What is no whole number, by its name.
_FRACTION = pattern(
    r"(?i)(^|_)(rewards?|loss(es)?|scores?|log_?probs?|advantages?|probs?|probabilit\w+|returns?|weights?"
    r"|grads?|gradients?|values?|ratios?|kl|entropy|temperature|lr|logits?)(_|$)"
)
_WHOLE = frozenset({"int", "long", "round", "floor", "ceil", "trunc", "rint"})
_DIGESTS = frozenset({
    "sha1", "sha224", "sha256", "sha384", "sha512", "md5", "blake2b", "blake2s", "crc32", "adler32", "xxh64",
    "xxh32", "hash", "dumps", "repr", "str", "join", "sha3_256",
})  # fmt: skip
_OF_DIGESTS = frozenset({"hexdigest", "digest", "encode", "strip", "intdigest"})
# Values that are written out: what is compared with them is an expectation, not another run.
_WRITTEN = frozenset({"ones", "zeros", "full", "tensor", "array", "arange", "empty", "eye", "next", "iter"})
_ATTRIBUTES: dict[str, Kind] = {"shape": "shape", "size": "shape", "ndim": "shape", "dtype": "shape"}
_SAME_ITEMS = frozenset(
    {"set", "sorted", "list", "tuple", "frozenset", "float", "int", "item", "tolist", "abs"}
)


@dataclass(frozen=True, slots=True)
class Part:
    """What is compared of a value: `of` is the value, `how` the projection as text with `…` for the value."""

    kind: Kind
    how: str
    of: cst.BaseExpression


@dataclass(frozen=True, slots=True, eq=False)
class Projected:
    """A comparison of the same part of two values. `also` are further checks of the two, of parts as well."""

    comparison: Comparison
    left: Part
    right: Part
    also: tuple[Check, ...]


def projected(unit: Unit) -> Iterator[Projected]:
    """The comparisons that see a part of both sides, for two sides of which nothing else is compared: the
    first of each pair, in source order."""
    found = in_part(unit)
    lossy = {id(one.check.node): one for one, _, _ in found}
    seen: list[Sides] = []
    for one, left, right in found:
        sides = _sides(unit, left.of, right.of) or _sides(unit, one.left, one.right)
        if sides is None:
            continue
        # One run by two settings, whose values are put in order in place.
        settings = left.how == _IN_PLACE and are_two_calls(unit, left.of, right.of)
        if not settings and not _are_compared(unit, one, left, right):
            continue
        if (
            not settings
            and left.kind in ("members", "order", "without")
            and not named_apart(unit, left.of, right.of)
            and not are_named(one.left, one.right)
            and not _stands_in_comparison(unit)
        ):
            continue
        whole = set(values(unit).slice(left.of)), set(values(unit).slice(right.of))
        if any(whole[0] >= known[0] and whole[1] >= known[1] for known in seen):
            continue
        seen.append(sides)
        others = [check for check in checks(unit) if check.node is not one.check.node]
        both = [check for check in others if _looks_at(unit, check, sides)]
        walks = left.kind != "without"  # what takes the fields out may walk over both
        if (
            all(id(check.node) in lossy for check in both)
            and not _handed_on(unit, sides, left.of, right.of, walks=walks)
            and not _asked_for(unit, sides, lossy)
            and not _compared_beside(unit, sides, found)
        ):
            yield Projected(one, left, right, tuple(both))


@once
def in_part(unit: Unit) -> list[tuple[Comparison, Part, Part]]:
    """The comparisons that see the same part of two values, with the two parts."""
    found: list[tuple[Comparison, Part, Part]] = []
    for one in comparisons(unit):
        if one.relation in ("equal", "close"):
            left, right = part(unit, one.left), part(unit, one.right)
            if left is None and right is None:
                left, right = _gathered(unit, one)
            if left is not None and right is not None and (left.kind, left.how) == (right.kind, right.how):
                found.append((one, left, right))
    return found


def _compared_beside(unit: Unit, sides: Sides, found: list[tuple[Comparison, Part, Part]]) -> bool:
    """Whether a check that sees a part asks for more of the two as well:
    `assert len(left) == len(right) and left == right`."""
    flow, seen = values(unit), {id(one) for one, _, _ in found}
    asking = {id(one.check.node) for one, _, _ in found}
    for one in comparisons(unit):
        if id(one) in seen or id(one.check.node) not in asking:
            continue
        if one.relation in ("equal", "close", "identical"):
            both = set(flow.slice(one.left)), set(flow.slice(one.right))
            if any(
                not left.isdisjoint(sides[0]) and not right.isdisjoint(sides[1])
                for left, right in (both, both[::-1])
            ):
                return True
    return False


def _are_compared(unit: Unit, one: Comparison, left: Part, right: Part) -> bool:
    """Whether what two parts are taken of are two runs. Of texts and of items in no order the names of the
    parts themselves may say so."""
    if are_two_runs(unit, left.of, right.of):
        return True
    return (
        left.kind in ("decoded", "order")
        and are_named(one.left, one.right)
        and bool(_made_by(unit, left.of) and _made_by(unit, right.of))
    )


def _gathered(unit: Unit, one: Comparison) -> tuple[Part | None, Part | None]:
    """What is compared of two whole values: without their order, or without fields that were taken out."""
    if type(one.node) is cst.Call and last_name(one.node) in ("assertCountEqual", "assertItemsEqual"):
        return Part("order", "assertCountEqual", one.left), Part("order", "assertCountEqual", one.right)
    if type(one.left) is not cst.Name or type(one.right) is not cst.Name:
        return None, None
    if all(_is_sorted_before(unit, side, one.check.node) for side in (one.left, one.right)):
        return Part("order", _IN_PLACE, one.left), Part("order", _IN_PLACE, one.right)
    left, right = (popped(unit, side, one.check.node) for side in (one.left, one.right))
    if not left or left != right:
        return None, None
    how = ", ".join(f"`{field}`" for field in sorted(left))
    return Part("without", how, one.left), Part("without", how, one.right)


def _is_sorted_before(unit: Unit, side: cst.Name, check: cst.CSTNode) -> bool:
    """Whether a list of values, and not of names of files or keys, is put in order by its values in place."""
    flow = values(unit)
    made = flow.resolve(side)
    if any(type(b) is cst.Call and _UNORDERED.search(last_name(b)) for b in walk(made)):
        return False
    for call in unit.find(cst.Call):
        if last_name(call) != "sort" or not isinstance(call.func, cst.Attribute):
            continue
        owner = call.func.value
        if type(owner) is not cst.Name or unit.index.rank(call) > unit.index.rank(check):
            continue
        if any(arg.keyword is None or arg.keyword.value not in _HOW_SORTED for arg in call.args):
            continue
        reaching = flow.reaching(owner)
        over = [b.value for b in reaching if b.kind == "loop" and isinstance(b.value, (cst.Tuple, cst.List))]
        items = [e.value for both in over if isinstance(both, (cst.Tuple, cst.List)) for e in both.elements]
        for name in (owner, *items):
            if type(name) is cst.Name and name.value == side.value:
                return flow.reaching(name) == flow.reaching(side)
    return False


_IN_PLACE = "….sort()"
_HOW_SORTED = frozenset({"reverse", "axis", "kind", "stable"})
_UNORDERED = pattern(r"(?i)^(keys|set|frozenset)$|glob|listdir|iterdir|scandir|walk|list_|names|modules|ids")
_PROJECTING = frozenset({
    *_CALLS, *_METHODS, *_GATHERING, *_POOLING, *REBUILDING, "round", "pop", "sort", "assertCountEqual",
    "assertItemsEqual", "decode", "batch_decode", "astype", *_WHOLE,
})  # fmt: skip
_KEEPING_SOME = frozenset({ast.Slice, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.Delete})


def _handing_back(file: File) -> frozenset[str]:
    """The last names of the functions of a file that hand back what may be a part of what they are given."""
    return frozenset(
        unit.name.rpartition(".")[2]
        for unit in file.units
        if unit.is_function
        and len(returned := unit.asts(ast.Return)) == 1
        and isinstance(returned[0].value, ast.Call)
        and not unit.facts.calls.isdisjoint(_PROJECTING | _OF_DIGESTS)
    )


def _rebuilds(file: File) -> bool:
    return any(unit.has(ast.DictComp) for unit in file.units)


def _takes_out(file: File) -> bool:
    return any(unit.is_function and may_take_out(unit) for unit in file.units)


@once
def _projecting(file: File) -> frozenset[str]:
    """The last names of all that a file might call to take a part of something."""
    own = function_names(file) if _rebuilds(file) or _takes_out(file) else _handing_back(file)
    return _PROJECTING | own


def may_project(unit: Unit) -> bool:
    """Whether a unit's `ast` might take a part of something: yes too often, never no wrongly."""
    facts = unit.facts
    if not _KEEPING_SOME.isdisjoint(facts.kinds) or not _projecting(unit.file).isdisjoint(facts.calls):
        return True
    # Names of every kind, to be quick about most units.
    if _ATTRIBUTES.keys().isdisjoint(facts.names):
        return False
    return any(node.attr in _ATTRIBUTES for node in unit.asts(ast.Attribute))


def part(unit: Unit, node: cst.BaseExpression, depth: int = 6) -> Part | None:
    """What an expression takes of a value, if it is a projection; through names and what keeps the items."""
    node = values(unit).resolve(node) if type(node) is cst.Name else node
    if isinstance(node, (cst.ListComp, cst.SetComp, cst.GeneratorExp)):
        return _of_each(unit, node)
    without = left_out(unit, node)
    if without is not None:
        return Part("without", ", ".join(f"`{field}`" for field in sorted(without[0])), without[1])
    if type(node) is cst.Call:
        return _of_call(unit, node, depth)
    if type(node) is cst.Attribute and node.attr.value in _ATTRIBUTES:
        return Part(_ATTRIBUTES[node.attr.value], f"….{node.attr.value}", node.value)
    if type(node) is cst.Subscript and len(node.slice) == 1:
        element = node.slice[0].slice
        if type(element) is cst.Slice and element.lower is None and element.step is None:
            upper = literal(element.upper) if element.upper is not None else UNKNOWN
            if isinstance(upper, int) and not isinstance(upper, bool) and upper > 0:
                return Part("slice", f"…[:{upper}]", node.value)
        inner = part(unit, node.value, depth - 1) if depth else None
        if inner is not None and type(element) is cst.Index:
            return Part(inner.kind, f"{inner.how}[{canonical(element)}]", inner.of)
    return None


def _of_each(unit: Unit, node: cst.ListComp | cst.SetComp | cst.GeneratorExp) -> Part | None:
    """What a comprehension keeps of each row: rounded numbers, or some fields, also by a file's helper."""
    clause = node.for_in
    if clause.inner_for_in is not None or clause.ifs or type(clause.target) is not cst.Name:
        return None
    row, kept = clause.target.value, node.elt
    if type(kept) is cst.Call and len(kept.args) == 1 and canonical(kept.args[0].value) == row:
        function = callee(unit, kept)
        returns = function.find(cst.Return) if function is not None else []
        first = next(iter(bind(kept, function)), "") if function is not None else ""
        if len(returns) == 1 and returns[0].value is not None and first:
            row, kept = first, returns[0].value
    without = left_out(unit, kept)
    if without is not None and canonical(without[1]) == row:
        return Part("without", ", ".join(f"`{field}`" for field in sorted(without[0])), clause.iter)
    while type(kept) is cst.Call and dotted(kept.func) in _SAME_ITEMS and len(kept.args) == 1:
        kept = kept.args[0].value
    if type(kept) is cst.Call and dotted(kept.func) == "round" and kept.args:
        digits = literal(kept.args[1].value) if len(kept.args) > 1 else 0
        return Part("rounded", f"round(…, {digits})", clause.iter) if digits in (0, 1) else None
    if type(kept) is cst.Call and dotted(kept.func) == "len" and len(kept.args) == 1:
        of = re.sub(rf"{_START}{re.escape(row)}{_END}", "…", canonical(kept.args[0].value))
        return Part("length", f"len({of})", clause.iter) if "…" in of else None
    fields = _fields_of(kept, row)
    return Part("fields", ", ".join(fields), clause.iter) if fields else None


def _fields_of(kept: cst.BaseExpression, row: str) -> list[str]:
    """The fields of a row of which something is made anew; nothing where anything else goes into it."""
    parts: list[cst.BaseExpression] = []
    if type(kept) is cst.Dict:
        parts = [e.value for e in kept.elements if type(e) is cst.DictElement]
        if len(parts) < len(kept.elements):
            return []
    elif type(kept) is cst.Tuple:
        parts = [element.value for element in kept.elements]
    else:
        parts = [kept]
    found = []
    for part_ in parts:
        key = subscript(part_)
        if key is not None and canonical(key[0]) == row and isinstance(key[1], str):
            found.append(key[1])
        elif type(part_) is cst.Attribute and canonical(part_.value) == row:
            found.append(part_.attr.value)
        else:
            return []
    return found


def _of_call(unit: Unit, node: cst.Call, depth: int) -> Part | None:
    name = last_name(node)
    plain = type(node.func) is cst.Name
    first = node.args[0].value if node.args and not node.args[0].star else None
    if name in ("decode", "batch_decode") and first is not None:
        skips = keyword_argument(node, "skip_special_tokens")
        if skips is not None and literal(skips) is True:
            return Part("decoded", f"{name}(…, skip_special_tokens=True)", first)
    whole = _made_whole(unit, node)
    if whole is not None:
        return whole
    if name in _DIGESTS and depth and not (plain and callee(unit, node) is not None):
        inside = first if first is not None else None
        return part(unit, inside, depth - 1) if inside is not None else None
    if name in _OF_DIGESTS and not node.args and type(node.func) is cst.Attribute and depth:
        return part(unit, node.func.value, depth - 1)
    if plain and name == "round" and first is not None:
        digits = literal(node.args[1].value) if len(node.args) > 1 else 0
        return Part("rounded", f"round(…, {digits})", first) if digits in (0, 1) else None
    if plain and name in _CALLS and first is not None:
        return Part(_CALLS[name], f"{name}(…)", first)
    if type(node.func) is cst.Attribute:
        owner = node.func.value
        module = dotted(owner) in unit.file.imports
        if module and name in _FIGURE_FUNCTIONS and first is not None and len(node.args) == 1:
            return Part("figure", f"{name}(…)", first)
        if not module and name in _METHODS and not node.args:
            return Part(_METHODS[name], f"….{name}()", owner)
        if not module and name in _SAME_ITEMS and not node.args and depth:
            return part(unit, owner, depth - 1)
    if first is not None and name in _POOLING and len(node.args) == 1 and (plain or _is_module(unit, node)):
        return _pooled(first, name)
    if plain and name in _SAME_ITEMS | _GATHERING.keys() and first is not None and depth:
        inner = part(unit, first, depth - 1)
        if type(first) is cst.Call and last_name(first) == "items":
            return None  # the entries of a mapping come once each, in any order
        if name in _GATHERING and inner is not None and inner.kind == "fields" and type(first) is cst.Name:
            inner = None  # of a list of that field
        if inner is None and name in _GATHERING and len(node.args) == 1:
            return Part(_GATHERING[name], f"{name}(…)", first)
        return inner
    function = callee(unit, node) if first is not None else None
    if function is None or first is None or function is unit:
        return None
    found = _of_helper(unit, function, first) if len(node.args) == 1 else None
    return found or (_through(function, node, depth) if depth else None)


def _through(function: Unit, call: cst.Call, depth: int) -> Part | None:
    """What a function of the file hands back of one of the values that it is given."""
    returns = function.find(cst.Return)
    if len(returns) != 1 or returns[0].value is None:
        return None
    found = part(function, returns[0].value, depth - 1)
    root = _base(values(function).resolve(found.of)) if found is not None else None
    if found is None or type(root) is not cst.Name or found.kind == "without":
        return None
    reaching = values(function).reaching(root)
    given = bind(call, function).get(root.value)
    if given is None or {one.kind for one in reaching} != {"parameter"}:
        return None
    return Part(found.kind, found.how, given)


def _made_whole(unit: Unit, node: cst.Call) -> Part | None:
    """A number, or an array of them, of which only the whole part is kept: `int(row["reward"])`,
    `rewards.astype(int)`. Of what is by its name no fraction there is nothing else."""
    name, owner = last_name(node), node.func.value if type(node.func) is cst.Attribute else None
    given = [arg.value for arg in node.args if not arg.star]
    of: cst.BaseExpression | None = None
    module = owner is not None and dotted(owner) in unit.file.imports
    to_whole = bool(given) and dotted(given[0]).rpartition(".")[2] in _INTEGERS
    if owner is not None and not module and (to_whole if name == "astype" else name in _WHOLE and not given):
        of = owner
    elif name in _WHOLE and len(given) == 1 and (module or name != "round"):
        of = given[0]
    if of is None or not _FRACTION.search(_key_of(of)):
        return None
    return Part(
        "rounded", f"{name}(…)" if of in given else f"….{name}({', '.join(map(canonical, given))})", of
    )


_INTEGERS = frozenset({"int", "int8", "int16", "int32", "int64", "uint8", "long"})


def _key_of(node: cst.BaseExpression) -> str:
    """The name that a value goes by: the last key, field or name of it."""
    key = subscript(node)
    if key is not None and isinstance(key[1], str):
        return key[1]
    return last_name(node) if not isinstance(node, cst.Subscript) else _key_of(node.value)


def _is_module(unit: Unit, node: cst.Call) -> bool:
    return type(node.func) is cst.Attribute and dotted(node.func.value) in unit.file.imports


def _pooled(first: cst.BaseExpression, name: str) -> Part:
    """One figure over all rows, or over a field of each."""
    if isinstance(first, (cst.GeneratorExp, cst.ListComp)) and type(first.for_in.target) is cst.Name:
        row = re.escape(first.for_in.target.value)
        return Part(
            "figure",
            f"{name}({re.sub(rf'{_START}{row}{_END}', '…', canonical(first.elt))})",
            first.for_in.iter,
        )
    return Part("figure", f"{name}(…)", first)


_START, _END = r"(?<![\w.'\"])", r"(?![\w'\"])"


def _of_helper(unit: Unit, function: Unit, given: cst.BaseExpression) -> Part | None:
    """What a function of the file leaves out of the one value that it is given."""
    returns = function.find(cst.Return)
    if function is unit or len(returns) != 1 or returns[0].value is None:
        return None
    taken = taken_by(function, returns[0])
    if taken:
        return Part("without", ", ".join(f"`{field}`" for field in sorted(taken)), given)
    without = left_out(function, returns[0].value)
    if without is None or not any(b.kind == "parameter" for b in values(function).slice(without[1])):
        return None
    return Part("without", ", ".join(f"`{field}`" for field in sorted(without[0])), given)


def are_named(left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """Whether the names of two values say that they are the two runs of one comparison."""
    one, other = _words(left), _words(right)
    return two_sides(one | other) and not two_sides(one) and not two_sides(other)


def named_apart(unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """Whether two values are the two runs of one comparison by their names, or by those of what made them:
    `a, b = straight(), resumed()`."""
    if are_named(left, right):
        return True
    made = [_maker(unit, one) for one in (left, right)]
    if made[0] is None or made[1] is None:
        return False
    if are_named(made[0], made[1]):
        return True
    again = says_again(last_name(made[0])) != says_again(last_name(made[1]))
    return again and _are_alike(left, right)


_AGAIN = pattern(r"(?i)(^|_)(resume|restore|restart|reload|replay|recover|resumed|restored)(_|$)")


def says_again(name: str) -> bool:
    """Whether a function's name says that it goes on with what another one has left."""
    return _AGAIN.search(name) is not None


def _are_alike(left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """Whether two values are the same part of two different names: `first.rows` and `second.rows`."""
    one, other = _base(left), _base(right)
    if type(one) is not cst.Name or type(other) is not cst.Name or one.value == other.value:
        return type(one) is cst.Call and type(other) is cst.Call
    return canonical(left)[len(one.value) :] == canonical(right)[len(other.value) :]


def _base(node: cst.BaseExpression) -> cst.BaseExpression:
    """What fields and items are read from."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node


def _maker(unit: Unit, node: cst.BaseExpression, depth: int = 3) -> cst.BaseExpression | None:
    """The function that a value was got from, or the name of the collection that it is an item of."""
    flow = values(unit)
    node = _base(node)
    node = _base(flow.resolve(node))
    if type(node) is cst.Await:
        node = _base(node.expression)
    if isinstance(node, (cst.ListComp, cst.SetComp, cst.GeneratorExp)):
        return _maker(unit, node.for_in.iter, depth - 1) or node.for_in.iter if depth else None
    if type(node) is cst.Name:
        items = [b for b in flow.reaching(node) if b.kind == "loop" and b.role == "item"]
        over = items[0].value if len(items) == 1 else None
        return None if over is None or not depth else _maker(unit, over, depth - 1) or over
    if type(node) is not cst.Call:
        return None
    if last_name(node) in _SAME_ITEMS and node.args and depth:
        return _maker(unit, node.args[0].value, depth - 1)
    return node.func


def are_two_runs(unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """Whether two values are the two sides of one comparison: by their names, or because one callable gave
    both and the unit says that they are to be the same."""
    made = _made_by(unit, left), _made_by(unit, right)
    if any(last is None for last in made):
        return False
    if named_apart(unit, left, right) or are_handed_in(unit, left, right):
        return True
    if not made[0] or made[0] != made[1]:
        return False
    return says_same(unit) or (_stands_in_comparison(unit) and _are_alike(left, right))


def _stands_in_comparison(unit: Unit) -> bool:
    """Whether a function is one of a script that by its name compares: what it reads twice are two runs."""
    path = unit.file.path
    return not unit.is_test and not in_test_file(path) and says_that_it_judges(path.rpartition("/")[2])


def are_handed_in(unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """Whether a function that compares by its name is given both values, or what they are the same part of:
    `sum(a["mask"]) == sum(b["mask"])` in `compare_masks(a, b)`."""
    if not compares(unit):
        return False
    roots = [_base(one) for one in (left, right)]
    given = [values(unit).reaching(root) if type(root) is cst.Name else frozenset() for root in roots]
    handed = all(len(one) == 1 and next(iter(one)).kind == "parameter" for one in given)
    paths = [canonical(node)[len(canonical(root)) :] for node, root in zip((left, right), roots, strict=True)]
    return handed and given[0] != given[1] and paths[0] == paths[1]


@once
def says_same(unit: Unit) -> bool:
    """Whether a unit's name, docstring or comments say that two things are to be the same."""
    said = [unit.name.rpartition(".")[2].replace("_", " ")]
    if isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        said.append(ast.get_docstring(unit.tree) or "")
    lines = unit.file.lines[unit.line - 1 : unit.end_line]
    said.extend(line.partition("#")[2] for line in lines if "#" in line)
    return any(_SAYS_SAME.search(text) for text in said)


_LISTS = pattern(r"(?i)(^|_)(r?glob|iglob|listdir|iterdir|scandir|walk|ls|list_\w*(files|objects|dir))$")


def are_listings(unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """Whether both values are names of files, found by different patterns or in different places: those are
    not to be the same."""
    flow = values(unit)
    made = [flow.resolve(one) for one in (left, right)]
    lists = all(type(one) is cst.Call and _LISTS.search(last_name(one)) for one in made)
    return lists and canonical(made[0]) != canonical(made[1])


def _words(node: cst.BaseExpression) -> frozenset[str]:
    return frozenset(below.value for below in walk(node) if type(below) is cst.Name)


def _made_by(unit: Unit, node: cst.BaseExpression) -> str | None:
    """The callable that a value was got from, "" where that is unknown, None for what is written out."""
    flow = values(unit)
    while True:
        while isinstance(node, (cst.Attribute, cst.Subscript)):
            node = node.value
        made = flow.resolve(node)
        made = _of_each_part(unit, made)
        made = made.expression if type(made) is cst.Await else made
        if isinstance(made, cst.ListComp) and _is_of_a_run(made.for_in):
            node = made.for_in.iter
            continue
        if isinstance(made, (cst.Attribute, cst.Subscript)):
            node = made
            continue
        if type(made) is cst.Call and last_name(made) in _SAME_ITEMS and made.args:
            node = made.args[0].value
            continue
        if type(made) is cst.Call and last_name(made) in _WRAPPING and made.args and _is_computed(made):
            node = made.args[0].value
            continue
        break
    if type(made) is not cst.Call:
        return "" if type(made) is cst.Name and not _is_written_out(unit, made) else None
    return None if last_name(made) in _WRITTEN else dotted(made.func)


def _is_written_out(unit: Unit, name: cst.Name) -> bool:
    """Whether each branch gives a name a list that it writes out."""
    given = [one.value for one in values(unit).reaching(name) if one.value is not None]
    return bool(given) and all(literal(value) is not UNKNOWN for value in given)


def _is_of_a_run(clause: cst.CompFor) -> bool:
    """Whether a list holds something of each that a call gives: `[batch.ids for batch in stream()]`."""
    plain = type(clause.iter) is cst.Call and not clause.ifs and clause.inner_for_in is None
    return plain and last_name(clause.iter) not in ("range", "enumerate", "zip", "sorted", "items", "values")


_WRAPPING = frozenset({"array", "tensor", "asarray", "as_tensor"})


def _is_computed(call: cst.Call) -> bool:
    """Whether an array is made of what something returned: `np.array(sample(1))`."""
    return type(call.args[0].value) is cst.Call


def _of_each_part(unit: Unit, node: cst.BaseExpression) -> cst.BaseExpression:
    """What a name is given by a comprehension that makes several, `a, b = (read(path) for path in paths)`, or
    by a walk over a collection."""
    reaching = values(unit).reaching(node) if type(node) is cst.Name else frozenset()
    if len(reaching) != 1:
        return node
    (binding,) = reaching
    made = binding.value
    if binding.role == "part" and isinstance(made, (cst.GeneratorExp, cst.ListComp)):
        return made.elt
    if binding.kind == "loop" and binding.role == "item" and made is not None:
        made = values(unit).resolve(made)
        return _of_each_part(unit, made) if type(made) is cst.Name else made
    return node


Sides = tuple[frozenset[Binding], frozenset[Binding]]


def _sides(unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression) -> Sides | None:
    """What the left comes from and the right does not, and the other way round."""
    flow = values(unit)
    one, other = set(flow.slice(left)), set(flow.slice(right))
    sides = frozenset(one - other), frozenset(other - one)
    return sides if all(sides) else None


def _looks_at(unit: Unit, check: Check, sides: Sides) -> bool:
    """Whether a check looks at something that comes from either side alone."""
    flow = values(unit)
    read = set(flow.slice(check.node if check.condition is None else check.condition))
    return not read.isdisjoint(sides[0]) and not read.isdisjoint(sides[1])


def _asked_for(unit: Unit, sides: Sides, lossy: dict[int, Comparison]) -> bool:
    """Whether a condition that is no check asks whether more of the two is equal, so that something is made
    of it: `if left[key] != right[key]: differing += 1`."""
    flow = values(unit)
    seen = {id(below) for one in lossy.values() for below in walk(one.check.anchor)}
    for node in unit.find(cst.Comparison):
        if id(node) in seen or len(node.comparisons) != 1:
            continue
        target = node.comparisons[0]
        if not isinstance(target.operator, (cst.Equal, cst.NotEqual)):
            continue
        if part(unit, node.left) is not None and part(unit, target.comparator) is not None:
            continue
        both = set(flow.slice(node.left)), set(flow.slice(target.comparator))
        if any(
            not one.isdisjoint(sides[0]) and not other.isdisjoint(sides[1])
            for one, other in (both, both[::-1])
        ):
            return True
    return False


def _handed_on(
    unit: Unit, sides: Sides, left: cst.BaseExpression, right: cst.BaseExpression, *, walks: bool
) -> bool:
    """Whether both sides are given to a call, or returned, where the rest could be compared; with `walks`
    also whether a loop walks over both, or one over the one inside of a loop over the other."""
    flow = values(unit)
    near = tuple(
        {b for name in flow.reads(node) for b in flow.reaching(name) - {UNBOUND}} & side
        for node, side in zip((left, right), sides, strict=True)
    )
    walked: tuple[list[cst.CSTNode], list[cst.CSTNode]] = ([], [])
    for node in unit.find(cst.Call, cst.Return, cst.For, cst.CompFor):
        given: list[cst.CSTNode] = []
        if type(node) is cst.Call:
            given = [arg.value for arg in node.args]
            if type(node.func) is cst.Attribute:
                given.append(node.func.value)
        elif type(node) is cst.Return:
            given = [node.value] if node.value is not None else []
        elif walks and isinstance(node, (cst.For, cst.CompFor)):
            given = [node.iter]
        read = {b for part_ in given for name in flow.reads(part_) for b in flow.reaching(name)}
        if all(not read.isdisjoint(side) for side in near) and not _is_part_of(unit, node, left, right):
            return True
        if walks and isinstance(node, cst.For):
            for side, loops in zip(near, walked, strict=True):
                loops += [] if read.isdisjoint(side) else [node]
    return any(unit.holds(one, other) or unit.holds(other, one) for one in walked[0] for other in walked[1])


def _is_part_of(unit: Unit, node: cst.CSTNode, left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """Whether a call is the projection's own, or the check around it."""
    inside = {id(below) for below in walk(node)}
    return type(node) is cst.Call and id(left) in inside and id(right) in inside and bool(root_name(left))
