"""Runs the repository's own tests and records what chosen functions are called with.

An import hook puts a decorator on each of them as its file is imported, so that every style of import is
seen and nothing but the chosen functions becomes slower.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib.abc
import importlib.machinery
import inspect
import io
import json
import os
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TextIO

from reviewbot.probe.inside import boot, calls, fixtures, loading, plain, stubs
from reviewbot.probe.inside.own_object import OWN, OwnObjects
from reviewbot.probe.inside.own_reads import own_reads
from reviewbot.probe.inside.sites import SWITCHBOARD, Site, instrument
from reviewbot.probe.inside.switchboard import Switchboard

RECORD = "__probe_record__"
LONGEST_RECORD = 4 << 20


class Recorder:
    """Writes one line for each call, `most` for each function at most."""

    def __init__(self, replies: TextIO, most: int, wanted: dict[str, list[str]]) -> None:
        self.replies, self.most = replies, most
        # {real path of a file: [qualified names]}
        self.wanted = wanted
        self.counts: dict[str, int] = {}
        self.seen: set[tuple[str, str, bool]] = set()
        self.inside: set[str] = set()
        self.process = os.getpid()
        self.tests: set[str] = set()
        self.stop: Callable[[], None] = lambda: None
        # Tests are wired too: what their calls return and which of their checks run.
        self.board = Switchboard()
        self.wired: dict[str, tuple[list[calls.Called], list[Site]]] = {}
        # The parameters of each test that are no more than inputs of the code under test.
        self.handed_on: dict[str, list[str]] = {}
        # What each test has made to be different.
        self.to_differ: dict[str, frozenset[str | int]] = {}
        self.own = OwnObjects()
        # The attributes of its own object that each test reads, None for any.
        self.own_reads: dict[str, frozenset[str] | None] = {}
        # The test that pytest runs.
        self.item: Any = None

    def decorate(self, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """The decorator of the function that the parent calls `name`."""

        def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
            signature = inspect.signature(function)
            if inspect.iscoroutinefunction(function):
                return self._awaited(name, function, signature)

            @functools.wraps(function)
            def inner(*arguments: Any, **named: Any) -> Any:
                if not self._records(name):
                    return function(*arguments, **named)
                before = self._arguments(name, signature, arguments, named)
                self._enter(name)
                result: Any = None
                raised = ""
                try:
                    result = function(*arguments, **named)
                    return result
                except BaseException as error:
                    raised = f"{type(error).__name__}: {str(error)[:200]}"
                    raise
                finally:
                    self.inside.discard(name)
                    after = self._arguments(name, signature, arguments, named)
                    self._write(name, function, before, after, result, raised)

            return inner

        return wrap

    def _awaited(
        self, name: str, function: Callable[..., Any], signature: inspect.Signature
    ) -> Callable[..., Any]:
        """The same for a coroutine: it is recorded when it is done. Others may run meanwhile."""

        @functools.wraps(function)
        async def inner(*arguments: Any, **named: Any) -> Any:
            if not self._records(name):
                return await function(*arguments, **named)
            before = self._arguments(name, signature, arguments, named)
            self._enter(name)
            result: Any = None
            raised = ""
            try:
                result = await function(*arguments, **named)
                return result
            except BaseException as error:
                raised = f"{type(error).__name__}: {str(error)[:200]}"
                raise
            finally:
                self.inside.discard(name)
                after = self._arguments(name, signature, arguments, named)
                self._write(name, function, before, after, result, raised)

        return inner

    def _records(self, name: str) -> bool:
        """A function that calls itself is recorded once, and a forked process does not write here."""
        enough = self.counts.get(name, 0) >= self.most
        return name not in self.inside and not enough and os.getpid() == self.process

    def _enter(self, name: str) -> None:
        self.inside.add(name)
        if name in self.wired:
            self.board.reset()
            self.board.seen = {}

    def _arguments(
        self, function: str, signature: inspect.Signature, arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        try:
            bound = signature.bind(*arguments, **named)
            bound.apply_defaults()
        except TypeError as error:
            return str(error)
        found: dict[str, plain.Plain] = {}
        for name, value in bound.arguments.items():
            try:
                mine = name == OWN and function in self.wired
                if mine:
                    found[name] = self.own.flatten(value)
                elif function in self.wired:
                    found[name] = fixtures.flatten(self.item, name, value)
                else:
                    found[name] = plain.flatten(value)
            except plain.NotPlain as error:
                whole, part = _type_of(value), str(error)
                inside = "" if part in (whole, type(value).__qualname__) else f" that holds {part}"
                return f"`{name}` is {whole}{inside}"
        return plain.encode(found)

    def _write(
        self, name: str, function: Callable[..., Any], before: Any, after: Any, result: Any, raised: str
    ) -> None:
        try:
            returned = plain.encode(plain.flatten(result))
            is_plain = True
        except plain.NotPlain as error:
            returned, is_plain = str(error), False
        record = {
            "name": name,
            "module": function.__module__,
            "arguments": before,
            "after": after if after != before else None,
            "raised": raised,
            "returned": returned,
            "plain": is_plain,
            **self._test(name, before),
            "test": os.environ.get("PYTEST_CURRENT_TEST", "").partition(" (")[0],
        }
        line = json.dumps({"record": record}, separators=(",", ":"))
        key = (name, json.dumps(before, sort_keys=True), bool(raised))
        if len(line) > LONGEST_RECORD or key in self.seen:
            return
        self.seen.add(key)
        self.counts[name] = self.counts.get(name, 0) + 1
        self.replies.write(line + "\n")
        self.replies.flush()
        if all(self.counts.get(other, 0) >= self.most for names in self.wanted.values() for other in names):
            self.stop()

    def _unread(self, name: str, before: Any) -> list[str]:
        """The attributes of a test's own object that it does not read, as `self.rows`."""
        own = before.get(OWN) if isinstance(before, dict) else None
        reads = self.own_reads.get(name)
        fields = [one for one, _ in own.get("fields", ())] if isinstance(own, dict) else []
        return [f"{OWN}.{one}" for one in fields if reads is not None and one not in reads]

    def _test(self, name: str, before: Any) -> dict[str, Any]:
        """What a test's calls returned: [text, line, values], null for those that are not plain; the lines
        and texts of its checks with how often each ran."""
        if name not in self.wired:
            return {}
        called, sites = self.wired[name]
        values = []
        for one in called:
            seen = (self.board.seen or {}).get(one.number, [])
            if one.feeds:
                continue
            try:
                values.append(
                    [one.number, one.text, one.line, [plain.encode(plain.flatten(part)) for part in seen]]
                )
            except plain.NotPlain:
                values.append([one.number, one.text, one.line, None])
        ran = {int(key[0]) for key in self.board.reached}
        checks = [
            [site.line, site.text, number in ran] for number, site in enumerate(sites) if site.kind == "check"
        ]
        differ = self.to_differ[name]
        return {
            "values": values,
            "checks": checks,
            "handed_on": [
                *self.handed_on[name],
                *sorted(one for one in differ if isinstance(one, str)),
                *self._unread(name, before),
            ],
            "to_differ": sorted(one for one in differ if isinstance(one, int)),
        }


