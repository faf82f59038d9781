"""What goes along with a cut, because only what is cut used it: imports, constants, helpers, parameters and
the flags that fill them, and the tests of what is gone.

A name is looked for in the whole repository, in strings too; one that is mentioned anywhere stays.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from reviewbot.flow.judging import in_test_file
from reviewbot.review.size.reckoning import reckons
from reviewbot.review.size.result import Along
from reviewbot.review.size.source import NoCut, Source, delete, is_pure, names, stop, without_element

MOST_STEPS = 40
# What runs nothing.
PROSE = (".md", ".rst", ".txt", ".json", ".jsonl", ".csv", ".lock", ".html", ".svg")
_PLAIN_DECORATORS = frozenset(
    {
        "staticmethod",
        "classmethod",
        "dataclass",
        "property",
        "cache",
        "lru_cache",
        "contextmanager",
        "cached_property",
        "wraps",
    }
)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Draft:
    """Files as a cut leaves them. `texts` yields every (path, content) of the repository at the head that is
    text; `read` gives one. `files` holds what changed so far. `bold`: values go along that refuse what they
    are worked out from where it is not as expected, such as a missing key; only a run can tell whether a
    check is lost with them."""

    read: Callable[[str], bytes | None]
    texts: Callable[[], Iterable[tuple[str, bytes]]]
    bold: bool = False
    files: dict[str, Source] = field(default_factory=dict)
    along: list[Along] = field(default_factory=list)

    def source(self, path: str) -> Source:
        """A file as it stands now. Raises NoCut where there is none."""
        if path not in self.files:
            content = self.read(path)
            if content is None:
                raise NoCut(f"{path} is not to be had")
            return Source(content)
        return self.files[path]

    def elsewhere(self, name: str, path: str) -> list[str]:
        """Other files that may mean the `name` of this one: they hold both it and the module's own name.
        Scripts and settings count too; prose and data run nothing."""
        word = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
        stem = path.rpartition("/")[2].removesuffix(".py")
        if stem == "__init__":
            stem = path.split("/")[-2] if "/" in path else stem
        module = re.compile(rb"\b" + re.escape(stem.encode()) + rb"\b")
        found = []
        for other, content in self.texts():
            now = self.files[other].content if other in self.files else content
            if other == path or other.lower().endswith(PROSE):
                continue
            if word.search(now) and module.search(now):
                found.append(other)
        return found

    def mentioned(self, text: str, apart_from: str) -> bool:
        """Whether any other file has this text."""
        return any(text.encode() in content for other, content in self.texts() if other != apart_from)


def take_along(draft: Draft, path: str, before: Source) -> None:
    """Takes out of `draft` what the file `path` no longer needs; `before` is the file before the cut."""
    for _ in range(MOST_STEPS):
        step = _next(draft, path, before)
        if step is None:
            return
        source, went = step
        _ = source.tree  # it still parses, or NoCut
        draft.files[path] = source
        draft.along.append(went)
    raise NoCut("too much would go along")


def _next(draft: Draft, path: str, before: Source) -> tuple[Source, Along] | None:
    now = draft.source(path)
    lost = [name for name, count in before.names.items() if name and now.names[name] < count]
    for name in sorted(lost):
        for way in (_import, _constant, _definition, _variable, _parameter, _flag):
            try:
                done = way(draft, path, now, before, name)
            except NoCut:
                continue
            if done is not None:
                return done
    return None


_Step = tuple[Source, Along] | None


def _import(draft: Draft, path: str, now: Source, before: Source, name: str) -> _Step:
    if now.names[name] != 1 or path.endswith("__init__.py"):
        return None
    for node in ast.walk(now.tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        bound = [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
        if name not in bound or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            continue
        if not _imports(before, name):
            return None  # the cut itself put it there
        if b"noqa" in now.lines[node.lineno - 1] or (isinstance(now.parents[node], ast.Try)):
            return None
        if draft.elsewhere(name, path) and not in_test_file(path):
            return None
        went = Along("import", name, path, _line_before(before, node, name))
        if len(bound) == 1:
            return delete(now, node), went
        return without_element(now, [(one, one) for one in node.names], bound.index(name)), went
    return None


def _imports(source: Source, name: str) -> bool:
    imports = (node for node in ast.walk(source.tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return any((one.asname or one.name).partition(".")[0] == name for node in imports for one in node.names)


def _line_before(before: Source, node: ast.AST, name: str) -> int:
    """Where something that is still there stood before the cut: a node of its class that has the name."""
    for other in ast.walk(before.tree):
        if type(other) is type(node) and names(other)[name] and hasattr(other, "lineno"):
            return int(other.lineno)
    return int(getattr(node, "lineno", 1))


def _constant(draft: Draft, path: str, now: Source, before: Source, name: str) -> _Step:
    if now.names[name] != 1:
        return None
    for node in now.tree.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        target = _target(node)
        if target == name and value is not None and is_pure(value) and not draft.elsewhere(name, path):
            return delete(now, node), Along("constant", name, path, _line_before(before, node, name))
    return None


def _target(node: ast.stmt) -> str:
    """The one name that a statement binds, "" for any other statement."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    return ""


