"""Whether two parts of models or optimizers are of one length because one was loaded with the other's state.

PyTorch's `load_state_dict` refuses a state of other keys, or of groups of another number or size; see
`torch.nn.Module.load_state_dict` (strict) and `torch.optim.Optimizer.load_state_dict`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.syntax import dotted, keyword_argument, last_name, literal
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_STATE = frozenset(
    {"param_groups", "parameters", "named_parameters", "buffers", "named_buffers", "state_dict"}
)
_DEPTH = 4  # loops over parts of parts


def loaded_alike(unit: Unit, left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """Whether one side is part of what was loaded with the state of what the other is part of."""
    if not unit.calls("load_state_dict"):
        return False
    one, other = _owner(unit, left), _owner(unit, right)
    if not one or not other or one == other:
        return False
    flow = values(unit)
    for call in unit.find(cst.Call):
        if last_name(call) != "load_state_dict" or not isinstance(call.func, cst.Attribute) or not call.args:
            continue
        strict = keyword_argument(call, "strict")
        if strict is not None and literal(strict) is not True:
            continue
        given = call.args[0].value
        names = {name.value for name in flow.reads(given)}
        for binding in flow.slice(given, mutations=False):
            names |= (
                {name.value for name in flow.reads(binding.value)} if binding.value is not None else set()
            )
        for loaded, source in ((one, other), (other, one)):
            if dotted(call.func.value) == loaded and source.partition(".")[0] in names:
                return True
    return False


def _owner(unit: Unit, node: cst.BaseExpression) -> str:
    """The model or optimizer that a side is part of: `adam` for its `param_groups`, and for the `params` of
    each group that a loop takes from them; "" where there is none."""
    for _ in range(_DEPTH):
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.args:
            node = node.func
        if isinstance(node, cst.Attribute):
            return dotted(node.value) if node.attr.value in _STATE else ""
        if isinstance(node, cst.Subscript):
            node = node.value
        elif isinstance(node, cst.Name):
            reaching = values(unit).reaching(node)
            binding = next(iter(reaching)) if len(reaching) == 1 else None
            if binding is None or binding.kind != "loop" or binding.role != "item" or binding.value is None:
                return ""
            node = binding.value
        else:
            return ""
    return ""
