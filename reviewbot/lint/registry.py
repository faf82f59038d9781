"""The only place that imports rules."""

from __future__ import annotations

import ast
import importlib
import inspect
from functools import cache
from importlib import resources

from reviewbot.errors import RuleError
from reviewbot.lint.rule import Rule


@cache
def rule_ids() -> tuple[str, ...]:
    """The ids of all rules, sorted, read off the file names without importing any."""
    files = resources.files("reviewbot.rules").iterdir()
    names = (entry.name for entry in files if entry.name.endswith(".py") and not entry.name.startswith("_"))
    return tuple(sorted(name.removesuffix(".py").replace("_", "-") for name in names))


@cache
def load(rule_id: str) -> Rule:
    """The rule of that id. Raises `RuleError` if its file does not hold exactly one."""
    module = importlib.import_module("reviewbot.rules." + rule_id.replace("-", "_"))
    found = [
        member
        for _, member in inspect.getmembers(module, inspect.isclass)
        if issubclass(member, Rule)
        and member.__module__ == module.__name__
        and not inspect.isabstract(member)
    ]
    if len(found) != 1:
        raise RuleError(f"rules/{module.__name__.rpartition('.')[2]}.py holds {len(found)} rules, not one")
    rule = found[0]()
    assert isinstance(rule, Rule)
    return rule


def docstring(rule_id: str) -> str:
    """The text of a rule's own file docstring, read without importing the rule."""
    name = rule_id.replace("-", "_") + ".py"
    source = resources.files("reviewbot.rules").joinpath(name).read_text(encoding="utf-8")
    return ast.get_docstring(ast.parse(source)) or ""


def first_sentence(rule_id: str) -> str:
    """What the rule finds, in the one sentence that its docstring opens with."""
    return " ".join(docstring(rule_id).partition("\n\n")[0].split())


def section(rule_id: str, title: str) -> str:
    """The text under `## title` of a rule's docstring, "" if it has none."""
    return docstring(rule_id).partition(f"\n## {title}\n")[2].partition("\n## ")[0].strip()
