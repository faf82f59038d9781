"""Which fields a function loses when it builds a new object out of an old one of the same class.

Each field of the old object is filled with a value of its own, and looked for in the new one.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reviewbot.errors import NoSandbox, ProbeError
from reviewbot.probe import shape
from reviewbot.probe.closure import search_paths
from reviewbot.probe.evidence import EMPTY, Dropped
from reviewbot.probe.inside.plain import Instance, Plain, same
from reviewbot.probe.session import Session
from reviewbot.probe.target import Target, module_name
from reviewbot.source.units import File

MOST_TRIES = 64


@dataclass(frozen=True)
class Rebuilt:
    """One run: the arguments, the object that came out, the fields whose values are in it nowhere.

    `cls` is the class's name, `parameter` the one that holds the old object, `defaults` the fields' own,
    `given` the fields that the function names wherever it makes such an object: what they get is meant.
    """

    cls: str
    parameter: str
    arguments: dict[str, Plain]
    returned: Plain
    lost: tuple[str, ...]
    defaults: dict[str, Plain] = field(default_factory=dict)
    layers: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()

    @property
    def filled(self) -> dict[str, Plain]:
        """The fields of what came out."""
        return _fields_of(self.returned)


def _fields_of(value: Plain) -> dict[str, Plain]:
    """The fields of an object, or the items of a typed dict."""
    if type(value) is Instance:
        return value.fields
    return value if type(value) is dict else {}


def rebuilt(target: Target, class_path: str, class_name: str, *, python: str | None = None) -> Rebuilt:
    """The run in which most is kept and something lost; the one in which nothing is lost if there is none.

    Raises ProbeError where the function takes no such object or never builds a new one.
    """
    parameters = _parameters(target, class_name)
    parameter = next((name for name, note in parameters if note == class_name), None)
    if parameter is None:
        raise ProbeError(f"{target.name} has no parameter of class {class_name}")
    fields = _fields(target, class_path, class_name)
    defaults = _defaults(target, class_path, class_name)
    compared = _compared(target, parameter)
    given = _given(target, class_name)
    own = class_path == target.path
    cls = f"{target.module if own else _module(target, class_path)}:{class_name}"
    if _is_typed_dict(_class(target, class_path, class_name)):
        cls = ""
    worlds = list(itertools.islice(_worlds(parameters, parameter, cls, fields, compared), MOST_TRIES))
    runs: list[Rebuilt] = []
    with Session(target, also=[class_name] if own else (), worlds=worlds, python=python) as session:
        for world in worlds:
            run = session.one(session.add(world), watch=True)
            new, old = run.returned, _fields_of(world[parameter])
            if not run.passes or not _is_one(new, cls, old) or same(_fields_of(new), old):
                continue
            kept = [part for _, part in shape.walk(_fields_of(new))]
            lost = tuple(n for n, v in old.items() if not any(same(v, part) for part in kept))
            layers = tuple(session.held.names)
            runs.append(Rebuilt(class_name, parameter, world, new, lost, defaults, layers, given))
    if not runs:
        raise ProbeError(f"{target.name} built no new {class_name} from any of {len(worlds)} filled ones")
    losing = [run for run in runs if dropped(run)]
    return min(losing or runs, key=lambda run: len(run.lost))


def _is_one(value: Plain, cls: str, old: dict[str, Plain]) -> bool:
    """Whether a value is an object of a class, or with `cls` empty a dict of some of the old one's keys."""
    if cls:
        return type(value) is Instance and value.cls == cls
    return type(value) is dict and bool(value) and value.keys() <= old.keys()


def _to_default(run: Rebuilt, name: str) -> bool:
    """Whether a field came out empty or as its class has it by itself, rather than as decided anew."""
    came = run.filled.get(name)
    if name in run.defaults and same(came, run.defaults[name]):
        return True
    return came in EMPTY


def dropped(run: Rebuilt) -> tuple[str, ...]:
    """The lost fields that came out empty, or as their class has them by itself, without being given so."""
    return tuple(name for name in run.lost if _to_default(run, name) and name not in run.given)


def fields_dropped(
    target: Target, *, python: str | None = None
) -> tuple[tuple[Dropped, ...], tuple[str, ...]]:
    """What a function loses of each class that it takes and builds anew, and what could not be run."""
    found, not_run = [], []
    for path, name in _rebuilt_classes(target):
        try:
            run = rebuilt(target, path, name, python=python)
        except NoSandbox:
            raise
        except ProbeError as error:
            not_run.append(str(error))
            continue
        lost = dropped(run)
        # An object that keeps little of the old one is another thing, not the old one again.
        if lost and 2 * len(run.lost) <= len(run.filled):
            old = _fields_of(run.arguments[run.parameter])
            found.append(Dropped(name, run.parameter, lost, old, run.filled, run.layers))
    return tuple(found), tuple(not_run)


