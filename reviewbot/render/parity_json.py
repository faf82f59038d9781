"""The outcome of a parity comparison as JSON, for scripts."""

from __future__ import annotations

import msgspec

from reviewbot.parity.result import Result


def encode(result: Result) -> str:
    """One object over several lines."""
    return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"
