"""Records whose columns have other names: verl, TRL, and whatever a mapping describes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import msgspec

from reviewbot.errors import UsageError
from reviewbot.parity.dumps.format import Record, marks, raw_kept, record
from reviewbot.parity.rows import RAW, Row

PARQUET = b"\xc1"  # a byte that starts neither JSON nor MessagePack: what follows is a row of a Parquet file
FIELDS = frozenset(Row.__struct_fields__) - {"extras"} | {"length"}
PADDED = ("token_ids", "loss_mask", "logprobs", "prev_logprobs", "advantages")
# What a row's fields are called in reviewbot's own format. `length` is none of them, and would cut lists.
OWN = {field.name: field.encode_name for field in msgspec.structs.fields(Row)}
LONGEST_NAME = 40  # characters of a prompt that may serve as its name; longer ones go by their hash

_NAMED_BY: tuple[str, ...] = ("step", "prompt", "sample")
_LISTS = frozenset(PADDED) | {*RAW}


class Mapped:
    """Fields of a row taken from columns, a path into nested values being written with dots.

    With `own`, columns under reviewbot's own names are the fields of these names, unless `columns` says
    otherwise. One-element lists around values are opened. `extras` are further columns that must be equal;
    where `numbers` is set, so are all columns that hold a number and are not mapped, and the reward is their
    sum.
    """

    def __init__(
        self,
        name: str,
        columns: Mapping[str, str],
        extras: tuple[str, ...] = (),
        numbers: bool = False,
        own: bool = False,
    ) -> None:
        if unknown := sorted(set(columns) - FIELDS):
            raise UsageError(
                f"no field {unknown[0]!r} to map a column to; there are {', '.join(sorted(FIELDS))}"
            )
        self.name, self._columns, self._extras, self._numbers = name, dict(columns), extras, numbers
        if own:
            taken = {*columns.values(), *(column.partition(".")[0] for column in columns.values())}
            self._columns = {f: c for f, c in OWN.items() if c not in taken} | self._columns
        named = [column for field, column in self._columns.items() if field != "step"]
        self.marks = () if numbers else marks((*named, *(c.partition(".")[0] for c in named), *extras))

    def row(self, data: bytes) -> Row:
        values = load(data)
        fields = {
            field: _opened(found, field)
            for field, column in self._columns.items()
            if (found := _at(values, column)) is not None
        }
        extras = {name: _opened(values[name], "") for name in self._extras if values.get(name) is not None}
        if self._numbers:
            numbers = {name: float(v) for name, v in values.items() if self._is_reward(name, v)}
            fields["reward"] = sum(numbers.values()) if numbers else None
            extras |= numbers if len(numbers) > 1 else {}
        length = fields.pop("length", None)
        if isinstance(length, int):
            fields |= {name: fields[name][:length] for name in PADDED if isinstance(fields.get(name), list)}
        fields |= _identity(fields)
        try:
            named = {OWN[field]: value for field, value in raw_kept(fields).items()}
            return msgspec.convert({**named, **({"extras": extras} if extras else {})}, Row)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from None

    def key(self, data: bytes) -> Row:
        values = load(data)
        fields = {
            field: _opened(_at(values, self._columns[field]), field)
            for field in _NAMED_BY
            if field in self._columns
        }
        return Row(**_identity(fields))

    def like(self, row: Row, known: bytes, line: bytes) -> Row | None:
        return None

    def unused(self, record: Record) -> frozenset[str]:
        used = {column.partition(".")[0] for column in self._columns.values()} | set(self._extras)
        used -= {
            column
            for field in ("step", "sample")
            if (column := self._columns.get(field, "")) in record
            and not isinstance(_opened(record[column], field), int)  # it names no row
        }
        return frozenset(
            name for name, v in record.items() if name not in used and not self._is_reward(name, v)
        )

    def _is_reward(self, name: str, value: object) -> bool:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return self._numbers and number and name not in self._columns.values()


def verl() -> Mapped:
    """verl's `<step>.jsonl`: decoded text and a score, no token ids."""
    return Mapped("verl", {"step": "step", "prompt": "input", "text": "output", "reward": "score"})


def trl() -> Mapped:
    """TRL's `completions_<step>.parquet`: decoded text, a column a reward function, no token ids."""
    columns = {"step": "step", "prompt": "prompt", "text": "completion", "advantages": "advantage"}
    return Mapped("trl", columns, numbers=True)


class NoObject(ValueError):
    """A record that is JSON, and no object."""


def load(data: bytes) -> dict[str, Any]:
    """A record as a dictionary. Raises `NoObject`, or `ValueError` for what is no record."""
    values = msgspec.msgpack.decode(data[1:]) if data[:1] == PARQUET else record(data)
    if not isinstance(values, dict):
        raise NoObject(f"JSON, but no object: {str(data[:40], 'utf-8', 'replace').strip()}")
    return values


def holds(values: Mapping[str, Any], path: str) -> bool:
    """Whether a record has a column, be it null."""
    found: Any = values
    if path in values:
        return True
    for name in path.split("."):
        if not isinstance(found, dict) or name not in found:
            return False
        found = found[name]
    return True


def _at(values: Mapping[str, Any], path: str) -> Any:
    if path in values:
        return values[path]
    found: Any = values
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _opened(value: Any, field: str) -> Any:
    """The value inside one-element lists; a list of tokens stays a list."""
    if isinstance(value, list) and len(value) == 1 and (field not in _LISTS or isinstance(value[0], list)):
        value = value[0]
    if field == "text" and value is not None and not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)  # a conversation
    if field in _NAMED_BY and isinstance(value, float) and value.is_integer():
        return int(value)  # a table with gaps has no other numbers
    return value


def _identity(fields: Mapping[str, Any]) -> dict[str, Any]:
    step, prompt, sample = (fields.get(name) for name in _NAMED_BY)
    return {
        "step": step if isinstance(step, int) else None,
        "prompt": None if prompt is None else _name(prompt),
        "sample": sample if isinstance(sample, int) else None,
    }


def _name(prompt: Any) -> int | str:
    if isinstance(prompt, int) or (isinstance(prompt, str) and len(prompt) <= LONGEST_NAME):
        return prompt
    text = prompt if isinstance(prompt, str) else json.dumps(prompt, sort_keys=True)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]