def _rebuilt_classes(target: Target) -> Iterator[tuple[str, str]]:
    """(file, name) of classes of the repository of which the function takes an object and makes another."""
    function = _function(target)
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    notes = {
        ast.unparse(arg.annotation).strip("'\"").rpartition(".")[2]
        for arg in arguments
        if arg.annotation is not None
    }
    made = {
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
    }
    file = File(target.path, (target.root / target.path).read_bytes())
    for name in sorted(notes & made):
        path = _path_of(target, file, name)
        if path is not None:
            yield path, name


def _given(target: Target, name: str) -> frozenset[str]:
    """The fields that every call of the class in the function names."""
    calls = [
        {keyword.arg or "" for keyword in node.keywords}
        for node in ast.walk(_function(target))
        if isinstance(node, ast.Call)
        and (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")) == name
    ]
    return frozenset(set.intersection(*calls)) if calls else frozenset()


def _path_of(target: Target, file: File, name: str) -> str | None:
    """The repository's file that defines a class which this one defines or imports."""
    own = file.unit(name)
    if own is not None:
        return target.path if own.kind == "class" else None
    module, _, _ = file.imports.get(name, "").rpartition(".")
    level = len(module) - len(module.lstrip("."))
    parts = [part for part in module.split(".") if part]
    starts = (
        [(target.root / target.path).parents[level - 1]]
        if level
        else [Path(place) for place in search_paths(target.root, target.path)]
    )
    for start in starts:
        for found in (start.joinpath(*parts).with_suffix(".py"), start.joinpath(*parts, "__init__.py")):
            if parts and found.is_file() and found.resolve().is_relative_to(target.root.resolve()):
                relative = found.resolve().relative_to(target.root.resolve()).as_posix()
                there = File(relative, found.read_bytes()).unit(name)
                if there is not None and there.kind == "class":
                    return relative
    return None


def _function(target: Target) -> ast.FunctionDef | ast.AsyncFunctionDef:
    file = File(target.path, (target.root / target.path).read_bytes())
    unit = file.unit(target.unit)
    if unit is None or not isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        raise ProbeError(f"{target.name} is not a function")
    return unit.tree


def _parameters(target: Target, class_name: str) -> list[tuple[str, str]]:
    """(name, annotation) of what must be given; the annotation's last name for a class."""
    arguments = _function(target).args
    named = [*arguments.posonlyargs, *arguments.args]
    must = named[: len(named) - len(arguments.defaults)]
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    must += [arg for arg, default in keywords if default is None]
    found = []
    if "." in target.unit and must and must[0].arg == "self":
        must[0].annotation = ast.Name(target.unit.rpartition(".")[0])
    for arg in must:
        note = ast.unparse(arg.annotation).strip("'\"") if arg.annotation else ""
        found.append((arg.arg, class_name if note.rpartition(".")[2] == class_name else note))
    return found


def _fields(target: Target, class_path: str, class_name: str) -> list[tuple[str, str]]:
    """(name, annotation) of a class's fields: those declared in it, else those that its `__init__` keeps."""
    cls = _class(target, class_path, class_name)
    declared = [
        (node.target.id, _bare_note(node.annotation))
        for node in cls.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    counted = {
        part.attr
        for node in ast.walk(_function(target))
        if isinstance(node, ast.BinOp)
        for part in (node.left, node.right)
        if isinstance(part, ast.Attribute)
    }
    return declared or [
        (arg.arg, _bare_note(arg.annotation) or _note_of(default) or "int" * (arg.arg in counted))
        for arg, default in _kept(cls)
    ]


def _note_of(default: ast.expr | None) -> str:
    """The kind of thing that a parameter without an annotation defaults to, "" where it does not show."""
    if isinstance(default, ast.Constant) and default.value is not None:
        return type(default.value).__name__
    return ""


def _bare_note(annotation: ast.expr | None) -> str:
    """An annotation's text, without what says of a key that it may be missing."""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value).rpartition(".")[2] in (
        "NotRequired",
        "Required",
    ):
        return _bare_note(annotation.slice)
    return ast.unparse(annotation).strip("'\"") if annotation is not None else ""


def _is_typed_dict(cls: ast.ClassDef) -> bool:
    return any(ast.unparse(base).rpartition(".")[2] == "TypedDict" for base in cls.bases)


def _kept(cls: ast.ClassDef) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """The parameters of `__init__` that become attributes of their own name, each with its default."""
    for made in cls.body:
        if not isinstance(made, ast.FunctionDef) or made.name != "__init__":
            continue
        kept = {
            (target.attr, value.id)
            for node in ast.walk(made)
            if isinstance(node, ast.Assign)
            for target, value in _assigned(node)
            if isinstance(target, ast.Attribute) and isinstance(value, ast.Name)
        }
        named = [*made.args.posonlyargs, *made.args.args][1:]
        without: list[ast.expr | None] = [None] * (len(named) - len(made.args.defaults))
        pairs = zip(named, [*without, *made.args.defaults][-len(named) :], strict=True)
        for arg, default in (*pairs, *zip(made.args.kwonlyargs, made.args.kw_defaults, strict=True)):
            if (arg.arg, arg.arg) in kept:
                yield arg, default


def _assigned(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target of an assignment with its value, also in `self.a, self.b = a, b`."""
    for target in node.targets:
        both = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
        if both and len(target.elts) == len(node.value.elts):  # type: ignore[attr-defined]
            yield from zip(target.elts, node.value.elts, strict=True)  # type: ignore[attr-defined]
        else:
            yield target, node.value


def _defaults(target: Target, class_path: str, class_name: str) -> dict[str, Plain]:
    """The fields' defaults, as far as they are written out as constants."""
    cls = _class(target, class_path, class_name)
    declared = {
        node.target.id: node.value.value
        for node in cls.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    kept = {arg.arg: default.value for arg, default in _kept(cls) if isinstance(default, ast.Constant)}
    return {**kept, **declared}


def _class(target: Target, class_path: str, class_name: str) -> ast.ClassDef:
    file = File(class_path, (target.root / class_path).read_bytes())
    unit = file.unit(class_name)
    if unit is None or not isinstance(unit.tree, ast.ClassDef):
        raise ProbeError(f"{class_path} has no class {class_name}")
    return unit.tree


def _compared(target: Target, parameter: str) -> dict[str, list[Plain]]:
    """The constants that a function holds its parameter's fields against: they open its branches."""
    found: dict[str, list[Plain]] = {}
    for node in ast.walk(_function(target)):
        if not isinstance(node, ast.Compare) or not isinstance(node.left, ast.Attribute):
            continue
        left, right = node.left, node.comparators[0]
        constants = right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else [right]
        if isinstance(left.value, ast.Name) and left.value.id == parameter:
            values = [part.value for part in constants if isinstance(part, ast.Constant)]
            found.setdefault(left.attr, []).extend(values)
    return found


def _module(target: Target, class_path: str) -> str:
    """The name under which the target's file imports the class's: below the first folder searched."""
    for folder in search_paths(target.root, target.path):
        whole = target.root / class_path
        if whole.is_relative_to(folder):
            parts = whole.relative_to(folder).with_suffix("").parts
            if all(part.isidentifier() for part in parts) and len(parts) > 1:
                return ".".join(parts)
    return module_name(target.root, class_path)


def _worlds(
    parameters: Sequence[tuple[str, str]],
    parameter: str,
    cls: str,
    fields: Sequence[tuple[str, str]],
    compared: dict[str, list[Plain]],
) -> Iterator[dict[str, Plain]]:
    """Arguments: every field with a value of its own, those that are compared with each constant too."""
    choices = []
    for number, (name, note) in enumerate(fields):
        own = _own(note, name, number)
        choices.append([*compared.get(name, ()), own])
    others = [
        (name, [False, True] if note == "bool" else [_own(note, f"other {name}", 90)])
        for name, note in parameters
        if name != parameter
    ]
    for values in itertools.product(*choices):
        filled = dict(zip([name for name, _ in fields], values, strict=True))
        old = Instance(cls, "init", filled) if cls else filled
        for rest in itertools.product(*(options for _, options in others)):
            given = dict(zip([name for name, _ in others], rest, strict=True))
            yield {name: old if name == parameter else given[name] for name, _ in parameters}


def _own(note: str, name: str, number: int) -> Plain:
    """A value that no other field has, of the annotated kind as far as it shows."""
    kind = note.replace("Optional[", "").split("|")[0].strip().rstrip("]").lower()
    unique = 701 + number
    if kind.startswith(("tuple", "sequence")):
        return (unique,)
    if kind.startswith(("list", "iterable")):
        return [unique]
    if kind.startswith(("dict", "mapping")):
        return {f"own {name}": unique}
    if kind.startswith("set"):
        return {unique}
    if kind.startswith("frozenset"):
        return frozenset({unique})
    if kind in ("int", "float"):
        return unique if kind == "int" else unique + 0.5
    return True if kind == "bool" else f"own {name}"
