"""A test that a later definition of the same name replaces.

## Why
Python keeps the last definition of a name. The earlier test is never collected, and nothing says so.

## Instead
Give each test its own name, or make one parametrized test of the two.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.collection import decorator_name, is_example, is_fixture, keeps_name
from reviewbot.flow.summaries import dotted_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class ShadowedTest(Rule):
    kinds = ("module", "class")
    bad = (
        Example("""
            def test_rows(run):  # <- here
                assert run(1) == [2]

            def test_other(run):
                assert run(2) == [3]

            def test_rows(run):
                assert run(3) == [4]
        """),
        Example("""
            import pytest
            class TestRows:
                @pytest.mark.parametrize("x", [1, 2])
                def test_one(self, x):  # <- here
                    assert x

                async def test_one(self):
                    assert 2

            class TestMore:  # <- here
                def test_one(self):
                    assert 1

            class TestMore:
                def test_two(self):
                    assert 2
        """),
        Example("""
            from mine import slow
            @slow("rows")
            def test_rows(run):  # <- here
                assert run(1) == [2]

            def test_rows(run):
                assert run(3) == [4]
        """),
    )
    good = (
        Example("""
            import sys
            if sys.platform == "linux":
                def test_rows(run):
                    assert run(1)
            else:
                def test_rows(run):
                    assert run(2)
        """),
        Example("""
            class TestRows:
                @property
                def test_rows(self):
                    return 1
                @test_rows.setter
                def test_rows(self, value):
                    self.value = value
        """),
        Example("""
            def test_rows(run):
                assert run(1)
            suite = [test_rows]
            def test_rows(run):
                assert run(2)
        """),
        Example("""
            def test_rows(run):
                assert run(1)
            del test_rows
            class TestRows:
                def test_rows(self):
                    assert 1
            class TestRows(TestRows):
                def test_more(self):
                    assert 2
        """),
        Example("""
            from mine import registry
            @registry.register("rows")
            def test_rows(run):
                assert run(1) == [2]
            @registry.register("more")
            def test_rows(run):
                assert run(3) == [4]
        """),
        Example(
            """
            def test(a):
                assert a
            def test(b):
                assert b
            """,
            path="src/model.py",
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        return any(_hidden(unit))

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not repo.pytest.collects_file(unit.file.path) or is_example(unit.file.path):
            return
        for earlier, later in _hidden(unit):
            own = unit.file.unit_of(earlier)
            assert own is not None
            settings = repo.pytest
            if isinstance(earlier, ast.ClassDef):
                collected = settings.collects_class(earlier.name) or _is_test_case(earlier)
            else:
                collected = settings.collects_function(earlier.name) or earlier.name.startswith("test")
            node = own.node
            if not collected or isinstance(node, cst.Module):
                continue
            what = "test" if own.is_function else "class"
            twin = _code(earlier) == _code(later)
            lost = (
                "the two hold the same code"
                if twin
                else "nothing: what it checks is checked under no other name"
            )
            yield self.finding(
                own,
                node.name,
                f"`{earlier.name}` is defined again on line {later.lineno}, so this {what} never runs",
                certainty="proved" if keeps_name(earlier) else "likely",
                steps=(
                    Step(own.file.path, own.line, own.end_line, "none of this runs"),
                    Step(own.file.path, later.lineno, later.lineno, "the later definition takes the name"),
                ),
                still_catches=(lost,),
            )


def _hidden(unit: Unit) -> Iterator[tuple[Definition, Definition]]:
    """Each test of a block that a later one in the same block replaces, with the one that stays."""
    for block in _blocks(unit.tree):
        names = [statement.name for statement in block if isinstance(statement, _DEFINITIONS)]
        if len(names) == len(set(names)):
            continue
        last: dict[str, Definition] = {}
        for statement in block:
            if isinstance(statement, _DEFINITIONS):
                name = statement.name
                earlier = last.get(name)
                if earlier is not None and not _refers(statement, name):
                    yield earlier, statement
                last.pop(name, None)
                named = name.lower().lstrip("_").startswith("test") or isinstance(statement, ast.ClassDef)
                if named and not _is_kept(statement):
                    last[name] = statement
                continue
            for node in ast.walk(statement) if last else ():
                if isinstance(node, ast.Name):
                    last.pop(node.id, None)  # read, deleted or bound anew: no mere definition twice


def _is_kept(statement: Definition) -> bool:
    """Whether a decorator takes the definition in under no name or another one."""
    if isinstance(statement, _FUNCTIONS) and is_fixture(statement):
        return True
    names = (decorator_name(decorator).lower() for decorator in statement.decorator_list)
    return any("regist" in name or name.endswith((".task", ".command", ".route")) for name in names)


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    body = getattr(tree, "body", [])
    stack = [body]
    while stack:
        block = stack.pop()
        yield block
        for statement in block:
            if isinstance(statement, (ast.If, ast.Try, ast.With)):
                for field in ("body", "orelse", "finalbody"):
                    inner = getattr(statement, field, [])
                    if inner:
                        stack.append(inner)


def _refers(statement: Definition, name: str) -> bool:
    """Whether a definition's decorators or bases use the earlier one."""
    heads = [*statement.decorator_list, *(statement.bases if isinstance(statement, ast.ClassDef) else [])]
    return any(isinstance(node, ast.Name) and node.id == name for head in heads for node in ast.walk(head))


def _is_test_case(node: ast.ClassDef) -> bool:
    return any(dotted_name(base).endswith("TestCase") for base in node.bases)


def _code(node: Definition) -> str:
    return "\n".join(ast.dump(statement) for statement in node.body)
