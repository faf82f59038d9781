"""Plain data: what the sandbox and its parent hand each other.

A plain value is None, a bool, int, float, str or bytes; a list, tuple, set, frozenset or dict of plain
values; an `Array` (a tensor of torch or numpy) or an `Instance` (an object of a named class). Nothing
plain runs code when it is read, written or copied.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Plain = Any
Path = tuple[Any, ...]

DEEPEST = 60
MOST_VALUES = 400_000
# json turns longer integers into text in quadratic time, and Python refuses more than 4,300 digits.
LONGEST_INT = 4_000


# Values that are written as a text: the method that reads it, or the class itself.
_FROM_TEXT = {
    "datetime:date": "fromisoformat",
    "datetime:datetime": "fromisoformat",
    "datetime:time": "fromisoformat",
    "decimal:Decimal": "",
    "fractions:Fraction": "",
    "uuid:UUID": "",
}


class NotPlain(Exception):
    """A value that cannot be written as plain data; the message names its type."""


@dataclass(frozen=True, slots=True)
class Array:
    """A tensor: `kind` is torch or numpy, `data` nested lists of numbers (a bare number if 0-dimensional)."""

    kind: str
    dtype: str
    data: Plain
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Instance:
    """An object: `cls` is `module:qualified.name`; `how` says how to build it again from `fields`.

    `how` is fields (`object.__new__`, then each attribute), tuple (a named tuple), path, member (of an
    enumeration), name (a function or class found under that name), new (called without arguments, then
    each attribute), case (the same for the object of a unittest test), fixture (what a fixture of pytest
    makes of its fields), init (called with its fields), frame or series (of pandas), text (called with, or
    read from, a text) or folder (an empty one).
    """

    cls: str
    how: str
    fields: dict[str, Plain]


# How objects are made whose fields can be changed one by one.
RECORDS = ("fields", "case", "tuple", "init", "frame", "series")
SCALARS = frozenset({bool, int, float, str, bytes, type(None)})


def copy(value: Plain) -> Plain:
    """The same value with lists, dicts and sets of its own."""
    kind = type(value)
    if kind in SCALARS:
        return value
    if kind is list:
        return value[:] if SCALARS.issuperset(map(type, value)) else [copy(item) for item in value]
    if kind is dict:
        return {key: copy(item) for key, item in value.items()}
    if kind is tuple:
        return tuple(copy(item) for item in value)
    if kind is set:
        return set(value)
    if kind is Array:
        return Array(value.kind, value.dtype, copy(value.data), value.shape)
    if kind is Instance:
        return Instance(value.cls, value.how, copy(value.fields))
    return value


def encode(value: Plain) -> Any:
    """What `json` can write: plain data that JSON lacks becomes an object with the key `$`."""
    kind = type(value)
    if kind in (bool, str, type(None)):
        return value
    if kind is int:
        return value if abs(value) < 1 << 200 else {"$": "int", "hex": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"$": "float", "is": repr(value)}
    if kind is list:
        return [encode(item) for item in value]
    if kind is dict:
        if all(type(key) is str for key in value) and "$" not in value:
            return {key: encode(item) for key, item in value.items()}
        return {"$": "dict", "items": [[encode(key), encode(item)] for key, item in value.items()]}
    if kind is tuple:
        return {"$": "tuple", "items": [encode(item) for item in value]}
    if kind in (set, frozenset):
        items = sorted((encode(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
        return {"$": kind.__name__, "items": items}
    if kind is bytes:
        return {"$": "bytes", "hex": value.hex()}
    if kind is Array:
        return {
            "$": "array",
            "kind": value.kind,
            "dtype": value.dtype,
            "shape": list(value.shape),
            "data": encode(value.data),
        }
    if kind is Instance:
        fields = [[key, encode(item)] for key, item in value.fields.items()]
        return {"$": "instance", "cls": value.cls, "how": value.how, "fields": fields}
    raise NotPlain(kind.__name__)


def decode(document: Any) -> Plain:
    """The plain value that `encode` wrote. Raises ValueError for anything else."""
    left = [MOST_VALUES]
    return _decode(document, 0, left)


def _decode(document: Any, depth: int, left: list[int]) -> Plain:
    left[0] -= 1
    if depth > DEEPEST or left[0] < 0:
        raise ValueError("too large or nested too deeply")
    if type(document) is list:
        return [_decode(item, depth + 1, left) for item in document]
    if type(document) is not dict:
        return document
    tag = document.get("$")
    if tag is None:
        return {str(key): _decode(item, depth + 1, left) for key, item in document.items()}
    try:
        return _tagged(tag, document, depth + 1, left)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not plain data ({error})") from None


def _tagged(tag: str, document: dict[str, Any], depth: int, left: list[int]) -> Plain:
    if tag == "int":
        if len(document["hex"]) > LONGEST_INT:
            raise ValueError("an integer of too many digits")
        return int(document["hex"], 16)
    if tag == "float":
        if document["is"] not in ("nan", "inf", "-inf"):
            raise ValueError("not a float")
        return float(document["is"])
    if tag == "bytes":
        return bytes.fromhex(document["hex"])
    if tag == "dict":
        pairs = [(_decode(key, depth, left), _decode(item, depth, left)) for key, item in document["items"]]
        return dict(pairs)
    if tag in ("tuple", "set", "frozenset"):
        items = [_decode(item, depth, left) for item in document["items"]]
        return {"tuple": tuple, "set": set, "frozenset": frozenset}[tag](items)
    if tag == "array":
        shape = tuple(int(size) for size in document["shape"])
        data = _decode(document["data"], depth, left)
        return Array(str(document["kind"]), str(document["dtype"]), data, shape)
    if tag == "instance":
        fields = {str(key): _decode(item, depth, left) for key, item in document["fields"]}
        return Instance(str(document["cls"]), str(document["how"]), fields)
    raise ValueError(f"unknown tag {tag!r}")


def dumps(value: Plain) -> str:
    """One line of JSON."""
    return json.dumps(encode(value), separators=(",", ":"), allow_nan=False)


def loads(text: str) -> Plain:
    """What `dumps` wrote. Raises ValueError."""
    return decode(json.loads(text))


def digest(value: Plain) -> str:
    """SHA-256 of a value: equal values have equal digests; NaN equals itself, and 1, 1.0 and True differ."""
    text = json.dumps(encode(value), separators=(",", ":"), sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def same(left: Plain, right: Plain) -> bool:
    """Whether two plain values are the same data: types too, and NaN is NaN."""
    if type(left) is not type(right):
        return False
    if type(left) is float:
        return left == right or (left != left and right != right)
    if type(left) in (list, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if type(left) is dict:
        return left.keys() == right.keys() and all(same(item, right[key]) for key, item in left.items())
    if type(left) is Array:
        return (left.kind, left.dtype, left.shape) == (right.kind, right.dtype, right.shape) and same(
            left.data, right.data
        )
    if type(left) is Instance:
        return (left.cls, left.how) == (right.cls, right.how) and same(left.fields, right.fields)
    return bool(left == right)


# ---- real objects: only where the pull request's classes are at hand --------------------------------------


def flatten(value: object) -> Plain:
    """A real object as plain data. Raises `NotPlain` where it cannot be built again from data."""
    try:
        return _flatten(value, 0, [MOST_VALUES])
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise NotPlain(f"{type(value).__qualname__} ({error})") from None


def _flatten(value: Any, depth: int, left: list[int]) -> Plain:
    left[0] -= 1
    if depth > DEEPEST or left[0] < 0:
        raise NotPlain("a value too large or nested too deeply")
    kind = type(value)
    if kind in SCALARS:
        return value
    if kind in (list, tuple, set, frozenset):
        return kind(_flatten(item, depth + 1, left) for item in value)
    if isinstance(value, dict):
        return {_flatten(k, depth + 1, left): _flatten(v, depth + 1, left) for k, v in value.items()}
    root = kind.__module__.partition(".")[0]
    if root in ("torch", "numpy") and hasattr(value, "shape") and hasattr(value, "tolist"):
        return _flatten_array(value, root)
    if isinstance(value, (type, type(flatten))):
        if "<locals>" in value.__qualname__:
            raise NotPlain(value.__qualname__)  # no name leads to it
        return Instance(f"{value.__module__}:{value.__qualname__}", "name", {})
    if root == "pandas" and kind.__name__ in ("DataFrame", "Series"):
        return _flatten_frame(value, kind, depth, left)
    return _flatten_object(value, kind, depth, left)


def _flatten_frame(value: Any, kind: type, depth: int, left: list[int]) -> Plain:
    """The columns of a table, or the values of a series, with its name; rows that are only numbered."""
    if type(value.index).__name__ != "RangeIndex" or value.index.start or value.index.step != 1:
        raise NotPlain(f"a pandas {kind.__name__} whose rows have names of their own")

    def column(values: Any) -> Plain:
        if values.dtype.kind in "biuf":
            return _flatten_array(values.to_numpy(), "numpy")
        return _flatten(values.tolist(), depth + 1, left)

    if kind.__name__ == "Series":
        named = {"name": _flatten(value.name, depth + 1, left)} if value.name is not None else {}
        return Instance("pandas:Series", "series", {"values": column(value), **named})
    if not all(type(name) is str for name in value.columns) or not value.columns.is_unique:
        raise NotPlain("a pandas DataFrame whose columns have no names of their own")
    return Instance("pandas:DataFrame", "frame", {name: column(value[name]) for name in value.columns})


def _flatten_array(value: Any, root: str) -> Plain:
    shape = tuple(int(size) for size in value.shape)
    if root == "numpy" and not hasattr(value, "__array_interface__"):
        raise NotPlain(f"numpy.{type(value).__name__}")
    if root == "numpy" and value.dtype.kind not in "biuf":
        raise NotPlain(f"a numpy array of {value.dtype}")
    if math.prod(shape) > MOST_VALUES:
        raise NotPlain(f"a tensor of {math.prod(shape)} numbers")
    if root == "numpy" and type(value).__name__ != "ndarray":
        return _flatten(value.item(), 0, [2])
    source = value.detach().to("cpu") if root == "torch" else value
    if root == "torch" and source.is_complex():
        raise NotPlain("a complex tensor")
    dtype = str(value.dtype).rpartition(".")[2]
    return Array(root, dtype, source.tolist(), shape)


def _flatten_object(value: Any, kind: type, depth: int, left: list[int]) -> Plain:
    import enum
    import pathlib

    cls = f"{kind.__module__}:{kind.__qualname__}"
    if isinstance(value, pathlib.PurePath):
        return Instance("pathlib:Path", "path", {"path": str(value)})
    if cls == "_pytest.monkeypatch:MonkeyPatch":
        return Instance(cls, "new", {})
    if any(base.__module__ == "unittest.case" and base.__name__ == "TestCase" for base in kind.__mro__):
        return Instance(cls, "case", attributes(vars(value), depth, left))
    if "<locals>" in cls or kind.__module__ in ("builtins", "types", "_io", "_thread", "threading", "re"):
        raise NotPlain(kind.__qualname__)
    if cls in _FROM_TEXT:
        return Instance(cls, "text", {"text": str(value)})
    if isinstance(value, enum.Enum):
        return Instance(cls, "member", {"name": value.name})
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        names = kind._fields
        pairs = zip(names, value, strict=True)
        return Instance(cls, "tuple", {name: _flatten(item, depth + 1, left) for name, item in pairs})
    if isinstance(value, (int, float, str, bytes, list, tuple, set, frozenset, BaseException)):
        raise NotPlain(f"{kind.__qualname__}, which extends a built-in type")
    try:
        object.__new__(kind)
    except TypeError:
        raise NotPlain(kind.__qualname__) from None  # its state is not in its attributes
    return Instance(cls, "fields", _flatten(_state(value, kind), depth + 1, left))


def attributes(held: Mapping[str, Any], depth: int = 0, left: list[int] | None = None) -> dict[str, Plain]:
    """Those attributes of a test's own object, or of its class, that are plain and not private."""
    found = {}
    for name, item in held.items():
        if not name.startswith("_"):
            try:
                found[name] = _flatten(item, depth + 1, left or [MOST_VALUES])
            except NotPlain:
                continue
    return found


