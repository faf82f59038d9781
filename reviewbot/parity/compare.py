"""Two runs compared row for row, and the verdict.

The order of judgement: broken structure and exact fields fail; of what is left, a run that could not have
shown a difference is inconclusive; rows that differ from a near-tie on are set aside, up to a bound; the rest
passes, and the result says what it could not have noticed.
"""

from __future__ import annotations

import hashlib
import math
import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from reviewbot import __version__
from reviewbot.parity import hints
from reviewbot.parity import restores as restoring
from reviewbot.parity.context import Decode, around
from reviewbot.parity.dumps.dump import Dump
from reviewbot.parity.fit import Misfits
from reviewbot.parity.judge import NOISE, Difference, Judged, Limits, judged
from reviewbot.parity.pairing import Alone, Pair, Repeated, Side, paired
from reviewbot.parity.restores import Begun, Restores
from reviewbot.parity.result import Failure, Logprobs, Result, SetAside, Verdict
from reviewbot.parity.rows import Identity, group, recorded, sha256
from reviewbot.parity.tally import Fields, Groups, Pairs
from reviewbot.parity.unnamed import OneSided, assumed, beside

LISTED = 1000  # failures, and rows of each kind, that a result lists
SHARE = 0.25  # of the rows may be set aside where no control leg says how many
UNEQUAL = 0.5  # of the groups must have unequal rewards

Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Options:
    """How to compare. `restores` is None where nothing is known of restores.

    `begun` are the calls that the killed run's journal shows begun and not ended. `control_flips` counts the
    rows in which the control leg differs from the reference. `manifests` are what the two runs say of
    themselves, `doubts` why they would show nothing even if they were equal, `sides` what to call them.
    """

    limits: Limits = field(default_factory=Limits)
    restores: Restores | None = None
    begun: dict[str, Begun] | None = None
    control_flips: int | None = None
    min_unequal_groups: float = UNEQUAL
    decode: Decode | None = None
    manifests: tuple[Manifest | None, Manifest | None] = (None, None)
    same_files: bool = False
    doubts: tuple[str, ...] = ()
    sides: tuple[str, str] = ("reference", "restored")


@dataclass
class _State:
    """All that is gathered while rows go by."""

    options: Options
    fields: Fields = field(default_factory=Fields)
    groups: Groups = field(default_factory=Groups)
    pairs: Pairs = field(default_factory=Pairs)
    failures: list[Failure] = field(default_factory=list)
    failures_total: int = 0
    set_aside: list[SetAside] = field(default_factory=list)
    advantages: list[tuple[tuple[int, int | str], Failure]] = field(default_factory=list)
    advantage_difference: float | None = None
    missing: list[Identity] = field(default_factory=list)
    extra: list[Identity] = field(default_factory=list)
    repeated: list[Identity] = field(default_factory=list)
    restored_rows: set[Identity] = field(default_factory=set)
    candidates: bool = False
    meetings: hints.Meetings = field(default_factory=hints.Meetings)
    misfits: Misfits = field(default_factory=Misfits)
    one_sided: OneSided = field(default_factory=OneSided)
    rows: int = 0

    def fail(self, failure: Failure) -> None:
        self.failures_total += 1
        if len(self.failures) < LISTED:
            self.failures.append(failure)


def compared(
    reference: Dump, restored: Dump, options: Options, step: Callable[[int], None] = lambda _: None
) -> Result:
    """Compares every row of both dumps; `step` is told the number of bytes read, now and then.

    Raises `UnreadableFile` for a dump that is broken.
    """
    state = _State(options)
    for event in paired(reference, restored):
        if isinstance(event, Pair):
            _pair(state, event)
        else:
            _other(state, event)
        step(reference.read + restored.read)
    _restores(state)
    _advantages(state)
    return _result(state, reference, restored)


def flips(
    reference: Dump, control: Dump, limits: Limits, step: Callable[[int], None] = lambda _: None
) -> int:
    """In how many rows a control run, the reference again at another batch size, has other tokens."""
    found = compared(reference, control, Options(limits=limits), step)
    failed = {failure.row for failure in found.failures if failure.field == "token_ids"}
    return len(failed | {row.row for row in found.set_aside})