def _type_of(value: Any) -> str:
    """The name of a value's class, with its module where that says more."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, recorder: Recorder, by_path: dict[str, dict[str, str]]) -> None:
        self.recorder, self.by_path = recorder, by_path

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        real = os.path.realpath(spec.origin) if spec and spec.origin else ""
        if spec is None or real not in self.by_path:
            return None
        spec.loader = _Loader(name, str(spec.origin), self.recorder, self.by_path[real])
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, recorder: Recorder, units: dict[str, str]) -> None:
        super().__init__(name, path)
        self.recorder, self.units = recorder, units

    def get_code(self, fullname: str) -> types.CodeType:
        """The file's code with the decorators on."""
        tree = loading.parse(self.get_data(self.path), self.path)
        for unit, name in self.units.items():
            if name in self.recorder.tests:
                whole = loading.parse(self.get_data(self.path), self.path)
                self.recorder.handed_on[name] = sorted(calls.handed_on(whole, unit))
                whole = loading.parse(self.get_data(self.path), self.path)
                self.recorder.to_differ[name] = calls.to_differ(whole, unit)
                self.recorder.own_reads[name] = own_reads(whole, unit)
                tree, called = calls.wire(tree, unit)
                tree, sites = instrument(tree, self.path)
                mine = [site for site in sites if site.unit == unit or site.unit.startswith(f"{unit}.")]
                blank = [site if site in mine else replace(site, kind="branch") for site in sites]
                self.recorder.wired[name] = (called, blank)
        tree = decorated(tree, self.units)
        return compile(tree, self.path, "exec", dont_inherit=True)

    def exec_module(self, module: types.ModuleType) -> None:
        """Runs it where the decorator has a name."""
        module.__dict__[RECORD] = self.recorder.decorate
        module.__dict__[SWITCHBOARD] = self.recorder.board
        super().exec_module(module)


