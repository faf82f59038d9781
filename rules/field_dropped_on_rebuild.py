"""An object is built anew from another of its class, and one of its fields is left behind.

## Why
Fields that are handed on one by one look like a copy. A field that was added to the class later, and has a
default, is not in the list: it falls back to the default without a word, and whatever it carried is lost on
this path alone.

## Instead
Say what changes, and let the rest be carried: `dataclasses.replace(old, name=new)`. Where a field is meant to
be dropped, write its default down.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

import libcst as cst

from reviewbot.flow.classes import Known, annotated, class_of, class_of_name, given, instance_of
from reviewbot.flow.fielded import may_mean_fields
from reviewbot.flow.left_on_purpose import MEANT, demanded, says_so, secret_or_identity
from reviewbot.flow.rebuilding import is_written_plainly, may_be_of, may_spread, rebuilt
from reviewbot.flow.summaries import dotted_name
from reviewbot.flow.syntax import canonical, children, dotted, literal, root_name, subscript
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import (
    Edit,
    Example,
    File,
    Finding,
    Fix,
    Rule,
    Step,
    Unit,
    called_last,
    once,
    rewrite,
    root_of,
    step,
)

_REPLACED_BY = {"dataclass": "dataclasses.replace", "attrs": "attrs.evolve"}
_METHODS = {"namedtuple": "_replace", "pydantic": "model_copy"}
_ONCE = ("pop", "popleft", "take", "get_nowait", "popitem")
_EMPTY = {"list": "[]", "dict": "{}", "tuple": "()", "set": "set()", "frozenset": "frozenset()", "str": "''"}
_SHOWN = 3
_ASKED = 12  # places that are looked at for it

_CALLS = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Call:
    rollout: str
    turn: int
    mode: str = "exact"
    prefix: tuple = ()
"""


_CHOSEN = 3  # fields that one may forget; of more it is asked whether they were chosen