def _pair(state: _State, pair: Pair) -> None:
    reference, restored = pair.reference, pair.restored
    state.rows += 1
    state.meetings.met[pair.row[0]] += 1
    state.fields.add(reference)
    state.fields.saw(restored)
    state.misfits.add(pair.row, reference, *([restored] if restored is not reference else []))
    state.one_sided.add(pair.row, pair.one_sided)
    state.groups.add(reference)
    state.candidates = state.candidates or recorded(restored.top_logprobs) or recorded(restored.top_logits)
    outcome = judged(
        reference, restored, state.options.limits, pair.same_bytes, pair.finite, state.options.sides
    )
    cut = (
        outcome.tie_at
        if outcome.tie
        else next((d.at for d in outcome.differences if d.field == "token_ids"), None)
    )
    state.pairs.add(outcome.logprobs, reference, restored, cut)
    if outcome.logprobs is not None:
        limits = state.options.limits
        state.pairs.noise = max(state.pairs.noise, limits.logprob(reference))
        state.pairs.guessed = state.pairs.guessed or limits.guessed(reference)
    state.pairs.not_a_number += outcome.not_a_number
    if reference.advantages is not None and restored.advantages is not None:
        state.advantage_difference = max(state.advantage_difference or 0.0, outcome.advantage_difference)
    records = state.options.restores.by_row.get(pair.row, []) if state.options.restores else []
    prefix = next((span for record in records if (span := restoring.prefix(record, restored))), None)
    _differences(state, pair, outcome, prefix)
    for record in records:
        for failure in restoring.checked(record, restored):
            state.fail(failure)
    if records:
        state.restored_rows.add(pair.row)
    if not outcome.differences and not outcome.tie and (split := state.groups.split(reference, restored)):
        state.fail(
            Failure(
                row=pair.row, field="group_id", reference=reference.group, restored=restored.group, why=split
            )
        )


def _differences(state: _State, pair: Pair, outcome: Judged, prefix: tuple[int, int] | None) -> None:
    decode = state.options.decode

    def context(at: int | None, of_tokens: bool) -> Any:
        return (
            around(pair.reference, pair.restored, at, prefix, decode)
            if at is not None and of_tokens
            else None
        )

    if outcome.tie:
        ours, theirs = pair.reference.token_ids or [], pair.restored.token_ids or []
        state.set_aside.append(
            SetAside(
                row=pair.row,
                first_difference=outcome.tie_at,
                reference=ours[outcome.tie_at],
                restored=theirs[outcome.tie_at],
                gap_reference=outcome.tie.gap_reference,
                gap_restored=outcome.tie.gap_restored,
                tolerance=outcome.tie.tolerance,
                also_differs=outcome.tie_also,
                context=context(outcome.tie_at, True),
            )
        )
    if outcome.tie or any(
        d.field in ("reward", "token_ids", "loss_mask", "sample_mask") for d in outcome.differences
    ):
        state.groups.changed.add(group(pair.reference))
    for difference in outcome.differences:
        state.fail(_failure(pair.row, difference, context(difference.at, difference.field != "text")))
    if outcome.advantage and len(state.advantages) < LISTED:
        state.advantages.append((group(pair.reference), _failure(pair.row, outcome.advantage, None)))


def _failure(row: Identity, difference: Difference, context: Any) -> Failure:
    return Failure(
        row=row,
        field=difference.field,
        first_difference=difference.at,
        reference=_json(difference.reference),
        restored=_json(difference.restored),
        why=difference.why,
        context=context,
    )


