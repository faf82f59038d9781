"""Whether sequences that are walked in step are of one length by how they came to be.

Not by a check beside the walk, which `guards` looks for: they are written out so, stand side by side in one
table, were made by one function for the same items or by functions that write out how many values they
return, are parts of one object, or come from callers that have compared them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import bind, callee, callers, module_value
from reviewbot.flow.foreign import helper_of
from reviewbot.flow.guards import same_length
from reviewbot.flow.iteration import parametrized
from reviewbot.flow.syntax import canonical, dotted, keyword_argument, last_name, literal, root_name, walk
from reviewbot.flow.terms import terms
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit

Sides = tuple[cst.BaseExpression, ...]


def written_length(node: cst.BaseExpression) -> int | None:
    """How many items an expression says that it has: a display's, or the constant that it is cut to."""
    if isinstance(node, (cst.List, cst.Tuple)):
        plain = not any(isinstance(element, cst.StarredElement) for element in node.elements)
        return len(node.elements) if plain else None
    place = node.slice[0].slice if isinstance(node, cst.Subscript) else None
    if not isinstance(place, cst.Slice) or place.upper is None or place.step is not None:
        return None
    lower = 0 if place.lower is None else literal(place.lower)
    upper = literal(place.upper)
    if not isinstance(lower, int) or not isinstance(upper, int) or not 0 <= lower <= upper:
        return None
    return upper - lower


def listed_length(unit: Unit, node: cst.BaseExpression) -> int | None:
    """How many items an expression, or the constant of the module that it names, says that it has."""
    if isinstance(node, cst.Name) and not values(unit).reaching(node):
        value = module_value(unit.file, node.value)
        plain = isinstance(value, (ast.List, ast.Tuple)) and not any(
            isinstance(one, ast.Starred) for one in value.elts
        )
        return len(value.elts) if plain and isinstance(value, (ast.List, ast.Tuple)) else None
    gathered = values(unit).resolve(node)
    if isinstance(gathered, cst.Await) and isinstance(gathered.expression, cst.Call):
        call = gathered.expression
        if last_name(call) == "gather" and len(call.args) == 1 and call.args[0].star == "*":
            # As many results as there are tasks.
            tasks = call.args[0].value
            grown = isinstance(tasks, cst.Name) and values(unit).mutations(tasks.value)
            return None if grown else written_length(values(unit).resolve(tasks))
    if isinstance(node, cst.Name):
        # Each branch writes its own, as long as the other's.
        bound = values(unit).reaching(node)
        lengths = {
            written_length(one.value) if one.value is not None and one.role == "whole" else None
            for one in bound
        }
        changed = values(unit).mutations(node.value)
        return lengths.pop() if len(bound) > 1 and len(lengths) == 1 and not changed else None
    return written_length(node)


def tabled_alike(unit: Unit, sides: Sides) -> bool | None:
    """Whether all sides are written out in one `parametrize`, or beside it in the test, each time as long as
    each other; None where the lengths are not written there."""
    columns = [
        (_column(unit, one) or _named_column(unit, one)) if isinstance(one, cst.Name) else None
        for one in sides
    ]
    tables = [column for column in columns if column is not None]
    if not tables or len({len(column) for column in tables}) > 1:
        return None
    for place, one in enumerate(sides):
        if columns[place] is None:
            columns[place] = [written_length(values(unit).resolve(one))] * len(tables[0])
    rows = list(zip(*(column for column in columns if column is not None), strict=True))
    if not rows or any(None in row for row in rows):
        return None
    # Columns of two tables meet in every row of the other.
    if (
        len({id(parametrized(unit, one.value)) for one in sides if isinstance(one, cst.Name)} - {id(None)})
        > 1
    ):
        return len({length for row in rows for length in row}) == 1
    return all(len(set(row)) == 1 for row in rows)


def is_tabled_alike(unit: Unit, side: cst.BaseExpression) -> bool:
    """Whether a side is written out in each row of a `parametrize`, as long in one as in all others."""
    lengths = _column(unit, side) if isinstance(side, cst.Name) else None
    return bool(lengths) and lengths is not None and None not in lengths and len(set(lengths)) == 1


