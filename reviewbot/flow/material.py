"""Whether a file among tests is something that they work on: nothing collects, imports or starts it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from reviewbot.flow.collection import is_material, runs_itself
from reviewbot.flow.judging import in_test_file, says_that_it_judges

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File

_RUN_BY_NAME = frozenset({"conftest.py", "__init__.py", "__main__.py", "setup.py", "noxfile.py"})
_FEWEST = 4  # files in a folder of material


def nobody_runs(file: File, repo: Repo) -> bool:
    """Whether a file stands among tests and is none: a source that a linter or formatter is tried on.

    A file that is called like a test or a comparison may be run in ways that are not seen here, and so may
    one that stands with few others: material comes in numbers.
    """
    path = file.path
    if repo.pytest.collects_file(path):
        return False
    if is_material(path):
        return True
    name = path.rpartition("/")[2]
    if not in_test_file(path) or name in _RUN_BY_NAME or "test" in name or says_that_it_judges(name):
        return False
    beside = [one for one in repo.index.paths_in(path.rpartition("/")[0]) if one.endswith(".py")]
    if len(beside) < _FEWEST or _is_started(file):
        return False
    return not repo.index.mentions(name) and not _is_imported(file, repo)


def _is_started(file: File) -> bool:
    named = any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(file.tree))
    return named or runs_itself(file) or (bool(file.lines) and file.lines[0].startswith("#!"))


def _is_imported(file: File, repo: Repo) -> bool:
    """Whether another file imports the module, or anything that it defines at its top."""
    stem = file.path.rpartition("/")[2].removesuffix(".py")
    names = {stem}
    for one in file.tree.body:
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(one.name)
        elif isinstance(one, (ast.Assign, ast.AnnAssign)):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            names.update(target.id for target in targets if isinstance(target, ast.Name))
    found = [at for name in names for at in repo.index.look("import", name)]
    found += [at for at in repo.index.look("import", "*") if f".{stem}." in f".{at.fact.target}."]
    return any(at.path != file.path for at in found)
