"""NeMo-RL's `train_data_step<N>.jsonl`: every value in a one-element list, rows padded to their batch.

Rows carry neither a prompt's id nor a sample's, only `idx`, the position in the step; the samples of one
prompt are those whose tokens begin alike up to the first trained one.
"""

from __future__ import annotations

import hashlib
from array import array
from itertools import compress, count
from typing import Any

import msgspec

from reviewbot.parity.dumps import alike
from reviewbot.parity.dumps.format import Record, typed
from reviewbot.parity.dumps.mapped import PARQUET, Mapped
from reviewbot.parity.rows import Row

COLUMNS = {
    "prompt": "idx",
    "length": "input_lengths",
    "token_ids": "token_ids",
    "loss_mask": "token_loss_mask",
    "reward": "rewards",
    "sample_mask": "sample_loss_mask",
    "logprobs": "generation_logprobs",
    "prev_logprobs": "prev_logprobs",
    "advantages": "advantages",
}


class _Wire(msgspec.Struct, frozen=True, gc=False):
    token_ids: list[list[int]]
    token_loss_mask: list[list[int | float | bool]] | None = None
    input_lengths: list[int] | None = None
    rewards: list[float] | None = None
    filtered_rewards: list[float] | None = None
    sample_loss_mask: list[float] | None = None
    generation_logprobs: list[list[float]] | None = None
    prev_logprobs: list[list[float]] | None = None
    advantages: list[list[float]] | None = None
    idx: list[int | str] | None = None


_LISTS: alike.Decoders = {
    b"token_ids": msgspec.json.Decoder(list[list[int]]).decode,
    b"token_loss_mask": msgspec.json.Decoder(list[list[int | float | bool]]).decode,
    b"generation_logprobs": msgspec.json.Decoder(list[list[float]]).decode,
    b"prev_logprobs": msgspec.json.Decoder(list[list[float]]).decode,
    b"advantages": msgspec.json.Decoder(list[list[float]]).decode,
}
_ITEMS: alike.Decoders = {
    b"token_ids": msgspec.json.Decoder(list[int]).decode,
    b"token_loss_mask": msgspec.json.Decoder(list[int | float | bool]).decode,
    b"generation_logprobs": msgspec.json.Decoder(list[float]).decode,
    b"prev_logprobs": msgspec.json.Decoder(list[float]).decode,
    b"advantages": msgspec.json.Decoder(list[float]).decode,
}
_FIELDS = {column.encode(): field for field, column in COLUMNS.items()}


class _Key(msgspec.Struct, frozen=True):
    idx: list[int | str] | int | str | None = None


class NemoRL:
    """Reads the wire format as it is written; values without their list around them are taken too."""

    name = "nemo-rl"
    marks: tuple[bytes, ...] = ()  # it writes rows alone

    def __init__(self) -> None:
        self._lengths = msgspec.json.Decoder(list[int] | None).decode
        self._wire = typed(msgspec.json.Decoder(_Wire).decode, _Wire)
        self._key = typed(msgspec.json.Decoder(_Key).decode, _Key)
        self._bare = Mapped("nemo-rl", COLUMNS, extras=("filtered_rewards",))

    def row(self, data: bytes) -> Row:
        try:
            wire = self._wire(data)
        except ValueError:
            row = self._bare.row(data)
        else:
            length = _one(wire.input_lengths)
            filtered = _one(wire.filtered_rewards)
            row = Row(
                prompt=_one(wire.idx),
                token_ids=_cut(_one(wire.token_ids), length),
                loss_mask=_unpadded_mask(_one(wire.token_loss_mask), length),
                reward=_one(wire.rewards),
                sample_mask=_one(wire.sample_loss_mask),
                logprobs=_cut(_one(wire.generation_logprobs), length),
                prev_logprobs=_cut(_one(wire.prev_logprobs), length),
                advantages=_cut(_one(wire.advantages), length),
                extras=None if filtered is None else {"filtered_rewards": filtered},
            )
        return msgspec.structs.replace(row, sample=0, group=_prompt(row))

    def key(self, data: bytes) -> Row:
        if data[:1] == PARQUET:
            return msgspec.structs.replace(self._bare.key(data), sample=0)
        idx = self._key(data).idx
        return Row(prompt=_one(idx) if isinstance(idx, list) else idx, sample=0)

    def like(self, row: Row, known: bytes, line: bytes) -> Row | None:
        lists = {name: (getattr(row, _FIELDS[name]), decode) for name, decode in _ITEMS.items()}
        found = alike.changed(known, line, _LISTS, lists, b"input_lengths")
        if found is None or any(len(value) != 1 for value in found.values.values()):
            return None
        # What the first row does not have stands deeper in the line, and is no field of it.
        if any(getattr(row, _FIELDS[name]) is None for name in (*found.values, *found.lists)):
            return None
        if found.same is None and b"input_lengths" in known:
            return None
        length = _one(self._lengths(found.same)) if found.same else None
        fields: dict[str, Any] = {_FIELDS[name]: value for name, value in found.lists.items()}
        for name, (value,) in found.values.items():
            cut = _unpadded_mask if name == b"token_loss_mask" else _cut
            fields[_FIELDS[name]] = cut(value, length)
        row = msgspec.structs.replace(row, **fields)
        grouped = "token_ids" in fields or "loss_mask" in fields
        return msgspec.structs.replace(row, group=_prompt(row)) if grouped else row

    def unused(self, record: Record) -> frozenset[str]:
        return frozenset(record) - set(COLUMNS.values()) - {"filtered_rewards"}


def _one(values: list[Any] | None) -> Any:
    if values is None:
        return None
    if len(values) != 1:
        raise ValueError(f"a list of {len(values)} where NeMo-RL writes one sample a line")
    return values[0]


def _cut(values: list[Any] | None, length: int | None) -> list[Any] | None:
    """A list that nobody has yet, without its padding."""
    if values is not None and length is not None:
        del values[max(length, 0) :]
    return values


def _unpadded_mask(mask: list[Any] | None, length: int | None) -> list[Any] | None:
    """The mask without its padding; whole where padding is trained, so that it shows."""
    return mask if mask is None or length is None or any(mask[length:]) else _cut(mask, length)


def _prompt(row: Row) -> str | None:
    if row.token_ids is None or row.loss_mask is None:
        return None
    first = next(compress(count(), row.loss_mask), len(row.loss_mask))
    try:
        return hashlib.sha256(array("q", row.token_ids[:first])).hexdigest()[:12]
    except OverflowError:  # no tokenizer has such ids
        return hashlib.sha256(repr(row.token_ids[:first]).encode()).hexdigest()[:12]
