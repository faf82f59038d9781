"""Whether a warning raises where it is given, because a filter turns it into an exception.

`warnings.simplefilter("error")` before it, `catch_warnings(action="error")` around it, or pytest's mark
`filterwarnings("error")` on the test, its class or its module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import module_value
from reviewbot.flow.syntax import argument, keyword_argument, last_name, literal
from reviewbot.source.units import called_last

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

_FILTERS = frozenset({"simplefilter", "filterwarnings"})


def raises_warning(unit: Unit, call: cst.Call) -> bool:
    """Whether a call of `warnings.warn` raises, and nothing around it takes that."""
    if last_name(call) != "warn" or not _is_of_warnings(unit, call):
        return False
    if any(isinstance(above, cst.Try) and above.handlers for above in unit.ancestors(call)):
        return False
    category = _given(call)
    rank = unit.index.rank
    before = [one for one in unit.find(cst.Call) if rank(one) < rank(call) and _is_in_force(unit, one, call)]
    # Python asks the filter that was set last first.
    for one in reversed(before):
        if _wanted(one) in ("", "Warning", category):
            return _action(one) == "error"
    return any(_mark(one) in ("error", f"error::{category}") for one in _marks(unit))


def _given(call: cst.Call) -> str:
    """The category of a warning: its second argument, or the class that its first one is made of."""
    named = argument(call, 1, "category")
    if named is not None:
        return last_name(named)
    made = argument(call, 0, "message")
    of_class = isinstance(made, cst.Call) and last_name(made)[:1].isupper()
    return last_name(made) if made is not None and of_class else "UserWarning"


def _is_of_warnings(unit: Unit, call: cst.Call) -> bool:
    if isinstance(call.func, cst.Name):
        return unit.file.imports.get(call.func.value) == "warnings.warn"
    owner = call.func.value if isinstance(call.func, cst.Attribute) else None
    return isinstance(owner, cst.Name) and unit.file.imports.get(owner.value) == "warnings"


def _is_in_force(unit: Unit, one: cst.Call, call: cst.Call) -> bool:
    """Whether a call sets a filter that holds where another call stands: no `catch_warnings` around it has
    ended by then, and no condition decides whether it runs."""
    name = last_name(one)
    if name == "catch_warnings":
        item = unit.parent(one)
        block = unit.parent(item) if isinstance(item, cst.WithItem) else None
        return _action(one) != "" and isinstance(block, cst.With) and unit.holds(block.body, call)
    if name not in _FILTERS or _narrowed(one):
        return False
    for above in unit.ancestors(one):
        if isinstance(above, (cst.If, cst.Try, cst.For, cst.While, cst.With, cst.FunctionDef)):
            within = above.body if isinstance(above, cst.With) else above
            if not unit.holds(within, call):
                return False
            if isinstance(above, cst.If) and unit.holds(above.body, one) != unit.holds(above.body, call):
                return False
    return True


def _narrowed(one: cst.Call) -> bool:
    """Whether a filter asks for more than a category: a text, a module, a line."""
    return any(keyword_argument(one, word) is not None for word in ("message", "module", "lineno")) or (
        last_name(one) == "filterwarnings" and argument(one, 1, "message") is not None
    )


def _action(one: cst.Call) -> str:
    given = (
        keyword_argument(one, "action") if last_name(one) == "catch_warnings" else argument(one, 0, "action")
    )
    said = literal(given) if given is not None else ""
    return said if isinstance(said, str) else ""


def _wanted(one: cst.Call) -> str:
    """The category that a filter asks for, "" for all."""
    node = argument(one, 2 if last_name(one) == "filterwarnings" else 1, "category")
    return "" if node is None else last_name(node)


def _mark(node: ast.expr) -> str:
    """What `pytest.mark.filterwarnings` is given, "" of any other mark."""
    if not isinstance(node, ast.Call) or called_last(node) != "filterwarnings" or len(node.args) != 1:
        return ""
    given = node.args[0]
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""


def _marks(unit: Unit) -> Iterator[ast.expr]:
    """The decorators of a test and of its class, and the marks of its module."""
    tree = unit.tree
    if isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from tree.decorator_list
    if unit.owner is not None:
        yield from unit.owner.decorator_list
    given = module_value(unit.file, "pytestmark")
    yield from (
        given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given] if given is not None else []
    )
