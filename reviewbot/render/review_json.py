"""A review as the JSON that scripts, pages and the poster rely on."""

from __future__ import annotations

import msgspec

from reviewbot.errors import SourceError
from reviewbot.model import Review


def encode(review: Review) -> str:
    """The review with all its rounds, threads and bodies, ending in a newline."""
    return msgspec.json.format(msgspec.json.encode(review), indent=2).decode() + "\n"


def decode(text: str | bytes, where: str) -> Review:
    """The review that `encode` wrote. Raises `SourceError`, which names `where` it was read."""
    try:
        return msgspec.json.decode(text, type=Review)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SourceError(f"{where}: not a review of version 1 ({error})") from None
