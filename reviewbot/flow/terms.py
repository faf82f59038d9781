"""Expressions as text that can be compared: one text for one value, even where a name is rebound.

`rows` before and after `rows = rows[1:]` are two terms; a name with one binding is its own term.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import module_value
from reviewbot.flow.syntax import canonical, dotted, last_name, literal, walk
from reviewbot.flow.values import Values, values
from reviewbot.source.sketch import NotInSketch, origin
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import File, Unit

_SAME_SIZE_CALLS = frozenset({
    "list", "tuple", "sorted", "dict", "reversed", "enumerate", "iter", "tqdm", "deepcopy", "copy.deepcopy",
    "copy.copy", "tqdm.tqdm", "np.array", "np.asarray", "numpy.array", "torch.tensor", "torch.as_tensor",
    "torch.stack", "np.stack", "jnp.array", "jnp.asarray", "np.zeros_like", "np.ones_like", "np.empty_like",
    "torch.zeros_like", "torch.ones_like", "torch.empty_like", "torch.randn_like", "torch.rand_like",
    "np.abs", "torch.abs", "jnp.abs", "np.argsort", "torch.argsort",
})  # fmt: skip
_LOOKING = frozenset({
    "zip", "list", "tuple", "set", "dict", "sorted", "reversed", "enumerate", "iter", "map", "len", "print",
    "str", "repr", "sum", "any", "all", "min", "max",
})  # fmt: skip
_GRADIENTS = frozenset({
    "grad", "autograd.grad", "torch.autograd.grad", "gradients", "tf.gradients", "tape.gradient",
})  # fmt: skip
_MAPS = frozenset({"map", "imap", "imap_unordered", "starmap"})
_SAME_SIZE_METHODS = frozenset({
    "items", "keys", "values", "copy", "clone", "detach", "cpu", "cuda", "to", "tolist", "numpy", "float",
    "double", "half", "int", "long", "bool", "astype", "contiguous", "compute", "abs", "type",
    "requires_grad_",
})  # fmt: skip
_SPACED = frozenset({"linspace", "logspace", "geomspace"})
_COUNTING_METHODS = frozenset({"size", "numel", "count", "__len__", "nelement"})
_COMPREHENSIONS = (cst.ListComp, cst.GeneratorExp)


@once
def terms(unit: Unit) -> Terms:
    """The terms of a unit, shared by all who ask."""
    return Terms(values(unit), unit.file)


class _Renamed(cst.CSTTransformer):
    """Renames names, given by identity."""

    def __init__(self, names: dict[int, str]) -> None:
        super().__init__()
        self.names = names

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        new = self.names.get(id(original_node))
        return updated_node if new is None else updated_node.with_changes(value=new)


def _renamed_tree(node: ast.AST, names: dict[int, str]) -> ast.AST:
    """A copy of the tree that an expression is sketched from, with names renamed; takes out of `names` what
    it found."""
    new = names.pop(id(node), None)
    if new is not None:
        return ast.Name(new, ast.Load())
    made = copy(node)
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            setattr(made, field, _renamed_tree(value, names))
        elif isinstance(value, list):
            parts = [_renamed_tree(one, names) if isinstance(one, ast.AST) else one for one in value]
            setattr(made, field, parts)
    return made


class Terms:
    """Text for the values of one unit."""

    def __init__(self, flow: Values, file: File) -> None:
        self.flow, self._file = flow, file
        self._versions: dict[tuple[str, frozenset[int]], int] = {}
        self._open: set[str] = set()  # names whose branches are being looked at
        self._texts: dict[int, tuple[cst.CSTNode, str]] = {}

    def text(self, node: cst.BaseExpression) -> str:
        """The term of an expression."""
        known = self._texts.get(id(node))
        if known is None:
            known = self._texts[id(node)] = (node, self._text(node))
        return known[1]

    def _text(self, node: cst.BaseExpression) -> str:
        """The code with each read of a name that has several bindings renamed after those that reach it."""
        names: dict[int, str] = {}
        tree = origin(node)
        for name in walk(node):
            if type(name) is not cst.Name:
                continue
            reaching = self.flow.reaching(name)
            if reaching and len(self.flow.bindings(name.value)) > 1:
                key = (name.value, frozenset(map(id, reaching)))
                version = self._versions.setdefault(key, len(self._versions))
                names[id(name if tree is None else origin(name))] = f"{name.value}__{version}"
        if not names:
            return canonical(node)
        if tree is None:
            renamed = node.visit(_Renamed(names))
            assert isinstance(renamed, cst.CSTNode)
            return canonical(renamed)
        made = _renamed_tree(tree, names)
        if names:
            raise NotInSketch
        return ast.unparse(made)

    def sizes(self, node: cst.BaseExpression) -> list[str]:
        """Terms that have the same number of items as an expression, its own first.

        A term that starts with `#` is that number itself: `#3` for a list of three, `#n` for `range(n)`.
        """
        found: list[str] = []
        for same in self.same_size(node):
            found.append(self.text(same))
            number = self._number_of(same)
            if number is not None:
                found.extend(self.count(number))
            elif (size := _written_size(same)) is not None:
                found.append(f"#{size}")
            elif (many := self._zipped(same)) is not None:
                found.append(f"#{many}")
            elif type(same) is cst.Name:
                found.extend(self._unpacked(same))
                found.extend(self._of_each_branch(same))
                if not self.flow.reaching(same) and (size := self._table_size(same.value)) is not None:
                    found.append(f"#{size}")
            elif type(same) is cst.IfExp:
                found.extend(self._of_all([same.body, same.orelse]))
            elif type(same) is cst.Subscript and (size := self._size_of_each(same)) is not None:
                found.append(f"#{size}")
        return list(dict.fromkeys(found))

    def same_size(self, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
        """The expression and what it is made from without losing or gaining an item, nearest first."""
        for _ in range(30):
            yield node
            inner = self._inner(node)
            if inner is None:
                return
            node = inner

    def _inner(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        if type(node) is cst.Name:
            if (grown := self._grown_from(node)) is not None:
                return grown
            if self.flow.mutations(node.value) and not self._keeps_size(node.value):
                return self._filled_from(node)
            resolved = self.flow.resolve(node)
            if _is_empty(resolved) and any(
                dotted(c.func) not in _LOOKING for c in self.flow.escapes(node.value)
            ):
                return None  # what is given it may fill it: `heapq.heappush(rows, row)`
            return resolved if resolved is not node else None
        if type(node) is cst.Call:
            return _inner_of_call(node)
        if isinstance(node, _COMPREHENSIONS):
            loop = node.for_in
            return loop.iter if not loop.ifs and loop.inner_for_in is None else None
        if type(node) is cst.Subscript and len(node.slice) == 1:
            cut = node.slice[0].slice
            if type(cut) is cst.Slice and cut.lower is None and cut.upper is None:
                return node.value
        if type(node) is cst.NamedExpr:
            return node.value
        return None

    def _keeps_size(self, name: str) -> bool:
        """Whether a list is only changed item by item: `found[place] += 1`."""
        bindings = self.flow.bindings(name)
        made = bindings[0].value if len(bindings) == 1 else None
        listed = isinstance(made, cst.List) and bool(made.elements)
        if not listed and not isinstance(made, (cst.ListComp, cst.BinaryOperation)):
            return False
        targets = [
            [mutation.node.target]
            if isinstance(mutation.node, cst.AugAssign)
            else [target.target for target in mutation.node.targets]
            if isinstance(mutation.node, cst.Assign)
            else []
            for mutation in self.flow.mutations(name)
        ]
        return all(each and all(map(_is_item, each)) for each in targets)

    def _grown_from(self, node: cst.Name) -> cst.BaseExpression | None:
        """What a list gets one item for each item of, by `found += [item]` in every turn of one loop."""
        bindings = self.flow.bindings(node.value)
        if len(bindings) != 2 or bindings[0].value is None or literal(bindings[0].value) != []:
            return None
        grown = bindings[1].node
        if any(mutation.node is not grown for mutation in self.flow.mutations(node.value)):
            return None
        if (
            type(grown) is not cst.AugAssign
            or type(grown.value) is not cst.List
            or len(grown.value.elements) != 1
        ):
            return None
        for loop in walk(self.flow.root):
            if type(loop) is cst.For and _runs_each_turn(loop, grown):
                return loop.iter
        return None

    def _filled_from(self, node: cst.Name) -> cst.BaseExpression | None:
        """What a list gets one item for each item of: an empty one that one loop appends to in every turn."""
        bindings = self.flow.bindings(node.value)
        mutations = self.flow.mutations(node.value)
        if len(bindings) != 1 or len(mutations) != 1 or bindings[0].value is None:
            return None
        call = mutations[0].node
        if not _is_empty(bindings[0].value) or type(call) is not cst.Call or last_name(call) != "append":
            return None
        for loop in walk(self.flow.root):
            if type(loop) is cst.For and _runs_each_turn(loop, call):
                return loop.iter
        return None

    def _number_of(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """The expression that gives a node's number of items: `n` of `range(n)` and of `[0] * n`."""
        if type(node) is cst.Call and dotted(node.func) == "range" and len(node.args) == 1:
            return node.args[0].value
        if type(node) is cst.Call and last_name(node) in _SPACED and len(node.args) == 3:
            return node.args[2].value
        if type(node) is cst.BinaryOperation and type(node.operator) is cst.Multiply:
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if type(one) is cst.List and len(one.elements) == 1:
                    return other
        return None

    def _table_size(self, name: str) -> int | None:
        """The number of items of a table that the module writes out, or makes item by item of one."""
        for _ in range(4):
            value = module_value(self._file, name)
            if isinstance(value, ast.ListComp):
                (loop, *more) = value.generators
                over = loop.iter if not more and not loop.ifs else None
                if isinstance(over, ast.Name):
                    name = over.id
                    continue
                many = over.args[0] if isinstance(over, ast.Call) and len(over.args) == 1 else None
                ranged = isinstance(over, ast.Call) and ast.unparse(over.func) == "range"
                number = many.value if ranged and isinstance(many, ast.Constant) else None
                return number if isinstance(number, int) else None
            if not isinstance(value, (ast.List, ast.Tuple)):
                return None
            return None if any(isinstance(e, ast.Starred) for e in value.elts) else len(value.elts)
        return None

    def _zipped(self, node: cst.BaseExpression) -> int | None:
        """The number of items of a `zip` of which each side says how many it has."""
        if type(node) is not cst.Call or dotted(node.func) != "zip" or not node.args:
            return None
        if any(arg.star or arg.keyword for arg in node.args):
            return None
        numbers = []
        for arg in node.args:
            sizes = {size for size in self.sizes(arg.value) if size[1:].isdigit() and size.startswith("#")}
            if len(sizes) != 1:
                return None
            numbers.append(int(sizes.pop()[1:]))
        return min(numbers)

    def _of_each_branch(self, node: cst.Name) -> list[str]:
        """What a name is as long as whichever branch was taken."""
        reaching = self.flow.reaching(node)
        if len(reaching) < 2 or self.flow.mutations(node.value) or node.value in self._open:
            return []
        whole = [one.value for one in reaching if one.role == "whole" and one.value is not None]
        if len(whole) != len(reaching):
            return []
        self._open.add(node.value)  # a loop may make it of itself
        try:
            return self._of_all(whole)
        finally:
            self._open.discard(node.value)

    def _of_all(self, nodes: list[cst.BaseExpression]) -> list[str]:
        """The terms that are as long as each of several values."""
        first, *others = map(self.sizes, nodes)
        return [size for size in first if all(size in other for other in others)]

    def _size_of_each(self, node: cst.Subscript) -> int | None:
        """The number of items of each value of a written dict: 2 for `{"x": [1, 2], "y": [3, 4]}[key]`."""
        table = self.flow.resolve(node.value)
        if type(table) is not cst.Dict or (
            type(node.value) is cst.Name and self.flow.mutations(node.value.value)
        ):
            return None
        sizes = {_written_size(e.value) if type(e) is cst.DictElement else None for e in table.elements}
        return sizes.pop() if len(sizes) == 1 else None

    def _unpacked(self, node: cst.Name) -> Iterator[str]:
        """A term shared by all names that one `zip(*rows)` is unpacked into."""
        reaching = self.flow.reaching(node)
        if len(reaching) == 1:
            (binding,) = reaching
            value = binding.value
            if binding.role == "part" and type(value) is cst.Call:
                while last_name(value) == "map" and len(value.args) == 2:
                    inner = value.args[1].value
                    if type(inner) is not cst.Call:
                        return
                    value = inner
                if dotted(value.func) == "zip" and len(value.args) == 1 and value.args[0].star == "*":
                    yield f"#part({self.text(value)})"

    def count(self, node: cst.BaseExpression) -> list[str]:
        """Terms for a number of items: those of `rows` for `len(rows)`, `#3` for 3, `#n` for `n`."""
        counted = counted_by(node)
        if counted is not None:
            return self.sizes(counted)
        value = literal(node)
        if isinstance(value, int):
            return [f"#{value}"]
        found = [f"#{self.text(node)}"]
        if type(node) is cst.Name:
            resolved = self.flow.resolve(node)
            if resolved is not node:
                found.extend(self.count(resolved))
        return found


