"""What is on disk of calls and tools while they run: one JSON line each, with the kernel after each step.

That is enough to survive SIGKILL of the process, though not the loss of the machine.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from reviewbot.errors import UnreadableFile
from reviewbot.parity.dumps.lines import cut_off, lines
from reviewbot.parity.rows import Identity


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens that a call gave, or a tool's answer (`tool`), or a saved prefix let go (`released`).

    `start` is the index in the row at which the call began.
    """

    call: str
    step: int
    prompt: int
    sample: int
    start: int = 0
    tokens: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    top: tuple[dict[int, float], ...] = ()
    scores: tuple[dict[int, float], ...] = ()
    finish: str | None = None
    tool: tuple[int, ...] | None = None
    released: bool = False

    @property
    def row(self) -> Identity:
        return self.step, self.prompt, self.sample


class Journal:
    """Appends entries to a file."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=1 << 20)

    def write(self, entry: Entry) -> None:
        """Takes one entry in; `flush` hands it on."""
        self._file.write(msgspec.json.encode(entry) + b"\n")

    def flush(self) -> None:
        """All entries so far are the kernel's when this returns."""
        self._file.flush()


def read(path: Path) -> list[Entry]:
    """All entries; a last line torn by the kill is left out. Raises `UnreadableFile` for damage before it."""
    decoder = msgspec.json.Decoder(Entry)
    entries: list[Entry] = []
    if not path.exists():
        return entries
    for number, data, complete in lines(path):
        try:
            entries.append(decoder.decode(data))
        except msgspec.DecodeError as error:
            if not complete and cut_off(data):
                break
            raise UnreadableFile(str(path), f"not a line of a journal: {error}", number) from None
    return entries


def mended(path: Path) -> None:
    """Cuts a torn last line off, so that what is appended stands on a line of its own."""
    data = path.read_bytes() if path.exists() else b""
    whole = data.rfind(b"\n") + 1
    if whole != len(data):
        with path.open("r+b") as file:
            file.truncate(whole)


def left(entries: list[Entry]) -> list[str]:
    """The calls whose saved tokens were never let go."""
    released = {entry.call for entry in entries if entry.released}
    return list(dict.fromkeys(entry.call for entry in entries if entry.tokens and entry.call not in released))
