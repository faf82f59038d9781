"""A review as the JSON that scripts, pages and the poster rely on."""

from __future__ import annotations

import re
from collections import Counter

import msgspec

from reviewbot.errors import SourceError
from reviewbot.model import Review

_ID = re.compile(r"C[1-9][0-9]*")


def encode(review: Review) -> str:
    """The review with all its rounds, threads and bodies, ending in a newline."""
    return msgspec.json.format(msgspec.json.encode(review), indent=2).decode() + "\n"


def decode(text: str | bytes, where: str) -> Review:
    """The review that `encode` wrote. Raises `SourceError`, which names `where` it was read."""
    try:
        made = msgspec.json.decode(text, type=Review)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(f"{where}: not a review of version 1 ({error})") from None
    names = [thread.id for thread in (*made.threads, *made.former)]
    strange = next((name for name in names if not _ID.fullmatch(name)), None)
    if strange is not None:
        raise SourceError(f"{where}: a finding is called {strange[:40]!r}, and ids are such as C17")
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise SourceError(f"{where}: two findings are called {twice}, and each has an id of its own")
    return made
