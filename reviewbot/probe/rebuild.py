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
        return self.returned.fields if type(self.returned) is Instance else {}


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
    worlds = list(itertools.islice(_worlds(parameters, parameter, cls, fields, compared), MOST_TRIES))
    runs: list[Rebuilt] = []
    with Session(target, also=[class_name] if own else (), worlds=worlds, python=python) as session:
        for world in worlds:
            run = session.one(session.add(world), watch=True)
            new, old = run.returned, world[parameter]
            if not run.passes or type(new) is not Instance or new.cls != cls or same(new, old):
                continue
            kept = [part for _, part in shape.walk(new.fields)]
            lost = tuple(n for n, v in old.fields.items() if not any(same(v, part) for part in kept))
            layers = tuple(session.held.names)
            runs.append(Rebuilt(class_name, parameter, world, new, lost, defaults, layers, given))
    if not runs:
        raise ProbeError(f"{target.name} built no new {class_name} from any of {len(worlds)} filled ones")
    losing = [run for run in runs if dropped(run)]
    return min(losing or runs, key=lambda run: len(run.lost))


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
        keeps = type(run.returned) is Instance and 2 * len(run.lost) <= len(run.returned.fields)
        if lost and keeps and type(run.returned) is Instance:
            given = run.arguments[run.parameter]
            old = given.fields if type(given) is Instance else {}
            found.append(Dropped(name, run.parameter, lost, old, run.returned.fields, run.layers))
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
    for arg in must:
        note = ast.unparse(arg.annotation).strip("'\"") if arg.annotation else ""
        found.append((arg.arg, class_name if note.rpartition(".")[2] == class_name else note))
    return found


def _fields(target: Target, class_path: str, class_name: str) -> list[tuple[str, str]]:
    """(name, annotation) of a class's fields."""
    return [
        (node.target.id, ast.unparse(node.annotation))
        for node in _class(target, class_path, class_name).body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]


def _defaults(target: Target, class_path: str, class_name: str) -> dict[str, Plain]:
    """The fields' defaults, as far as they are written out as constants."""
    return {
        node.target.id: node.value.value
        for node in _class(target, class_path, class_name).body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(node.value, ast.Constant)
    }


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
        old = Instance(cls, "fields", dict(zip([name for name, _ in fields], values, strict=True)))
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
