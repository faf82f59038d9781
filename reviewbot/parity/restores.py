"""What the restored run says it restored, and whether its rows agree.

A restore record names a call that was cut, the row that it ended up in, how many tokens were put back and how
many were decoded after them, and the hash of the tokens put back. The call is its row's last one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from reviewbot.errors import UnreadableFile, UsageError
from reviewbot.parity.dumps.format import typed
from reviewbot.parity.dumps.lines import cut_off, lines
from reviewbot.parity.result import Failure
from reviewbot.parity.rows import Identity, Row, last_call, sha256


class Restore(msgspec.Struct, frozen=True, kw_only=True):
    """One restored call. What a record does not say is None and goes unchecked.

    `start` is the index in the row at which the call began; without it the call is the row's last one.
    `request_sha256` hashes all tokens that the engine was asked to continue, `max_tokens` is how many it was
    to add at most, `budget` how many the whole call may have.

    A record with `left_key` is none: it names a saved prefix that was still there when the run ended; one
    with `left_keys` says how many there were, so that none is known from not looked.
    """

    step: int | None = None
    prompt: int | str | None = None
    sample: int | None = None
    call: str | int | None = None
    prefix_tokens: int | None = None
    tail_tokens: int | None = None
    prefix_sha256: str | None = None
    start: int | None = None
    request_sha256: str | None = None
    max_tokens: int | None = None
    budget: int | None = None
    left_key: str | None = None
    left_keys: int | None = None


_NOTHING = Restore()


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a killed run's journal: tokens of a call that came, and whether it ended with them."""

    call: str | int
    step: int | None = None
    prompt: int | str | None = None
    sample: int | None = None
    tokens: list[int] = []
    finish: str | None = None


@dataclass
class Restores:
    """All records of one run. `looked` says that it looked for saved prefixes left behind.

    `torn` is the file and line of a last record that breaks off, as a killed writer leaves it.
    """

    records: list[Restore]
    left_keys: list[str] = field(default_factory=list)
    looked: bool = False
    torn: tuple[str, int] | None = None

    def __post_init__(self) -> None:
        self.by_row: dict[Identity, list[Restore]] = {}
        for record in self.records:
            row = row_of(record)
            if row is not None:
                self.by_row.setdefault(row, []).append(record)

    @property
    def calls(self) -> int:
        return len({name(record) for record in self.records})

    @property
    def repeated(self) -> list[str]:
        """Calls that are recorded more than once, in the order of their first record."""
        return [call for call, times in Counter(map(name, self.records)).items() if times > 1]


def name(record: Restore) -> str:
    """The call's name; its row's where it has none."""
    return str(record.call) if record.call is not None else f"{record.step}/{record.prompt}/{record.sample}"


def spoken(call: str) -> str:
    """A call's name as a sentence says it: `call 0` where it is a bare number."""
    return f"call {call}" if call.isdecimal() else call


def row_of(record: Restore) -> Identity | None:
    """The row that a record names, if it names one."""
    if record.step is None or record.prompt is None:
        return None
    return record.step, record.prompt, record.sample or 0


def from_file(path: Path) -> Restores:
    """Records as JSON lines. Raises `UnreadableFile`."""
    decode = typed(msgspec.json.Decoder(Restore).decode, Restore)
    records, left, looked, torn = [], [], False, None
    for number, data, complete in _lines(path):
        try:
            record = decode(data)
        except ValueError as error:
            if not complete and cut_off(data):
                torn = str(path), number
                break
            raise UnreadableFile(str(path), f"not a restore record: {str(error)[:200]}", number) from None
        if record == _NOTHING:
            why = f"not a restore record: it has none of the fields {', '.join(Restore.__struct_fields__)}"
            raise UnreadableFile(str(path), why, number)
        if record.left_key is not None:
            left.append(record.left_key)
        elif record.left_keys is not None:
            looked = True
        else:
            records.append(record)
    return Restores(records, left, looked, torn)


