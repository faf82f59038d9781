"""Each stage imports only the stages before it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = [
    {"errors", "model", "config"},
    {"source"},
    {"index"},
    {"flow"},
    {"lint"},
    {"probe", "parity"},
    {"review"},
    {"render"},
    {"github"},
    {"cli"},
]
HEIGHT = {stage: height for height, stages in enumerate(FLOORS) for stage in stages}
RULES_MAY = ("reviewbot.lint", "reviewbot.flow", "reviewbot.model")


def imported(path: Path) -> set[str]:
    """The modules of ours that a file imports when it runs (not those for type checkers alone)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports by a relative name"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in names if name.startswith("reviewbot.")}


def stages() -> list[Path]:
    return sorted((ROOT / "reviewbot").rglob("*.py"))


@pytest.mark.parametrize("path", stages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_stage_imports_only_what_comes_before_it(path):
    own = path.relative_to(ROOT / "reviewbot").parts[0].removesuffix(".py")
    if own in ("__init__", "__main__"):
        return
    for name in imported(path):
        stage = name.split(".")[1]
        if stage in HEIGHT:
            # reviewbot: ignore[loop-may-be-empty] many a file imports nothing of ours, and that is right
            assert HEIGHT[stage] <= HEIGHT[own], f"{own} imports {name}"
            assert stage == own or HEIGHT[stage] < HEIGHT[own] or HEIGHT[own] == 0


@pytest.mark.parametrize("path", sorted((ROOT / "rules").glob("*.py")), ids=lambda path: path.name)
def test_a_rule_imports_the_rule_interface_and_never_another_rule(path):
    assert {name for name in imported(path) if not name.startswith(RULES_MAY)} == set()