def _state(value: Any, kind: type) -> dict[str, Any]:
    state = dict(getattr(value, "__dict__", {}))
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                state[name] = getattr(value, name)
    if not state and not hasattr(value, "__dict__") and not hasattr(kind, "__slots__"):
        raise NotPlain(kind.__qualname__)
    return state


def build(value: Plain) -> Any:
    """The real object that `flatten` was given. Classes are looked up by name, their modules imported.

    Raises LookupError or ImportError where a class is no longer there.
    """
    kind = type(value)
    if kind in SCALARS:
        return value
    if kind is list:
        return value[:] if SCALARS.issuperset(map(type, value)) else [build(item) for item in value]
    if kind is dict:
        return {build(key): build(item) for key, item in value.items()}
    if kind in (tuple, set, frozenset):
        return kind(build(item) for item in value)
    if kind is Array:
        return _build_array(value)
    if kind is Instance:
        return _build_instance(value)
    raise LookupError(f"not plain data: {kind.__name__}")


def _build_array(value: Array) -> Any:
    import importlib

    library = importlib.import_module(value.kind)
    dtype = getattr(library, value.dtype)
    if value.kind == "torch":
        tensor = library.tensor(value.data, dtype=dtype)
        return tensor.reshape(value.shape) if 0 in value.shape else tensor
    array = library.array(value.data, dtype=dtype)
    return array.reshape(value.shape) if 0 in value.shape else array


