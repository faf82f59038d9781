"""What is counted over all rows of a comparison, in memory that does not grow with their length."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import compress

from reviewbot.parity.judge import Compared
from reviewbot.parity.rows import COMPARED, OPTIONAL, Row, group

PER_ROW = 64  # gaps of one row that are counted; of more an even part, each for several
SAMPLE = 5_000  # pairs of log-probs kept for the rank correlation and for plots


@dataclass
class Fields:
    """Which fields were written, and which have one value in every row of both runs.

    `tokens`, `text` and `trained` say whether any row has a token, a text, a token that is trained.
    """

    rows: int = 0
    first: dict[str, object] = field(default_factory=dict)
    varied: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    tokens: bool = False
    text: bool = False
    trained: bool = False

    def add(self, row: Row) -> None:
        """Counts one row of the reference."""
        self.rows += 1
        self.tokens = self.tokens or bool(row.token_ids)
        self.text = self.text or bool(row.text)
        self.trained = self.trained or _trained(row)
        for name in COMPARED:
            if name in self.varied:
                continue
            value = getattr(row, name)
            if value is None:
                continue
            self.written.add(name)
            flat = _flat(value)
            if self.first.setdefault(name, flat) != flat:
                self.varied.add(name)

    def saw(self, row: Row) -> None:
        """Notes which fields a row of the restored run has, and which have another value there."""
        if len(self.written) < len(COMPARED):
            self.written |= {name for name in COMPARED if getattr(row, name) is not None}
        for name in self.first.keys() - self.varied:
            value = getattr(row, name)
            if value is not None and _flat(value) != self.first[name]:
                self.varied.add(name)

    @property
    def vacuous(self) -> tuple[str, ...]:
        """Fields with the same value in every row of both runs: comparing them shows nothing here."""
        if self.rows < 2:
            return ()
        return tuple(name for name in COMPARED if name in self.first and name not in self.varied)

    @property
    def absent(self) -> tuple[str, ...]:
        """Fields that neither run wrote, of those that a run is expected to write. None without pairs."""
        if not self.rows:
            return ()
        return tuple(name for name in COMPARED if name not in self.written and name not in OPTIONAL)


def _trained(row: Row) -> bool:
    """Whether training sees anything of a row; one without a mask is trained whole."""
    if row.sample_mask is not None and not row.sample_mask:
        return False
    return bool(row.token_ids or row.text) if row.loss_mask is None else any(row.loss_mask)


def _flat(value: object) -> object:
    """A list of one value repeated is that value, however long it is."""
    if isinstance(value, list) and value and value.count(value[0]) == len(value):
        return value[0]
    return value


@dataclass
class Groups:
    """Rewards by group, and the groups in which a row was changed, lost or set aside."""

    rewards: dict[tuple[int, int | str], tuple[int, float | None, bool]] = field(default_factory=dict)
    names: dict[tuple[int, int | str], int | str | None] = field(default_factory=dict)
    back: dict[tuple[int, int | str | None], tuple[int, int | str]] = field(default_factory=dict)
    changed: set[tuple[int, int | str]] = field(default_factory=set)

    def add(self, row: Row) -> None:
        """Counts one row of the reference."""
        key = group(row)
        size, first, unequal = self.rewards.get(key, (0, row.reward, False))
        self.rewards[key] = (size + 1, first, unequal or row.reward != first)

    def split(self, reference: Row, restored: Row) -> str | None:
        """Why the restored row is in another group than the reference's, if it is."""
        if reference.group is None and restored.group is None:
            return None
        step, prompt = group(reference)
        named = self.names.setdefault((step, prompt), restored.group)
        if named != restored.group:
            return f"its group is {restored.group!r}, and that of its siblings {named!r}"
        owner = self.back.setdefault((step, restored.group), (step, prompt))
        if owner != (step, prompt):
            return f"its group {restored.group!r} also holds rows of another group of the reference"
        return None

    @property
    def with_siblings(self) -> int:
        return sum(size > 1 for size, _, _ in self.rewards.values())

    @property
    def unequal(self) -> int:
        return sum(unequal for size, _, unequal in self.rewards.values() if size > 1)


@dataclass
class Pairs:
    """Log-probs of the same tokens: totals over all, and an even sample of pairs.

    `noise` is the largest gap that passed in any row, `guessed` whether that was so for want of a dtype.
    """

    tokens: int = 0
    identical: int = 0
    largest: float = 0.0
    total: float = 0.0
    not_a_number: int = 0
    seen: bool = False
    noise: float = 0.0
    guessed: bool = False
    gaps: Counter[int] = field(default_factory=Counter)
    stride: int = 8
    sample: list[tuple[float, float]] = field(default_factory=list)

    def add(self, compared: Compared | None, reference: Row, restored: Row, until: int | None) -> None:
        """Counts one row; only tokens before `until` are the same in both."""
        if compared is None:
            return
        self.seen = True
        self.tokens += compared.tokens
        self.identical += compared.identical
        self.largest = max(self.largest, compared.largest)
        self.total += compared.total
        every = len(compared.gaps) // PER_ROW + 1
        for gap in compared.gaps[::every]:
            self.gaps[math.frexp(gap)[1] - 1] += every
        self.sample += _strided(reference, restored, until, self.stride)
        while len(self.sample) > 2 * SAMPLE:
            self.sample = self.sample[::2]
            self.stride *= 2

    def rank_correlation(self) -> float | None:
        """Spearman's, with mean ranks for equal values; None where a side is constant or too short."""
        pairs = [(a, b) for a, b in self.sample if a - b == a - b]  # NaN has no rank
        if len(pairs) < 2:
            return None
        one, other = zip(*pairs, strict=True)
        try:
            return round(statistics.correlation(_ranks(one), _ranks(other)), 9)
        except statistics.StatisticsError:
            return None


def _strided(reference: Row, restored: Row, until: int | None, stride: int) -> Iterable[tuple[float, float]]:
    one, other, mask = reference.logprobs, restored.logprobs, reference.loss_mask
    if one is None or other is None:
        return ()
    # The phase depends on the row, so that not always the same positions are taken.
    part = slice(len(one) % stride, until, stride)
    pairs = zip(one[part], other[part], strict=False)
    return pairs if mask is None else compress(pairs, mask[part])


def _ranks(values: tuple[float, ...]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for at in order[start:end]:
            ranks[at] = (start + end - 1) / 2
        start = end
    return ranks