def _definition(draft: Draft, path: str, now: Source, before: Source, name: str) -> _Step:
    node = next((one for one in _definitions(now.tree) if one.name == name), None)
    if node is None or name.startswith(("test", "Test", "__", "pytest_")) or not _plain(node):
        return None
    # A function that calls itself, or names itself, is not needed for that.
    if now.names[name] != names(node)[name]:
        return None
    method = now.parents[node] is not now.tree
    if method and not name.startswith("_"):
        return None
    what: Literal["class", "function"] = "class" if isinstance(node, ast.ClassDef) else "function"
    for other in draft.elsewhere(name, path):
        _without_tests_of(draft, other, name, path)
    return delete(now, node), Along(what, name, path, _line_before(before, node, name))


def _definitions(tree: ast.Module) -> Iterator[_Function | ast.ClassDef]:
    for node in tree.body:
        if isinstance(node, _Function | ast.ClassDef):
            yield node
        if isinstance(node, ast.ClassDef):
            yield from (one for one in node.body if isinstance(one, _Function))


def _plain(node: _Function | ast.ClassDef) -> bool:
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if getattr(called, "attr", getattr(called, "id", "")) not in _PLAIN_DECORATORS:
            return False
    return True


def _without_tests_of(draft: Draft, path: str, name: str, module: str) -> None:
    """Takes the tests of a function out of another file. Raises NoCut where anything else there uses it."""
    if not path.endswith(".py") or not in_test_file(path):
        raise NoCut(f"{path} uses {name}")
    before = now = draft.source(path)
    gone: list[Along] = []
    while True:
        users = [one for one in _tests(now.tree) if names(one)[name]]
        if not users:
            break
        test = users[0]
        others = _of_module(now.tree, module) & set(names(test)) - {name}
        if others:
            raise NoCut(f"{path} tests {name} together with {min(others)}")
        gone.append(Along("test", test.name, path, _line_before(before, test, test.name)))
        now = delete(now, test)
    if not gone:
        raise NoCut(f"{path} uses {name}")
    draft.files[path] = now
    kept = len(draft.along)
    take_along(draft, path, before)
    if draft.files[path].names[name]:
        del draft.along[kept:]
        draft.files[path] = before
        raise NoCut(f"{path} uses {name}")
    draft.along[kept:kept] = gone


def _tests(tree: ast.Module) -> Iterator[_Function]:
    for node in tree.body:
        listed = node.body if isinstance(node, ast.ClassDef) else [node]
        for one in listed:
            if isinstance(one, _Function) and one.name.startswith("test"):
                yield one


def _of_module(tree: ast.Module, module: str) -> set[str]:
    """The names that a file takes from a module: imported ones, and attributes of the module itself."""
    stem = module.rpartition("/")[2].removesuffix(".py")
    found: set[str] = set()
    aliases: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2] == stem:
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            aliases |= {one.asname or one.name for one in node.names if one.name.rpartition(".")[2] == stem}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            found.add(node.attr)
    return found


def _variable(draft: Draft, path: str, now: Source, before: Source, name: str) -> _Step:
    """A local name whose only reader went, and whose value is only looked up or worked out."""
    for function in _functions(now.tree):
        bound = [one for one in ast.walk(function) if isinstance(one, ast.stmt) and _target(one) == name]
        if len(bound) != 1 or names(function)[name] != 1 or name not in _read_in(before, function.name):
            continue
        value = bound[0].value  # type: ignore[attr-defined]
        if value is not None and (is_pure(value) or (draft.bold and reckons(value, now))):
            return delete(now, bound[0]), Along("variable", name, path, _line_before(before, bound[0], name))
    return None


def _functions(tree: ast.AST) -> Iterator[_Function]:
    return (node for node in ast.walk(tree) if isinstance(node, _Function))