def _column(unit: Unit, name: cst.Name) -> list[int | None] | None:
    """How long each value is that a `parametrize` gives a parameter; None where none does, or not in so many
    words."""
    table = parametrized(unit, name.value)
    if table is None or not isinstance(table.decorator, cst.Call) or len(table.decorator.args) < 2:
        return None
    names = literal(table.decorator.args[0].value)
    listed = [one.strip() for one in names.split(",")] if isinstance(names, str) else names
    rows = table.decorator.args[1].value
    if not isinstance(listed, (list, tuple)) or not isinstance(rows, (cst.List, cst.Tuple)):
        return None
    place, found = listed.index(name.value), list[int | None]()
    for element in rows.elements:
        row = element.value
        if isinstance(row, cst.Call) and last_name(row) == "param":
            cells = [arg.value for arg in row.args if arg.keyword is None and not arg.star]
        elif len(listed) == 1:
            cells = [row]
        elif isinstance(row, (cst.Tuple, cst.List)):
            cells = [cell.value for cell in row.elements]
        else:
            return None
        found.append(written_length(cells[place]) if place < len(cells) else None)
    return found


def _named_column(unit: Unit, name: cst.Name) -> list[int | None] | None:
    """How long each value is that the rows of `parameterized.parameters({"rows": [1, 2]}, ...)` give a
    parameter by its name."""
    for decorator in unit.node.decorators if isinstance(unit.node, cst.FunctionDef) else ():
        call = decorator.decorator
        if not isinstance(call, cst.Call) or last_name(call) not in ("parameters", "named_parameters"):
            continue
        cells = [_cell(arg.value, name.value) for arg in call.args]
        if cells and None not in cells:
            return [written_length(_unwrapped(cell)) for cell in cells if cell is not None]
    return None


def _cell(row: cst.BaseExpression, name: str) -> cst.BaseExpression | None:
    """The value that a row written as a dict has under a name."""
    if isinstance(row, cst.Call) and dotted(row.func) == "dict":
        return keyword_argument(row, name)
    for element in row.elements if isinstance(row, cst.Dict) else ():
        if isinstance(element, cst.DictElement) and literal(element.key) == name:
            return element.value
    return None


def _unwrapped(node: cst.BaseExpression) -> cst.BaseExpression:
    """What an array is written out from."""
    made = isinstance(node, cst.Call) and last_name(node) in ("array", "asarray", "tensor", "constant")
    return node.args[0].value if isinstance(node, cst.Call) and made and node.args else node


def made_alike(unit: Unit, sides: Sides) -> bool:
    """Whether one function of the file made all sides, an item for each item of the same thing."""
    own = terms(unit)
    over = set()
    for one in sides:
        call = values(unit).resolve(one)
        function = callee(unit, call) if isinstance(call, cst.Call) else None
        if function is None or function is unit or not isinstance(call, cst.Call):
            return False
        returns = [node.value for node in function.find(cst.Return) if node.value is not None]
        sizes = terms(function).sizes(returns[0]) if len(returns) == 1 else []
        given = [own.text(value) for name, value in bind(call, function).items() if name in sizes]
        if not given:
            return False
        over.add((function.name, *given))
    return len(over) == 1


def returned_alike(unit: Unit, sides: Sides, repo: Repo) -> bool:
    """Whether each side comes from a function of the repository that writes out as many values."""
    counts = {_returned(unit, one, repo) for one in sides}
    return len(counts) == 1 and None not in counts


def _returned(unit: Unit, side: cst.BaseExpression, repo: Repo) -> int | None:
    """How many values a call returns, after all that neither adds nor drops one, or are written out."""
    written = listed_length(unit, side)
    if written is not None:
        return written
    for node in terms(unit).same_size(side):
        if isinstance(node, cst.Name) and (part := _part_returned(unit, node, repo)) is not None:
            return part
        name = dotted(node.func) if isinstance(node, cst.Call) else ""
        function = helper_of(unit, name, repo) if name else None
        tree = function.tree if function is not None else _nested(unit, name)
        if isinstance(tree, ast.FunctionDef):
            counts = {_annotated(tree.returns)} if tree.returns is not None else set()
            counts = counts if counts - {None} else set(_written_out(tree))
            return counts.pop() if len(counts) == 1 else None
    return None


