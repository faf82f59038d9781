"""What a comparison found: the types that the renderers and scripts see."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from reviewbot.parity.rows import Identity

Verdict = Literal["pass", "fail", "set_aside", "inconclusive"]

# What the digest of an environment is of: equal digests, equal conditions.
DIGEST_OF = (
    "a digest of what the verdict holds for: versions, limits, the format and size of each dump, and what "
    "each run says of its engine and settings"
)


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """One token of a difference's surroundings. `text` is None without a tokenizer."""

    index: int
    reference: int | None
    restored: int | None
    reference_text: str | None = None
    restored_text: str | None = None
    trained: bool | None = None


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """Where in its row a difference lies. `part` is such as `turn 2, sampled`.

    `restored_prefix` is the range of token indices that a restore put back, end excluded.
    """

    part: str
    tokens: tuple[Token, ...]
    restored_prefix: tuple[int, int] | None = None
    in_restored_prefix: bool | None = None


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One difference that nothing excuses.

    `reference` and `restored` are the values at the first difference, or of the whole field.
    """

    row: Identity | None
    field: str
    first_difference: int | None = None
    reference: Any = None
    restored: Any = None
    why: str
    context: Context | None = None


class SetAside(msgspec.Struct, frozen=True, kw_only=True):
    """A row that differs from a near-tie on. Gaps are between the two candidates' log-probs, in nats.

    `gap_prefill` is that in a clean pass over the reference's tokens, where the engine was at hand.
    `tolerance` is what they may be at most, `also_differs` names other fields that differ in consequence.
    """

    row: Identity
    first_difference: int
    reference: int
    restored: int
    gap_reference: float
    gap_restored: float
    tolerance: float
    gap_prefill: float | None = None
    also_differs: tuple[str, ...] = ()
    context: Context | None = None


class Logprobs(msgspec.Struct, frozen=True, kw_only=True):
    """Log-probs of the same trained tokens in both runs.

    `noise` is the largest gap that passes; where not `dtype_known`, that of the coarsest dtype.
    `rank_correlation` is Spearman's, over `sampled` of the tokens.
    `gaps` counts those tokens that are not bit-identical, about, by binary exponent: (-10, 3) stands for
    three gaps from 2 to the power of -10 up to twice that.
    """

    noise: float
    tokens: int
    bit_identical: int
    max_difference: float | None
    mean_difference: float | None
    rank_correlation: float | None
    sampled: int
    not_a_number: int
    gaps: tuple[tuple[int, int], ...] = ()
    dtype_known: bool = True


class Planted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one planted fault. `caught_by` names the fields of the failures that it caused."""

    fault: str
    says: str
    planted: bool
    caught: bool
    caught_by: tuple[str, ...] = ()
    first: str | None = None


class RowMismatch(msgspec.Struct, frozen=True, kw_only=True):
    """The gaps of one row, in nats."""

    row: Identity
    tokens: int
    max_difference: float
    mean_difference: float


class Mismatch(msgspec.Struct, frozen=True, kw_only=True):
    """How far the trainer's log-probs of sampled tokens are from the engine's, in nats.

    `ratios_outside` is the share of tokens whose ratio of probabilities leaves 0.9 to 1.1, `kl` the mean of
    the estimator k3. `max_advantage_difference` is between advantages as written and as computed again.
    """

    rows: int
    tokens: int
    seconds: float
    dtype: str
    device: str
    max_difference: float
    mean_difference: float
    ratios_outside: float
    kl: float
    max_advantage_difference: float | None
    worst: tuple[RowMismatch, ...]


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of a run; None for what its workload does not have.

    `saved_share` is the share of tokens that the restore did not decode. `command` and `commits` are those of
    the repository's own harness.
    """

    workload: str
    seconds: float
    folder: str
    tokens: int | None = None
    tokens_per_second: float | None = None
    saved_share: float | None = None
    restored_decoded: int | None = None
    cut_calls: int | None = None
    command: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one comparison. `why` gives the reasons of a verdict other than pass.

    `hints` are what most likely lies behind rows that do not meet. `sides` are what the two runs are called,
    `places` the file or the folder of each.
    `profile` has seconds by stage, where they were asked for.
    """

    verdict: Verdict
    why: tuple[str, ...]
    rows: int
    failures: tuple[Failure, ...]
    failures_total: int
    set_aside: tuple[SetAside, ...]
    set_aside_allowed: int
    restored_calls: int | None
    repeated_restores: tuple[str, ...]
    vacuous_fields: tuple[str, ...]
    absent_fields: tuple[str, ...]
    missing_rows: tuple[Identity, ...]
    extra_rows: tuple[Identity, ...]
    repeated_rows: tuple[Identity, ...]
    groups: int
    groups_with_unequal_rewards: int
    max_logprob_difference: float | None
    max_advantage_difference: float | None
    logprobs: Logprobs | None
    torn_lines: tuple[tuple[str, int], ...]
    could_not_notice: tuple[str, ...]
    environment: dict[str, Any]
    hints: tuple[str, ...] = ()
    planted: tuple[Planted, ...] = ()
    mismatch: Mismatch | None = None
    run: Run | None = None
    sides: tuple[str, str] = ("reference", "restored")
    places: tuple[str, str] = ("", "")
    profile: dict[str, float] | None = None
