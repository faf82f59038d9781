"""Which values are mappings, of which a loop gets the keys, and walks in which nothing else is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.checks import comparisons
from reviewbot.flow.cuts import Cut
from reviewbot.flow.syntax import canonical, dotted, last_name
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_MADE = frozenset({
    "dict", "OrderedDict", "defaultdict", "Counter", "vars", "asdict", "to_dict", "state_dict", "model_dump",
})  # fmt: skip
_ANNOTATED = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict", "Counter"})


def is_mapping(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether an expression is known to be a mapping: by how it is made, or by its annotation."""
    flow = values(unit)
    bound = flow.reaching(node) if isinstance(node, cst.Name) else frozenset()
    if bound and all(_is_annotated(unit, one.node) for one in bound):
        return True
    node = flow.resolve(node)
    if isinstance(node, (cst.Dict, cst.DictComp)):
        return True
    return isinstance(node, cst.Call) and last_name(node) in _MADE


def _is_annotated(unit: Unit, node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Name):
        node = unit.parent(node) or node
    if not isinstance(node, (cst.Param, cst.AnnAssign)) or node.annotation is None:
        return False
    kind = node.annotation.annotation
    kind = kind.value if isinstance(kind, cst.Subscript) else kind
    return dotted(kind).rpartition(".")[2] in _ANNOTATED


def compares_keys_alone(unit: Unit, cut: Cut) -> bool:
    """Whether two mappings are walked in step, so that each turn is given a key of each, and nothing looks up
    what stands under them, or compares them as wholes."""
    if dotted(cut.call.func) != "zip" or len(cut.sides) != 2:
        return False
    loop = cut.loop.for_in if isinstance(cut.loop, (cst.GeneratorExp, cst.ListComp)) else cut.loop
    if not isinstance(loop, (cst.For, cst.CompFor)) or loop.iter is not cut.call:
        return False
    elements = loop.target.elements if isinstance(loop.target, cst.Tuple) else ()
    given = {element.value.value for element in elements if isinstance(element.value, cst.Name)}
    if len(given) != 2:
        return False
    if not all(is_mapping(unit, side) for side in cut.sides):
        return False
    if not given <= {name.value for name in values(unit).reads(cut.check)}:
        return False
    sides = {canonical(side) for side in cut.sides}
    compared = [side for one in comparisons(unit) for side in (one.left, one.right)]
    looked_into = [node.value for node in unit.find(cst.Subscript)]
    looked_into += [node.value for node in unit.find(cst.Attribute)]
    return not any(canonical(one) in sides for one in (*compared, *looked_into))