def from_log(path: Path, pattern: str) -> Restores:
    """Records out of a log: one for each line that the pattern matches, its named groups being the fields."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--pattern {pattern!r}: {error}") from None
    fields = frozenset(Restore.__struct_fields__)
    if unknown := sorted(set(compiled.groupindex) - fields):
        raise UsageError(f"--pattern: no field {unknown[0]!r}; there are {', '.join(sorted(fields))}")
    if not compiled.groupindex:
        raise UsageError("--pattern needs named groups, such as (?P<prefix_tokens>\\d+)")
    records = []
    for number, data, _ in _lines(path):
        match = compiled.search(data[:65536].decode(errors="replace"))
        if match is None:
            continue
        found: dict[str, Any] = {key: value for key, value in match.groupdict().items() if value is not None}
        if str(found.get("prompt", "")).isdecimal():
            found["prompt"] = int(found["prompt"])  # a dump names the same prompt by a number
        try:
            records.append(msgspec.convert(found, Restore, strict=False))
        except msgspec.ValidationError as error:
            raise UnreadableFile(str(path), f"what --pattern found does not fit: {error}", number) from None
    return Restores(records)


def begun(path: Path) -> dict[str, Begun]:
    """The calls of a killed run's journal that had given tokens and had not ended, by name."""
    decode = typed(msgspec.json.Decoder(Begun).decode, Begun)
    calls: dict[str, Begun] = {}
    for number, data, complete in _lines(path):
        try:
            entry = decode(data)
        except ValueError as error:
            if not complete and cut_off(data):
                break
            raise UnreadableFile(str(path), f"not a line of a journal: {str(error)[:200]}", number) from None
        before = calls.get(str(entry.call))
        tokens = [*before.tokens, *entry.tokens] if before else entry.tokens
        finish = entry.finish or (before.finish if before else None)
        calls[str(entry.call)] = msgspec.structs.replace(entry, tokens=tokens, finish=finish)
    return {call: entry for call, entry in calls.items() if entry.finish is None and entry.tokens}


def _lines(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    yield from lines(path)


def prefix(record: Restore, row: Row) -> tuple[int, int] | None:
    """The range of the row's tokens that a record says were put back, if they can be placed."""
    if row.token_ids is None or record.prefix_tokens is None:
        return None
    if record.start is not None:
        start = record.start
    elif record.tail_tokens is not None:
        start = len(row.token_ids) - record.prefix_tokens - record.tail_tokens
    elif row.loss_mask is not None:
        start = last_call(row.loss_mask)
    else:
        return None
    end = start + record.prefix_tokens
    return (start, end) if start >= 0 and end <= len(row.token_ids) else None


def checked(record: Restore, row: Row) -> Iterator[Failure]:
    """How the row, as the restored run trained it, contradicts what the run says it restored."""
    where, call = row_of(record), spoken(name(record))
    tokens, mask = row.token_ids, row.loss_mask

    def failure(field: str, index: int | None, trained: object, recorded: object, why: str) -> Failure:
        return Failure(
            row=where, field=field, first_difference=index, reference=trained, restored=recorded, why=why
        )

    if record.prefix_tokens is not None and record.prefix_tokens < 1:
        yield failure("prefix_tokens", None, None, record.prefix_tokens, f"{call} put back no token")
        return
    if record.tail_tokens is not None and record.tail_tokens < 1:
        yield failure(
            "tail_tokens", None, None, record.tail_tokens, f"{call} decoded nothing after its prefix"
        )
    if None not in (record.max_tokens, record.budget, record.prefix_tokens):
        assert (
            record.max_tokens is not None and record.budget is not None and record.prefix_tokens is not None
        )
        left = record.budget - record.prefix_tokens
        if record.max_tokens != left:
            why = f"{call} was to decode {record.max_tokens} tokens more; its budget leaves {left}"
            yield failure("max_tokens", None, left, record.max_tokens, why)
    span = prefix(record, row)
    if tokens is None:
        return
    if span is None:
        if record.prefix_tokens is not None and record.tail_tokens is not None:
            total = record.prefix_tokens + record.tail_tokens
            why = f"{call} says it has {total} tokens, and the row has {len(tokens)}"
            yield failure("prefix_tokens", None, len(tokens), total, why)
        return
    start, end = span
    if mask is not None and len(mask) == len(tokens) and record.start is not None:
        trained_to = next((i for i in range(start, len(mask)) if not mask[i]), len(mask))
        if (start and mask[start - 1]) or trained_to < end:
            why = (
                f"{call} says it began at index {start}, and no trained stretch of {end - start} begins there"
            )
            yield failure("start", start, None, start, why)
            return
        if record.tail_tokens is not None and trained_to - end != record.tail_tokens:
            tail = trained_to - end
            why = f"{call} decoded {record.tail_tokens} tokens after its prefix, and the row has {tail}"
            yield failure("tail_tokens", end, tail, record.tail_tokens, why)
    elif mask is not None and len(mask) == len(tokens):
        call_start = last_call(mask)
        if start != call_start:
            why = (
                f"{call} says its {len(tokens) - start} tokens end the row, from index {start} on; the row's "
                f"last call begins at {call_start}"
            )
            yield failure("tail_tokens", min(start, call_start), call_start, start, why)
            return
    if record.prefix_sha256 is not None:
        trained = sha256(tokens[start:end])
        if trained != record.prefix_sha256.lower():
            why = f"the row's tokens {start} to {end - 1} are not those that {call} says it put back"
            yield failure("prefix_sha256", start, trained, record.prefix_sha256[:64], why)
    if record.request_sha256 is not None and sha256(tokens[:end]) != record.request_sha256.lower():
        why = f"{call} was not asked to continue the row's first {end} tokens: its prompt and its prefix"
        yield failure("request_sha256", end, sha256(tokens[:end]), record.request_sha256[:64], why)
