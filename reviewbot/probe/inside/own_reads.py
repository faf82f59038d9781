"""Which attributes of its own object a test reads, itself or in the methods that it calls."""

from __future__ import annotations

import ast

OWN = "self"


def own_reads(tree: ast.Module, unit: str) -> frozenset[str] | None:
    """The names of the attributes; None where the object is handed on, so that any may be read."""
    owner, _, name = unit.rpartition(".")
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    methods, elsewhere = _methods(owner, classes)
    found: set[str] = set()
    todo, seen = [name], {name}
    while todo:
        function = methods.get(todo.pop())
        if function is None:
            continue
        inside = {id(node.value) for node in ast.walk(function) if isinstance(node, ast.Attribute)}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id == OWN and id(node) not in inside:
                return None
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == OWN:
                found.add(node.attr)
                if node.attr in methods and node.attr not in seen:
                    seen.add(node.attr)
                    todo.append(node.attr)
    called_elsewhere = elsewhere and any(_is_called(methods[one], methods) for one in seen if one in methods)
    return None if called_elsewhere else frozenset(found)


def _methods(owner: str, classes: dict[str, ast.ClassDef]) -> tuple[dict[str, ast.AST], bool]:
    """The functions of a class and of those that it extends, by name; whether one stands elsewhere."""
    methods: dict[str, ast.AST] = {}
    elsewhere = False
    todo, seen = [owner], {owner}
    while todo:
        node = classes.get(todo.pop())
        if node is None:
            continue
        for part in node.body:
            if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
                methods.setdefault(part.name, part)
        for base in map(ast.unparse, node.bases):
            if base in classes and base not in seen:
                seen.add(base)
                todo.append(base)
            elif base not in classes and not base.endswith(("TestCase", "object")):
                elsewhere = True
    return methods, elsewhere


def _is_called(function: ast.AST, methods: dict[str, ast.AST]) -> bool:
    """Whether it calls a method of its object that no class of the file has."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == OWN
        and node.func.attr not in methods
        and not node.func.attr.startswith("assert")
        for node in ast.walk(function)
    )
