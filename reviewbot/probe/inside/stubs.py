"""Stand-ins for packages that are not installed, so that a file can be imported without them.

While files are imported a stub may be subclassed, used as a decorator, compared and found false. While a
check runs, any call of a stub and any use of its value raises `StubUsed`, and the verdict is unknown:
guarding truth and comparison alone lets `allclose(a, b) is False` pass on values that differ.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class StubUsed(BaseException):
    """A verdict would depend on a stub. Not an `Exception`, so that code under probe does not swallow it."""


class _State:
    running = False
    used: list[str] = []


def start_running() -> None:
    """From now on a stub's value is an error."""
    _State.running = True


def forget() -> None:
    """Starts a run: no stub was used."""
    _State.used.clear()


def used() -> tuple[str, ...]:
    """The stubs whose value was asked for in this run, also where the error was swallowed."""
    return tuple(_State.used)


@contextmanager
def importing() -> Iterator[None]:
    """While a file is imported, also when a running check imports it."""
    before, _State.running = _State.running, False
    try:
        yield
    finally:
        _State.running = before


def _value(name: str, instead: Any) -> Any:
    if not _State.running:
        return instead
    _State.used.append(name)
    raise StubUsed(name)


# Decorators and contexts that change no value.
_INERT = frozenset({"no_grad", "inference_mode", "enable_grad"})
_OPERATORS = "add sub mul truediv floordiv mod pow and xor matmul lshift rshift"
_ARITHMETIC = (
    "neg",
    "pos",
    "abs",
    "invert",
    *(p + name for name in _OPERATORS.split(" ") for p in ("", "r", "i")),
)


class Stub:
    """Something of an absent package."""

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_stub_name", name)

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return "0"
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return _make(f"{self._stub_name}.{name}")

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        name = self._stub_name
        if name.rpartition(".")[2] not in _INERT:
            _value(name, None)
        if len(arguments) == 1 and not named and _decorates(arguments[0]):
            return arguments[0]
        return Stub(f"{name}()")

    def __mro_entries__(self, bases: object) -> tuple[type, ...]:
        return (StubObject,)

    def __repr__(self) -> str:
        return f"<stub of {self._stub_name}>"

    def __setattr__(self, name: str, value: object) -> None:
        pass

    def __getitem__(self, key: object) -> Any:
        return Stub(f"{self._stub_name}[]")

    def __setitem__(self, key: object, value: object) -> None:
        pass

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __or__(self, other: object) -> Any:
        return self

    __ror__ = __or__

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        return bool(_value(self._stub_name, False))

    def __eq__(self, other: object) -> bool:
        return self is other or bool(_value(self._stub_name, False))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __len__(self) -> int:
        return int(_value(self._stub_name, 0))

    def __iter__(self) -> Iterator[Any]:
        return iter(_value(self._stub_name, ()))

    def __contains__(self, item: object) -> bool:
        return bool(_value(self._stub_name, False))

    def __index__(self) -> int:
        return int(_value(self._stub_name, 0))

    __int__ = __index__

    def __float__(self) -> float:
        return float(_value(self._stub_name, 0.0))

    def _order(self, other: object) -> bool:
        return bool(_value(self._stub_name, False))

    __lt__ = __le__ = __gt__ = __ge__ = _order

    def _compute(self, *others: object) -> Any:
        return _value(self._stub_name, self)


for _operation in _ARITHMETIC:
    setattr(Stub, f"__{_operation}__", Stub._compute)


def _decorates(value: object) -> bool:
    return isinstance(value, (types.FunctionType, type, classmethod, staticmethod))


class _StubClass(type):
    """The class of an absent class: it can be subclassed, put into annotations, asked for members."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return _make(f"{cls.__module__}.{cls.__qualname__}.{name}")

    def __or__(cls, other: object) -> Any:
        return cls

    __ror__ = __or__

    def __getitem__(cls, key: object) -> Any:
        return cls

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __len__(cls) -> int:
        return 0

    def __bool__(cls) -> bool:
        return True


class StubObject(metaclass=_StubClass):
    """The base of every absent class."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        _value(type(self).__qualname__, None)

    def __init_subclass__(cls, **named: Any) -> None:
        pass

    def __class_getitem__(cls, key: object) -> Any:
        return cls

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return _make(f"{type(self).__qualname__}.{name}")

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        _value(type(self).__qualname__, None)
        return arguments[0] if len(arguments) == 1 and _decorates(arguments[0]) else Stub("call")


_classes: dict[str, type] = {}


def _make(name: str) -> Any:
    parent, _, last = name.rpartition(".")
    if last[:1].isupper() and not last.isupper() and "(" not in name:
        if name not in _classes:
            _classes[name] = _StubClass(last, (StubObject,), {"__module__": parent})
        return _classes[name]
    return Stub(name)


def stand_in(name: str) -> Any:
    """A stub for something of the repository that could not be made."""
    return _make(name)


class StubModule(types.ModuleType):
    """An absent module."""

    __path__: list[str] = []
    __version__ = "0"

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return []
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        full = f"{self.__name__}.{name}"
        if full in sys.modules:
            return sys.modules[full]
        if name.endswith(("Error", "Exception", "Warning")):
            made: Any = type(name, (Exception,), {"__module__": self.__name__})
        else:
            made = _make(full)
        setattr(self, name, made)
        return made


def _is_only_asked_for() -> bool:
    """Whether `importlib.util.find_spec` asks, as code does that can go without the package."""
    frame = sys._getframe(1)
    for _ in range(6):
        if frame.f_code.co_name == "find_spec" and frame.f_globals.get("__name__") == "importlib.util":
            return True
        if frame.f_back is None:
            return False
        frame = frame.f_back
    return False


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Asked last, and only for the top-level names in `wanted`: what the files under probe import for sure.

    A package that tries an optional import of its own must find it absent.
    """

    def __init__(self) -> None:
        self.wanted: set[str] = set()
        self.made: list[str] = []

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A spec for an absent module that was asked for."""
        if name.partition(".")[0] not in self.wanted or _is_only_asked_for():
            return None
        parent = sys.modules.get(name.rpartition(".")[0])
        if parent is not None and not isinstance(parent, StubModule):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """An empty stub."""
        self.made.append(spec.name)
        return StubModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to run."""
