"""One row of both runs, judged: what is exact first, then log-probs, and a near-tie only where one may be."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

from reviewbot.parity import near_tie
from reviewbot.parity.near_tie import Tie
from reviewbot.parity.rows import COMPARED, Row, first_difference, not_a_number

EXACT = ("float32", "float64")
NOISE = 5e-3  # nats between log-probs of one token, as measured at most for these
COARSE_NOISE = 0.07  # and for any other dtype
CHUNK = 128  # values compared at once
SHORT = 200  # characters of a value that a failure shows


@dataclass(frozen=True, slots=True)
class Limits:
    """What may differ: log-probs by `noise` nats, advantages by `advantage`. `dtype`: of rows without one."""

    noise: float | None = None
    advantage: float = 1e-3
    dtype: str | None = None

    def logprob(self, row: Row) -> float:
        """The noise for a row: as given, or what was measured for its dtype at most."""
        if self.noise is not None:
            return self.noise
        return NOISE if (row.dtype or self.dtype) in EXACT else COARSE_NOISE

    def guessed(self, row: Row) -> bool:
        """Whether the noise for a row is the widest for want of a dtype."""
        return self.noise is None and not (row.dtype or self.dtype)


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that differs, from index `at` on if it is a list."""

    field: str
    at: int | None
    reference: Any
    restored: Any
    why: str


@dataclass(frozen=True, slots=True)
class Compared:
    """Log-probs of one row: tokens compared, those bit-identical, largest and summed gap, finite gaps."""

    tokens: int
    identical: int
    largest: float
    total: float
    gaps: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """One row's outcome. `advantage` is a difference that a changed sibling may explain."""

    differences: tuple[Difference, ...] = ()
    advantage: Difference | None = None
    tie: Tie | None = None
    tie_at: int = 0
    tie_also: tuple[str, ...] = ()
    logprobs: Compared | None = None
    advantage_difference: float = 0.0
    not_a_number: int = 0


Sides = tuple[str, str]


def judged(
    reference: Row,
    restored: Row,
    limits: Limits,
    same_bytes: bool = False,
    finite: bool = False,
    sides: Sides = ("reference", "restored"),
) -> Judged:
    """The same row of both runs. With `same_bytes` both are equal, and only sense is checked.

    `finite` says that no list has a value that is no number. `sides` are what the runs are called.
    """
    numbers = _NUMBERS if finite else _NUMBERS + _LISTS
    if same_bytes:
        same = None if reference.logprobs is None else _identical(reference, reference.logprobs)
        return _sensible(reference, restored, Judged(logprobs=same), sides, numbers)
    dropped = [
        Difference(name, None, _brief(one), _brief(other), f"the {sides[other is None]} run did not "
                   f"write {name}")
        for name in COMPARED
        if ((one := getattr(reference, name)) is None) != ((other := getattr(restored, name)) is None)
    ]  # fmt: skip
    at = None
    if reference.token_ids is not None and restored.token_ids is not None:
        at = first_difference(reference.token_ids, restored.token_ids)
    if at is not None:
        return _sensible(
            reference, restored, _tokens_differ(reference, restored, at, limits, dropped), sides, numbers
        )
    differences = [*dropped, *filter(None, (_exact(n, reference, restored) for n in _EXACT_AFTER_TOKENS))]
    logprobs, too_far = _logprobs("logprobs", reference, restored, limits.logprob(reference))
    trainers = _trainers(reference, restored, limits.logprob(reference))
    advantage, gap = _advantages(reference, restored, limits.advantage)
    differences += [found for found in (too_far, trainers) if found]
    judged = Judged(
        differences=tuple(differences), advantage=advantage, logprobs=logprobs, advantage_difference=gap
    )
    return _sensible(reference, restored, judged, sides, numbers)


_NUMBERS = ("reward", "sample_mask")
_LISTS = ("logprobs", "prev_logprobs", "advantages")
_EXACT_AFTER_TOKENS = ("text", "loss_mask", "reward", "sample_mask", "finish_reason", "extras")


