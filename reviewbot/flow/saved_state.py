"""State that is written under a key, and that what loads it never reads.

A pair is two functions of one class or module that save and load by their names: `state_dict` and
`load_state_dict`, `to_dict` and `from_dict`, `save_checkpoint` and `load_checkpoint`. What is handed on as a
whole, walked, or looked up by a name of another kind may be read, and says nothing. Reads `ast` only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name, own_nodes
from reviewbot.source.units import called_last, once

if TYPE_CHECKING:
    from reviewbot.index.facts import Class
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, Unit

_LOADED_BY = {
    "state_dict": ("load_state_dict",),
    "get_state": ("set_state", "load_state", "from_state"),
    "__getstate__": ("__setstate__",),
    "serialize": ("deserialize",),
    "snapshot": ("restore", "from_snapshot", "load_snapshot", "restore_snapshot"),
    "checkpoint": ("restore", "load_checkpoint", "restore_checkpoint"),
    "save": ("load", "restore"),
    "dump": ("load",),
}
_SAVES = pattern(r"_*(save|dump|write|to|get|make|store|export)_(?P<what>\w+)$")
_LOADS = pattern(r"_*(load|restore|read|from|set|resume)_(?P<what>\w+)$")
_STATE = pattern(r"(^|_)(state|dict|checkpoint|ckpt|snapshot|progress|journal|json|record|row)s?(_|$)")
# What is written for whoever looks at the file, or tells one form of it from another.
_ABOUT_IT = pattern(
    r"(?i)^_*((\w*(format|schema|file|state|protocol|lib|torch|python)_?)?version|format|schema|type|kind|class|cls|module|name|description|comment|notes?|date|time"
    r"|timestamp|created\w*|saved\w*|updated\w*|hash|checksum|digest|author|metadata|meta|info|args?|config"
    r"|cfg|hparams|hyper_?parameters|summary|url|path|\w*_class|\w*_type|\w*_name|\w*_path|git\w*|commit)_*$"
)
_WRITES = frozenset({"dump", "dumps", "save", "save_file", "packb", "put", "write"})
_READS = frozenset({"load", "loads", "safe_load", "load_file", "unpackb", "read_json", "torch_load"})
_MUTATES = frozenset({"append", "extend", "add", "update", "pop", "clear", "insert", "setdefault", "popleft"})

_FEWEST = 2  # keys that both sides have, or they are no pair


@dataclass(frozen=True, slots=True, eq=False)
class Unread:
    """`key`, under which `saver` writes `value`, is read nowhere in `loader`. `sure`: the value is one that
    changes as the work goes on, or that the loader's class gives a default."""

    saver: Unit
    loader: Unit
    key: str
    value: ast.expr
    sure: bool


@once
def pairs(file: File) -> tuple[tuple[Unit, Unit], ...]:
    """The functions of a file that save, each with the one of its class or module that loads."""
    scopes: dict[int, dict[str, Unit]] = {}
    for unit in file.units:
        if unit.is_function:
            scopes.setdefault(id(unit.owner), {})[unit.name.rpartition(".")[2]] = unit
    found = []
    for functions in scopes.values():
        for name, saver in functions.items():
            loader = next((functions[other] for other in _loaders(name, functions)), None)
            if loader is not None:
                found.append((saver, loader))
    return tuple(found)


def _loaders(name: str, functions: dict[str, Unit]) -> Iterator[str]:
    for other in _LOADED_BY.get(name.lstrip("_") if not name.startswith("__") else name, ()):
        yield from (one for one in (other, f"_{other}") if one in functions)
    saves = _SAVES.match(name)
    if saves is None or not _STATE.search(saves["what"]):
        return
    for other in functions:
        loads = _LOADS.match(other)
        if loads is not None and loads["what"] == saves["what"]:
            yield other


def unread(saver: Unit, loader: Unit, repo: Repo) -> Iterator[Unread]:
    """The keys of one pair that are written and never read back."""
    written = _written(saver)
    read = _read(loader) if len(written) >= _FEWEST else None
    if read is None or len(read & written.keys()) < _FEWEST:
        return
    text = "".join(loader.file.lines[loader.line - 1 : loader.end_line])
    for key, value in written.items():
        if key in read or _ABOUT_IT.match(key) or re.search(rf"\b{re.escape(key)}\b", text):
            continue
        sure = _is_lost(saver, loader, value, repo)
        if sure is not None:
            yield Unread(saver, loader, key, value, sure)