def _json(value: Any) -> Any:
    """JSON has no NaN: a word stands for it."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _other(state: _State, event: Alone | Repeated) -> None:
    one, other = state.options.sides
    lists: dict[tuple[type, Side], tuple[list[Identity], str]] = {
        (Alone, "reference"): (state.missing, f"the {other} run did not train it"),
        (Alone, "restored"): (state.extra, f"the {one} run did not train it"),
        (Repeated, "reference"): (state.repeated, f"the {one} run trained it more than once"),
        (Repeated, "restored"): (state.repeated, f"the {other} run trained it more than once"),
    }
    rows, why = lists[type(event), event.side]
    if isinstance(event, Alone):
        state.meetings.alone[event.side == "restored"][event.row[0]] += 1
    if event.row not in rows[-1:] and len(rows) < LISTED:
        rows.append(event.row)
    state.groups.changed.add((event.row[0], event.row[1]))
    where = f" ({event.where.path.name}:{event.where.line})"
    state.fail(Failure(row=event.row, field="row", why=why + where))


def _restores(state: _State) -> None:
    """Judges the restore records as a whole, and the calls that the journal says were cut."""
    known, cut = state.options.restores, state.options.begun
    if known is None:
        return
    for call in known.repeated:
        record = next(record for record in known.records if restoring.name(record) == call)
        times = sum(restoring.name(other) == call for other in known.records)
        why = f"{restoring.spoken(call)} was restored {times} times"
        state.fail(Failure(row=restoring.row_of(record), field="restores", why=why))
    for named, records in known.by_row.items():
        if named not in state.restored_rows:
            why = f"{restoring.name(records[0])} was restored, and no row that both runs trained holds it"
            state.fail(Failure(row=named, field="restores", why=why))
        elif len(names := {restoring.name(record) for record in records}) > 1:
            why = f"{' and '.join(sorted(names))} both say they end this row"
            state.fail(Failure(row=named, field="restores", why=why))
    for key in known.left_keys:
        why = f"the saved prefix {key[:80]!r} is still there after the run"
        state.fail(Failure(row=None, field="stale_keys", restored=key[:80], why=why))
    done = {restoring.name(record) for record in known.records}
    for call, entry in (cut or {}).items():
        row = (
            (entry.step, entry.prompt, entry.sample or 0)
            if entry.step is not None and entry.prompt is not None
            else None
        )
        if call not in done:
            saved = f"{len(entry.tokens)} tokens saved"
            why = f"{restoring.spoken(call)} was cut with {saved}, and none of them was put back"
            state.fail(Failure(row=row, field="restores", why=why, reference=len(entry.tokens), restored=0))
            continue
        record = next(record for record in known.records if restoring.name(record) == call)
        if record.prefix_tokens is not None and record.prefix_tokens != len(entry.tokens):
            put = f"and {record.prefix_tokens} were put back"
            why = f"{restoring.spoken(call)} was cut at {len(entry.tokens)} tokens, {put}"
            state.fail(
                Failure(
                    row=row,
                    field="prefix_tokens",
                    reference=len(entry.tokens),
                    restored=record.prefix_tokens,
                    why=why,
                )
            )
        elif record.prefix_sha256 not in (None, saved := sha256(entry.tokens)):
            why = f"what was put back of {restoring.spoken(call)} is not what the killed run had saved of it"
            recorded_hash = (record.prefix_sha256 or "")[:64]
            state.fail(
                Failure(row=row, field="prefix_sha256", reference=saved, restored=recorded_hash, why=why)
            )


def _advantages(state: _State) -> None:
    """An advantage follows from its group's rewards: where one of those changed, only that is reported."""
    for where, failure in state.advantages:
        if where not in state.groups.changed:
            state.fail(failure)


def allowed(rows: int, control_flips: int | None) -> int:
    """How many rows may be set aside: the control leg's flips and twice their spread, or a share."""
    if control_flips is None:
        return math.floor(SHARE * rows)
    return control_flips + math.ceil(2 * math.sqrt(control_flips + 1))


