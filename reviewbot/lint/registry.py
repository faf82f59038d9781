"""The only place that imports rules."""

from __future__ import annotations

import ast
import importlib
import os
from functools import cache
from typing import TYPE_CHECKING

import reviewbot
from reviewbot.errors import RuleError

if TYPE_CHECKING:
    from reviewbot.lint.rule import Rule


def own_folder(package: str) -> str:
    """The folder of one of our packages: "rules", "lint", or "" for the one above them."""
    folders = [os.path.join(folder, package) if package else folder for folder in reviewbot.__path__]
    return next(folder for folder in folders if os.path.isdir(folder))


@cache
def rule_ids() -> tuple[str, ...]:
    """The ids of all rules, sorted, read off the file names without importing any."""
    files = os.listdir(own_folder("rules"))
    names = (name for name in files if name.endswith(".py") and not name.startswith(("_", ".")))
    return tuple(sorted(name.removesuffix(".py").replace("_", "-") for name in names))


@cache
def loaded(rule_ids: tuple[str, ...]) -> tuple[Rule, ...]:
    """The rules of those ids. What they stand on is imported with them."""
    from reviewbot.lint import methods

    with methods.kept("rules"):
        return tuple(load(rule_id) for rule_id in rule_ids)


@cache
def load(rule_id: str) -> Rule:
    """The rule of that id. Raises `RuleError` if its file does not hold exactly one."""
    from reviewbot.lint.rule import Rule

    module = importlib.import_module("reviewbot.rules." + rule_id.replace("-", "_"))
    found = [
        member
        for member in vars(module).values()
        if isinstance(member, type)
        and issubclass(member, Rule)
        and member.__module__ == module.__name__
        and not member.__abstractmethods__
    ]
    if len(found) != 1:
        raise RuleError(f"rules/{module.__name__.rpartition('.')[2]}.py holds {len(found)} rules, not one")
    rule = found[0]()
    assert isinstance(rule, Rule)
    return rule


def docstring(rule_id: str) -> str:
    """The text of a rule's own file docstring, read without importing the rule."""
    name = rule_id.replace("-", "_") + ".py"
    with open(os.path.join(own_folder("rules"), name), encoding="utf-8") as file:
        return ast.get_docstring(ast.parse(file.read())) or ""


def first_sentence(rule_id: str) -> str:
    """What the rule finds, in the one sentence that its docstring opens with."""
    return " ".join(docstring(rule_id).partition("\n\n")[0].split())


def section(rule_id: str, title: str) -> str:
    """The text under `## title` of a rule's docstring, "" if it has none."""
    return docstring(rule_id).partition(f"\n## {title}\n")[2].partition("\n## ")[0].strip()
