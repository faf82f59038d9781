"""What a probe hands on: witnesses, kills, dead checks, and what was not run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reviewbot.probe.inside import plain
from reviewbot.probe.inside.edits import Edit
from reviewbot.probe.inside.plain import Plain


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the repository. `text` is the condition that stands there, `function` the one around it."""

    path: str
    line: int
    text: str = ""
    function: str = ""


@dataclass(frozen=True, slots=True)
class Altered:
    """One change as it shows: `where` is a path into the arguments, `before` and `after` JSON data.

    `edit` is the same as data, from which the change can be made again; `says` what a person calls it.
    """

    where: str
    before: Plain
    after: Plain
    says: str
    edit: Edit


@dataclass(frozen=True, slots=True)
class Strip:
    """A row drawn as a strip of positions: what each side holds, which ranges mean what.

    `let_through` is the range [start, end) in which the same edit passes; `restored` what the inputs say
    was restored; `roles` names each position's part of the row.
    """

    field: str
    baseline: tuple[Plain, ...]
    other: tuple[Plain, ...]
    sides: tuple[str, str]
    mask: tuple[int, ...] = ()
    roles: tuple[str, ...] = ()
    at: int = 0
    let_through: tuple[int, int] | None = None
    restored: tuple[int, int] | None = None

    @property
    def first_difference(self) -> int:
        """The first position at which the sides differ, as where one ends; the changed one if none does."""
        pairs = zip(self.baseline, self.other, strict=False)
        found = next((index for index, pair in enumerate(pairs) if not plain.same(*pair)), None)
        if found is not None:
            return found
        lengths = len(self.baseline), len(self.other)
        return min(lengths) if lengths[0] != lengths[1] else self.at


@dataclass(frozen=True)
class Witness:
    """A difference that passes, on arguments of hand size.

    `why` is excuse, swallowed, nan, gap, blind or unread. `values`: what each of the repository's functions
    returned, and its short variables. `what_if`: one sentence on the branch switched off.
    `numbers_caught`: of a NaN, how many other numbers in that field are caught. `like`: what else passes for
    the same cause, in words.
    """

    why: str
    changes: tuple[Altered, ...]
    escapes: tuple[Place, ...]
    values: Mapping[str, Mapping[str, Plain]]
    caught_elsewhere: int
    passed_elsewhere: int
    what_if: str
    input: Mapping[str, Plain]
    source: str
    calls: int = 0
    strip: Strip | None = None
    role: str = ""
    numbers_caught: int = 0
    like: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kill:
    """A change that was noticed, and by what. `crash` is the error where no check but a crash did it; `side`
    the argument that it was made in, of a check that compares two."""

    edit: str
    caught_by: tuple[Place, ...]
    crash: str = ""
    side: str = ""


@dataclass(frozen=True, slots=True)
class Passed:
    """A change that passed in a field of which others are noticed. `side` as for `Kill`."""

    edit: str
    side: str = ""


@dataclass(frozen=True, slots=True)
class SetAside:
    """A change that passed and is no witness: `why`, as a clause. `side` as for `Kill`."""

    edit: str
    why: str
    side: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """A check that ran `reached` times over all runs; of the changes it notices `fires`, `alone` nothing
    else does."""

    place: Place
    reached: int
    fires: int
    alone: int


@dataclass(frozen=True, slots=True)
class Dead:
    """A check that decided nothing here. `tier` is 0 to 3; `says` is that tier's fixed wording."""

    place: Place
    tier: int
    says: str
    key: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reduced:
    """What is still caught when checks are off or a patch is applied: which of the changes that were noticed
    survive, and which that passed are noticed now."""

    what: str
    caught_before: int
    survive: tuple[str, ...]
    unchanged_passes: bool = True
    now_noticed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dropped:
    """A new object that a function built out of one of the same class, each field of which had a value of its
    own: `fields` came out empty, or as the class has them by itself. `given` and `returned` are the two,
    `layers` those of the sandbox."""

    cls: str
    parameter: str
    fields: tuple[str, ...]
    given: Mapping[str, Plain]
    returned: Mapping[str, Plain]
    layers: tuple[str, ...] = ()

    @property
    def says(self) -> str:
        """What happened, as a clause."""
        return lost_fields(self.fields, self.returned)


EMPTY: tuple[Plain, ...] = (None, (), [], {}, "", 0, False)


def lost_fields(fields: Sequence[str], returned: Mapping[str, Plain]) -> str:
    """That these fields were lost, as a clause; `returned` has what they came out as."""
    named = ", ".join(f"`{name}`" for name in fields)
    how = "empty" if all(returned.get(name) in EMPTY for name in fields) else "as the class has it by itself"
    return f"with every field filled, {named} {'comes' if len(fields) == 1 else 'come'} out {how}"


@dataclass(frozen=True)
class Result:
    """Everything that one probe showed. `verdict_by` says how the target says no; `sought`: whether witnesses
    were asked for; `escaped`: whether a difference passes that makes one, asked for or not. `kind` is that of
    the target: check, test or command.

    `let_through`: the changes that passed, but for those of `never_compared` fields; of a test, those that
    are witnesses. `set_aside`: those that passed and are no witnesses.
    `complete`: every planned change was tried.

    Of a test: `unmissed` checks of the code under test fire in it, and it passes without them; it fails on
    `noticed_in_code` changes of that code, its `twins` on just the same. `judges`: the functions that it
    leaves the comparison to, as targets of their own.
    `vacuous`: what the inputs cannot show anything of, as clauses; those of `not_run` include them.
    """

    target: str
    sha256: str
    layers: tuple[str, ...]
    edits_tried: int
    witnesses: tuple[Witness, ...]
    dead: tuple[Dead, ...] = ()
    kills: tuple[Kill, ...] = ()
    not_run: tuple[str, ...] = ()
    passed: int = 0
    inputs: str = ""
    loaded: str = ""
    verdict_by: str = ""
    never_compared: tuple[str, ...] = ()
    unread_values: tuple[str, ...] = ()
    excuses_taken: tuple[tuple[Place, int], ...] = ()
    sufficient: tuple[Place, ...] = ()
    all_checks: int = 0
    joint: str = ""
    joint_survive: tuple[str, ...] = ()
    checks: tuple[Checked, ...] = ()
    reduced: Reduced | None = None
    questions: tuple[str, ...] = ()
    derivations: tuple[str, ...] = ()
    seconds: float = 0.0
    module: str = ""
    labels: Mapping[str, tuple[int, bool]] = field(default_factory=dict)
    files: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    dropped: tuple[Dropped, ...] = ()
    sought: bool = True
    escaped: bool = False
    unmissed: tuple[Place, ...] = ()
    twins: tuple[str, ...] = ()
    noticed_in_code: int = 0
    let_through: tuple[Passed, ...] = ()
    complete: bool = True
    set_aside: tuple[SetAside, ...] = ()
    judges: tuple[str, ...] = ()
    vacuous: tuple[str, ...] = ()
    kind: str = "check"

    @property
    def inconclusive(self) -> str:
        """Why a probe without a witness says nothing of the check, as a clause; empty if it does."""
        if not self.edits_tried:
            return "no change of what the target compares was tried"
        if not self.complete:
            return "the time was up before every change was tried, and none of those that were is a witness"
        if all(kill.crash for kill in self.kills):
            return "; ".join(self.vacuous)
        return ""