def _doubts(state: _State, reference: Dump, restored: Dump) -> Iterator[str]:
    """Why a run without a failure would still show nothing."""
    options, fields, groups = state.options, state.fields, state.groups
    yield from options.doubts
    if options.same_files:
        yield "both sides are the same files"
    if not state.rows:
        yield "there is nothing to compare: no row is in both runs"
        return
    if options.restores is not None and not options.restores.calls:
        yield "no call was restored"
    if "token_ids" in fields.absent and "text" not in fields.written:
        yield "neither run wrote tokens or text"
    elif not (fields.tokens or fields.text):
        what = "text" if "token_ids" in fields.absent else "a token"
        yield f"no row has {what}, so a wrong one would not be seen"
    elif not fields.trained:
        yield (
            "no row has a trained token: its loss mask or its sample mask is 0 throughout, so nothing that "
            "is trained could have differed"
        )
    yield from state.misfits.doubts()
    yield from state.one_sided.doubts()
    if "reward" in fields.absent:
        if options.min_unequal_groups:
            yield (
                "neither run wrote rewards: --map reward=FIELD names what stands for them, "
                "--min-unequal-groups 0 says that there are none"
            )
    elif "reward" in fields.vacuous:
        yield "all rewards are equal, so a wrong one would not be seen"
    elif groups.with_siblings and groups.unequal < options.min_unequal_groups * groups.with_siblings:
        yield f"rewards differ in only {groups.unequal} of {groups.with_siblings} groups"
    most = allowed(state.rows, options.control_flips)
    if len(state.set_aside) > most:
        bound = "a quarter of the rows" if options.control_flips is None else "the control leg's flips"
        yield f"{len(state.set_aside)} rows are set aside, more than {most}, which is bounded by {bound}"
    aside = {row.row for row in state.set_aside}
    if state.restored_rows and state.restored_rows <= aside:
        yield "every restored row is set aside, so nothing shows that a restore works"
    for dump in (reference, restored):
        if dump.torn:
            path, line = dump.torn[0]
            yield f"the {dump.name} run was killed while it wrote {Path(path).name}:{line}"
    if options.restores is not None and options.restores.torn:
        path, line = options.restores.torn
        yield f"the {options.sides[1]} run was killed while it wrote {Path(path).name}:{line}"


def _unnoticed(state: _State, reference: Dump, restored: Dump) -> Iterator[str]:
    """What this comparison could not have noticed, however wrong it had been."""
    options, fields = state.options, state.fields
    dumps = zip(options.sides, (reference, restored), strict=True)
    empty = [f"the {side} run has no rows" for side, dump in dumps if not dump.read]
    if not state.rows:
        yield f"anything within a row: {' and '.join(empty) or 'no row is in both runs'}"
    if "token_ids" in fields.absent and "text" in fields.written:
        yield "a wrong token where the text is the same: token ids were not written, only text was compared"
    elif "token_ids" in fields.absent:
        yield "a wrong token: neither token ids nor text was written"
    elif state.rows and not fields.tokens:
        yield (
            "a wrong token: no row has one, only text was compared"
            if fields.text
            else "a wrong token: no row has one"
        )
    for name in fields.absent:
        if name != "token_ids":
            yield f"a wrong value of {name}: neither run wrote it"
    for name in fields.vacuous:
        yield f"a value of {name} out of another row: it is the same in every row"
    if unused := sorted(reference.unused | restored.unused):
        yield f"a difference in a field that is never compared: {_named(unused)}"
    if one_sided := sorted(reference.unused ^ restored.unused):
        yield f"what {_named(one_sided)} should hold: only one run wrote it"
    yield from assumed(options.sides, (reference, restored))
    yield from beside(options.sides, (reference, restored))
    if state.pairs.seen and not state.pairs.tokens:
        yield "a wrong log-prob: none is there of a trained token that both runs have"
    elif state.pairs.seen:
        noise = f"a log-prob that is off by {state.pairs.noise:g} or less"
        if state.pairs.guessed:
            noise += f" (no dtype is known, so the widest noise holds: --dtype float32 allows {NOISE:g})"
        yield f"{noise}, and any at an untrained token"
    if state.advantage_difference is not None:
        limit = options.limits.advantage
        yield f"an advantage that is off by {limit:g} or less, or in a group with a changed reward"
    if not state.candidates and "token_ids" in fields.written:
        yield "whether a different token is a near-tie: candidates' log-probs were not recorded"
    yield from _unnoticed_restores(options)


def _named(fields: list[str]) -> str:
    return ", ".join(name[:40] for name in fields[:12])


