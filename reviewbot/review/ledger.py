"""What a pull request's rounds have found so far, kept in the bot's own words on GitHub.

A ledger travels as one hidden line of Markdown. Anybody can paste such a line, so that whoever reads it
takes it from nothing but what the bot itself wrote; the line names its repository and pull request, and
carries a digest, so that neither a copy from elsewhere nor a half of one is taken for a ledger.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec

from reviewbot.model import Place, State

ROOM = 24_000  # characters that a ledger may take of the summary comment
MOST_ROUNDS = 20  # the first and the latest ones; those between are counted by their numbers
_LARGEST = 4 * 1024 * 1024  # bytes of an unpacked ledger
_LEDGER = re.compile(r"<!-- reviewbot-ledger ([0-9a-f]{16}) ([A-Za-z0-9+/=]+) -->")
_ENTRY = re.compile(r"<!-- reviewbot-thread ([0-9a-f]{16}) ([A-Za-z0-9+/=]+) -->")

_HIDDEN = "<!-- reviewbot-"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Dismissal:
    """Who dismissed a thread and why.

    It holds for the code whose digest is `code` (that of the entry at the time) and lapses when that
    changes. `by` is a login, "" where a comment in the code silences the finding. `head` is a full commit id.
    """

    by: str
    reason: str
    round: int
    head: str
    code: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One thread as it stood at the end of a round.

    `text` is a digest of the flagged lines, `code` of these and of the lines of all steps, `says` of the
    message, all three the same after a formatter ran. `since` is the round in which it came into its state.
    `line` is where its first line stood at the head of `last_round`. `comment` is the id of its comment on
    lines or on a file, None where it never had one.
    """

    id: str
    rule: str
    path: str
    unit: str
    line: int
    fingerprint: str
    text: str
    code: str
    says: str
    state: State
    since: int
    first_round: int
    last_round: int
    place: Place
    comment: int | None = None
    dismissal: Dismissal | None = None

    @property
    def live(self) -> bool:
        """Whether it still asks for something."""
        return self.state in ("new", "open", "back")

    @property
    def number(self) -> int:
        """17 for C17."""
        return int(self.id[1:])


@dataclass(frozen=True, slots=True)
class Look:
    """A round: its number and what it looked at, full commit ids."""

    number: int
    base: str
    head: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """All threads of a pull request, by id.

    `repository` is `OWNER/REPO`. `serial` grows with each change, so that of two copies the later is known.
    `rules` are the ids of the rules of the first round. `next` is the number of the next new thread: an id
    is never given twice, also when its entry had to be left out for want of room.
    """

    repository: str
    pull: int
    serial: int = 0
    rounds: tuple[Look, ...] = ()
    rules: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    next: int = 1

    def entry(self, name: str) -> Entry | None:
        """The entry of `C17`, also asked for as `c17`; None if there is none."""
        wanted = name.upper()
        return next((entry for entry in self.entries if entry.id == wanted), None)

    def with_entry(self, changed: Entry) -> Ledger:
        """The next ledger, with one entry in place of the one of the same id."""
        entries = tuple(changed if entry.id == changed.id else entry for entry in self.entries)
        return replace(self, entries=entries, serial=self.serial + 1)

    def dismissed(self, name: str, by: str, reason: str) -> Ledger:
        """The next ledger, in which `by` has dismissed a thread. Raises `KeyError` for an unknown id."""
        entry, last = self._known(name), self.rounds[-1]
        dismissal = Dismissal(by, reason, last.number, last.head, entry.code)
        return self.with_entry(replace(entry, state="dismissed", since=last.number, dismissal=dismissal))

    def reopened(self, name: str) -> Ledger:
        """The next ledger, in which a dismissed thread is open again. Raises `KeyError` for an unknown id."""
        entry, last = self._known(name), self.rounds[-1]
        return self.with_entry(replace(entry, state="open", since=last.number, dismissal=None))

    def _known(self, name: str) -> Entry:
        entry = self.entry(name)
        if entry is None:
            raise KeyError(name)
        return entry


