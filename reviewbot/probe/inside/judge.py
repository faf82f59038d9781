"""Runs the target on one set of arguments and says what came out of it."""

from __future__ import annotations

import inspect
import io
import os
import signal
import sys
import types
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Literal

from reviewbot.probe.inside import plain, stubs
from reviewbot.probe.inside.plain import Plain
from reviewbot.probe.inside.switchboard import Switchboard

Verdict = Literal["pass", "fail", "crash", "unknown", "timeout", "skip"]
VERDICTS = ("pass", "fail", "crash", "unknown", "timeout", "skip")

# How a returned value says "no": by raising alone, by being false, by not being empty, by a false first or
# last item, by being another than for equal sides.
Protocol = Literal["raises", "truth", "empty", "first", "last", "value"]
_FOLDER = os.environ.get("TMPDIR", "")
PROTOCOLS = ("raises", "truth", "empty", "first", "last", "value")


class TimeIsUp(BaseException):
    """A run takes too long."""


@dataclass(frozen=True)
class Outcome:
    """`says` is the error or the returned value in short, `line` where it was raised (path, line)."""

    verdict: Verdict
    says: str = ""
    where: tuple[str, int] | None = None
    returned: Plain = None
    plain: bool = True


def ring(number: int, frame: object) -> None:
    """The handler of the alarm that ends a run."""
    raise TimeIsUp


def judge(
    call: Callable[[], Any],
    switchboard: Switchboard,
    relative: Callable[[str], str | None],
    *,
    protocol: Protocol,
    expected: Plain,
    seconds: float,
) -> Outcome:
    """One run. Whatever the target prints is dropped, whatever it raises is a verdict."""
    stubs.forget()
    streams = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = io.StringIO()
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        outcome = _call(call, switchboard, relative, protocol, expected)
    except TimeIsUp:
        outcome = Outcome("timeout", f"not done after {seconds:g} s")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.stdout, sys.stderr = streams
    used = stubs.used()
    if used:
        return Outcome("unknown", f"it depends on {used[0]}, which is not installed here")
    return outcome


def _call(
    call: Callable[[], Any],
    switchboard: Switchboard,
    relative: Callable[[str], str | None],
    protocol: Protocol,
    expected: Plain,
) -> Outcome:
    try:
        value = finished(call())
    except TimeIsUp:
        raise
    except stubs.StubUsed as error:
        return Outcome("unknown", f"it depends on {error}, which is not installed here")
    except SystemExit as error:
        says = f"exit {error.code}"
        return Outcome("fail" if error.code not in (None, 0) else "pass", says, _raised(error, relative))
    except BaseException as error:
        return _failed(error, switchboard, relative)
    return _returned(value, protocol, expected)


def finished(value: Any) -> Any:
    """What a call came to: a coroutine is run, a generator of either kind read to its end."""
    if inspect.iscoroutine(value):
        import asyncio

        return asyncio.run(value)
    if inspect.isasyncgen(value):
        import asyncio

        return asyncio.run(_read(value))
    return list(value) if isinstance(value, types.GeneratorType) else value


async def _read(values: AsyncIterator[Any]) -> list[Any]:
    return [value async for value in values]


def _failed(error: BaseException, switchboard: Switchboard, relative: Callable[[str], str | None]) -> Outcome:
    says = f"{type(error).__name__}: {str(error)[:300]}"
    where = _raised(error, relative)
    if type(error).__module__.startswith("_pytest"):
        return Outcome("skip" if type(error).__name__ in ("Skipped", "XFailed") else "fail", says, where)
    decided = isinstance(error, AssertionError) or bool(switchboard.fired)
    return Outcome("fail" if decided else "crash", says, where)


def _returned(value: Any, protocol: Protocol, expected: Plain) -> Outcome:
    if isinstance(value, stubs.Stub):
        return Outcome("unknown", "it returns a value of a package that is not installed here")
    try:
        seen, is_plain = plain.flatten(value), True
    except plain.NotPlain:
        seen, is_plain = None, False
    says = repr(seen)[:300] if is_plain else type(value).__name__
    try:
        passes = _passes(value, seen, protocol, expected)
    except stubs.StubUsed as error:
        return Outcome("unknown", f"it depends on {error}, which is not installed here")
    except Exception as error:
        return Outcome("crash", f"{type(error).__name__}: {str(error)[:300]}", None, seen, is_plain)
    return Outcome("pass" if passes else "fail", says, None, seen, is_plain)


def _passes(value: Any, seen: Plain, protocol: Protocol, expected: Plain) -> bool:
    if protocol == "truth":
        # An `__eq__` that leaves it to the other side: two different objects are then unequal.
        return value is not NotImplemented and bool(value)
    if protocol == "empty":
        return not value
    if protocol == "first":
        return bool(value[0])
    if protocol == "last":
        return bool(value[-1])
    if protocol == "value":
        return plain.same(seen, expected)
    return True


def _raised(error: BaseException, relative: Callable[[str], str | None]) -> tuple[str, int] | None:
    """The innermost line of the repository that the error went through."""
    place = None
    trace = error.__traceback__
    while trace is not None:
        path = relative(trace.tb_frame.f_code.co_filename)
        if path is not None:
            place = (path, trace.tb_lineno)
        trace = trace.tb_next
    return place


def binder(function: Callable[..., Any]) -> Callable[[dict[str, Any]], Callable[[], Any]]:
    """From named arguments to a call of `function` that passes each one as the signature asks."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return lambda named: lambda: function(**named)

    def bind(named: dict[str, Any]) -> Callable[[], Any]:
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        by_position = True
        for parameter in parameters:
            if parameter.kind is parameter.VAR_KEYWORD:
                keywords.update(named.get(parameter.name, {}))
            elif parameter.kind is parameter.VAR_POSITIONAL:
                positional.extend(named.get(parameter.name, ()))
            elif parameter.name not in named:
                by_position = False
            elif parameter.kind is parameter.KEYWORD_ONLY or not by_position:
                keywords[parameter.name] = named[parameter.name]
            else:
                positional.append(named[parameter.name])
        return lambda: function(*positional, **keywords)

    return bind


class Watch:
    """What the repository's functions returned, and their short variables, in one run.

    Fills `seen` with {"function": {"returned": value, "variable": value}}; the last call of each counts.
    """

    def __init__(self, relative: Callable[[str], str | None], most: int = 40) -> None:
        self.relative, self.most = relative, most
        self.seen: dict[str, dict[str, Plain]] = {}

    def __enter__(self) -> Watch:
        sys.setprofile(self._event)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)

    def _event(self, frame: types.FrameType, event: str, argument: Any) -> None:
        if event != "return" or len(self.seen) >= self.most:
            return
        code = frame.f_code
        if code.co_name.startswith("<") or self.relative(code.co_filename) is None:
            return
        values = {"returned": argument, **frame.f_locals}
        short = {name: value for name, value in values.items() if _is_short(value)}
        self.seen[code.co_qualname if hasattr(code, "co_qualname") else code.co_name] = short


def _is_short(value: Any) -> bool:
    kind = type(value)
    if kind is dict:
        return len(value) <= 6 and all(_is_bare(k) and _is_bare(v) for k, v in value.items())
    if kind in (list, tuple, set, frozenset):
        return len(value) <= 12 and all(map(_is_bare, value))
    return _is_bare(value)


def _is_bare(value: Any) -> bool:
    if type(value) is str:
        # A path into the folder of this run says nothing, and is another one every time.
        return len(value) <= 60 and not (_FOLDER and _FOLDER in value)
    return type(value) in (int, float, bool, type(None))
