"""A copy of what exists becomes an import of it."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile

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
    module = _module(draft, step.path, path)
    if _leads_to(draft, step.path, path):
        raise NoCut(f"{step.path} imports {path}, so that an import of it would go in a circle")
    name = original.name if original.name == copy.name else f"{original.name} as {copy.name}"
    above = [node for node in source.tree.body if node.lineno < copy.lineno]
    draft.files[path] = _with_import(delete(source, copy), above, module, f"from {module} import {name}")


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


def _module(draft: Draft, path: str, importer: str) -> str:
    """The dotted name under which a file of the repository is imported: as other files do it, else as its
    folders have it."""
    parts = _parts(path)
    spellings = [parts[at:] for at in range(len(parts))]
    possible = [".".join(one) for one in spellings if all(part.isidentifier() for part in one)]
    if not possible or parts == ["__init__"]:
        raise NoCut(f"{path} has no name under which it could be imported")
    root = ".".join(parts[_start(draft, parts, importer) :])
    used = Counter(name for name in _imported(draft) if name in possible)
    if root in used or not used:
        if root not in possible:
            raise NoCut(f"{path} has no name under which it could be imported")
        return root
    return max(possible, key=lambda name: used[name])


def _start(draft: Draft, parts: Sequence[str], importer: str) -> int:
    """Where in a path its dotted name begins: below the last folder that is no package. A module beside the
    file that imports it, in a folder that is no package, is found by its own name."""
    folders = parts[:-1]
    start = len(folders)
    while start and draft.read("/".join([*folders[:start], "__init__.py"])) is not None:
        start -= 1
    if start < len(folders) or list(folders) == importer.split("/")[:-1]:
        return start
    return 1 if folders[:1] == ["src"] else 0


_IMPORTED = re.compile(rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+([\w.]+))", re.MULTILINE)


def _imported(draft: Draft) -> Iterator[str]:
    """What the files of the repository import, by its absolute name."""
    for path, content in draft.texts():
        if path.endswith(".py"):
            for found in _IMPORTED.finditer(content):
                yield (found[1] or found[2]).decode("utf-8", "replace")


def _leads_to(draft: Draft, start: str, goal: str) -> bool:
    """Whether importing one file imports another, straight or through others, as far as their names tell."""
    files = {path: content for path, content in draft.texts() if path.endswith(".py")}
    by_name: dict[str, list[str]] = {}
    for path in files:
        by_name.setdefault(_parts(path)[-1], []).append(path)
    queue, seen = [start], {start}
    while queue:
        here = queue.pop()
        for level, parts in _modules(files.get(here, b"")):
            for path in by_name.get(parts[-1], ()):
                if path not in seen and _is_meant(path, level, parts, here):
                    seen.add(path)
                    queue.append(path)
    return goal in seen


def _parts(path: str) -> list[str]:
    return path.removesuffix(".py").removesuffix("/__init__").split("/")


def _is_meant(path: str, level: int, parts: Sequence[str], importer: str) -> bool:
    """Whether an import could mean a file: `parts` of `level` dots in front. One name alone is a module at
    the root or beside the importer."""
    found, beside = _parts(path), importer.split("/")[:-1]
    if level:
        return found == [*beside[: len(beside) - level + 1], *parts]
    if len(parts) == 1:
        return found[:-1] in ([], ["src"], beside)
    return found[-len(parts) :] == list(parts)


def _modules(content: bytes) -> Iterator[tuple[int, tuple[str, ...]]]:
    """What a file's own statements import, as (dots in front, names), with what is taken from it."""
    try:
        body = ast.parse(content).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for statement in body:
        for node in ast.walk(statement) if isinstance(statement, ast.Try) else [statement]:
            if isinstance(node, ast.Import):
                yield from ((0, tuple(alias.name.split("."))) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = tuple(node.module.split(".")) if node.module else ()
                yield from ((node.level, (*base, alias.name)) for alias in node.names)
                if base:
                    yield node.level, base


def _with_import(source: Source, above: Sequence[ast.stmt], module: str, text: str) -> Source:
    """With an import after the last one of the statements `above`, which stand unchanged in the source."""
    imports = [node for node in above if isinstance(node, ast.Import | ast.ImportFrom)]
    end = b"\r\n" if b"\r\n" in source.content else b"\n"
    if imports:
        last = imports[-1]
        line = last.end_lineno or last.lineno
        apart = end if _is_standard(last) and module.partition(".")[0] not in sys.stdlib_module_names else b""
        added = apart + text.encode() + end
    else:
        documented = above and isinstance(above[0], ast.Expr) and isinstance(above[0].value, ast.Constant)
        # Behind what has to stand first: how the file is run, its encoding, a licence.
        opening = sum(1 for _ in takewhile(lambda one: one.startswith(b"#"), source.lines))
        line = (above[0].end_lineno or 0) if documented else opening
        added = (end if line else b"") + text.encode() + end + (b"" if documented else end)
    lines = source.lines
    return Source(b"".join([*lines[:line], added, *lines[line:]]))


def _is_standard(node: ast.Import | ast.ImportFrom) -> bool:
    module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
    return (module or "").partition(".")[0] in sys.stdlib_module_names
