"""Two backward passes that are compared are given one gradient, which the first may overwrite.

## Why
A kernel that works in place may write its result into the gradient that it is handed, and hand that back.
The second backward then starts from what the first one left, or both gradients are one storage, and the check
compares a buffer with itself.

## Instead
Give each its own: `left.backward(grad.clone())`, `right.backward(grad.clone())`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from reviewbot.flow.calls import defaults
from reviewbot.flow.checks import checks
from reviewbot.flow.nearby import still_catches
from reviewbot.flow.syntax import dotted, keyword_argument, last_name, literal, root_name
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, step

_IN_PLACE = ("in_place", "inplace")
_KERNEL = """
def fused_norm(x, weight, eps, in_place=True):
    return Norm.apply(x, weight, eps, in_place)
"""


class SharedGradientBuffer(Rule):
    bad = (
        Example(
            """
            from kernels import fused_norm

            def test_norm(plain_norm, torch, a, b, w):
                left = fused_norm(a, w, 1e-6)
                right = plain_norm(b, w, 1e-6)
                grad = torch.randn_like(right)
                left.backward(grad)
                right.backward(grad)  # <- here
                assert torch.allclose(a.grad, b.grad)
            """,
            files={"kernels.py": _KERNEL},
        ),
    )
    good = (
        Example(
            """
            from kernels import fused_norm

            def test_norm(plain_norm, torch, a, b, w):
                left, right = fused_norm(a, w, 1e-6), plain_norm(b, w, 1e-6)
                grad = torch.randn_like(right)
                left.backward(grad.clone())
                right.backward(grad)
                assert torch.allclose(a.grad, b.grad)

            def test_told(plain_norm, torch, a, b, w):
                left = fused_norm(a, w, 1e-6, in_place=False)
                right = plain_norm(b, w, 1e-6)
                grad = torch.randn_like(right)
                left.backward(grad)
                right.backward(grad)
                assert torch.allclose(a.grad, b.grad)
            """,
            files={"kernels.py": _KERNEL},
        ),
        # Nothing here says that it works in place.
        Example(
            """
            from kernels import fused_norm

            def test_norm(plain_norm, torch, a, b, w):
                left = fused_norm(a, w, 1e-6)
                right = plain_norm(b, w, 1e-6)
                grad = torch.randn_like(right)
                left.backward(grad)
                right.backward(grad)
                assert torch.allclose(a.grad, b.grad)
            """,
            files={"kernels.py": _KERNEL.replace("in_place=True", "in_place=False")},
        ),
    )

    def concerns(self, file: File) -> bool:
        return file.calls("backward")

    def suspect(self, unit: Unit) -> bool:
        if not unit.calls("backward"):
            return False
        given = [
            call.args[0].id
            for call in unit.asts(ast.Call)
            if isinstance(call.func, ast.Attribute) and call.func.attr == "backward"
            if call.args and isinstance(call.args[0], ast.Name)
        ]
        return len(given) > len(set(given))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not self.suspect(unit):
            return
        flow = values(unit)
        passes: list[tuple[cst.Call, cst.Name]] = []
        for call in unit.find(cst.Call):
            given = call.args[0].value if call.args else None
            if last_name(call) == "backward" and isinstance(given, cst.Name):
                passes.append((call, given))
        for at, (second, grad) in enumerate(passes):
            for first, other in passes[:at]:
                if flow.reaching(grad) != flow.reaching(other) or root_name(first.func) == root_name(
                    second.func
                ):
                    continue
                maker = next((one for call in (first, second) if (one := _in_place(unit, call, repo))), None)
                check = next(
                    (c for c in checks(unit) if unit.index.rank(c.node) > unit.index.rank(second)), None
                )
                if maker is None or check is None or ".grad" not in unit.text(check.node):
                    continue
                yield self.finding(
                    unit,
                    second,
                    f"both backward passes are given `{grad.value}`, and `{maker.unit.name}` works in place"
                    " unless told otherwise: it may hand back this very buffer",
                    certainty="likely",
                    steps=(
                        step(unit, first, "the first backward, which may write into it"),
                        maker.says,
                        step(unit, check.node, "may compare a buffer with itself"),
                    ),
                    still_catches=still_catches(unit, check.node, but=(check.node,), repo=repo),
                )
                return


@dataclass(frozen=True, slots=True, eq=False)
class _Maker:
    """A function that works in place unless told otherwise, and where it says so."""

    unit: Unit
    says: Step


def _in_place(unit: Unit, backward: cst.Call, repo: Repo) -> _Maker | None:
    """The repository's function that made what a backward pass starts from, if its default is in place."""
    assert isinstance(backward.func, cst.Attribute)
    made = values(unit).resolve(backward.func.value)
    if not isinstance(made, cst.Call):
        return None
    name = dotted(made.func)
    if not name or any(keyword_argument(made, word) is not None for word in _IN_PLACE):
        return None
    target = f"{name.removesuffix('.apply')}.forward" if name.endswith(".apply") else name
    found = repo.index.definition(target, unit.file.path, unit.file.imports)
    file = repo.file(found[0]) if found is not None else None
    function = file.unit(found[1].name) if file is not None and found is not None else None
    if function is None or not function.is_function:
        return None
    for word, value in defaults(function).items():
        if word in _IN_PLACE and literal(value) is True:
            at = function.line
            return _Maker(function, Step(function.file.path, at, at, f"`{word}` is on by default"))
    return None
