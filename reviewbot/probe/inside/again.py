"""Runs one test by pytest, as it stands, with other values in the place of some of its own.

Nothing of the code is rewritten but the very calls of the test whose values are replaced: no check, no branch
and no other call knows that it is watched. Fixtures, plugins and hooks are those of the repository.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib.machinery
import inspect
import io
import json
import os
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from reviewbot.probe.inside import boot, calls, loading, plain, stubs
from reviewbot.probe.inside.own_object import OWN, put_on
from reviewbot.probe.inside.recorder import RECORD, decorated
from reviewbot.probe.inside.sites import SWITCHBOARD
from reviewbot.probe.inside.switchboard import Switchboard


class Variants:
    """The test's runs, one after the other: of each the arguments and the values of calls to put in."""

    def __init__(self, asked: Sequence[dict[str, Any]], replies: TextIO) -> None:
        self.asked, self.replies = asked, replies
        self.board = Switchboard()
        self.at = 0
        self.ran = False

    def begin(self, at: int) -> None:
        """Puts in what the run of that number gets."""
        self.at, self.ran = at, False
        given = plain.decode(self.asked[at]["given"])
        with stubs.importing():
            self.board.given = {int(number): plain.build(value) for number, value in given.items()}
        self.board.reset()

    def decorate(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The test, called with the arguments of the run that is on."""
        signature = inspect.signature(function)

        def call(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
            self.ran = True
            bound = signature.bind(*arguments, **named)
            for name, value in plain.decode(self.asked[self.at]["arguments"]).items():
                if name == OWN:
                    put_on(bound.arguments[name], value)
                else:
                    bound.arguments[name] = plain.build(value)
            return function(*bound.args, **bound.kwargs)

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def later(*arguments: Any, **named: Any) -> Any:
                return await call(arguments, named)

            return later

        @functools.wraps(function)
        def inner(*arguments: Any, **named: Any) -> Any:
            return call(arguments, named)

        return inner


class _Finder:
    """Finds the test's own file."""

    def __init__(self, path: str, unit: str, variants: Variants) -> None:
        self.path, self.unit, self.variants = path, unit, variants

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The usual spec, with our loader for that file."""
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or not spec.origin or os.path.realpath(spec.origin) != self.path:
            return None
        spec.loader = _Loader(name, spec.origin, self)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, finder: _Finder) -> None:
        super().__init__(name, path)
        self.finder = finder

    def get_code(self, fullname: str) -> types.CodeType:
        """The file's code, the test in it decorated; calls are wired if a value of one is replaced."""
        tree: ast.Module = loading.parse(self.get_data(self.path), self.path)
        if any(one["given"] for one in self.finder.variants.asked):
            tree, _ = calls.wire(tree, self.finder.unit)
        tree = decorated(tree, {self.finder.unit: "again"})
        return compile(tree, self.path, "exec", dont_inherit=True)

    def exec_module(self, module: types.ModuleType) -> None:
        """Runs it where the decorator has a name."""
        module.__dict__[RECORD] = lambda name: self.finder.variants.decorate
        if any(one["given"] for one in self.finder.variants.asked):
            module.__dict__[SWITCHBOARD] = self.finder.variants.board
        super().exec_module(module)


class _Plugin:
    """Runs the first test once for each variant, fixtures and all."""

    def __init__(self, variants: Variants, finder: _Finder) -> None:
        self.variants, self.finder = variants, finder
        self.done = False

    def pytest_sessionstart(self, session: Any) -> None:
        sys.meta_path.insert(0, self.finder)

    def pytest_collection_finish(self, session: Any) -> None:
        stubs.start_running()

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool:
        from _pytest.runner import runtestprotocol

        last = len(self.variants.asked) - 1
        for at in range(0 if self.done else last + 1):
            self.variants.begin(at)
            if hasattr(item, "_initrequest"):
                item._initrequest()
            # What its module and class have set up stays; the test's own fixtures are made anew.
            after = nextitem if at == last else item.parent
            reports = runtestprotocol(item, nextitem=after, log=False)
            self._tell(at, reports)
        self.done = True
        return True

    def _tell(self, at: int, reports: Sequence[Any]) -> None:
        outcomes = [str(one.outcome) for one in reports if one.when in ("setup", "call")]
        said = [str(one.longrepr).strip().splitlines()[-1:] for one in reports if one.outcome == "failed"]
        outcome = next(
            (one for one in outcomes if one != "passed"), "passed" if self.variants.ran else "none"
        )
        line = {"again": at, "outcome": outcome, "says": "".join(said[0])[:300] if said else ""}
        self.variants.replies.write(json.dumps(line) + "\n")
        self.variants.replies.flush()


def main() -> None:
    """The child: shut in, then pytest on one test."""
    requests, replies = boot.streams()
    asked = boot.shut_in(requests, replies)
    variants = Variants(asked["variants"], replies)
    finder = _Finder(os.path.realpath(asked["path"]), asked["unit"], variants)
    boot.settle(asked)
    import pytest

    with contextlib.redirect_stderr(io.StringIO()):
        code = pytest.main([*asked["words"], *asked["tests"]], plugins=[_Plugin(variants, finder)])
    replies.write(json.dumps({"done": int(code)}) + "\n")
    replies.flush()