def _part_returned(unit: Unit, name: cst.Name, repo: Repo) -> int | None:
    """How many items a part of what a function returns has: 2 for `rows` of `rows, masks = run()`, where that
    ends with `return [one, other], [mask, mask]`."""
    reaching = values(unit).reaching(name)
    (bound,) = reaching if len(reaching) == 1 else (None,)
    if bound is None or bound.role != "part" or not isinstance(bound.value, cst.Call):
        return None
    called = dotted(bound.value.func)
    function = helper_of(unit, called, repo) if called else None
    tree = function.tree if function is not None else _nested(unit, called)
    place = _place(unit, bound.value, name.value)
    if place is None or not isinstance(tree, ast.FunctionDef):
        return None
    counts = set[int | None]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Return):
            parts = node.value.elts if isinstance(node.value, ast.Tuple) else []
            part = parts[place] if place < len(parts) else None
            plain = isinstance(part, (ast.List, ast.Tuple)) and not any(
                isinstance(one, ast.Starred) for one in part.elts
            )
            counts.add(len(part.elts) if plain and isinstance(part, (ast.List, ast.Tuple)) else None)
    return counts.pop() if len(counts) == 1 else None


def _place(unit: Unit, value: cst.BaseExpression, name: str) -> int | None:
    """The place of a name among those that a value is unpacked into."""
    for node in unit.find(cst.Assign):
        target = node.targets[0].target if node.value is value else None
        if isinstance(target, cst.Tuple):
            named = [dotted(element.value) for element in target.elements]
            return named.index(name) if named.count(name) == 1 else None
    return None


def _nested(unit: Unit, name: str) -> ast.FunctionDef | None:
    """The one function of that name that is defined in a unit."""
    found = [one for one in unit.asts(ast.FunctionDef) if one.name == name and one is not unit.tree]
    return found[0] if len(found) == 1 else None


def _annotated(node: ast.expr | None) -> int | None:
    """How many values a `tuple[A, B]` has."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return None
    name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    endless = any(isinstance(one, ast.Constant) and one.value is ... for one in node.slice.elts)
    return len(node.slice.elts) if name in ("tuple", "Tuple") and not endless else None


def _written_out(node: ast.AST) -> Iterator[int | None]:
    """How many values each `return` of a function writes out."""
    for below in ast.iter_child_nodes(node):
        if isinstance(below, ast.Return) and below.value is not None:
            written = isinstance(below.value, ast.Tuple) and not any(
                isinstance(one, ast.Starred) for one in below.value.elts
            )
            yield len(below.value.elts) if written and isinstance(below.value, ast.Tuple) else None
        elif not isinstance(below, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _written_out(below)


def filtered_alike(unit: Unit, sides: Sides) -> bool:
    """Whether all sides are what one condition leaves of one collection, without a call that could answer
    otherwise the second time."""
    made = [values(unit).resolve(one) for one in sides]
    first = made[0]
    if not isinstance(first, (cst.ListComp, cst.SetComp)) or not first.for_in.ifs:
        return False
    called = any(isinstance(below, cst.Call) and dotted(below.func) != "enumerate" for below in walk(first))
    flow, bound = (
        values(unit),
        {name.value for name in walk(first.for_in.target) if isinstance(name, cst.Name)},
    )
    reached = {
        frozenset((name.value, flow.reaching(name)) for name in flow.reads(one) if name.value not in bound)
        for one in made
    }
    return not called and len({canonical(one) for one in made}) == 1 and len(reached) == 1


def callers_compare(unit: Unit, sides: Sides, depth: int = 3) -> bool:
    """Whether the sides are parameters of whose lengths every caller in the file, or its own, makes sure."""
    names = [one.value for one in sides if isinstance(one, cst.Name)]
    sites = callers(unit) if unit.is_function and len(names) == len(sides) else []
    for site in sites:
        given = bind(site.call, unit)
        handed = [given[name] for name in names if name in given]
        if len(handed) < len(names):
            return False
        made_sure = all(same_length(site.caller, site.call, handed[0], other) for other in handed[1:])
        if not made_sure and not (depth and callers_compare(site.caller, tuple(handed), depth - 1)):
            return False
    return bool(sites)


def unpacked_by_callers(unit: Unit, sides: Sides) -> bool:
    """Whether the sides are of parameters that every caller in the file has unpacked from one value, as
    `case, rows, masks = made` gives them: whoever made that has put them side by side."""
    names = [name for one in sides if (name := root_name(one))]
    sites = callers(unit) if unit.is_function and len(set(names)) == len(sides) else []
    for site in sites:
        given = bind(site.call, unit)
        sources = set()
        for name in names:
            handed = given.get(name)
            reaching = values(site.caller).reaching(handed) if isinstance(handed, cst.Name) else ()
            sources |= {id(one.value) if one.role == "part" else None for one in reaching} or {None}
        if None in sources or len(sources) != 1:
            return False
    return bool(sites)


def kept_by_callers(unit: Unit, sides: Sides) -> bool:
    """Whether every caller in the file takes what the sides are made of, item by item, from its own object,
    `self.same([Row(one) for one in self.rows], self.wanted)`, or says how many there are: what an object
    keeps is side by side in it."""
    made_of = [name for side in sides for name in _walked_over(unit, side)]
    names = {one.value for one in made_of if isinstance(one, cst.Name)}
    flow = values(unit)
    given = [isinstance(n, cst.Name) and {b.kind for b in flow.reaching(n)} == {"parameter"} for n in made_of]
    sites = callers(unit) if unit.is_function and all(given) else []
    for site in sites:
        handed = bind(site.call, unit)
        for name in names:
            if name not in handed:
                return False
            kept = _walked_over(site.caller, handed[name])
            if not all(map(_is_kept, kept)):
                return False
    return bool(sites)


def _is_kept(node: cst.BaseExpression) -> bool:
    """`self.rows`, `range(4)`, `[1, 2]`."""
    if isinstance(node, cst.Attribute):
        return dotted(node.value) == "self"
    ranged = isinstance(node, cst.Call) and dotted(node.func) == "range"
    return ranged or isinstance(node, (cst.List, cst.Tuple))


def _walked_over(unit: Unit, side: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What a side has an item for each of, or for each combination of."""
    last = list(terms(unit).same_size(side))[-1]
    if not isinstance(last, (cst.ListComp, cst.GeneratorExp)):
        return [last]
    found = list[cst.BaseExpression]()
    loop: cst.CompFor | None = last.for_in
    while loop is not None and not loop.ifs:
        found += _walked_over(unit, loop.iter)
        loop = loop.inner_for_in
    return found if loop is None else [last]


