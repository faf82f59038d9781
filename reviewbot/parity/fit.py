"""Lists of a row that have not one entry a token: which value is which token's is then unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from reviewbot.parity.rows import Identity, Row, spoken

PER_TOKEN = ("loss_mask", "logprobs", "prev_logprobs", "advantages")


@dataclass
class Misfits:
    """By field: the first row whose list does not fit, its entries, its tokens, and how many such rows."""

    found: dict[str, tuple[Identity, int, int, int]] = field(default_factory=dict)

    def add(self, row: Identity, *runs: Row) -> None:
        """Counts a row once, whichever of its runs has a list that does not fit."""
        for name, (entries, tokens) in {n: sizes for one in runs for n, *sizes in _misfits(one)}.items():
            first, its_entries, its_tokens, rows = self.found.get(name, (row, entries, tokens, 0))
            self.found[name] = first, its_entries, its_tokens, rows + 1

    def doubts(self) -> Iterator[str]:
        """Why log-probs and the like were not compared token for token."""
        for name, (row, entries, tokens, rows) in self.found.items():
            yield (
                f"{name} does not fit the tokens of {rows} row{'s' * (rows != 1)}, such as {spoken(row)}, "
                f"with {entries} for {tokens} tokens: which one is which token's is unknown"
            )


def _misfits(row: Row) -> Iterator[tuple[str, int, int]]:
    """Field, entries and tokens of each list that does not fit. A list of one advantage is the row's."""
    if row.token_ids is None:
        return
    tokens = len(row.token_ids)
    for name in PER_TOKEN:
        values = getattr(row, name)
        if not isinstance(values, list) or len(values) == tokens:
            continue
        if name != "advantages" or len(values) != 1:
            yield name, len(values), tokens