def _written(unit: Unit) -> dict[str, ast.expr]:
    """The keys that a function writes into what it returns or saves, with their values."""
    nodes = list(own_nodes(unit.tree))
    out: list[ast.expr] = [
        one.value for one in nodes if isinstance(one, ast.Return) and one.value is not None
    ]
    for node in nodes:
        if isinstance(node, ast.Call) and called_last(node) in _WRITES:
            out += node.args
    inner = [one for value in out if isinstance(value, ast.Call) for one in value.args]
    names = {one.id for one in (*out, *inner) if isinstance(one, ast.Name)}
    displays = [one for one in (*out, *inner) if isinstance(one, ast.Dict)]
    found: dict[str, ast.expr] = {}
    for node in nodes:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        for target in targets:
            value = node.value  # type: ignore[attr-defined]
            if isinstance(target, ast.Name) and target.id in names and isinstance(value, ast.Dict):
                displays.append(value)
            key = _key(target) if isinstance(target, ast.Subscript) else None
            if key is not None and isinstance(target.value, ast.Name) and target.value.id in names:  # type: ignore[attr-defined]
                found[key] = value
    for display in displays:
        for name, value in zip(display.keys, display.values, strict=True):
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                found.setdefault(name.value, value)
    return found


def _key(node: ast.Subscript) -> str | None:
    return (
        node.slice.value
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        else None
    )


def _read(unit: Unit) -> set[str] | None:
    """The keys that a function reads from the one mapping that it loads; None where it may read others."""
    nodes = list(ast.walk(unit.tree))
    named = _mapping(unit, nodes)
    if named is None:
        return None
    looked: set[int] = set()
    keys: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Subscript) and _is(node.value, named) and _key(node) is not None:
            keys.add(_key(node) or "")
            looked.add(id(node.value))
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and _is(node.func.value, named)
        ):
            first = node.args[0] if node.args else None
            if node.func.attr in ("get", "pop") and isinstance(first, ast.Constant):
                keys.add(str(first.value))
                looked.add(id(node.func.value))
        elif isinstance(node, ast.Compare):
            told = isinstance(node.left, ast.Constant) and isinstance(node.ops[0], (ast.In, ast.NotIn))
            if told or isinstance(node.ops[0], (ast.Is, ast.IsNot)):
                looked.update(id(one) for one in (node.left, *node.comparators) if _is(one, named))
        elif isinstance(node, ast.Call) and called_last(node) == "isinstance":
            looked.update(id(one) for one in node.args if _is(one, named))
        elif isinstance(node, (ast.If, ast.IfExp)):
            tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
            looked.update(id(getattr(one, "operand", one)) for one in tests)
    reads = [
        one
        for one in nodes
        if isinstance(one, ast.Name) and one.id == named and isinstance(one.ctx, ast.Load)
    ]
    return keys if all(id(one) in looked for one in reads) else None


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _mapping(unit: Unit, nodes: Sequence[ast.AST]) -> str | None:
    """The name of what is loaded: bound once, as a parameter or by a call that reads a file."""
    assert isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef))
    arguments = [one.arg for one in unit.tree.args.args if one.arg not in ("self", "cls")]
    asked = {
        node.value.id
        for node in nodes
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and _key(node) is not None
    }
    bound: dict[str, list[ast.expr | None]] = {name: [None] for name in arguments}
    for node in nodes:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Name):
                bound.setdefault(target.id, []).append(node.value)  # type: ignore[attr-defined]
        if isinstance(
            node, (ast.For, ast.With, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.comprehension)
        ):
            for name in ast.walk(getattr(node, "target", node)):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    bound.setdefault(name.id, []).append(None)
    fits = [
        name for name in sorted(asked) if len(bound.get(name, ())) == 1 and _is_loaded(name, bound, arguments)
    ]
    return fits[0] if len(fits) == 1 else None


def _is_loaded(name: str, bound: dict[str, list[ast.expr | None]], arguments: list[str]) -> bool:
    value = bound[name][0]
    if name in arguments:
        return True
    return isinstance(value, ast.Call) and called_last(value) in _READS


def _is_lost(saver: Unit, loader: Unit, value: ast.expr, repo: Repo) -> bool | None:
    """Whether what is written is state that a loaded object would have to have: for sure, perhaps, or (None)
    not as far as is seen."""
    kept = _attribute(value)
    if kept is None:
        return None
    made = _made(loader, repo)
    if made is not None:
        call, known = made
        return _falls_back(call, known, kept.attr)
    inside = loader.owner is not None and isinstance(kept.value, ast.Name) and kept.value.id == "self"
    if not inside or _is_static(loader) or loader.owner is None:
        return None
    if _is_set(loader.tree, kept.attr) or _is_property(loader.owner, kept.attr):
        return None
    return True if _moves(loader.owner, kept.attr, (saver, loader)) else None