def _tokens_differ(
    reference: Row, restored: Row, at: int, limits: Limits, dropped: list[Difference]
) -> Judged:
    ours, theirs = reference.token_ids or [], restored.token_ids or []
    masks_agree = _mask_until(reference, at) == _mask_until(restored, at)
    verdict = near_tie.judged(reference, restored, at, limits.dtype)
    others = [found for name in ("reward", "sample_mask") if (found := _exact(name, reference, restored))]
    if isinstance(verdict, Tie) and masks_agree and not dropped:
        return Judged(
            tie=verdict,
            tie_at=at,
            tie_also=tuple(found.field for found in others),
            logprobs=_until(reference, restored, at),
        )
    why = f"tokens differ from index {at} on"
    if len(ours) != len(theirs):
        why += f", and {len(ours)} tokens became {len(theirs)}"
    tokens = Difference(
        "token_ids",
        at,
        ours[at] if at < len(ours) else None,
        theirs[at] if at < len(theirs) else None,
        f"{why}; {verdict}" if isinstance(verdict, str) else why,
    )
    mask = None if masks_agree else _exact("loss_mask", reference, restored)
    differences = [tokens, *([mask] if mask else []), *others, *dropped]
    return Judged(differences=tuple(differences), logprobs=_until(reference, restored, at))


def _mask_until(row: Row, at: int) -> list[int | float | bool]:
    return (row.loss_mask or [])[:at]


def _exact(name: str, reference: Row, restored: Row) -> Difference | None:
    one, other = getattr(reference, name), getattr(restored, name)
    if one is None or other is None or one is other or one == other:
        return None
    if name == "extras":
        for key in sorted(one.keys() | other.keys()):
            if one.get(key) != other.get(key):
                return Difference(key, None, _brief(one.get(key)), _brief(other.get(key)), f"{key} differs")
    if isinstance(one, list) or (isinstance(one, str) and name == "text"):
        at = first_difference(one, other)
        assert at is not None
        if isinstance(one, str):
            return Difference(
                name, at, one[at : at + 40], other[at : at + 40], f"the text differs at character {at}"
            )
        why = f"{name} differs from index {at} on"
        return Difference(name, at, _at(one, at), _at(other, at), why)
    return Difference(name, None, _brief(one), _brief(other), f"{name} differs")


def _identical(row: Row, values: list[float]) -> Compared:
    mask = row.loss_mask
    tokens = len(values) if mask is None or len(mask) != len(values) else len(mask) - mask.count(0)
    return Compared(tokens, tokens, 0.0, 0.0)


def _logprobs(
    name: str, reference: Row, restored: Row, noise: float
) -> tuple[Compared | None, Difference | None]:
    one, other = getattr(reference, name), getattr(restored, name)
    if one is None or other is None:
        return None, None
    if len(one) != len(other):
        at = min(len(one), len(other))
        return None, Difference(name, at, len(one), len(other), f"{len(one)} values became {len(other)}")
    if one is other:
        return _identical(reference, one), None
    same = _identical(reference, one)
    mask = reference.loss_mask if reference.loss_mask and len(reference.loss_mask) == len(one) else None
    gaps = _gaps(one, other, mask)
    finite = gaps if math.isfinite(sum(gaps)) else [gap for gap in gaps if math.isfinite(gap)]
    largest = max(finite, default=0.0)
    compared = Compared(same.tokens, same.tokens - len(gaps), largest, sum(finite), finite)
    if largest <= noise:
        return compared, None
    at = next(at for at in _trained(mask, len(one)) if noise < abs(one[at] - other[at]) < math.inf)
    why = f"{name} differ by {abs(one[at] - other[at]):.4g}, more than {noise:g}"
    return compared, Difference(name, at, one[at], other[at], why)


def _gaps(one: list[float], other: list[float], mask: Sequence[float] | None) -> list[float]:
    """How far two lists of one length are apart where they differ and are trained. Loops are in C."""
    found: list[float] = []
    for start in range(0, len(one), CHUNK):
        part = slice(start, start + CHUNK)
        left, right = one[part], other[part]
        if left == right:
            continue
        gaps: Iterable[float] = map(abs, map(operator.sub, left, right))
        gaps = filter(None, gaps if mask is None else compress(gaps, mask[part]))
        found += gaps
    if not math.isfinite(sum(found)):  # equal infinities are no number apart
        return [abs(one[at] - other[at]) for at in _trained(mask, len(one)) if one[at] != other[at]]
    return found


def _trained(mask: Sequence[float] | None, length: int) -> Iterable[int]:
    return range(length) if mask is None else compress(range(length), mask)


def _trainers(reference: Row, restored: Row, noise: float) -> Difference | None:
    """The trainer's log-probs, of which nothing is counted: as one distance says whether all are near."""
    one, other = reference.prev_logprobs, restored.prev_logprobs
    if one is other or (one and other and len(one) == len(other) and math.dist(one, other) <= noise):
        return None
    return _logprobs("prev_logprobs", reference, restored, noise)[1]