def _unnoticed_restores(options: Options) -> Iterator[str]:
    known = options.restores
    if known is None:
        yield "a restore that decodes again from scratch: no restore records were given"
        return
    if options.begun is None:
        yield "a cut call that was decoded again from scratch: no journal of the cut run was given"
    if nameless := sum(restoring.row_of(record) is None for record in known.records):
        yield (
            "a restored call that is not in its row, or not at its end: "
            f"{nameless} of {len(known.records)} records do not say which row they ended up in"
        )
    for name in ("prefix_tokens", "prefix_sha256", "tail_tokens", "max_tokens"):
        if any(getattr(record, name) is None for record in known.records):
            yield f"a restore with a wrong {name}: records do not say it"
    if not known.left_keys and not known.looked:
        yield "saved prefixes left behind: the restored run does not say that it looked for any"


def _result(state: _State, reference: Dump, restored: Dump) -> Result:
    doubts = list(_doubts(state, reference, restored))
    verdict: Verdict = "pass"
    why: list[str] = []
    if state.failures_total:
        verdict, why = "fail", [failure.why for failure in state.failures[:3]]
    elif doubts:
        verdict, why = "inconclusive", doubts
    elif state.set_aside:
        verdict, why = "set_aside", [_aside(len(state.set_aside))]
    pairs, options = state.pairs, state.options
    known = options.restores
    return Result(
        verdict=verdict,
        why=tuple(why),
        hints=tuple(
            hints.found(
                (reference, restored),
                options.sides,
                state.meetings,
                (state.missing, state.extra),
                bool(state.repeated),
                len({failure.row for failure in state.failures if failure.field in ("token_ids", "text")}),
            )
        ),
        rows=state.rows,
        failures=tuple(state.failures),
        failures_total=state.failures_total,
        set_aside=tuple(state.set_aside[:LISTED]),
        set_aside_allowed=allowed(state.rows, options.control_flips),
        restored_calls=None if known is None else known.calls,
        repeated_restores=() if known is None else tuple(known.repeated),
        vacuous_fields=state.fields.vacuous,
        absent_fields=state.fields.absent,
        missing_rows=tuple(state.missing),
        extra_rows=tuple(state.extra),
        repeated_rows=tuple(state.repeated),
        groups=state.groups.with_siblings,
        groups_with_unequal_rewards=state.groups.unequal,
        max_logprob_difference=round(pairs.largest, 9) if pairs.tokens else None,
        max_advantage_difference=state.advantage_difference,
        logprobs=Logprobs(
            noise=pairs.noise,
            dtype_known=not pairs.guessed,
            tokens=pairs.tokens,
            bit_identical=pairs.identical,
            max_difference=round(pairs.largest, 9) if pairs.tokens else None,
            mean_difference=round(pairs.total / pairs.tokens, 12) if pairs.tokens else None,
            rank_correlation=pairs.rank_correlation(),
            sampled=len(pairs.sample),
            not_a_number=pairs.not_a_number,
            gaps=tuple(sorted(pairs.gaps.items())),
        )
        if pairs.seen
        else None,
        torn_lines=(*reference.torn, *restored.torn, *([known.torn] if known and known.torn else [])),
        could_not_notice=tuple(_unnoticed(state, reference, restored)),
        environment=_environment(reference, restored, options),
        sides=options.sides,
        places=(_place(reference), _place(restored)),
    )


def _place(dump: Dump) -> str:
    """The file of a dump, or the folder that holds all of its files."""
    own = [str(path) for path in dump.files if path not in dump.added]
    return os.path.commonpath(own) if own else ""


def _aside(rows: int) -> str:
    return f"{rows} rows differ from a near-tie on" if rows > 1 else "1 row differs from a near-tie on"


def _environment(reference: Dump, restored: Dump, options: Options) -> dict[str, Any]:
    """What the verdict holds for: versions, formats, limits, the runs' own manifests, and a digest of all."""
    said: dict[str, Any] = {
        "reviewbot": __version__,
        "python": platform.python_version(),
        "noise": options.limits.noise,
        "dtype": options.limits.dtype,
    }
    for dump, manifest in zip((reference, restored), options.manifests, strict=True):
        said[dump.name] = {
            "format": dump.format.name,
            "files": len(dump.files),
            "bytes": dump.read,
            "run": manifest,
        }
    digest = hashlib.sha256(msgspec.json.encode(said, order="deterministic")).hexdigest()
    return {**said, "digest": digest}
