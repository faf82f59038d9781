"""Evidence of a probe as it is read back for pages: what `probe_json` wrote, or anybody else."""

from __future__ import annotations

from typing import Any

import msgspec

from reviewbot.errors import SourceError
from reviewbot.render.strip import Strip


class Spot(msgspec.Struct, frozen=True):
    """A line of the repository and the condition that stands there."""

    path: str
    line: int
    text: str = ""


class Changed(msgspec.Struct, frozen=True):
    """One change of the arguments: where, from what to what, and what a person calls it."""

    where: str
    says: str
    before: Any = None
    after: Any = None


class StripDocument(msgspec.Struct, frozen=True):
    """The fields of `strip.Strip` as they are in JSON."""

    field: str
    sides: tuple[str, str]
    baseline: tuple[Any, ...]
    other: tuple[Any, ...]
    at: int = 0
    mask: tuple[int, ...] = ()
    roles: tuple[str, ...] = ()
    let_through: tuple[int, int] | None = None
    restored: tuple[int, int] | None = None

    def strip(self) -> Strip:
        """To be drawn."""
        return Strip(**{name: getattr(self, name) for name in self.__struct_fields__})


class Witness(msgspec.Struct, frozen=True):
    """A difference that passes."""

    changes: tuple[Changed, ...]
    why: str = ""
    escapes: tuple[Spot, ...] = ()
    values: dict[str, dict[str, Any]] = {}
    caught_elsewhere: int = 0
    passed_elsewhere: int = 0
    what_if: str = ""
    replay: str = ""
    role: str = ""
    numbers_caught: int = 0
    like: tuple[str, ...] = ()
    strip: StripDocument | None = None


class Kill(msgspec.Struct, frozen=True):
    """A change that was noticed, and by which checks; `crash` is the error where no check did it."""

    edit: str
    caught_by: tuple[Spot, ...] = ()
    crash: str = ""
    side: str = ""


class Passed(msgspec.Struct, frozen=True):
    """A change that passed in a field of which others are noticed."""

    edit: str
    side: str = ""


class Dead(msgspec.Struct, frozen=True):
    """A check that decided nothing."""

    path: str
    line: int
    tier: int
    says: str


class Checked(msgspec.Struct, frozen=True):
    """A check: how often it ran, how many changes it notices, and how many of them nothing else does."""

    path: str
    line: int
    text: str = ""
    reached: int = 0
    fires: int = 0
    alone: int = 0


class SetAside(msgspec.Struct, frozen=True):
    """A change that passes and is no witness, with the reason."""

    edit: str
    side: str = ""
    why: str = ""


class Evidence(msgspec.Struct, frozen=True):
    """Everything that one probe showed."""

    target: str
    witnesses: tuple[Witness, ...]
    edits_tried: int = 0
    passed: int = 0
    sha256: str = ""
    layers: tuple[str, ...] = ()
    dead: tuple[Dead, ...] = ()
    kills: tuple[Kill, ...] = ()
    checks: tuple[Checked, ...] = ()
    not_run: tuple[str, ...] = ()
    inputs: str = ""
    verdict_by: str = ""
    never_compared: tuple[str, ...] = ()
    never_fails: bool = False
    questions: tuple[str, ...] = ()
    seconds: float = 0.0
    complete: bool = True
    let_through: tuple[Passed, ...] = ()
    set_aside: tuple[SetAside, ...] = ()


def decode(text: str | bytes, where: str) -> Evidence:
    """A whole file of evidence. Raises `SourceError`, which names `where` it was read."""
    try:
        return msgspec.json.decode(text, type=Evidence)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(f"{where}: not evidence of `reviewbot probe --save` ({error})") from None


def witness(text: str) -> Witness | None:
    """The witness that a finding carries, None for one that cannot be read."""
    try:
        return msgspec.json.decode(text, type=Witness)
    except (msgspec.DecodeError, RecursionError):
        return None
