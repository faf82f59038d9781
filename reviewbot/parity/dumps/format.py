"""What a reader of one format has to do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from reviewbot.parity.rows import RAW, Row

Record = Mapping[str, Any]
Wire = TypeVar("Wire")


@dataclass(frozen=True, slots=True)
class Where:
    """A record's place: file, line (from 1), index in the file, and the step that the file is named for."""

    path: Path
    line: int
    index: int
    step: int | None


class Format(Protocol):
    """One way in which a framework writes its rows.

    `row` leaves open what a record does not say of `step`, `prompt` and `sample`; the dump fills it in. `key`
    gives the same three without reading more than it must. Both raise `ValueError` for data that is not of
    this format. `like` makes the row of a line out of the row of a nearly equal one; None where that cannot
    be done. `unused` names those of a record's keys that no comparison sees. `marks` are keys as they stand
    in a line, one of which a row has at least; none where every record is one.
    """

    name: str
    marks: tuple[bytes, ...]

    def row(self, data: bytes) -> Row: ...

    def key(self, data: bytes) -> Row: ...

    def like(self, row: Row, known: bytes, line: bytes) -> Row | None: ...

    def unused(self, record: Record) -> frozenset[str]: ...


def marks(columns: Iterable[str]) -> tuple[bytes, ...]:
    """The keys of a row as they stand in a line; a step alone makes none: what is measured has one too."""
    return tuple(dict.fromkeys(b'"%s"' % column.encode() for column in columns if column != "step"))


def step_of(path: Path) -> int | None:
    """The step that a file is named for, as in `train_data_step12.jsonl` or `12.jsonl`."""
    name = path.name.partition(".")[0]
    found = re.search(r"(?:^|step|completions)[_-]?(\d{1,18})$", name)
    return int(found[1]) if found else None


def record(data: bytes) -> Any:
    """A line's value, untyped; NaN and Infinity, which JSON does not know, are read too.

    Raises `ValueError` where it is no JSON.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        return _with_nan(data, error)


def typed(decode: Callable[[bytes], Wire], wire: type[Wire]) -> Callable[[bytes], Wire]:
    """A typed decoder that also takes NaN and Infinity, at the price of a slower second try."""

    def read(data: bytes) -> Wire:
        try:
            return decode(data)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from None
        except (msgspec.DecodeError, RecursionError) as error:
            try:
                return msgspec.convert(raw_kept(_with_nan(data, error)), wire)
            except msgspec.ValidationError as second:
                raise ValueError(str(second)) from None

    return read


def raw_kept(values: Any) -> Any:
    """A decoded record whose undecoded fields are what they would be had it not been decoded."""
    if not isinstance(values, dict):
        return values
    raw = {name: msgspec.Raw(json.dumps(values[name]).encode()) for name in RAW if name in values}
    return {**values, **raw}


def _with_nan(data: bytes, error: Exception) -> Any:
    if data[:1] == b"\0":
        raise ValueError("zero bytes instead of text, as where a disk lost what was written to it") from None
    if not any(word in data for word in (b"NaN", b"Infinity")):
        raise ValueError(_short(error)) from None
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as second:
        raise ValueError(_short(second)) from None


def _short(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)
