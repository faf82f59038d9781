"""One change to the arguments of a check, as data: it can be applied, stored, sent, shrunk and printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reviewbot.probe.inside import plain
from reviewbot.probe.inside.plain import RECORDS, Array, Instance, Path, Plain

Operation = Literal["set", "remove", "double", "swap", "cut", "empty", "shift", "insert"]
World = Mapping[str, Plain]


class DoesNotApply(Exception):
    """The edit has no place in this value."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What is done at `path`, whose first part names an argument.

    set: the part becomes `value`. remove: an item of a list, or a key of a dict, is gone. double: an item
    stands twice. swap: an item and the next change places. cut: a list keeps its first `value` items.
    empty: a list or dict has none. shift: a list is rotated by `value`. insert: `value` is a new item there.
    remove, double and cut are done in the fields `along` of the same row as well, so that they stay aligned.
    """

    operation: Operation
    path: Path
    value: Plain = None
    along: tuple[str, ...] = ()


def apply(world: World, edits: Sequence[Edit]) -> dict[str, Plain] | None:
    """The changed arguments, sharing what no edit touches; None if an edit has no place or no effect."""
    changed = dict(world)
    for edit in edits:
        before = changed
        try:
            changed = _apply(changed, edit)
        except (DoesNotApply, LookupError, TypeError):
            return None
        if plain.same(before[edit.path[0]], changed[edit.path[0]]):
            return None
    return changed


def _apply(world: dict[str, Plain], edit: Edit) -> dict[str, Plain]:
    argument, rest = edit.path[0], edit.path[1:]
    changed = dict(world)
    changed[argument] = _at(world[argument], rest, lambda part, key: _change(part, key, edit))
    for field in edit.along:
        # The path is (..., row, field, position) for an item and (..., row, field) for a whole list.
        depth = -1 if edit.operation == "cut" else -2
        other = (*edit.path[:depth], field, *edit.path[depth:][1:])
        alone = Edit(edit.operation, other, edit.value)
        changed[argument] = _at(changed[argument], other[1:], lambda p, k, e=alone: _change(p, k, e))  # type: ignore[misc]
    return changed


Change = Callable[[Plain, Any], Plain]


def _at(value: Plain, path: Path, change: Change) -> Plain:
    """`value` with its part at `path` changed; `change` gets the container and the last key.

    With an empty path the value itself is the item of a container that holds nothing else.
    """
    if not path:
        return change([value], 0)[0]
    if len(path) == 1:
        return _as(value, lambda inner: change(inner, path[0]))
    return _as(value, lambda inner: _replace(inner, path[0], _at(_item(inner, path[0]), path[1:], change)))


def _as(value: Plain, do: Callable[[Plain], Plain]) -> Plain:
    """Does it to the list or dict behind a tuple, tensor or object."""
    if type(value) is tuple:
        return tuple(do(list(value)))
    if type(value) is Array:
        data = do(value.data)
        return Array(value.kind, value.dtype, data, _shape(data))
    if type(value) is Instance:
        if value.how not in RECORDS:
            raise DoesNotApply
        return Instance(value.cls, value.how, do(value.fields))
    return do(value)


def _shape(data: Plain) -> tuple[int, ...]:
    if type(data) is not list:
        return ()
    return (len(data), *(_shape(data[0]) if data else ()))


def _item(container: Plain, key: Any) -> Plain:
    if type(container) is list and (type(key) is not int or not 0 <= key < len(container)):
        raise DoesNotApply
    if type(container) not in (list, dict):
        raise DoesNotApply
    return container[key]


def _replace(container: Plain, key: Any, item: Plain) -> Plain:
    _item(container, key)
    if type(container) is list:
        return [*container[:key], item, *container[key + 1 :]]
    return {name: item if name == key else old for name, old in container.items()}


def _change(container: Plain, key: Any, edit: Edit) -> Plain:
    operation, value = edit.operation, edit.value
    if operation == "insert":
        return _insert(container, key, value)
    item = _item(container, key)
    if operation == "set":
        return _replace(container, key, value)
    if operation == "remove" and type(container) is dict:
        return {name: old for name, old in container.items() if name != key}
    if operation in ("cut", "empty", "shift"):
        return _replace(container, key, _as(item, lambda whole: _resized(whole, operation, value)))
    if type(container) is not list:
        raise DoesNotApply
    if operation == "remove":
        return container[:key] + container[key + 1 :]
    if operation == "double":
        return [*container[: key + 1], item, *container[key + 1 :]]
    if operation == "swap":
        other = _item(container, key + 1)
        return [*container[:key], other, item, *container[key + 2 :]]
    raise DoesNotApply


def _insert(container: Plain, key: Any, value: Plain) -> Plain:
    if type(container) is dict and key not in container:
        return {**container, key: value}
    if type(container) is list and 0 <= key <= len(container):
        return [*container[:key], value, *container[key:]]
    raise DoesNotApply


def _resized(whole: Plain, operation: Operation, value: Plain) -> Plain:
    if type(whole) is dict and operation == "empty":
        return {}
    if type(whole) in (set, frozenset) and operation == "empty":
        return type(whole)()
    if type(whole) is str and operation == "empty":
        return ""
    if type(whole) is not list:
        raise DoesNotApply
    if operation == "empty":
        return []
    if operation == "cut":
        return whole[:value]
    return whole[-value:] + whole[:-value] if whole else whole


def encode(edit: Edit) -> Any:
    """The edit as JSON data."""
    return [edit.operation, plain.encode(list(edit.path)), plain.encode(edit.value), list(edit.along)]


def decode(document: Any) -> Edit:
    """What `encode` wrote. Raises ValueError."""
    if type(document) is not list or len(document) != 4:
        raise ValueError("not an edit")
    operation, path, value, along = document
    if operation not in ("set", "remove", "double", "swap", "cut", "empty", "shift", "insert"):
        raise ValueError(f"no edit is called {operation!r}")
    keys = plain.decode(path)
    if type(keys) is not list or not keys or type(keys[0]) is not str or type(along) is not list:
        raise ValueError("not an edit's path")
    return Edit(operation, tuple(keys), plain.decode(value), tuple(map(str, along)))