def _read_in(source: Source, function: str) -> set[str]:
    """The names that functions of that name read."""
    return {
        node.id
        for one in _functions(source.tree)
        if one.name == function
        for node in ast.walk(one)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _parameter(draft: Draft, path: str, now: Source, before: Source, name: str) -> _Step:
    """A parameter that the function no longer reads, with what its callers give for it."""
    for function in now.tree.body:
        if not isinstance(function, _Function) or function.name.startswith("test") or function.decorator_list:
            continue
        listed = [*function.args.posonlyargs, *function.args.args]
        everything = [*listed, *function.args.kwonlyargs]
        found = next((one for one in everything if one.arg == name), None)
        if found is None or names(function)[name] != 1 or name not in _read_in(before, function.name):
            continue
        calls = calls_of(now, function.name)
        place = listed.index(found) if found in listed else -1
        if calls is None or not _never_given(draft, path, function.name, name, place):
            return None
        went = Along("parameter", name, path, _line_before(before, found, name))
        # From the last call up, so that positions above stay true; the definition's own are among them.
        edits = [(call.lineno, call.col_offset, call) for call in calls]
        source = now
        for _, _, call in sorted(edits, key=lambda one: one[:2], reverse=True):
            source = _without_argument(source, call, name, place)
        again = next(
            one for one in source.tree.body if isinstance(one, _Function) and one.name == function.name
        )
        return _without_parameter(source, again, name), went
    return None


def _never_given(draft: Draft, path: str, function: str, name: str, place: int) -> bool:
    """Whether no other file gives a value for a parameter of a function."""
    for other in draft.elsewhere(function, path):
        if not other.endswith(".py"):
            return False
        source = draft.source(other)
        calls = calls_of(source, function, imported=True)
        for call in calls or ():
            if 0 <= place < len(call.args) or any(keyword.arg == name for keyword in call.keywords):
                return False
        if calls is None:
            return False
    return True


def calls_of(source: Source, name: str, *, imported: bool = False) -> list[ast.Call] | None:
    """Every call of a function that is defined here, or `imported` by its name; None where it is used in
    another way or where arguments are spread."""
    found = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name) and node.id == name:
            call = source.parents[node]
            if not isinstance(call, ast.Call) or call.func is not node:
                return None
            spread = any(isinstance(arg, ast.Starred) for arg in call.args)
            if spread or any(keyword.arg is None for keyword in call.keywords):
                return None
            found.append(call)
    brought = sum(
        alias.asname is None and alias.name == name
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    )
    return found if source.names[name] == len(found) + (brought if imported else 1) else None


def _without_argument(source: Source, call: ast.Call, name: str, place: int) -> Source:
    elements: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    number = next(
        (n for n, one in enumerate(elements) if isinstance(one, ast.keyword) and one.arg == name), None
    )
    if number is None:
        if not 0 <= place < len(call.args):
            return source  # its default was taken
        number = place
    element = elements[number]
    if not is_pure(element.value if isinstance(element, ast.keyword) else element):
        raise NoCut("what is given for it may do something")
    return without_element(source, [(one, one) for one in elements], number)


def _without_parameter(source: Source, function: _Function, name: str) -> Source:
    arguments = function.args
    if arguments.vararg or arguments.posonlyargs:
        raise NoCut("its parameters are more than names")
    plain = _with_defaults(arguments.args, arguments.defaults)
    named = [
        (arg, value or arg) for arg, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    only_named = [one for one in arguments.kwonlyargs if one.arg == name]
    if only_named and len(named) == 1:
        if not plain:
            raise NoCut("a star would be left alone")
        # The star before it goes too.
        return source.replaced(stop(plain[-1][1]), stop(named[0][1]))
    group = named if only_named else plain
    number = next(n for n, (arg, _) in enumerate(group) if isinstance(arg, ast.arg) and arg.arg == name)
    if not only_named and number == len(plain) - 1 and number == 0 and named:
        raise NoCut("a star would be left alone")
    return without_element(source, group, number)


def _with_defaults(listed: list[ast.arg], defaults: list[ast.expr]) -> list[tuple[ast.arg, ast.AST]]:
    bare = len(listed) - len(defaults)
    return [(arg, defaults[n - bare] if n >= bare else arg) for n, arg in enumerate(listed)]


def _flag(draft: Draft, path: str, now: Source, before: Source, name: str) -> _Step:
    """An option of the command line whose value nothing reads any more."""
    for node in ast.walk(now.tree):
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        call = node.value
        if getattr(call.func, "attr", "") != "add_argument":
            continue
        options = [
            one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)
        ]
        written = next((one for one in options if one.startswith("--")), "")
        if written.lstrip("-").replace("-", "_") != name or any(one.arg == "dest" for one in call.keywords):
            continue
        own = names(node)[name]
        if now.names[name] != own or not _is_attribute(before, name) or _spread(now):
            return None
        if draft.mentioned(written, path):
            return None
        return delete(now, node), Along("flag", written, path, _line_before(before, node, name))
    return None


def _is_attribute(source: Source, name: str) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in ast.walk(source.tree))


def _spread(source: Source) -> bool:
    """Whether all options are used at once."""
    return source.names["vars"] > 0 or source.names["__dict__"] > 0