def counted_by(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """What an expression counts the items of: `rows` for `len(rows)`, `rows.shape[0]`, `rows.size(0)`,
    `sum(1 for _ in rows)`."""
    if type(node) is cst.Call:
        name = dotted(node.func)
        if name == "len" and len(node.args) == 1:
            return node.args[0].value
        if name == "sum" and len(node.args) == 1:
            return _counted_one_by_one(node.args[0].value)
        if type(node.func) is cst.Attribute and node.func.attr.value in _COUNTING_METHODS:
            return node.func.value
    if type(node) is cst.Subscript:
        return counted_by(node.value)
    if type(node) is cst.Attribute and node.attr.value in ("shape", "size"):
        return node.value
    return None


def _counted_one_by_one(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """`rows` for `1 for _ in rows`."""
    if not isinstance(node, (cst.GeneratorExp, cst.ListComp)) or literal(node.elt) != 1:
        return None
    each = node.for_in
    return each.iter if not each.ifs and each.inner_for_in is None else None


def _is_empty(node: cst.BaseExpression) -> bool:
    made = type(node) is cst.Call and dotted(node.func) == "list" and not node.args
    return made or (isinstance(node, (cst.List, cst.Tuple)) and not node.elements)


def _is_item(node: cst.BaseExpression) -> bool:
    return type(node) is cst.Subscript and len(node.slice) == 1 and type(node.slice[0].slice) is cst.Index


def _runs_each_turn(loop: cst.For, node: cst.Call | cst.AugAssign) -> bool:
    """Whether a call or a statement stands in a loop's own body, and no turn leaves it out."""
    lines = [line for line in loop.body.body if type(line) is cst.SimpleStatementLine]
    own = (part for line in lines for s in line.body for part in (s, s.value if type(s) is cst.Expr else s))
    if not any(part is node for part in own):
        return False
    return not any(isinstance(node, (cst.Continue, cst.Break)) for node in walk(loop))


def _inner_of_call(node: cst.Call) -> cst.BaseExpression | None:
    name = dotted(node.func)
    first = node.args[0] if node.args else None
    if first is not None and not first.star and first.keyword is None:
        if name in _SAME_SIZE_CALLS or last_name(node.func) == "tqdm":
            return first.value
        if name == "map" and len(node.args) == 2 and not node.args[1].star:
            return node.args[1].value
        if name in ("cast", "typing.cast") and len(node.args) == 2:
            return node.args[1].value
        if _is_map_of_workers(node):
            return node.args[1].value
        if name in _GRADIENTS and len(node.args) > 1 and not node.args[1].star and not node.args[1].keyword:
            return node.args[1].value  # a gradient for each of the inputs
        if name == "range" and len(node.args) == 1:
            return counted_by(first.value)
    if type(node.func) is cst.Attribute and node.func.attr.value in _SAME_SIZE_METHODS:
        return node.func.value
    return None


def _is_map_of_workers(node: cst.Call) -> bool:
    """`executor.map(run, rows)` or `pool.imap(run, rows, chunksize=2)`: a result for each of the rows."""
    if type(node.func) is not cst.Attribute or last_name(node.func) not in _MAPS:
        return False
    given = [arg for arg in node.args if arg.keyword is None]
    if len(given) != 2 or given != list(node.args[:2]) or any(arg.star for arg in node.args):
        return False
    return last_name(node.func.value).lower().endswith(("executor", "pool"))


def _written_size(node: cst.BaseExpression) -> int | None:
    """The number of items of a display or a string that is written out."""
    if isinstance(node, (cst.List, cst.Tuple)):
        if any(type(element) is cst.StarredElement for element in node.elements):
            return None
        return len(node.elements)
    if type(node) is cst.Call and dotted(node.func) == "range" and 2 <= len(node.args) <= 3:
        bounds = [bound for arg in node.args if isinstance(bound := literal(arg.value), int)]
        return len(range(*bounds)) if len(bounds) == len(node.args) and 0 not in bounds[2:] else None
    if isinstance(node, (cst.SimpleString, cst.Dict, cst.Set)):
        value = literal(node)
        return len(value) if isinstance(value, (str, bytes, dict, set)) else None
    return None
