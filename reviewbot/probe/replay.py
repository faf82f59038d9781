"""Runs the witnesses of a saved probe again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reviewbot.errors import ProbeError, UnreadableFile
from reviewbot.probe import shape, target
from reviewbot.probe.again import Unwatched
from reviewbot.probe.base import first_run
from reviewbot.probe.harvest import Call, classes_of
from reviewbot.probe.inside import edits, plain
from reviewbot.probe.inside.edits import Edit, World
from reviewbot.probe.inside.plain import Plain
from reviewbot.probe.session import Session
from reviewbot.probe.witness import short


@dataclass(frozen=True)
class Saved:
    """One witness of a file: its arguments and its edits, in words too."""

    arguments: dict[str, Plain]
    edits: tuple[Edit, ...]
    says: str


@dataclass(frozen=True)
class Replayed:
    """`passes`: the difference still passes. `says` is what the check says of it now."""

    says: str
    passes: bool
    verdict: str
    now: str


@dataclass(frozen=True)
class Replay:
    """The witnesses of one file run again; `same_file`: the target's file is byte for byte the saved one."""

    target: str
    same_file: bool
    witnesses: tuple[Replayed, ...]
    layers: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether every witness still passes."""
        return all(one.passes for one in self.witnesses)


def replay(path: Path, *, python: str | None = None) -> Replay:
    """Runs every witness of an evidence file. Raises UnreadableFile for a file that is none, or whose edits
    have no place in its arguments; ProbeError where the unchanged arguments no longer pass."""
    document = _read(path)
    saved = [_witness(path, number, one) for number, one in enumerate(document["witnesses"], 1)]
    if not saved:
        raise UnreadableFile(str(path), "holds no witness to replay")
    name = str(document["target"])
    if "::" in name and not Path(name.partition("::")[0]).is_file():
        way_out = "run the replay in the folder of the repository that was probed"
        raise UnreadableFile(str(path), f"speaks of {name}, which is not here: {way_out}")
    aim = target.parse(name)
    calls = [Call(str(document.get("module") or aim.module), one.arguments) for one in saved]
    worlds = [one.arguments for one in saved]
    classes = classes_of(calls, calls[0].module)
    labels, files = _wiring(path, document)
    if any(not 0 <= place < len(aim.words) for place, _ in files.values()):
        raise UnreadableFile(str(path), f"names files where {aim.name} has no words")
    with Session(
        aim, module=calls[0].module, also=classes, python=python, worlds=worlds, calls=labels, files=files
    ) as session:
        done = tuple(
            _again(session, one, call, _test(document)) for one, call in zip(saved, calls, strict=True)
        )
        return Replay(aim.name, document.get("sha256") == aim.sha256, done, tuple(session.held.names))


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(str(path), f"cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(str(path), f"is not JSON ({error})") from None
    if type(document) is not dict or "target" not in document or type(document.get("witnesses")) is not list:
        raise UnreadableFile(str(path), "is not evidence of `reviewbot probe --save`")
    return document


def _wiring(
    path: Path, document: dict[str, Any]
) -> tuple[dict[str, tuple[int, bool]], dict[str, tuple[int, str]]]:
    """Which arguments are values of a test's calls, and which are files of a command line."""
    try:
        labels = {str(k): (int(n), bool(many)) for k, (n, many) in document.get("labels", {}).items()}
        files = {
            str(k): (int(n), Path(str(name)).name + "/" * str(name).endswith("/"))
            for k, (n, name) in document.get("files", {}).items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise UnreadableFile(str(path), f"is not evidence of `reviewbot probe --save` ({error})") from None
    return labels, files


def _witness(path: Path, number: int, document: Any) -> Saved:
    try:
        arguments = plain.decode(document["input"])
        listed = tuple(edits.decode(change["edit"]) for change in document["changes"])
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableFile(str(path), f"witness {number} is not one ({error})") from None
    if type(arguments) is not dict or not listed or edits.apply(arguments, listed) is None:
        raise UnreadableFile(str(path), f"witness {number}: its change has no place in its arguments")
    says = ", ".join(f"{shape.where(edit.path, arguments)} {_done(arguments, edit)}" for edit in listed)
    return Saved(arguments, listed, says)


_DONE = {
    "remove": "dropped",
    "double": "doubled",
    "swap": "swapped with the next",
    "cut": "cut short",
    "empty": "emptied",
    "shift": "shifted",
    "insert": "put in",
}


def _done(arguments: World, edit: Edit) -> str:
    """What an edit does, worked out from the arguments: what a file says of it in words may be anything."""
    if edit.operation != "set":
        return _DONE[edit.operation]
    return f"{short(plain.at(dict(arguments), edit.path))} -> {short(edit.value)}"


def _test(document: dict[str, Any]) -> str:
    """The pytest id of the test whose run gave the arguments, if one did."""
    source = str(document.get("inputs", ""))
    return source.removeprefix("recorded in ") if source.startswith("recorded in ") else ""


def _again(session: Session, saved: Saved, call: Call, test: str) -> Replayed:
    number = session.add(saved.arguments)
    base = first_run(session, call, number)
    if not base.passes:
        raise ProbeError(f"the unchanged arguments no longer pass ({base.verdict}: {base.says})")
    now = session.one(number, list(saved.edits))
    if now.passes:
        with Unwatched(session, saved.arguments, test) as unwatched:
            if unwatched.stand([saved.edits]) != [True]:
                return Replayed(saved.says, False, "fail", "run as it is written, the check notices it")
    return Replayed(saved.says, now.passes, now.verdict, now.says)


def in_words(done: Replay) -> Sequence[str]:
    """One line a witness."""
    lines = []
    if not done.same_file:
        lines.append(f"{done.target}: its file is not the one that was probed")
    for one in done.witnesses:
        became = "still passes" if one.passes else f"no longer passes ({one.verdict}: {one.now})"
        lines.append(f"{done.target}: {one.says}: {became}")
    return lines
