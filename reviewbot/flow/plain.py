"""Which expressions are surely plain data, whose items are read and not computed: what the code itself writes
out, builds with a builtin, reads from JSON, or makes as an array."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import bind, callee, callers, module_value
from reviewbot.flow.fixtures import fixture, takes_fixtures
from reviewbot.flow.syntax import UNKNOWN, last_name, literal, qualified
from reviewbot.flow.values import UNBOUND, values

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit

_DISPLAYS = (
    *(cst.List, cst.Tuple, cst.Set, cst.Dict, cst.ListComp, cst.SetComp, cst.DictComp),
    *(cst.FormattedString, cst.SimpleString, cst.ConcatenatedString),
)
_WRITTEN = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.Constant)
_BUILTINS = frozenset({"list", "dict", "tuple", "set", "frozenset", "sorted", "str", "bytes", "range"})
# All of it is data, however deep.
_THROUGHOUT = frozenset({
    "json.load", "json.loads", "yaml.safe_load", "tomllib.load", "tomllib.loads", "torch.tensor",
    "torch.zeros", "torch.ones", "torch.full", "torch.arange", "torch.randn", "torch.rand", "torch.randint",
    "torch.stack", "torch.cat", "torch.empty", "numpy.array", "numpy.asarray", "numpy.zeros", "numpy.ones",
    "numpy.arange", "numpy.full", "numpy.stack", "numpy.concatenate", "jax.numpy.array", "jax.numpy.zeros",
    "jax.numpy.ones",
})  # fmt: skip
_METHODS = frozenset({"tolist", "split", "splitlines", "rsplit", "partition", "encode", "decode", "numpy"})
_ANNOTATED = frozenset(
    {"list", "dict", "tuple", "str", "bytes", "List", "Dict", "Tuple", "Tensor", "ndarray"}
)
_DEPTH = 3


def is_plain(unit: Unit, node: cst.BaseExpression, repo: Repo | None = None) -> bool:
    """Whether an item of what an expression stands for is surely read from data: no `__getitem__` of a class
    that may compute it anew is asked."""
    levels = 0
    while type(node) is cst.Subscript:
        node, levels = node.value, levels + 1
    return _is_plain(unit, node, repo, deep=levels > 0, left=_DEPTH)


def _is_plain(unit: Unit, node: cst.BaseExpression, repo: Repo | None, *, deep: bool, left: int) -> bool:
    name = node.value if type(node) is cst.Name else ""
    if deep and name and values(unit).mutations(name):
        return False
    made = values(unit).resolve(node)
    if type(made) is cst.Name:
        return _is_plain_name(unit, made, repo, deep=deep, left=left)
    if isinstance(made, _DISPLAYS):
        return not deep or literal(made) is not UNKNOWN
    if type(made) is not cst.Call:
        return False
    if qualified(made.func, unit.file.imports) in _THROUGHOUT or last_name(made) in _METHODS:
        return True
    if type(made.func) is cst.Name and made.func.value in _BUILTINS:
        return not deep and not values(unit).reaching(made.func)
    function = callee(unit, made)
    if function is None or function is unit or left == 0:
        return False
    return _all_plain(function, repo, deep=deep, left=left - 1)


def _is_plain_name(unit: Unit, name: cst.Name, repo: Repo | None, *, deep: bool, left: int) -> bool:
    reaching = values(unit).reaching(name)
    if not reaching:
        written = module_value(unit.file, name.value)
        return isinstance(written, _WRITTEN) and not deep
    if len(reaching) != 1 or UNBOUND in reaching:
        return False
    (binding,) = reaching
    if binding.kind != "parameter" or not isinstance(binding.node, cst.Param):
        return False
    if binding.node.annotation is not None and not deep:
        kind = binding.node.annotation.annotation
        return last_name(kind.value if type(kind) is cst.Subscript else kind) in _ANNOTATED
    if left == 0 or not unit.is_function:
        return False
    if takes_fixtures(unit):
        made = fixture(unit, name.value, repo)
        return made is not None and _all_plain(made, repo, deep=deep, left=left - 1)
    given = [(site.caller, bind(site.call, unit).get(name.value)) for site in callers(unit)]
    return bool(given) and all(
        one is not None and _is_plain(caller, one, repo, deep=deep, left=left - 1) for caller, one in given
    )


def _all_plain(function: Unit, repo: Repo | None, *, deep: bool, left: int) -> bool:
    """Whether all that a function returns, or a fixture hands out, is plain data."""
    handed = [*handed_out(function)]
    return bool(handed) and all(_is_plain(function, value, repo, deep=deep, left=left) for value in handed)


def handed_out(function: Unit) -> Iterator[cst.BaseExpression]:
    """What the `return`s and `yield`s of a function give, those of nested functions too."""
    for node in function.find(cst.Return, cst.Yield):
        value = node.value if isinstance(node, (cst.Return, cst.Yield)) else None
        if isinstance(value, cst.BaseExpression):
            yield value
