"""Whether a script or a module of the repository, run by itself, ends by how a comparison went.

It does where what it runs from its own block on, through functions of the repository, compares two sides and
fails: raises, asserts, or hands `sys.exit` a status that is worked out. What cannot be told does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reviewbot.flow.assertions import asserts_by_name
from reviewbot.flow.judging import compares, says_comparison, says_that_it_judges
from reviewbot.flow.own_modules import own_module
from reviewbot.flow.summaries import Summaries, dotted_name, own_nodes

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, Unit

_RUNS_TESTS = frozenset({"unittest.main", "absltest.main", "pytest.main", "unittest.TextTestRunner"})
_EXITS = frozenset({"sys.exit", "exit", "quit", "os._exit"})
_FUNCTIONS = 40  # that are followed from the script's own block
_DEEPEST = 3  # `main`, what it runs, and what that compares with


def ends_by_a_verdict(target: str, repo: Repo) -> bool:
    """`target`: the path of a Python script, or the dotted name of a module run with `python -m`."""
    return repo.once(_ends_by_a_verdict, target)


def may_fail_by_what_it_reads(target: str, repo: Repo) -> bool:
    """`target`: the path of a Python script. Whether it, or what it runs, asserts, or hands an exit a status
    other than a message."""
    return repo.once(_may_fail, target)


def _may_fail(repo: Repo, target: str) -> bool:
    for path in _paths(target, repo):
        file = repo.file(path)
        modules = (unit for unit in file.units if unit.kind == "module") if file is not None else ()
        for unit in (reached for module in modules for reached in _reached(module, repo)):
            for node in own_nodes(unit.tree):
                if isinstance(node, ast.Assert) or (isinstance(node, ast.Raise) and _says_no(node)):
                    return True
                if not isinstance(node, ast.Call) or dotted_name(node.func) not in _EXITS:
                    continue
                if _may_say_no(node.args, unit) and not _is_message(node.args[0]):
                    return True
    return False


def _is_message(node: ast.expr) -> bool:
    """As `sys.exit("usage: ...")` is handed, which the arguments may bring about."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _ends_by_a_verdict(repo: Repo, target: str) -> bool:
    return any(_ends(repo, path) for path in _paths(target, repo))


def _paths(target: str, repo: Repo) -> Iterator[str]:
    if target.endswith(".py"):
        yield target.removeprefix("./")
        return
    found = own_module(f"{target}.__main__", "", repo) or own_module(target, "", repo)
    if found is not None and not found.endswith("__init__.py"):
        yield found


def _ends(repo: Repo, path: str) -> bool:
    file = repo.file(path)
    module = next((unit for unit in file.units if unit.kind == "module"), None) if file is not None else None
    if module is None:
        return False
    compared = exits = False
    for unit in _reached(module, repo):
        nodes = list(own_nodes(unit.tree))
        called = [(one, dotted_name(one.func)) for one in nodes if isinstance(one, ast.Call)]
        if unit is module and any(name in _RUNS_TESTS for _, name in called):
            return True
        asserts = any(isinstance(one, ast.Assert) for one in nodes)
        if (asserts or _asks(nodes)) and _is_there_to_compare(unit):
            if asserts or any(isinstance(one, ast.Raise) and _fails(one) for one in nodes):
                return True
            compared = True
        if any(_compares_by_name(name.rpartition(".")[2]) for _, name in called):
            return True
        exits = exits or any(isinstance(one, ast.Raise) and _says_no(one) for one in nodes)
        exits = exits or any(name in _EXITS and _may_say_no(one.args, unit) for one, name in called)
    return compared and exits


def _compares_by_name(name: str) -> bool:
    """`assert_allclose`, `assertEqual`."""
    return asserts_by_name(name) and any(word in name.lower() for word in ("equal", "close", "same"))


def _is_there_to_compare(unit: Unit) -> bool:
    """By the function's own name; or its file's, where it is given two sides."""
    last = unit.name.rpartition(".")[2]
    named = says_that_it_judges(unit.file.path.rpartition("/")[2])
    return unit.is_function and (says_comparison(last) or (named and compares(unit)))


def _asks(nodes: list[ast.AST]) -> bool:
    """Whether two things that are no constants are compared."""
    return any(
        isinstance(one, ast.Compare)
        and isinstance(one.ops[0], (ast.Eq, ast.NotEq, ast.Lt, ast.Gt, ast.LtE, ast.GtE))
        and not any(isinstance(side, ast.Constant) for side in (one.left, *one.comparators))
        for one in nodes
    )


def _fails(node: ast.Raise) -> bool:
    made = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return made is not None and dotted_name(made) not in ("NotImplementedError", "TypeError")


def _says_no(node: ast.Raise) -> bool:
    """`raise SystemExit(main())`."""
    made = node.exc
    if not isinstance(made, ast.Call) or dotted_name(made.func) != "SystemExit":
        return False
    return bool(made.args) and not _is_nought(made.args[0])


def _may_say_no(args: list[ast.expr], unit: Unit) -> bool:
    """Whether what an exit is handed can be another status than 0."""
    if not args or _is_nought(args[0]):
        return False
    if isinstance(args[0], ast.Call):
        function = Summaries.of(unit.file).resolve(dotted_name(args[0].func), unit)
        if function is not None:
            returned = [one.value for one in own_nodes(function) if isinstance(one, ast.Return)]
            return any(value is not None and not _is_nought(value) for value in returned)
    return True


def _is_nought(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (0, None, False)


def _reached(module: Unit, repo: Repo) -> Iterator[Unit]:
    """The module and the functions that it runs, its own and those of the repository's other modules."""
    queue, seen = [(module, 0)], {(module.file.path, "")}
    while queue and len(seen) < _FUNCTIONS:
        unit, depth = queue.pop(0)
        yield unit
        for node in own_nodes(unit.tree) if depth < _DEEPEST else ():
            name = dotted_name(node.func) if isinstance(node, ast.Call) else ""
            found = _function(name, unit.file, repo) if name else None
            if found is not None and (key := (found.file.path, found.name)) not in seen:
                seen.add(key)
                queue.append((found, depth + 1))


def _function(name: str, file: File, repo: Repo) -> Unit | None:
    """What a dotted name calls: a function of the file, or of a module of the repository."""
    first, _, rest = name.partition(".")
    if first not in file.imports:
        return file.unit(name) if "." not in name else None
    target = file.imports[first] + (f".{rest}" if rest else "")
    owner, _, last = target.rpartition(".")
    path = own_module(owner, file.path, repo) if owner.strip(".") else repo.index.module(owner, file.path)
    other = repo.file(path) if path is not None else None
    return other.unit(last) if other is not None else None
