"""Which expressions stand for mock objects, and what a test told them to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.syntax import dotted, last_name, root_name, walk
from reviewbot.flow.values import UNBOUND, values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

MOCKS = frozenset(
    {"Mock", "MagicMock", "AsyncMock", "NonCallableMock", "NonCallableMagicMock", "ThreadingMock"}
)
OWN_ATTRIBUTES = frozenset({
    "called", "call_count", "call_args", "call_args_list", "mock_calls", "method_calls", "await_count",
    "await_args", "await_args_list", "return_value", "side_effect", "mock_add_spec", "attach_mock",
    "configure_mock", "reset_mock",
})  # fmt: skip
"""What a mock answers truly of itself."""

_SPECIFYING = frozenset({"spec", "spec_set", "autospec", "wraps", "new", "new_callable", "side_effect"})


def mock_call(unit: Unit, node: cst.BaseExpression) -> cst.Call | None:
    """The call that made a mock of what a name stands for: `Mock()`, `patch(...)` of a `with`, a patcher's
    `start()`; None where every path does not lead to one."""
    flow = values(unit)
    if not isinstance(node, cst.Name):
        return None
    reaching = flow.reaching(node) - {UNBOUND}
    if len(reaching) != 1:
        return None
    (binding,) = reaching
    call = binding.value
    if binding.role != "whole" or binding.kind not in ("assign", "with") or not isinstance(call, cst.Call):
        return None
    name = dotted(call.func)
    if makes_mock(unit, call):
        return call
    patches = name in ("patch", "patch.object", "mock.patch", "mock.patch.object", "unittest.mock.patch")
    patches = patches and binding.kind == "with"
    return call if patches or name in ("mocker.patch", "mocker.patch.object") else None


def makes_mock(unit: Unit, call: cst.Call) -> bool:
    """Whether a call is one of `unittest.mock`'s classes, by its own name or that of an import."""
    name = dotted(call.func)
    return name.rpartition(".")[2] in MOCKS or _imported(unit, name) in MOCKS


def _imported(unit: Unit, name: str) -> str:
    """What a name was imported as, inside of the unit or at the top of the file; "" where it was not."""
    known = unit.file.imports.get(name, "").rpartition(".")[2]
    for node in () if known else unit.find(cst.ImportFrom):
        for alias in node.names if not isinstance(node.names, cst.ImportStar) else ():
            told = alias.asname
            if told is not None and isinstance(told.name, cst.Name) and told.name.value == name:
                return last_name(alias.name)
    return known


def is_plain(call: cst.Call) -> bool:
    """Whether a mock was made without a specification, so that any attribute is there and is a mock."""
    positional = [arg for arg in call.args if arg.keyword is None]
    given = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    allowed = {"patch": 1, "object": 2}.get(last_name(call), 0)
    return len(positional) <= allowed and not given & _SPECIFYING and not any(arg.star for arg in call.args)


def looks_like_mock(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether an expression is a mock by its making, by a `patch` decorator or by its name."""
    root: cst.BaseExpression = node
    while isinstance(root, (cst.Attribute, cst.Call, cst.Subscript)):
        root = root.func if isinstance(root, cst.Call) else root.value
    if mock_call(unit, root) is not None:
        return True
    text = dotted(node) or root_name(node)
    return any(word in text.lower() for word in ("mock", "patch", "spy"))


def told(unit: Unit, name: str, attribute: str) -> list[cst.CSTNode]:
    """Where a unit tells the mock `name` what its `attribute` is, or configures it in a way that may."""
    found: list[cst.CSTNode] = []
    for node in walk(unit.node):
        if isinstance(node, cst.AssignTarget):
            path = dotted(node.target)
            if path.startswith(f"{name}.{attribute}") or path in (
                f"{name}.return_value",
                f"{name}.side_effect",
            ):
                found.append(node)
        elif isinstance(node, cst.Call):
            path = dotted(node.func)
            configures = path in (f"{name}.configure_mock", f"{name}.attach_mock", "setattr")
            keywords = [arg.keyword.value for arg in node.args if arg.keyword is not None]
            if configures or (last_name(node) in MOCKS and attribute in keywords):
                found.append(node)
    return found
