"""What a job reports that ran code of the pull request: hostile bytes to a few numbers and words, or a reason
why not.

Nothing here says which commit or pull request it is about: that comes from whoever started the job.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from reviewbot.parity.result import Result, Verdict

LARGEST = 4 * 1024 * 1024  # bytes of a result
SHOWN = 10  # differences or changes that are told

Kind = Literal["probe", "parity"]
KINDS: tuple[Kind, ...] = ("probe", "parity")
_Count = Annotated[int, Meta(ge=0, le=10**12)]
_Index = Annotated[int, Meta(ge=-(10**12), le=10**12)]
_Name = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9_.]{0,39}\Z")]
_Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
_Text = Annotated[str, Meta(max_length=2_000)]
_T = TypeVar("_T")


class Rejected(Exception):
    """A result that is not taken. The message is a clause without a full stop and without foreign text."""


class Difference(msgspec.Struct, frozen=True):
    """Where two runs differ: step, prompt and sample of the row (None for all rows), field, token."""

    row: tuple[_Index, _Index | _Name, _Index] | None
    field: _Name
    first_difference: _Index | None = None


class Environment(msgspec.Struct, frozen=True):
    """What a run says that its verdict holds for, as the digest of all of it."""

    digest: _Digest | None = None


class Parity(msgspec.Struct, frozen=True):
    """The numbers of a parity run. `could_not_notice` are sentences, and still foreign."""

    verdict: Verdict
    rows: _Count
    failures: Annotated[list[Difference], Meta(max_length=10_000)]
    failures_total: _Count
    set_aside: Annotated[list[msgspec.Raw], Meta(max_length=10_000)]
    set_aside_allowed: _Count
    restored_calls: _Count | None
    could_not_notice: Annotated[list[_Text], Meta(max_length=1_000)] = []
    environment: Environment | None = None


class Change(msgspec.Struct, frozen=True):
    """One change of a probe's input, as text that is still foreign."""

    where: _Text
    before: msgspec.Raw
    after: msgspec.Raw


class Witness(msgspec.Struct, frozen=True):
    """A difference that the check lets through."""

    changes: Annotated[list[Change], Meta(min_length=1, max_length=1_000)]


class Probe(msgspec.Struct, frozen=True):
    """What a probe showed."""

    edits_tried: _Count
    witnesses: Annotated[list[Witness], Meta(max_length=1_000)]
    not_run: Annotated[list[_Text], Meta(max_length=1_000)] = []


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result that could be read. `verdict` is what it comes to: of a probe `fail` says that a difference
    was found which passes."""

    verdict: Verdict
    parity: Parity | None = None
    probe: Probe | None = None


def read(folder: Path, kind: Kind) -> Outcome:
    """The result that a job left in `folder`, as `KIND.json`. Raises `Rejected`."""
    path = folder / f"{kind}.json"
    if path.is_symlink() or not path.is_file():
        raise Rejected("the job left no result")
    if path.stat().st_size > LARGEST:
        raise Rejected(f"the result is larger than {LARGEST // 2**20} MiB")
    content = path.read_bytes()
    return _parity(content) if kind == "parity" else _probe(content)


def _parity(content: bytes) -> Outcome:
    keys = _decoded(content, dict[str, msgspec.Raw]).keys()
    if keys - set(Result.__struct_fields__):
        raise Rejected("the result has fields that a parity run does not write")
    found = _decoded(content, Parity)
    told = len(found.failures)
    clean = not found.failures_total and not found.set_aside and found.rows > 0
    if told > found.failures_total or (found.verdict == "pass" and not clean):
        raise Rejected("the result contradicts itself")
    return Outcome(found.verdict, parity=found)


def _probe(content: bytes) -> Outcome:
    found = _decoded(content, Probe)
    if found.witnesses:
        return Outcome("fail", probe=found)
    return Outcome("pass" if found.edits_tried else "inconclusive", probe=found)


def _decoded(content: bytes, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise Rejected("the result is not in the form of one") from None
