"""A difference's surroundings: the tokens around it, what they are, and whether a restore put them there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from reviewbot.errors import NeedsExtra, UnreadableFile, UsageError
from reviewbot.parity.result import Context, Token
from reviewbot.parity.rows import Row, place

BEFORE, AFTER = 8, 6  # tokens shown before and after the first different one

# A token's text.
Decode = Callable[[int], str]


def around(
    reference: Row, restored: Row, at: int, prefix: tuple[int, int] | None, decode: Decode | None
) -> Context:
    """The tokens around index `at` of both rows."""
    ours, theirs = reference.token_ids or [], restored.token_ids or []
    mask = reference.loss_mask or []
    tokens = tuple(
        Token(
            index=index,
            reference=_at(ours, index),
            restored=_at(theirs, index),
            reference_text=_text(ours, index, decode),
            restored_text=_text(theirs, index, decode),
            trained=bool(mask[index]) if index < len(mask) else None,
        )
        for index in range(max(0, at - BEFORE), min(at + AFTER + 1, max(len(ours), len(theirs))))
    )
    inside = prefix[0] <= at < prefix[1] if prefix else None
    return Context(
        part=place(reference.loss_mask, at), tokens=tokens, restored_prefix=prefix, in_restored_prefix=inside
    )


def _at(values: Sequence[int], index: int) -> int | None:
    return values[index] if index < len(values) else None


def _text(values: Sequence[int], index: int, decode: Decode | None) -> str | None:
    return decode(values[index]) if decode and index < len(values) else None


def tokenizer(given: str) -> Decode:
    """Decodes by a `tokenizer.json` or the folder that holds one; `ascii` takes ids for character codes.

    Raises `UsageError`, `UnreadableFile`.
    """
    if given == "ascii":
        return lambda token: chr(token) if 0 <= token < 128 else "?"
    path = Path(given) / "tokenizer.json" if Path(given).is_dir() else Path(given)
    if not path.is_file():
        raise UsageError(f"--tokenizer {given}: no tokenizer.json there")
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise NeedsExtra("--tokenizer", "tokenizers", "parity") from None
    try:
        loaded = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare exceptions
        raise UnreadableFile(str(path), f"no tokenizer: {str(error)[:200]}") from None
    return lambda token: str(loaded.decode([token], skip_special_tokens=False)) if 0 <= token < 2**31 else "?"