def _attribute(value: ast.expr) -> ast.Attribute | None:
    """The attribute that a value is, or is a plain copy of: `list(self.rows)`, `self.rng.get_state()`."""
    while isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and not value.args and not value.keywords:
            value = value.func.value
        elif len(value.args) == 1 and dotted_name(value.func) in _COPIES:
            value = value.args[0]
        else:
            return None
    plain = isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name)
    return value if plain and isinstance(value, ast.Attribute) else None


_COPIES = frozenset({
    "list", "dict", "tuple", "set", "sorted", "int", "float", "str", "bool", "copy", "deepcopy", "copy.copy",
    "copy.deepcopy", "asdict", "dataclasses.asdict",
})  # fmt: skip


def _made(loader: Unit, repo: Repo) -> tuple[ast.Call, Class] | None:
    """The one call by which a function makes what it returns of a class with fields, and that class."""
    calls = []
    for node in own_nodes(loader.tree):
        name = dotted_name(node.func) if isinstance(node, ast.Call) else ""
        owner = loader.owner.name if loader.owner is not None else ""
        name = owner if name == "cls" and owner else name
        found = [one for path, one in repo.index.classes(name) if path == loader.file.path] if name else []
        if not found and name in loader.file.imports:
            found = [one for _, one in repo.index.classes(name)]
        if isinstance(node, ast.Call) and len(found) == 1:
            calls.append((node, found[0]))
    return calls[0] if len(calls) == 1 else None


def _falls_back(call: ast.Call, known: Class, name: str) -> bool | None:
    """Whether a call leaves a field of its class to its default; None where it is given, or none."""
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(
        one.arg is None for one in call.keywords
    ):
        return None
    taken = [one for one in known.fields if one.taken]
    given = {one.name for one in taken[: len(call.args)]} | {one.arg for one in call.keywords}
    fits = [one for one in taken if one.name == name]
    if not fits or name in given or fits[0].default is None:
        return None
    return len(given & {one.name for one in taken}) >= _FEWEST or None


def _is_static(unit: Unit) -> bool:
    decorators = getattr(unit.tree, "decorator_list", [])
    return any(dotted_name(one) in ("classmethod", "staticmethod") for one in decorators)


def _is_property(owner: ast.ClassDef, name: str) -> bool:
    return any(
        isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and one.name == name for one in owner.body
    )


def _is_set(tree: ast.AST, name: str) -> bool:
    """Whether a function sets an attribute of that name, or calls something of it."""
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in ast.walk(tree))


def _moves(owner: ast.ClassDef, name: str, apart: tuple[Unit, ...]) -> bool:
    """Whether another method of the class, or of one that derives from it in the file, changes an attribute
    once the object is made."""
    for function in (one for made in _family(owner, apart[0].file) for one in made.body):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if _SET_UP.search(function.name) or any(function is one.tree for one in apart):
            continue
        if any(_changes(node, name) for node in own_nodes(function)):
            return True
    return False


def _family(owner: ast.ClassDef, file: File) -> list[ast.ClassDef]:
    found, names = [owner], {owner.name}
    for made in file.classes.values():  # a class stands below its bases
        if made is not owner and not names.isdisjoint(map(dotted_name, made.bases)):
            found.append(made)
            names.add(made.name)
    return found


_SET_UP = pattern(
    r"(?i)^(__init__|__post_init__|__new__|_*(re)?(set|init|build|setup|load|configure|clear)(_|$|[a-z]+$))"
)


def _changes(node: ast.AST, name: str) -> bool:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = list(node.targets)
    elif isinstance(node, ast.AugAssign):
        targets = [node.target]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        targets = [node.func.value] if node.func.attr in _MUTATES | {"step"} else []
    for target in targets:
        while isinstance(target, ast.Subscript):
            target = target.value
        if isinstance(target, ast.Attribute) and target.attr == name and _is(target.value, "self"):
            return True
    return False


def may_hold(file: File) -> bool:
    """Whether a file has a pair whose first function could write what its second leaves, by `ast`."""
    return any(_written(saver) and loader.has(ast.Subscript) for saver, loader in pairs(file))