def _until(reference: Row, restored: Row, at: int) -> Compared | None:
    """Log-probs of the tokens before a difference, which are still the same in both."""
    if reference.logprobs is None or restored.logprobs is None:
        return None
    one, other = (
        Row(
            loss_mask=(row.loss_mask or [])[:at] if row.loss_mask else None,
            logprobs=(row.logprobs or [])[:at],
        )
        for row in (reference, restored)
    )
    return _logprobs("logprobs", one, other, math.inf)[0]


def _advantages(reference: Row, restored: Row, limit: float) -> tuple[Difference | None, float]:
    one, other = reference.advantages, restored.advantages
    if one is None or other is None or one is other or one == other:
        return None, 0.0
    ours, theirs = (value if isinstance(value, list) else [value] for value in (one, other))
    if len(ours) != len(theirs):
        at = min(len(ours), len(theirs))
        why = f"{len(ours)} advantages became {len(theirs)}"
        return Difference("advantages", at, len(ours), len(theirs), why), 0.0
    gaps = [abs(a - b) for a, b in zip(ours, theirs, strict=True)]
    largest = max((gap for gap in gaps if not math.isnan(gap)), default=0.0)
    at_ = next((i for i, gap in enumerate(gaps) if gap > limit), None)
    if at_ is None:
        return None, largest
    why = f"advantages differ by {gaps[at_]:.4g}, more than {limit:g}"
    return Difference("advantages", at_, ours[at_], theirs[at_], why), largest


def _sensible(reference: Row, restored: Row, judged: Judged, sides: Sides, numbers: Sequence[str]) -> Judged:
    """Adds what makes no sense in itself: numbers that are none, lists that do not fit the tokens."""
    found: list[Difference] = []
    count = 0
    for name in numbers:
        one, other = getattr(reference, name), getattr(restored, name)
        bad_one = _numberless(one)
        bad_other = bad_one if other is one else _numberless(other)
        bad, only_one = bad_one if other is one else bad_one + bad_other, bad_one != bad_other
        count += len(bad)
        listed = isinstance(one, list) or isinstance(other, list)
        # One number for the whole row is not the first token's, which a loss mask may leave out.
        trained = [at for at in bad if not listed or _counts(reference, at) or _counts(restored, at)]
        if not trained and not (bad and only_one):
            continue
        at = min(trained or bad)
        values = [_at(one, at), _at(other, at)]
        both = all(map(not_a_number, values))
        why = f"not a number{' in both runs' if both else ''}"
        found.append(Difference(name, at if listed else None, _brief(values[0]), _brief(values[1]), why))
    for side, row in zip(sides, (reference, restored), strict=True):
        if (
            row.token_ids is not None
            and row.loss_mask is not None
            and len(row.loss_mask) > len(row.token_ids)
        ):
            past = len(row.loss_mask) - len(row.token_ids)
            why = f"the {side} run trains {past} positions past the last token"
            found.append(Difference("loss_mask", len(row.token_ids), None, None, why))
            break
    if not found and not count:
        return judged
    named = {difference.field for difference in found}
    kept = [d for d in judged.differences if d.field not in named]
    return Judged(
        differences=(
            *[d for d in kept if d.field == "token_ids"],
            *found,
            *[d for d in kept if d.field != "token_ids"],
        ),
        advantage=None if "advantages" in named else judged.advantage,
        tie=None if found else judged.tie,
        tie_at=judged.tie_at,
        tie_also=judged.tie_also,
        logprobs=judged.logprobs,
        advantage_difference=judged.advantage_difference,
        not_a_number=count,
    )


def _at(values: Any, index: int) -> Any:
    """One value of a list, None past its end; a value that is no list is itself."""
    if not isinstance(values, list):
        return values
    return values[index] if index < len(values) else None


def _numberless(value: object) -> list[int]:
    if isinstance(value, list):
        # A sum tells in C whether anything in it is not finite.
        return [] if math.isfinite(sum(value)) else [i for i, v in enumerate(value) if not_a_number(v)]
    return [0] if not_a_number(value) else []


def _counts(row: Row, at: int) -> bool:
    return row.loss_mask is None or at >= len(row.loss_mask) or bool(row.loss_mask[at])


def _brief(value: Any) -> Any:
    if isinstance(value, str):
        return value[:SHORT]
    if isinstance(value, list):
        return f"{len(value)} values"
    if isinstance(value, dict):
        return f"{len(value)} fields"
    return value