class FieldDroppedOnRebuild(Rule):
    kinds = ("function", "method")
    bad = (
        Example(
            """
            from serving.call import Call

            def admit(call: Call) -> Call:
                return Call(rollout=call.rollout, turn=call.turn, mode="root")  # <- here
            """,
            path="serving/admit.py",
            files={"serving/call.py": _CALLS},
        ),
        Example(
            """
            class State:
                def __init__(self, rows, step, seed=0, cache=None):
                    self.rows = rows
                    self.step = step
                    self.seed = seed
                    self.cache = cache

                def advanced(self):
                    return State(self.rows, self.step + 1, cache=self.cache)  # <- here
            """,
            path="trainer/state.py",
        ),
        Example(
            """
            from typing import NotRequired, TypedDict

            class Visit(TypedDict):
                patient: str
                ward: str
                notes: list
                cut: NotRequired[bytes]

            def admit(visit: Visit, ward: str) -> Visit:
                return {"patient": visit["patient"], "ward": ward, "notes": visit["notes"]}  # <- here
            """,
            path="clinic/visit.py",
            files={
                "clinic/nurse.py": """
def take(visit):
    return visit.get("cut")
""",
            },
        ),
        # By a mapping that is written out, and where nothing says what is handed in.
        Example(
            """
            from dataclasses import dataclass

            @dataclass(frozen=True)
            class Voyage:
                ship: str
                course: tuple
                crew: int
                cargo: str = ""

            def shortened(voyage: Voyage, at):
                body = dict(ship=voyage.ship, crew=voyage.crew)
                body["course"] = voyage.course[:at]
                return Voyage(**body)  # <- here

            def turned(voyage):
                return Voyage(voyage.ship, voyage.course[::-1], crew=voyage.crew)  # <- here
            """,
            path="harbour/voyage.py",
        ),
    )
    good = (
        # Nothing is lost where the rest is set right away, and what is handed in may be of another class.
        Example(
            """
            from dataclasses import dataclass, replace

            @dataclass(frozen=True)
            class Voyage:
                ship: str
                course: tuple
                crew: int
                cargo: str = ""

            def loaded(voyage):
                return replace(Voyage(voyage.ship, voyage.course, voyage.crew), cargo=voyage.cargo)

            def spelt(voyage: Voyage, rest):
                body = {"ship": voyage.ship, "course": voyage.course, "crew": voyage.crew}
                body.update(rest)
                return Voyage(**body)

            def of_plan(plan):
                return Voyage(plan.ship, plan.course, plan.crew if plan.manned else 0)
            """,
            path="harbour/voyage.py",
        ),
        # The constructor does not take it.
        Example(
            """
            from dataclasses import dataclass, field

            @dataclass
            class Route:
                legs: list
                name: str = "route"
                tide: int = 0
                files: tuple | None = field(default=None, init=False)

                def part(self, first, last) -> "Route":
                    return Route(legs=self.legs[first:last], name=self.name, tide=self.tide)
            """,
            path="ferry/route.py",
        ),
        # A test wants the default in what comes out.
        Example(
            """
            from dataclasses import dataclass

            @dataclass
            class Member:
                number: int
                name: str
                email: str
                badge: str = ""

                def listed(self) -> "Member":
                    return Member(self.number, self.name, self.email)

                def guest(self) -> "Member":
                    return Member(self.number, self.name, self.email)

                def lent(self) -> "Member":
                    return Member(self.number, self.name, self.email)
            """,
            path="club/member.py",
            files={
                "tests/test_member.py": """
from club.member import Member

def test_listed():
    assert Member(1, "a", "e", badge="b").listed().badge == ""

def test_guest():
    guest = Member(1, "a", "e", badge="b").guest()
    assert not guest.badge

def test_lent():
    assert Member(1, "a", "e", badge="b").lent() == Member(1, "a", "e")
""",
            },
        ),
        # A base keeps the field for itself, and gives every order its own.
        Example(
            """
            from dataclasses import dataclass
            from kitchen.ticket import Ticket

            @dataclass
            class Order(Ticket[dict]):
                number: str = ""
                table: int = 0
                guest: str = ""

            def again(order: Order) -> Order:
                return Order(table=order.table, guest=order.guest)

            def show(order: Order) -> str:
                return order.number
            """,
            path="kitchen/order.py",
            files={
                "kitchen/ticket.py": """
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

@dataclass
class Ticket(Generic[T]):
    number: str = field(init=False, default="")
""",
            },
        ),
        # The field is set on the new object by its name.
        Example(
            """
            from dataclasses import dataclass

            @dataclass
            class Order:
                table: int
                guest: str
                notes: tuple = ()

            def again(order: Order) -> Order:
                made = Order(table=order.table, guest=order.guest)
                made.notes = tuple(order.notes)
                return made

            class Move:
                def __init__(self, kind=None, place=None, steps=None):
                    self.kind = kind
                    self.place = place
                    self._steps = steps

                def again(self):
                    made = Move(kind=self.kind, place=self.place)
                    made._steps = list(self._steps)
                    return made
            """,
            path="kitchen/order.py",
        ),
        Example(
            """
            from dataclasses import replace
            from serving.call import Call

            def admit(call: Call) -> Call:
                return replace(call, mode="root")

            def retry(call: Call) -> Call:
                return Call(rollout=call.rollout, turn=call.turn, mode=call.mode, prefix=())

            def default(turn, cut) -> Call:
                call = Call(rollout=1, turn=turn, mode="root")
                if cut:
                    call = Call(rollout=call.rollout, turn=call.turn, mode="cut")
                return call

            def child(call: Call, turn: int) -> Call:
                return Call(rollout=call.rollout, turn=turn)

            def of_anything(call, **more) -> Call:
                return Call(rollout=call.rollout, turn=call.turn, **more)
            """,
            path="serving/admit.py",
            files={"serving/call.py": _CALLS},
        ),
        Example(
            """
            class Config:
                def __init__(self, rows, step, seed=0):
                    self.rows, self.step, self.seed = rows, step, seed

            class Trainer:
                def __init__(self, rows, step):
                    self.rows = rows
                    self.step = step

                def config(self):
                    return Config(rows=self.rows, step=self.step)
            """,
            path="trainer/config.py",
        ),
        Example(
            """
            from typing import NotRequired, TypedDict

            class Visit(TypedDict):
                patient: str
                ward: str
                cut: NotRequired[bytes]

            def admit(visit: Visit, ward: str) -> Visit:
                return {**visit, "ward": ward}

            def shown(visit: Visit) -> dict:
                return {"patient": visit["patient"], "ward": visit["ward"]}
            """,
            path="clinic/visit.py",
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        several = (call for call in unit.asts(ast.Call) if len(call.args) + len(call.keywords) > 1)
        return any(map(_carries, several)) or _writes_anew(unit) or may_spread(unit)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if _writes_anew(unit):
            yield from self._typed_dicts(unit, repo)
        for call in unit.find(cst.Call):
            name = dotted(call.func)
            if not name or (len(call.args) < 2 and not any(arg.star for arg in call.args)):
                continue
            own = unit.name.rpartition(".")[0] if name in ("cls", "type(self)") else name
            if not may_mean_fields(own, unit.file):
                continue
            built = class_of_name(own, unit.file.path, {} if own != name else unit.file.imports, repo.index)
            if built is not None:
                yield from self._judge(unit, call, built, repo)

    def _typed_dicts(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        """Dicts of an annotated kind that are written anew with some of the keys of one."""
        node = unit.node
        if not isinstance(node, cst.FunctionDef) or node.returns is None:
            return
        built = annotated(node.returns.annotation, unit, repo.index)
        if built is None or built.found.kind != "typeddict":
            return
        for made in unit.find(cst.Dict):
            parts = [e for e in made.elements if isinstance(e, cst.DictElement)]
            values = {str(literal(e.key)): e.value for e in parts}
            carried = [name for name, value in values.items() if (subscript(value) or (None, ""))[1] == name]
            if len(parts) < len(made.elements) or len(carried) < 2 or 2 * len(carried) < len(values):
                continue
            receivers = {
                canonical(held[0]) for name in carried if (held := subscript(values[name])) is not None
            }
            receiver = next((n for n in _names(made) if n.value in receivers), None)
            if len(receivers) != 1 or receiver is None or instance_of(receiver, unit, repo.index) != built:
                continue
            lost = [field.name for field in built.found.fields if field.name not in values]
            if not lost or len(lost) > len(carried):
                continue
            names = " and ".join(f"`{name}`" for name in lost)
            readers = self._key_readers(unit, built, lost[0], repo)
            meant = _meant(unit, built, lost, repo)
            where = unit.name.rpartition(".")[2]
            yield self.finding(
                unit,
                made,
                f"`{where}` builds a new {built.found.name} from `{receiver.value}` and leaves {names} out:"
                " is that meant?",
                certainty="question",  # the keys may have been chosen
                steps=[
                    Step(built.path, built.found.line, built.found.end_line, f"{names} may be in it"),
                    step(unit, made, f"{', '.join(carried)} are carried over"),
                    *readers,
                    *meant,
                ],
                still_catches=(f"nothing in this function: only a check that reads {names} can tell",),
            )

    def _judge(self, unit: Unit, call: cst.Call, built: Known, repo: Repo) -> Iterator[Finding]:
        fields = built.found.fields
        values = rebuilt(unit, call, built)
        if values is None or not values:
            return
        origin = _origin(values)
        lost = [
            field
            for field in fields
            if not {field.name, field.name.lstrip("_")} & values.keys()
            if field.default is not None and field.taken
        ]
        carried = [name for name, value in values.items() if origin and _is_field(value, origin, name)]
        made_of = [name for name, value in values.items() if origin and name in _attributes(value, origin)]
        if carried and len(made_of) > _CHOSEN - 1:
            carried = made_of  # cut or lengthened on the way: `tokens=old.tokens[:4]`
        if not lost or len(carried) < 2 or 2 * len(carried) < len(values):
            return
        receiver = next((n for value in values.values() for n in _names(value) if n.value == origin), None)
        kind = None if receiver is None else instance_of(receiver, unit, repo.index)
        guessed = kind is None and receiver is not None and may_be_of(unit, receiver, built, carried)
        if receiver is None or (kind != built and not guessed):
            return
        used = {name for value in values.values() for name in _attributes(value, origin)}
        never = _never_given(unit, receiver, built, dotted(call.func)) | _set_by_bases(built, repo)
        used |= _set_later(unit, call)
        lost = [field for field in lost if field.name not in used and field.name not in never]
        if not lost:
            return
        wanted = _demanded(unit, built, {field.name: field.default or "" for field in lost}, repo)
        lost = [field for field in lost if field.name not in wanted]
        if not lost:
            return
        if len(lost) > len(carried) or (built.found.kind == "plain" and unit.is_test):
            # A view of a few fields, or an expected value put together by hand: no copy.
            return
        names = " and ".join(f"`{field.name}`" for field in lost)
        falls = " and ".join(f"`{_made_of(field.default or '')}`" for field in lost)
        where = unit.name.rpartition(".")[2]
        meant = _meant(unit, built, [field.name for field in lost], repo)
        readers = list(self._readers(unit, call, built, lost[0].name, repo))
        once_only = list(self._handed_out_once(unit, built, lost[0].name, repo))
        # Else the new object may be about something that has no such thing.
        wanted_on = bool(once_only) or _is_carried_beside(unit, call, lost[0].name)
        wanted_on = wanted_on or (any(map(_is_known, readers)) and _came_in(repo, built.path, lost[0].line))
        yield self.finding(
            unit,
            call,
            f"`{where}` builds a new {built.found.name} from `{origin}` and leaves {names} behind: "
            f"{'it falls' if len(lost) == 1 else 'they fall'} back to {falls}",
            # What a plain `__init__` takes need not be the object's state: it may be worked out again.
            # Where more than a third stays behind, the fields may well have been chosen.
            certainty="question"
            if built.found.kind == "plain"
            or meant
            or guessed
            or (len(lost) > _CHOSEN and 2 * len(lost) > len(carried))
            or _is_of_another_kind(values)
            or _is_said(unit, call, [field.name for field in lost])
            or not wanted_on
            or any(field.name in _attributes(unit.node, origin) for field in lost)  # it goes into the others
            else "likely",
            steps=[
                Step(built.path, built.found.line, built.found.end_line, self._says(built, lost[0].name)),
                step(unit, call, f"{', '.join(carried)} {'is' if len(carried) == 1 else 'are'} carried over"),
                *readers,
                *once_only,
                *meant,
            ],
            still_catches=(
                f"nothing in this function: the result is a valid {built.found.name}, "
                f"and only a check that reads {names} from it can tell",
            ),
            fix=self._fix(unit, call, built, origin, values)
            if not meant and not guessed and is_written_plainly(unit, call)
            else None,
        )

    def _says(self, built: Known, lost: str) -> str:
        names = [field.name for field in built.found.fields]
        return f"{built.found.name} has {len(names)} fields, `{lost}` with a default among them"

    def _readers(self, unit: Unit, call: cst.Call, built: Known, lost: str, repo: Repo) -> Iterator[Step]:
        reads = [
            (path, read)
            for path, read in repo.index.attribute_reads(lost)
            if not (path == unit.file.path and unit.line <= read.line <= unit.end_line)
            and not (path == built.path and built.found.line <= read.line <= built.found.end_line)
        ]
        known, unknown = [], []
        for path, read in reads[:_ASKED]:
            who = read.function or "the module"
            of = _read_of(repo.file(path), read.function, read.line, cst.Attribute, lost, built, repo)
            if of is None:
                unknown.append(Step(path, read.line, read.line, _unknown(who, lost, built)))
            elif of:
                known.append(
                    Step(path, read.line, read.line, f"`{who}` reads `{lost}` and now finds the default")
                )
        yield from (known or unknown)[:_SHOWN]

    def _key_readers(self, unit: Unit, built: Known, lost: str, repo: Repo) -> list[Step]:
        known, unknown = [], []
        for path, read in repo.index.readers(lost)[:_ASKED]:
            if path == unit.file.path and unit.line <= read.line <= unit.end_line:
                continue
            who = read.function or "the module"
            of = _read_of(repo.file(path), read.function, read.line, cst.Name, read.source, built, repo)
            if of is None:
                unknown.append(Step(path, read.line, read.line, _unknown(who, lost, built)))
            elif of:
                known.append(Step(path, read.line, read.line, f"`{who}` reads `{lost}`"))
        return (known or unknown)[:_SHOWN]

    def _handed_out_once(self, unit: Unit, built: Known, lost: str, repo: Repo) -> list[Step]:
        told = _told(unit.file)
        key = (built.path, built.found.name, lost)
        if key not in told:
            told[key] = list(self._taken(built, lost, repo))
        return told[key]

    def _taken(self, built: Known, lost: str, repo: Repo) -> Iterator[Step]:
        for path, found in repo.index.calls(built.found.name.rpartition(".")[2]):
            file = repo.file(path)
            maker = file.unit(found.caller) if file and found.caller else None
            if maker is None:
                continue
            for node in _calls_by_line(maker).get(found.line, ()):
                for keyword in node.keywords:
                    if keyword.arg == lost and _takes(keyword.value):
                        line, end = keyword.value.lineno, keyword.value.end_lineno or keyword.value.lineno
                        says = f"`{lost}` is taken out of its source here, so nothing can offer it again"
                        yield Step(path, line, end, says)

    def _fix(
        self, unit: Unit, call: cst.Call, built: Known, origin: str, values: dict[str, cst.BaseExpression]
    ) -> Fix | None:
        changed = {k: v for k, v in values.items() if not _is_field(v, origin, k)}
        arguments = ", ".join(f"{name}={unit.text(value)}" for name, value in changed.items())
        kind = built.found.kind
        if kind in _METHODS:
            inside = f"update={{{', '.join(f'{k!r}: {unit.text(v)}' for k, v in changed.items())}}}"
            text = f"{origin}.{_METHODS[kind]}({arguments if kind == 'namedtuple' else inside})"
            return Fix("carry every field and say which ones change", (rewrite(unit, call, text),))
        if kind not in _REPLACED_BY:
            return None
        module, _, function = _REPLACED_BY[kind].rpartition(".")
        known = {target: alias for alias, target in unit.file.imports.items()}
        edits: list[Edit] = []
        if _REPLACED_BY[kind] in known:
            function = known[_REPLACED_BY[kind]]
        elif module in known:
            function = f"{known[module]}.{function}"
        else:
            edits.append(_imported(unit, module, function))
        text = f"{function}({origin}{', ' + arguments if arguments else ''})"
        edits.append(rewrite(unit, call, text))
        return Fix("carry every field and say which ones change", tuple(edits))


_NOT_KNOWN = "is not known"


def _unknown(who: str, lost: str, built: Known) -> str:
    return f"`{who}` reads a `{lost}`, whether of a {built.found.name} {_NOT_KNOWN}"


def _is_known(reader: Step) -> bool:
    """Whether what reads the lost field reads it of such an object."""
    return not reader.says.endswith(_NOT_KNOWN)


def _came_in(repo: Repo, path: str, line: int) -> bool:
    """Whether the change under review brought a line in: who added the field may not have seen the copy."""
    changed = (span for one in repo.diff if one.path == path for span in one.changed)
    return any(first <= line <= last for first, last in changed)


def _is_carried_beside(unit: Unit, call: cst.Call, lost: str) -> bool:
    """Whether the file builds such an object from another elsewhere, and hands the lost field on there:
    `Admission(..., note=old.note)`."""
    name = dotted(call.func)
    for other in unit.file.units:
        for node in other.asts(ast.Call):
            if dotted_name(node.func) != name:
                continue
            given = [keyword.value for keyword in node.keywords if keyword.arg == lost]
            if any(isinstance(value, ast.Attribute) and value.attr == lost for value in given):
                return True
    return False


def _read_of(
    file: File | None,
    function: str,
    line: int,
    kind: type[cst.Attribute] | type[cst.Name],
    name: str,
    built: Known,
    repo: Repo,
) -> bool | None:
    """Whether what is read there is a field of that class; None where that is not known."""
    reader = file.unit(function) if file is not None and function else None
    if reader is None:
        return None
    for node in reader.find(kind):
        if (node.attr.value if isinstance(node, cst.Attribute) else node.value) != name:
            continue
        if not reader.span(node).line <= line <= reader.span(node).end_line:
            continue
        held = node.value if isinstance(node, cst.Attribute) else node
        found = class_of(held, reader, repo.index, repo.file)
        if found is not None:
            return found == built
        if isinstance(held, cst.Name) and held.value in ("self", "cls") and reader.kind == "method":
            return False
    return None


def _made_of(default: str) -> str:
    """The value that a default stands for: what a factory makes, of those that are known by their names."""
    if default.startswith("lambda:"):
        return default.removeprefix("lambda:").strip()
    return _EMPTY.get(default, default)


def _demanded(unit: Unit, built: Known, defaults: dict[str, str], repo: Repo) -> set[str]:
    """The lost fields that a test wants at their default in what this function gives back."""
    name, cls = unit.name.rpartition(".")[2], built.found.name.rpartition(".")[2]
    order = [field.name for field in built.found.fields if field.taken]
    found: set[str] = set()
    for path, call in repo.index.calls(name)[:_ASKED]:
        file = repo.file(path)
        test = file.unit(call.caller) if file is not None and call.caller else None
        if test is not None and test.is_test:
            found |= demanded(test, name, cls, defaults, order)
    return found


def _meant(unit: Unit, built: Known, lost: Sequence[str], repo: Repo) -> list[Step]:
    """What says that these fields may be left out on purpose."""
    if says_so(unit.tree, lost):
        says = f"`{unit.name.rpartition('.')[2]}` or its docstring says so, which {MEANT}"
        return [Step(unit.file.path, unit.line, unit.line, says)]
    if all(secret_or_identity(name) for name in lost):
        says = f"`{lost[0]}` is a secret or an identity by its name, and to leave it out {MEANT}"
        return [Step(built.path, built.found.line, built.found.line, says)]
    owner = unit.name.rpartition(".")[0]
    for other in unit.file.units:
        beside = other.kind in ("function", "method") and other.name.rpartition(".")[0] == owner
        if not beside or other.name == unit.name or not says_so(other.tree, lost):
            continue
        if any(called_last(call) == built.found.name for call in other.asts(ast.Call)):
            name = other.name.rpartition(".")[2]
            says = f"`{name}` leaves it out and says so, which {MEANT} here too"
            return [Step(other.file.path, other.line, other.line, says)]
    return []


def _set_later(unit: Unit, call: cst.Call) -> set[str]:
    """The fields that are set on the new object by its name: `made.notes = old.notes`."""
    return _set_on(unit).get(id(call), set())


@once
def _set_on(unit: Unit) -> dict[int, set[str]]:
    """The fields that are set on what a name stands for, by the identity of what that is. What a class keeps
    under an underscore is the field that it was given: `made._notes = old._notes`."""
    flow = values(unit)
    found: dict[int, set[str]] = {}
    for node in unit.find(cst.Assign):
        for target in node.targets:
            if isinstance(target.target, cst.Attribute):
                held = flow.resolve(target.target.value)
                name = target.target.attr.value
                found.setdefault(id(held), set()).update((name, name.lstrip("_")))
    return found


@once
def _told(file: File) -> dict[tuple[str, str, str], list[Step]]:
    """Where a field of a class is taken out of its source, as far as it was asked about."""
    return {}


@once
def _calls_by_line(unit: Unit) -> dict[int, list[ast.Call]]:
    found: dict[int, list[ast.Call]] = {}
    for node in ast.walk(unit.tree):
        if isinstance(node, ast.Call):
            found.setdefault(node.lineno, []).append(node)
    return found


def _set_by_bases(built: Known, repo: Repo, depth: int = 3) -> set[str]:
    """Fields that a base of a class keeps for itself: `number: int = field(init=False)` is given by no
    caller."""
    file = repo.file(built.path)
    found = {field.name for field in built.found.fields if not field.taken}
    for name in built.found.bases if file is not None and depth else ():
        base = class_of_name(name, built.path, file.imports, repo.index)
        if base is not None:
            found |= _set_by_bases(base, repo, depth - 1)
    return found


def _never_given(unit: Unit, receiver: cst.Name, built: Known, name: str) -> set[str]:
    """Fields with a default that no call gives of which the copied object may come: nothing is lost."""
    reaching = values(unit).reaching(receiver)
    never = {field.name for field in built.found.fields}
    for binding in reaching:
        made = binding.value if binding.kind == "assign" and binding.role == "whole" else None
        passed = given(made, built, built.found.fields) if isinstance(made, cst.Call) else None
        if passed is None or not isinstance(made, cst.Call) or dotted(made.func) != name:
            return set()
        never -= set(passed)
    return never if reaching else set()


def _writes_anew(unit: Unit) -> bool:
    """Whether a function that says what it returns may write a dict with the keys of another."""
    tree = unit.tree
    if not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)) or tree.returns is None:
        return False
    return any(
        sum(isinstance(value, ast.Subscript) for value in node.values) > 1 for node in unit.asts(ast.Dict)
    )


def _carries(call: ast.Call) -> bool:
    """Whether a call is given two fields of one value."""
    roots: set[str] = set()
    is_class = called_last(call)[:1].isupper()
    for given_ in (*call.args, *[keyword.value for keyword in call.keywords]):
        # Cut on the way: `tokens=old.tokens[:4]`.
        value = given_.value if is_class and type(given_) is ast.Subscript else given_
        if type(value) is ast.Attribute and type(value.value) is ast.Name:
            root = value.value.id
            if root in roots:
                # No class is called by way of `self`.
                return root_of(call.func) != "self"
            roots.add(root)
    return False


def _origin(values: dict[str, cst.BaseExpression]) -> str:
    """The name whose fields are carried over most often."""
    roots = [
        root_name(v)
        for k, v in values.items()
        if isinstance(v, cst.Attribute) and v.attr.value.lstrip("_") == k
    ]
    return max(roots, key=roots.count, default="")


def _is_field(value: cst.BaseExpression, origin: str, name: str) -> bool:
    return dotted(value) in (f"{origin}.{name}", f"{origin}._{name}")


def _is_said(unit: Unit, call: cst.Call, lost: list[str]) -> bool:
    """Whether a comment above the call names each field that stays behind."""
    line = unit.span(call).line
    above = unit.file.lines[max(0, line - 6) : line - 1]
    said = " ".join(text.partition("#")[2] for text in above)
    return all(re.search(rf"\b{re.escape(name)}\b", said) for name in lost)


def _is_of_another_kind(values: dict[str, cst.BaseExpression]) -> bool:
    """Whether what says of which kind the new one is is a constant: a conversion, of which the old kind's
    fields are no part."""
    kinds = (values.get(name) for name in ("type", "kind"))
    return any(one is not None and dotted(one).rpartition(".")[2].isupper() for one in kinds)


def _names(node: cst.CSTNode) -> Iterator[cst.Name]:
    if isinstance(node, cst.Name):
        yield node
    for child in children(node):
        yield from _names(child)


def _attributes(node: cst.CSTNode, origin: str) -> Iterator[str]:
    if isinstance(node, cst.Attribute) and dotted(node.value) == origin:
        yield node.attr.value.lstrip("_")
    for child in children(node):
        yield from _attributes(child, origin)


def _takes(node: ast.expr) -> bool:
    return any(
        isinstance(below, ast.Call) and isinstance(below.func, ast.Attribute) and below.func.attr in _ONCE
        for below in ast.walk(node)
    )


def _imported(unit: Unit, module: str, name: str) -> Edit:
    """The edit that imports a name: at the end of what is imported of its module already, or in a line of its
    own before the first import."""
    for statement in unit.file.tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == module and not statement.level:
            line, text = statement.lineno, unit.file.lines[statement.lineno - 1]
            code = text.partition("#")[0].rstrip()
            if statement.end_lineno == line and not code.endswith((")", "*", ";", "\\")):
                return Edit(unit.file.path, line, line, f"{code}, {name}{text[len(code) :]}")
    line = _first_import(unit)
    return Edit(unit.file.path, line, line - 1, f"from {module} import {name}\n")


def _first_import(unit: Unit) -> int:
    for statement in unit.file.tree.body:
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if isinstance(statement, (ast.Import, ast.ImportFrom)) and not future:
            return statement.lineno
    return unit.line
