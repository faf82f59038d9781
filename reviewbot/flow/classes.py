"""Which class of the repository an expression is an instance of, and what a constructor call gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.syntax import dotted
from reviewbot.flow.values import UNBOUND, values

if TYPE_CHECKING:
    from reviewbot.index.facts import Class, Field
    from reviewbot.index.index import Index
    from reviewbot.source.units import File, Unit

_WRAPPERS = frozenset({"Optional", "typing.Optional", "Final", "Annotated", "typing.Annotated", "t.Optional"})


@dataclass(frozen=True, slots=True)
class Known:
    """A class with fields, and the file that it stands in."""

    path: str
    found: Class


def class_of_name(name: str, path: str, imports: Mapping[str, str], index: Index) -> Known | None:
    """The class that a dotted name used in `path` means, if the repository has it."""
    defined = index.definition(name, path, dict(imports))
    if defined is None or defined[1].kind != "class":
        return None
    where, definition = defined
    for _, found in index.of_file(where).classes(definition.name.rpartition(".")[2]):
        if found.name == definition.name and found.line == definition.line:
            return Known(where, found)
    return None


def instance_of(node: cst.BaseExpression, unit: Unit, index: Index) -> Known | None:
    """The class that a name is surely an instance of: by the annotation of a parameter or variable, by the
    constructor call that alone reaches it, or `self` in a method."""
    if not isinstance(node, cst.Name):
        return None
    imports = unit.file.imports
    if node.value in ("self", "cls") and unit.kind == "method":
        return class_of_name(unit.name.rpartition(".")[0], unit.file.path, {}, index)
    reaching = values(unit).reaching(node) - {UNBOUND}
    if len(reaching) != 1:
        return None
    (binding,) = reaching
    if binding.kind == "parameter" and isinstance(binding.node, cst.Param) and binding.node.annotation:
        return annotated(binding.node.annotation.annotation, unit, index)
    if isinstance(binding.node, cst.AnnAssign):
        return annotated(binding.node.annotation.annotation, unit, index)
    if binding.kind == "assign" and binding.role == "whole" and isinstance(binding.value, cst.Call):
        name = dotted(binding.value.func)
        return class_of_name(name, unit.file.path, imports, index) if name else None
    return None


def annotated(node: cst.BaseExpression, unit: Unit, index: Index) -> Known | None:
    """The one class of the repository that an annotation names: `C`, `"C"`, `C | None`, `Optional[C]`."""
    if isinstance(node, cst.SimpleString):
        text = node.evaluated_value
        try:
            return annotated(cst.parse_expression(text), unit, index) if isinstance(text, str) else None
        except cst.ParserSyntaxError:
            return None
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
        sides = [side for side in (node.left, node.right) if dotted(side) != "None"]
        return annotated(sides[0], unit, index) if len(sides) == 1 else None
    if isinstance(node, cst.Subscript) and dotted(node.value) in _WRAPPERS:
        element = node.slice[0].slice
        return annotated(element.value, unit, index) if isinstance(element, cst.Index) else None
    name = dotted(node)
    return class_of_name(name, unit.file.path, unit.file.imports, index) if name else None


def given(
    call: cst.Call, known: Known, order: tuple[Field, ...], *, spread: bool = False
) -> dict[str, cst.BaseExpression] | None:
    """What a constructor call gives each field, by position and keyword; None where a star hides some. With
    `spread` what `**` gives is left out."""
    out: dict[str, cst.BaseExpression] = {}
    order = tuple(field for field in order if field.taken)
    for place, arg in enumerate(call.args):
        if spread and arg.star == "**":
            continue
        if arg.star:
            return None
        if arg.keyword is not None:
            out[arg.keyword.value] = arg.value
        elif place < len(order):
            out[order[place].name] = arg.value
        else:
            return None
    return out


def class_of(
    node: cst.BaseExpression, unit: Unit, index: Index, file: Callable[[str], File | None]
) -> Known | None:
    """The class that a value is surely of: as `instance_of` says of a name, what a constructor makes, or what
    a function of the repository says that it returns. `file` reads another file."""
    found = instance_of(node, unit, index)
    if found is not None:
        return found
    if isinstance(node, cst.Await):
        return class_of(node.expression, unit, index, file)
    if isinstance(node, cst.Name):
        reaching = values(unit).reaching(node) - {UNBOUND}
        binding = next(iter(reaching)) if len(reaching) == 1 else None
        if binding is None or binding.kind != "assign" or binding.role != "whole":
            return None
        return _made(binding.value, unit, index, file) if isinstance(binding.value, cst.Call) else None
    return _made(node, unit, index, file) if isinstance(node, cst.Call) else None


def _made(call: cst.Call, unit: Unit, index: Index, file: Callable[[str], File | None]) -> Known | None:
    """The class of what a call gives back."""
    name = dotted(call.func)
    built = class_of_name(name, unit.file.path, unit.file.imports, index) if name else None
    if built is not None:
        return built
    where, called = "", ""
    if name and (defined := index.definition(name, unit.file.path, unit.file.imports)) is not None:
        where, called = defined[0], defined[1].name
    elif isinstance(call.func, cst.Attribute):
        owner = class_of(call.func.value, unit, index, file)
        if owner is not None:
            where, called = owner.path, f"{owner.found.name}.{call.func.attr.value}"
    there = file(where) if where else None
    maker = there.unit(called) if there is not None else None
    if maker is None or not isinstance(maker.node, cst.FunctionDef) or maker.node.returns is None:
        return None
    return annotated(maker.node.returns.annotation, maker, index)
