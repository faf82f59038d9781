"""Rows under their own names: one JSON object a line, with the fields of `Row`."""

from __future__ import annotations

import msgspec

from reviewbot.parity.dumps import alike
from reviewbot.parity.dumps.format import Record, marks, typed
from reviewbot.parity.rows import Row


class _Key(msgspec.Struct, frozen=True):
    step: int | None = None
    prompt: int | str | None = None
    sample: int | None = None


_LISTS: alike.Decoders = {
    b"token_ids": msgspec.json.Decoder(list[int] | None).decode,
    b"loss_mask": msgspec.json.Decoder(list[int | float | bool] | None).decode,
    b"logprobs": msgspec.json.Decoder(list[float] | None).decode,
    b"prev_logprobs": msgspec.json.Decoder(list[float] | None).decode,
    b"advantages": msgspec.json.Decoder(list[float] | float | None).decode,
}
_ITEMS: alike.Decoders = {
    b"token_ids": msgspec.json.Decoder(list[int]).decode,
    b"loss_mask": msgspec.json.Decoder(list[int | float | bool]).decode,
    b"logprobs": msgspec.json.Decoder(list[float]).decode,
    b"prev_logprobs": msgspec.json.Decoder(list[float]).decode,
    b"advantages": msgspec.json.Decoder(list[float]).decode,
}
_KNOWN = frozenset(field.encode_name for field in msgspec.structs.fields(Row))


class Plain:
    """The format that reviewbot writes itself."""

    name = "plain"

    def __init__(self) -> None:
        self.marks = marks(field.encode_name for field in msgspec.structs.fields(Row))
        self._row = typed(msgspec.json.Decoder(Row).decode, Row)
        self._key = typed(msgspec.json.Decoder(_Key).decode, _Key)

    def row(self, data: bytes) -> Row:
        return self._row(data)

    def key(self, data: bytes) -> Row:
        key = self._key(data)
        return Row(step=key.step, prompt=key.prompt, sample=key.sample)

    def like(self, row: Row, known: bytes, line: bytes) -> Row | None:
        lists = {name: (getattr(row, name.decode()), decode) for name, decode in _ITEMS.items()}
        found = alike.changed(known, line, _LISTS, lists)
        if found is None:
            return None
        fields = {name.decode(): value for name, value in (found.values | found.lists).items()}
        # What the first row does not have stands deeper in the line, and is no field of it.
        if any(getattr(row, name) is None for name in fields):
            return None
        return msgspec.structs.replace(row, **fields)

    def unused(self, record: Record) -> frozenset[str]:
        return frozenset(record) - _KNOWN