def _build_instance(value: Instance) -> Any:
    if value.how == "path":
        import pathlib

        return pathlib.Path(value.fields["path"])
    if value.how == "folder":
        import pathlib
        import tempfile

        return pathlib.Path(tempfile.mkdtemp())
    cls = _named(value.cls)
    if value.how == "text":
        read = _FROM_TEXT[value.cls]
        return (getattr(cls, read) if read else cls)(value.fields["text"])
    if value.how == "name":
        return cls
    if value.how == "member":
        return cls[value.fields["name"]]
    fields = {name: build(item) for name, item in value.fields.items()}
    if value.how == "fixture":
        made = _behind(cls)(**fields)
        return next(made) if isinstance(made, types.GeneratorType) else made
    if value.how == "frame":
        return cls(fields)
    if value.how == "series":
        return cls(fields["values"], name=fields.get("name"))
    if value.how == "tuple":
        return cls(**fields)
    if value.how == "init":
        try:
            return cls(**fields)
        except Exception:  # it takes other things than its fields
            made = object.__new__(cls)
            vars(made).update(fields)
            return made
    made = cls() if value.how in ("new", "case") else object.__new__(cls)
    for name, item in fields.items():
        object.__setattr__(made, name, item)
    return made


def _behind(fixture: Any) -> Any:
    """The function that was made a fixture, however this pytest keeps it."""
    kept = getattr(fixture, "__pytest_wrapped__", None)
    get = getattr(fixture, "_get_wrapped_function", None)
    return kept.obj if kept is not None else get() if get is not None else fixture