def encode(ledger: Ledger, room: int = ROOM) -> str:
    """The ledger as one hidden line, not longer than `room` characters (at least 2,000).

    Where it does not fit, entries are left out: first those that have a comment of their own, whose mark
    holds the entry, then those that are fixed or gone, the oldest first.
    """
    line = _pack("ledger", ledger)
    if len(line) <= room:
        return line
    settled = ("fixed", "gone")
    # The last ones are the first to go.
    keep = sorted(
        ledger.entries, key=lambda one: (one.comment is not None, one.state in settled, -one.last_round)
    )
    low, high = 0, len(keep)  # `low` entries fit, `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (middle, high) if len(_pack("ledger", _cut(ledger, keep[:middle]))) <= room else (low, middle)
        )
    return _pack("ledger", _cut(ledger, keep[:low]))


def _cut(ledger: Ledger, kept: list[Entry]) -> Ledger:
    entries = tuple(sorted(kept, key=lambda entry: entry.number))
    return replace(ledger, entries=entries)


def hidden(body: str) -> list[str]:
    """The hidden lines of ours in a text that the bot wrote.

    The bot quotes code, and code can hold such a line: what stands in a fenced block is none.
    """
    return [line.rstrip() for line, fenced in _lines(body) if not fenced and line.startswith(_HIDDEN)]


def _lines(body: str) -> Iterator[tuple[str, bool]]:
    """The lines with their ends, and whether each is part of a fenced block."""
    fence = ""
    for line in body.splitlines(keepends=True):
        words = line.strip()
        inside = bool(fence)
        if fence:
            fence = "" if words == fence else fence
        elif words.startswith("```"):
            fence = "`" * (len(words) - len(words.lstrip("`")))
        yield line, inside or bool(fence)


def decode(body: str, repository: str, pull: int) -> Ledger | None:
    """The ledger of this pull request in a text that the bot wrote; None if it holds no whole one."""
    for match in filter(None, map(_LEDGER.fullmatch, reversed(hidden(body)))):
        found = _unpack(match, Ledger)
        if found is not None and (found.repository.lower(), found.pull) == (repository.lower(), pull):
            return found
    return None


@dataclass(frozen=True, slots=True)
class Mark:
    """What the comment of a thread holds of it: its entry, and the round that wrote it."""

    repository: str
    pull: int
    look: Look
    entry: Entry


def mark(made: Mark) -> str:
    """The mark as one hidden line."""
    return _pack("thread", made)


def marked(body: str, repository: str, pull: int) -> Mark | None:
    """The mark in a comment that the bot wrote on this pull request; None if it holds no whole one."""
    for match in filter(None, map(_ENTRY.fullmatch, reversed(hidden(body)))):
        found = _unpack(match, Mark)
        if found is not None and (found.repository.lower(), found.pull) == (repository.lower(), pull):
            return found
    return None


def bare(body: str) -> str:
    """The text without hidden lines of a ledger or an entry."""
    kept = (line if fenced else _ENTRY.sub("", _LEDGER.sub("", line)) for line, fenced in _lines(body))
    return "".join(kept).rstrip("\n") + "\n"


def _pack(kind: str, what: Ledger | Mark) -> str:
    raw = msgspec.json.encode(what)
    text = base64.b64encode(zlib.compress(raw, 9)).decode()
    return f"<!-- reviewbot-{kind} {_digest(raw)} {text} -->"


def _unpack(match: re.Match[str], kind: type[_T]) -> _T | None:
    try:
        packed = base64.b64decode(match[2], validate=True)
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(packed, _LARGEST)
        if unpacker.unconsumed_tail or _digest(raw) != match[1]:
            return None
        return msgspec.json.decode(raw, type=kind)
    except (binascii.Error, zlib.error, msgspec.DecodeError, ValueError):
        return None


def _digest(raw: bytes) -> str:
    return hashlib.blake2b(raw, digest_size=8).hexdigest()
