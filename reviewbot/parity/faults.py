"""Faults that a restore may have, planted one at a time into a restored leg.

Those of rows and of tool results may be planted into any leg.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reviewbot.parity.engines.engine import Request
from reviewbot.parity.rollout import Rollout

FAULTS = {
    "dropped-token": "a token of a saved prefix is lost",
    "doubled-token": "a token of a saved prefix comes twice",
    "swapped-tokens": "two neighbours in a saved prefix change places",
    "wrong-token": "a token of a saved prefix is another one",
    "budget-off-by-one": "a restored call may decode one token too many",
    "prefix-lost": "a restored call forgets its prefix and decodes again from scratch",
    "prefix-of-other-call": "two restored calls get each other's prefix",
    "wrong-tool-result": "a tool's result in a restored row is another one",
    "mask-shifted": "the loss mask of a restored row is off by one",
    "reward-changed": "a restored row's reward is another one",
    "row-lost": "a restored row is not trained",
    "row-twice": "a restored row is trained twice",
    "stale-key": "a saved prefix stays behind when its call has ended",
}


class Planted:
    """One fault, or none. `planted` says whether the run gave it an occasion."""

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.planted = name is None
        self._row: str | None = None

    def prefixes(self, rollouts: Sequence[Rollout]) -> None:
        """Spoils the prefixes of cut calls as they are put back."""
        long = [rollout for rollout in rollouts if len(rollout.saved) >= 2]
        if rollouts:
            self._row = rollouts[0].name
        if self.name == "prefix-of-other-call" and len(long) >= 2:
            one, other = _two_that_differ(long)
            if one.saved != other.saved:
                one_range, other_range = list(one.saved), list(other.saved)
                _replace(one, other_range)
                _replace(other, one_range)
                self.planted = True
            return
        for rollout in long:
            prefix, middle = list(rollout.saved), len(rollout.saved) // 2
            if self.name == "dropped-token":
                changed = prefix[:middle] + prefix[middle + 1 :]
            elif self.name == "doubled-token":
                changed = [*prefix[: middle + 1], *prefix[middle:]]
            elif self.name == "wrong-token":
                changed = [*prefix[:middle], prefix[middle] ^ 1, *prefix[middle + 1 :]]
            elif self.name == "swapped-tokens":
                at = next((i for i in range(len(prefix) - 1) if prefix[i] != prefix[i + 1]), None)
                if at is None:
                    continue
                changed = [*prefix[:at], prefix[at + 1], prefix[at], *prefix[at + 2 :]]
            elif self.name == "prefix-lost":
                changed = []
            else:
                return
            _replace(rollout, changed)
            self._row, self.planted = rollout.name, True
            return

    def request(self, request: Request) -> Request:
        """Spoils what a restored call asks the engine for."""
        if self.name != "budget-off-by-one" or self.planted:
            return request
        self.planted = True
        return Request(**{**_fields(request), "max_tokens": request.max_tokens + 1})

    def told(self, answer: tuple[int, ...], digits: Sequence[int]) -> tuple[int, ...]:
        """Spoils a tool's answer: one digit of it, in the first row that asks."""
        if self.name != "wrong-tool-result" or self.planted:
            return answer
        at = next((i for i, token in enumerate(answer) if token in digits), None)
        if at is None:
            return answer
        self.planted = True
        other = next(token for token in digits if token != answer[at])
        return (*answer[:at], other, *answer[at + 1 :])

    def releases(self) -> bool:
        """Whether an ended call's saved prefix is let go."""
        if self.name != "stale-key" or self.planted:
            return True
        self.planted = True
        return False

    def rows(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Spoils rows as they go to the trainer: one of a restored call; the first where there is none."""
        at = next((i for i, row in enumerate(rows) if self._row in (None, _name(row))), None)
        if at is None or self.planted:
            return rows
        row = dict(rows[at])
        if self.name == "mask-shifted":
            row["loss_mask"] = [0, *row["loss_mask"][:-1]]
        elif self.name == "reward-changed":
            row["reward"] = 1.0 - row["reward"]
        elif self.name not in ("row-lost", "row-twice"):
            return rows
        self.planted = True
        changed = {"row-lost": [], "row-twice": [row, row]}.get(str(self.name), [row])
        return [*rows[:at], *changed, *rows[at + 1 :]]


def _two_that_differ(rollouts: Sequence[Rollout]) -> tuple[Rollout, Rollout]:
    first = rollouts[0]
    return first, next((other for other in rollouts[1:] if other.saved != first.saved), rollouts[1])


def _replace(rollout: Rollout, prefix: list[int]) -> None:
    """Puts another prefix in the place of the saved one; what was recorded of tokens is fitted to it."""
    lists: tuple[list[Any], ...] = (rollout.mask, rollout.logprobs, rollout.top, rollout.scores)
    for values in lists:
        recorded = values[rollout.start :] or [0]
        fitted = [recorded[min(index, len(recorded) - 1)] for index in range(len(prefix))]
        values[rollout.start :] = fitted
    rollout.tokens[rollout.start :] = prefix
    rollout.saved = prefix


def _fields(request: Request) -> dict[str, Any]:
    return {name: getattr(request, name) for name in Request.__slots__}


def _name(row: dict[str, Any]) -> str:
    return f"{row['step']}-{row['prompt']}-{row['sample']}"