def _named(name: str) -> Any:
    import importlib

    module, _, qualified = name.partition(":")
    found: Any = sys.modules.get(module) or importlib.import_module(module)
    for part in qualified.split("."):
        found = getattr(found, part)
    return found


# ---- places -----------------------------------------------------------------------------------------------


def items(value: Plain) -> Iterable[tuple[Any, Plain]]:
    """(key, part) of a container's parts; nothing for anything else."""
    kind = type(value)
    if kind in (list, tuple):
        return enumerate(value)
    if kind in (dict, Instance):
        parts: dict[Any, Plain] = value if kind is dict else value.fields
        return parts.items()
    if kind is Array:
        return items(value.data)
    return ()


def names(value: Plain) -> set[str]:
    """The names of fields and the keys in a value that are text."""
    found = {key for key, _ in items(value) if type(key) is str}
    for _, part in items(value):
        found |= names(part)
    return found


def at(value: Plain, path: Path) -> Plain:
    """The part of a value at a path. Raises LookupError where there is none."""
    for key in path:
        if type(value) is Array:
            value = value.data
        if type(value) is Instance:
            value = value.fields[key]
        elif type(value) in (list, tuple):
            if type(key) is not int or not 0 <= key < len(value):
                raise LookupError(key)
            value = value[key]
        elif type(value) is dict:
            value = value[key]
        else:
            raise LookupError(key)
    return value
