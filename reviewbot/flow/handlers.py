"""What an exception handler does with a failure: pass it on, keep it, or let it go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import libcst as cst

from reviewbot.flow.assertions import fails_by_name
from reviewbot.flow.checks import Check, call_of, fails, is_assertion_call
from reviewbot.flow.control import statements
from reviewbot.flow.syntax import dotted, last_name, literal, walk
from reviewbot.flow.values import values

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

Fate = Literal["lost", "skipped", "left to others"]

BROAD = frozenset({"", "Exception", "BaseException"})
_BASES = frozenset({"", "BaseException"})
SHOWING = frozenset({
    "print", "warn", "debug", "info", "warning", "error", "exception", "critical", "log", "print_exc",
    "print_exception", "write", "flush", "sleep", "pprint", "echo", "secho", "pformat", "format_exc", "str",
    "repr", "format", "type", "print_stack", "getLogger", "join", "time",
})  # fmt: skip
_SKIPPED = frozenset({"SkipTest", "Skipped"})
_SKIPPING = frozenset({"skip", "skipTest", "xfail", "SkipTest"})


_OF_PYTEST = {"fail": "Failed", "skip": "Skipped", "exit": "Exit", "xfail": "XFailed"}


def caught(handler: cst.ExceptHandler) -> frozenset[str]:
    """The last names of the exceptions that a handler takes; "" for a bare `except`."""
    if handler.type is None:
        return frozenset({""})
    if type(handler.type) is cst.Tuple:
        return frozenset(exception_name(element.value) for element in handler.type.elements)
    return frozenset({exception_name(handler.type)})


def exception_name(node: cst.CSTNode) -> str:
    """The last name of an exception; `Failed` for `pytest.fail.Exception`, which is no blind `Exception`."""
    name = last_name(node)
    if name != "Exception" or type(node) is not cst.Attribute or dotted(node.value) == "builtins":
        return name
    return _OF_PYTEST.get(last_name(node.value), dotted(node) or name)


def raised_by(check: Check) -> str:
    """The exception with which a check fails, as far as that is known; "" where it is not."""
    if check.kind == "raise":
        assert isinstance(check.node, cst.Raise)
        return last_name(check.node.exc) if check.node.exc is not None else ""
    if check.kind == "exit":
        return "SystemExit"
    call = call_of(check.node)
    if call is not None and check.kind == "fail":
        # pytest.fail raises outside Exception, so that a blind handler does not take it.
        return "Failed" if dotted(call.func) in ("pytest.fail", "fail") else "AssertionError"
    if check.kind == "context" and type(check.node) is cst.With:
        items = [last_name(item.item) for item in check.node.items]
        return "AssertionError" if any(name.startswith("assert") for name in items) else "Failed"
    return "AssertionError"


def takes(handled: frozenset[str], raised: str) -> bool:
    """Whether a handler of these exceptions takes one of that name."""
    if not raised:
        return False
    if raised in handled or not handled.isdisjoint(_BASES):
        return True
    return "Exception" in handled and raised not in ("Failed", "SystemExit", "KeyboardInterrupt", "Exit")


def fate(unit: Unit, block: cst.CSTNode, name: str = "") -> Fate:
    """What becomes of a failure in a handler's block, whose exception is bound to `name`.

    `lost`: at most shown, or a script ends with 0. `skipped`: the test is reported as skipped. `left to
    others`: raised again, checked, returned as a verdict, kept in a name that is read later, or given to
    something unknown.
    """
    skipped = False
    for node in walk(block):
        if type(node) is cst.Raise and node.exc is not None and _ends_well(node.exc):
            skipped |= last_name(node.exc) in _SKIPPED
            continue
        if isinstance(node, (cst.Raise, cst.Assert, cst.Yield, cst.Del, cst.While, cst.Try, cst.AugAssign)):
            return "left to others"
        if type(node) is cst.Return and _is_verdict(node):
            return "left to others"
        if type(node) is cst.Call:
            if last_name(node) in _SKIPPING:
                skipped = True
            elif _ends_well(node):
                continue
            elif _passes_on(node):
                return "left to others"
        if isinstance(node, (cst.Assign, cst.AnnAssign)) and _is_kept(unit, node):
            if not _only_skips(unit, node):
                return "left to others"
            skipped = True
        if type(node) is cst.Expr and fails(node) is not None:
            return "left to others"
    return "skipped" if skipped else "lost"


def _is_verdict(node: cst.Return) -> bool:
    return node.value is not None and literal(node.value) is not None


def _passes_on(call: cst.Call) -> bool:
    """Whether a call could do more with a failure than show it."""
    name = last_name(call)
    if is_assertion_call(call) or fails_by_name(dotted(call.func)) or not name:
        return True
    return name not in SHOWING


def _is_kept(unit: Unit, node: cst.Assign | cst.AnnAssign) -> bool:
    targets = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target]
    flow = values(unit)
    for target in targets:
        if type(target) is not cst.Name:
            return True
        if any(binding.node is target for use in _uses(unit, target.value) for binding in flow.reaching(use)):
            return True
    return False


def _ends_well(node: cst.BaseExpression) -> bool:
    """Whether what is called or raised skips a test, or ends a script as if all were well: `sys.exit(0)`."""
    name = last_name(node)
    if name in _SKIPPED:
        return True
    if name not in ("exit", "SystemExit") or type(node) is not cst.Call:
        return False
    return len(node.args) == 1 and literal(node.args[0].value) == 0


def _only_skips(unit: Unit, node: cst.Assign | cst.AnnAssign) -> bool:
    """Whether what is kept of a failure is read only to skip the test: `if reason: pytest.skip(reason)`."""
    target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
    if type(target) is not cst.Name or (isinstance(node, cst.Assign) and len(node.targets) > 1):
        return False
    for use in _uses(unit, target.value):
        branch = next((a for a in unit.ancestors(use) if type(a) is cst.If), None)
        call = call_of(statements(branch.body)[0]) if branch is not None and branch.orelse is None else None
        if call is None or last_name(call) not in _SKIPPING:
            return False
    return True


def _uses(unit: Unit, name: str) -> Iterator[cst.Name]:
    """Where a name is read for more than to be shown."""
    for use in values(unit).reads(unit.node):
        if use.value == name and not _is_shown(unit, use):
            yield use


def _is_shown(unit: Unit, use: cst.Name) -> bool:
    """Whether a name is read to be shown: `print(error)`, and not `assert "full" in str(error)`."""
    shown = False
    for above in unit.ancestors(use):
        if isinstance(above, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return shown and type(above) is not cst.Assert
        if type(above) is cst.Comparison:
            shown = False
        elif type(above) is cst.Call:
            shown = (shown or last_name(above) in SHOWING) and not is_assertion_call(above)
    return shown


def expects_failure(unit: Unit, node: cst.Try, checked: cst.CSTNode) -> bool:
    """Whether a `try` is written so that its check must fail: something fails outright where it did not,
    after the check, in the `else`, or right after the `try` that the handlers leave by returning."""
    body = statements(node.body)
    place = next((n for n, s in enumerate(body) if any(below is checked for below in walk(s))), len(body))
    if _fails_outright(body[place + 1 :]):
        return True
    if node.orelse is not None and any(
        isinstance(below, (cst.Raise, cst.Assert)) or fails(below) is not None for below in walk(node.orelse)
    ):
        return True
    left = all(_ends(statements(handler.body)) for handler in node.handlers)
    return left and _fails_outright(following(unit, node))


def _ends(block: Sequence[cst.CSTNode]) -> bool:
    return any(isinstance(s, (cst.Return, cst.Continue, cst.Break)) for s in block)


def _fails_outright(block: Sequence[cst.CSTNode]) -> bool:
    return any(fails(statement) is not None for statement in block)


def following(unit: Unit, node: cst.CSTNode) -> list[cst.CSTNode]:
    """The statements that come right after one in its own block."""
    block = unit.parent(node)
    while block is not None and not isinstance(block, (cst.IndentedBlock, cst.Module)):
        node, block = block, unit.parent(block)
    if block is None:
        return []
    found = statements(block)
    place = next((n for n, s in enumerate(found) if s is node or any(b is node for b in walk(s))), len(found))
    return found[place + 1 :]
