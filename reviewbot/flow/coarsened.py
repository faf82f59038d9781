"""Two versions of a demand: where two things had to be equal, no more than what a form of both leaves of them
has to be now.

`torch.equal(a, b)` became `torch.equal(a.round(), b.round())`, or nine in ten of their elements are to be
close.
"""

from __future__ import annotations

import ast
import re

from reviewbot.flow.demands import Demand
from reviewbot.flow.patterns import pattern


def coarsened(demand: Demand, come: list[Demand], body: list[ast.stmt]) -> Demand | None:
    """The new demand on a coarser form of both sides, or on a share of their elements; what a body worked out
    before and keeps under a name is looked up there."""
    if demand.relation not in ("equal", "close") or not demand.other:
        return None
    return next((one for one in come if _of_a_form(demand, one) or _of_a_share(demand, one, body)), None)


def _of_a_form(demand: Demand, one: Demand) -> bool:
    if one.relation not in ("equal", "close") or one.rank > demand.rank or not one.other:
        return False
    forms = {_form(one.subject, demand.subject), _form(one.other, demand.other)}
    form = forms.pop()
    if forms or _COARSE.fullmatch(form) is None:
        return False
    # What is close may lie on two sides of what it is rounded to.
    return demand.relation == "equal" or _KEEPS_CLOSE.search(form) is not None


def _form(text: str, part: str) -> str:
    """The code around a part, for which `_` stands; "" where it is not there once and for itself."""
    start = r"(?<![\w.])" if part[:1].isidentifier() else ""
    end = r"(?![\w(\[.])" if text.endswith(")") and not text.startswith(part) else r"(?!\w)"
    found, count = re.subn(f"{start}{re.escape(part)}{end if part[-1:].isalnum() else ''}", "_", text)
    return found if count == 1 else ""


_LOSSY = (
    r"round|nan_to_num|floor|ceil|trunc|fix|rint|around|sign|sgn|abs|absolute|fabs|clamp|clip|int|long|short|bool|"
    r"half|bfloat16|float16|argmax|argsort|lower|upper|casefold|strip|lstrip|rstrip"
)
_COARSE = pattern(
    rf"_(\.(cpu|detach|numpy|contiguous|flatten|float|double)\(\))*\.({_LOSSY})\([^()_]*\)"
    r"(\.(cpu|detach|numpy|flatten|float|tolist)\(\))*"
    rf"|((np|numpy|torch|jnp|math)\.)?({_LOSSY})\(_(, [^()_]*)?\)"
)
_KEEPS_CLOSE = pattern(r"nan_to_num|abs")


def _of_a_share(demand: Demand, one: Demand, body: list[ast.stmt]) -> bool:
    """Whether of the elements of both sides a number or a part below all are to be equal or close."""
    subject = _worked_out(one.subject, body)
    if one.relation == "order":
        low = dict(one.limits).get("at least")
        share = low is not None and -low < 1 and _MEAN.search(subject)
    else:
        share = one.relation == "true" and not one.other and _ANY.search(subject)
    return bool(share) and _compared(subject) == {demand.subject, demand.other}


def _worked_out(name: str, body: list[ast.stmt]) -> str:
    """The code of what is kept under a name, where one statement of the body keeps something there."""
    made = [
        ast.unparse(node.value)
        for statement in (body if name.isidentifier() else ())
        for node in ast.walk(statement)
        if isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets)
    ]
    return made[0] if len(made) == 1 else name


def _compared(code: str) -> set[str]:
    """The two sides of the one comparison of elements that code makes."""
    try:
        tree = ast.parse(code, mode="eval")
    except SyntaxError:
        return set()
    found: list[set[str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
            found.append({ast.unparse(node.left), ast.unparse(node.comparators[0])})
        elif isinstance(node, ast.Call) and node.args and _is_each(node.func):
            of_object = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) not in _MODULES
            sides = [node.func.value, node.args[0]] if of_object else node.args[:2]  # type: ignore[attr-defined]
            found.append({ast.unparse(side) for side in sides})
    return found[0] if len(found) == 1 else set()


def _is_each(func: ast.expr) -> bool:
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return name in ("isclose", "eq", "equal")


_MODULES = ("torch", "np", "numpy", "jnp")
_MEAN = pattern(r"\bmean\(")
_ANY = pattern(r"(^|\.)any\(")