def decorated(tree: ast.Module, units: dict[str, str]) -> ast.Module:
    """The tree with a recording decorator, innermost, on each of `units` (qualified name: parent's name)."""

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and prefix + node.name in units:
                name = ast.Constant(units[prefix + node.name])
                node.decorator_list.append(ast.Call(ast.Name(RECORD, ast.Load()), [name], []))
            elif isinstance(node, (ast.If, ast.Try, ast.With)):
                visit(node.body, prefix)

    visit(tree.body, "")
    return ast.fix_missing_locations(tree)


class _Plugin:
    """Tells the parent what pytest could not collect, and puts the finder before pytest's own."""

    def __init__(self, recorder: Recorder, finder: _Finder) -> None:
        self.recorder, self.finder = recorder, finder

    def pytest_sessionstart(self, session: Any) -> None:
        sys.meta_path.insert(0, self.finder)

        def stop() -> None:
            session.shouldstop = "recorded enough"

        self.recorder.stop = stop

    def pytest_collection_finish(self, session: Any) -> None:
        self.recorder.own.remember({item.cls for item in session.items if getattr(item, "cls", None)})
        stubs.start_running()

    def pytest_runtest_setup(self, item: Any) -> None:
        self.recorder.item = item

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._tell(str(report.nodeid), _last_line(report.longrepr) or "it failed")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or (report.when == "setup" and not report.passed):
            says = "" if report.passed else _last_line(report.longrepr)
            self._send({"outcome": [str(report.nodeid), str(report.outcome), says]})
        if report.when == "setup" and report.failed:
            self._tell(str(report.nodeid), _last_line(report.longrepr) or "its set-up failed")

    def _tell(self, where: str, says: str) -> None:
        self._send({"not_run": [where, says]})

    def _send(self, line: dict[str, Any]) -> None:
        self.recorder.replies.write(json.dumps(line) + "\n")
        self.recorder.replies.flush()


def _last_line(longrepr: Any) -> str:
    """What a report ends with: the error, or the reason of a skip."""
    if isinstance(longrepr, tuple):  # of a skip: (path, line, reason)
        return str(longrepr[-1])[:300]
    says = str(longrepr).strip().splitlines()
    # With --tb=short the error stands in the last line that begins with E.
    marked = [line[1:].strip() for line in says if line.startswith("E ")]
    return (marked or says or [""])[-1][:300]


def main() -> None:
    """The recording child: shut in, then pytest on the files that the parent chose."""
    requests, replies = boot.streams()
    asked = boot.shut_in(requests, replies)
    by_path: dict[str, dict[str, str]] = {}
    for path, unit, name in asked["functions"]:
        by_path.setdefault(os.path.realpath(path), {})[unit] = name
    wanted = {path: list(units.values()) for path, units in by_path.items()}
    recorder = Recorder(replies, int(asked["most"]), wanted)
    recorder.tests = set(asked["wired"])
    boot.settle(asked)
    import pytest

    recorder.board.failures = (AssertionError, pytest.fail.Exception)
    plugin = _Plugin(recorder, _Finder(recorder, by_path))
    # What a conftest.py imports comes in before any hook of a plugin.
    sys.meta_path.insert(0, plugin.finder)
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        code = pytest.main([*asked["words"], *asked["tests"]], plugins=[plugin])
    if code in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERNAL_ERROR):
        said = [line for line in errors.getvalue().splitlines() if line.strip()]
        why = " ".join(said).removeprefix("ERROR:").strip()
        # What went wrong stands first, and why last.
        short = why if len(why) <= 500 else f"{why[:250]} ... {why[-240:]}"
        replies.write(json.dumps({"failed": short or f"it ended with {int(code)}"}) + "\n")
    replies.write(json.dumps({"done": int(code)}) + "\n")
    replies.flush()