def of_one_object(unit: Unit, sides: Sides) -> bool:
    """Whether the sides are parts of one thing: neighbours `rows` and `rows[1:]`, columns of one table,
    what `setUp` left in `self`. Their lengths are that thing's own affair."""
    own = terms(unit)
    return len({own.text(_owner(side)) for side in sides}) == 1


def of_one_walk(unit: Unit, sides: Sides) -> bool:
    """Whether the sides are items at one place of one thing, which a loop walks with itself:
    `for one, other in zip(rows, rows)`."""
    flow, own = values(unit), terms(unit)
    found = set()
    for one in sides:
        reaching = flow.reaching(one) if isinstance(one, cst.Name) else frozenset()
        for bound in reaching:
            if bound.kind != "loop" or bound.role != "item" or bound.value is None or len(reaching) > 1:
                return False
            loop = next(
                (a for a in unit.ancestors(bound.node) if isinstance(a, (cst.For, cst.CompFor))), None
            )
            found.add((id(loop), own.text(bound.value)))
        if not reaching:
            return False
    return len(found) == 1


def left_by_setup(unit: Unit, sides: Sides) -> bool:
    """Whether two sides or more are what `setUp` left in `self`, and the others are written out here."""
    kept = [isinstance(one, cst.Attribute) and dotted(one.value) == "self" for one in sides]
    others = [one for one, is_kept in zip(sides, kept, strict=True) if not is_kept]
    return sum(kept) > 1 and all(written_length(values(unit).resolve(one)) is not None for one in others)


def _owner(node: cst.BaseExpression) -> cst.BaseExpression:
    while isinstance(node, cst.Subscript) and _is_slice(node):
        node = node.value
    if isinstance(node, cst.Attribute) and dotted(node.value) in ("self", "cls"):
        return node.value
    while (inner := _inner(node)) is not None and dotted(inner) not in ("self", "cls"):
        node = inner
    return node


def _inner(node: cst.BaseExpression) -> cst.BaseExpression | None:
    if isinstance(node, cst.Attribute):
        return node.value
    if isinstance(node, cst.Subscript) and (_is_slice(node) or isinstance(_key(node), str)):
        return node.value
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.args:
        return node.func.value
    return None


def _is_slice(node: cst.Subscript) -> bool:
    return isinstance(node.slice[0].slice, cst.Slice)


def _key(node: cst.Subscript) -> object:
    place = node.slice[0].slice
    return literal(place.value) if isinstance(place, cst.Index) else None
