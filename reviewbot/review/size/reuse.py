"""A copy of what exists becomes an import of it."""

from __future__ import annotations

import ast
import sys

from reviewbot.model import Finding
from reviewbot.review.size.along import Draft, calls_of
from reviewbot.review.size.source import NoCut, Source, delete

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def reuse(draft: Draft, finding: Finding) -> None:
    """Puts an import in the place of the function that the finding is about. Raises NoCut with the reason
    where what exists cannot be called as it stands."""
    path, step = finding.span.path, finding.steps[0]
    source = draft.source(path)
    copy = _function(source, finding.unit)
    there = draft.source(step.path)
    original = next((one for one in _top(there) if step.line <= one.lineno <= step.end_line), None)
    if copy is None or original is None:
        raise NoCut("one of the two is a method, or stands inside something else")
    if copy.decorator_list or original.decorator_list or type(copy) is not type(original):
        raise NoCut("one of the two is decorated")
    _refuse_other_parameters(draft, path, copy, original)
    module = _module(draft, step.path)
    name = original.name if original.name == copy.name else f"{original.name} as {copy.name}"
    without = delete(source, copy)
    draft.files[path] = _with_import(without, module, f"from {module} import {name}")


def _top(source: Source) -> list[_Function]:
    return [node for node in source.tree.body if isinstance(node, _Function)]


def _function(source: Source, name: str) -> _Function | None:
    return next((node for node in _top(source) if node.name == name), None)


def _refuse_other_parameters(draft: Draft, path: str, copy: _Function, original: _Function) -> None:
    ours, theirs = copy.args, original.args
    if any((ours.vararg, ours.kwarg, theirs.vararg, theirs.kwarg)):
        raise NoCut("one of the two takes any number of arguments")
    for one, other in ((ours.posonlyargs, theirs.posonlyargs), (ours.args, theirs.args)):
        if len(one) != len(other):
            raise NoCut("the two take different parameters")
    named = [[arg.arg for arg in each.kwonlyargs] for each in (ours, theirs)]
    defaults = [
        [ast.dump(value) if value else "" for value in (*each.defaults, *each.kw_defaults)]
        for each in (ours, theirs)
    ]
    if named[0] != named[1] or defaults[0] != defaults[1]:
        raise NoCut("the two take different parameters or defaults")
    if [arg.arg for arg in ours.args] == [arg.arg for arg in theirs.args]:
        return
    for node in ast.walk(draft.source(path).tree):
        if isinstance(node, ast.Call) and node.keywords and getattr(node.func, "id", "") == copy.name:
            raise NoCut("their parameters have other names, and the copy is called by these")
    for where in draft.elsewhere(copy.name, path):
        calls = calls_of(draft.source(where), copy.name, imported=True) if where.endswith(".py") else None
        if calls is None or any(call.keywords for call in calls):
            raise NoCut(f"their parameters have other names, and {where} may use those of the copy")


def _module(draft: Draft, path: str) -> str:
    """The dotted name under which a file of the repository is imported."""
    folders = path.removesuffix(".py").split("/")
    name = folders.pop() if not path.endswith("__init__.py") else ""
    if name == "":
        folders.pop()
    start = 0
    if folders and draft.read("/".join([*folders, "__init__.py"])) is not None:
        start = len(folders)
        while start and draft.read("/".join([*folders[:start], "__init__.py"])) is not None:
            start -= 1
    elif folders[:1] == ["src"]:
        start = 1
    parts = [*folders[start:], *([name] if name else [])]
    if not parts or not all(part.isidentifier() for part in parts):
        raise NoCut(f"{path} has no name under which it could be imported")
    return ".".join(parts)


def _with_import(source: Source, module: str, text: str) -> Source:
    imports = [node for node in source.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    end = b"\r\n" if b"\r\n" in source.content else b"\n"
    if imports:
        last = imports[-1]
        line = last.end_lineno or last.lineno
        apart = end if _is_standard(last) and module.partition(".")[0] not in sys.stdlib_module_names else b""
        added = apart + text.encode() + end
    else:
        body = source.tree.body
        documented = body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        line = (body[0].end_lineno or 0) if documented else 0
        added = (end if documented else b"") + text.encode() + end + (b"" if documented else end)
    lines = source.lines
    return Source(b"".join([*lines[:line], added, *lines[line:]]))


def _is_standard(node: ast.Import | ast.ImportFrom) -> bool:
    module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
    return (module or "").partition(".")[0] in sys.stdlib_module_names
