"""One trained row, as every reader hands it on."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

# Step, prompt and sample: which row it is. A prompt may carry a name instead of a number.
Identity = tuple[int, int | str, int]


class Row(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename={"group": "group_id"}):
    """A row that was trained on. `None` means that the run did not write the field.

    Lists have one entry a token, padding cut off. `loss_mask` is not 0 where a token was sampled and
    trained. `logprobs` are natural logarithms, of the engine that generated; `prev_logprobs` those of the
    trainer. `advantages` may be one number for the whole row. `extras` are further fields that must be equal.

    At sampled positions `top_logprobs` maps token ids to log-probs, `top_logits` to values before the
    softmax, `top_scores` to log-probs with the noise that they were sampled with. They stay undecoded until
    a difference asks for them.
    """

    step: int | None = None
    prompt: int | str | None = None
    sample: int | None = None
    group: int | str | None = None
    token_ids: list[int] | None = None
    text: str | None = None
    loss_mask: list[int | float | bool] | None = None
    reward: float | None = None
    sample_mask: float | bool | None = None
    logprobs: list[float] | None = None
    prev_logprobs: list[float] | None = None
    advantages: list[float] | float | None = None
    finish_reason: str | None = None
    extras: dict[str, Any] | None = None
    dtype: str | None = None
    top_logprobs: msgspec.Raw = msgspec.Raw(b"")
    top_logits: msgspec.Raw = msgspec.Raw(b"")
    top_scores: msgspec.Raw = msgspec.Raw(b"")


RAW = ("top_logprobs", "top_logits", "top_scores")


def recorded(raw: msgspec.Raw) -> bool:
    """Whether the run wrote an undecoded field."""
    return bytes(raw) not in (b"", b"null")


# What is compared, in the order in which a difference is shown.
EXACT = ("token_ids", "text", "loss_mask", "reward", "sample_mask", "finish_reason", "extras")
MEASURED = ("logprobs", "prev_logprobs", "advantages")
COMPARED = (*EXACT, *MEASURED)
# What the frameworks write only when asked: nothing is said where both runs lack it.
OPTIONAL = frozenset({"text", "finish_reason", "prev_logprobs", "extras"})


def identity(row: Row) -> Identity:
    """Step, prompt and sample; readers have filled them in."""
    assert row.step is not None and row.prompt is not None and row.sample is not None
    return row.step, row.prompt, row.sample


def spoken(row: Identity) -> str:
    """A row as a sentence names it, the name of its prompt cut short."""
    return f"step {row[0]}, prompt {str(row[1])[:40]}, sample {row[2]}"


def group(row: Row) -> tuple[int, int | str]:
    """The step and the prompt whose samples this row's advantage is relative to."""
    step, prompt, _ = identity(row)
    return step, prompt if row.group is None else f"={row.group}"


def first_difference(one: Sequence[object], other: Sequence[object]) -> int | None:
    """The first index at which two sequences differ; the shorter one's length if one begins the other."""
    if one is other or one == other:
        return None
    shorter = min(len(one), len(other))
    low, high = 0, shorter
    while high - low > 64:  # halves are compared in C
        middle = (low + high) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle)
    return next((index for index in range(low, high) if one[index] != other[index]), shorter)


def sha256(token_ids: Iterable[int]) -> str:
    """The hash of token ids: of their decimals, joined by commas."""
    return hashlib.sha256(",".join(map(str, token_ids)).encode()).hexdigest()


def last_call(loss_mask: Sequence[float]) -> int:
    """Where the last stretch of trained tokens begins; the length where the last token is untrained."""
    at = len(loss_mask)
    while at and loss_mask[at - 1]:
        at -= 1
    return at


def place(loss_mask: Sequence[float] | None, index: int) -> str:
    """What the token at `index` is: `prompt`, `turn 2, sampled` or `turn 2, tool result`."""
    if loss_mask is None or index >= len(loss_mask):
        return "past the end" if loss_mask is not None else "unknown: no loss mask"
    turn, before = 0, 0.0
    for value in loss_mask[: index + 1]:
        turn += bool(value) and not before
        before = value
    if before:
        return f"turn {turn}, sampled"
    return f"turn {turn}, tool result" if turn else "prompt"


def not_a_number(value: object) -> bool:
    """Whether a value is a float that is not finite."""
    return isinstance(value, float) and not math.isfinite(value)
