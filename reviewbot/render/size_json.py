"""A change's size as the JSON that scripts and pages rely on."""

from __future__ import annotations

import msgspec

from reviewbot.errors import SourceError
from reviewbot.review.size.result import Size


def encode(size: Size) -> str:
    """All of it, ending in a newline."""
    return msgspec.json.format(msgspec.json.encode(size), indent=2).decode() + "\n"


def decode(text: str | bytes, where: str) -> Size:
    """The size that `encode` wrote. Raises `SourceError`, which names `where` it was read."""
    try:
        return msgspec.json.decode(text, type=Size)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(f"{where}: not a size of version 1 ({error})") from None
