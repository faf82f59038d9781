"""Each stage imports only the stages before it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = [
    {"errors", "extras", "model", "config"},
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
    """The files of all stages: without those at the top, which tie the package together."""
    package = ROOT / "reviewbot"
    apart = {package / "__init__.py", package / "__main__.py"}
    return sorted(path for path in package.rglob("*.py") if path not in apart)


def reachable(own: str) -> set[str]:
    """The stages that a stage may import: itself, those below, and beside it those of the lowest floor."""
    height = HEIGHT[own]
    return {own} | {stage for stage, other in HEIGHT.items() if other < height or other == height == 0}


def stage(name: str) -> str:
    return name.split(".")[1]


@pytest.mark.parametrize("path", stages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_stage_imports_only_what_comes_before_it(path):
    own = path.relative_to(ROOT / "reviewbot").parts[0].removesuffix(".py")
    wrong = {name for name in imported(path) if stage(name) in HEIGHT.keys() - reachable(own)}
    assert wrong == set()


@pytest.mark.parametrize("path", sorted((ROOT / "rules").glob("*.py")), ids=lambda path: path.name)
def test_a_rule_imports_the_rule_interface_and_never_another_rule(path):
    assert {name for name in imported(path) if not name.startswith(RULES_MAY)} == set()
