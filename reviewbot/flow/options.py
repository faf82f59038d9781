"""Pairs of options of one class that are accepted together although the code can only honour one of them."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.across import unit_of
from reviewbot.flow.classes import Known, class_of_name, instance_of
from reviewbot.flow.losses import Loss
from reviewbot.flow.patterns import pattern
from reviewbot.flow.refusals import SET, Refusal, Setting, may_refuse, refusals
from reviewbot.flow.settings import Behind, Place, Read, places, reads
from reviewbot.flow.syntax import canonical, dotted, walk
from reviewbot.index.facts import Field

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import Unit

_CONFIG = pattern(r"(?i)(config|cfg|args|settings|options|opts)$")
_OFF = frozenset({"None", "False", "0", "0.0", "-1", '""', "''"})


@dataclass(frozen=True, slots=True, eq=False)
class Shut:
    """`ignored` is only read where `by` is off, in `reads`; one of the two is `shared`, which the refusal
    refuses together with others."""

    refusal: Refusal
    shared: Setting
    ignored: str
    by: Setting
    reads: tuple[Read, ...]


def class_of(unit: Unit, refusal: Refusal, repo: Repo) -> Known | None:
    """The one class of the repository whose fields a refusal looks at."""
    receivers = {setting.receiver for setting in refusal.settings}
    if len(receivers) != 1:
        return None
    (receiver,) = receivers
    for node in walk(refusal.node.test):
        if isinstance(node, cst.Name) and node.value == receiver:
            found = instance_of(node, unit, repo.index)
            if found is not None:
                return found
    if unit.kind != "method":
        return None
    # A validator that is given the raw values by key.
    own = class_of_name(unit.name.rpartition(".")[0], unit.file.path, {}, repo.index)
    known = set() if own is None else {field.name for field in own.found.fields}
    return own if all(setting.name in known for setting in refusal.settings) else None


def is_refused_by_class(repo: Repo, unit: Unit, known: Known, shared: Setting) -> bool:
    """Whether a method of the class, where `unit` is none, refuses an option with another already: that is
    the place for further pairs."""
    prefix = f"{known.found.name}."
    file = None if unit.file.path == known.path and unit.name.startswith(prefix) else repo.file(known.path)
    return any(
        shared.name == setting.name
        for method in (file.units if file is not None else ())
        if method.name.startswith(prefix) and may_refuse(method)
        for other in refusals(method)
        for setting in other.settings
    )


def is_off(field: Field) -> bool:
    """Whether an option that nobody sets asks for nothing."""
    return field.default in _OFF


def shut_pairs(repo: Repo, known: Known, refusal: Refusal, refused: set[frozenset[str]]) -> Iterator[Shut]:
    """The pairs of a refused option with another of its class of which one is only read where the other
    is off, unless the pair is refused or spoken of where both are read."""
    fields = {field.name: field for field in known.found.fields if is_off(field)}
    for shared in refusal.settings:
        own = _outside(known, places(repo, shared.name))
        for name in fields:
            if name == shared.name or frozenset({name, shared.name}) in refused:
                continue
            where = _outside(known, places(repo, name))
            for ignored, by, there, other in (
                (name, shared.name, where, own),
                (shared.name, name, own, where),
            ):
                if not there or not there <= other or (ignored not in fields):
                    continue
                found = _shut(repo, refusal, shared, ignored, by, there)
                if found is not None and not _spoken_of(repo, there | (where & own), ignored, by):
                    yield found


def _outside(known: Known, found: frozenset[Place]) -> frozenset[Place]:
    """Without the class's own methods, which check and fill in."""
    prefix = f"{known.found.name}."
    return frozenset(one for one in found if one[0] != known.path or not one[1].startswith(prefix))


def _shut(
    repo: Repo, refusal: Refusal, shared: Setting, ignored: str, by: str, where: frozenset[Place]
) -> Shut | None:
    found = list(reads(repo, ignored, where))
    closed = [next((s for s in read.off if s.name == by), None) for read in found]
    first = closed[0] if closed else None
    if first is None or any(one is None or one.on != first.on for one in closed):
        return None
    if by == shared.name and shared.on not in (first.on, SET):
        return None
    return Shut(refusal, shared, ignored, first, tuple(found))


def _spoken_of(repo: Repo, where: frozenset[Place], one: str, other: str) -> bool:
    """Whether code that reads both refuses the pair, warns of it, or sets one of the two."""
    for path, function in sorted(where):
        unit = unit_of(repo.file(path), function)
        for node in unit.asts(ast.If) if unit is not None else ():
            named = {below.attr for below in ast.walk(node.test) if isinstance(below, ast.Attribute)}
            if {one, other} <= named and any(_speaks(below, one, other) for below in ast.walk(node)):
                return True
        for check in unit.asts(ast.Assert) if unit is not None else ():
            named = {below.attr for below in ast.walk(check.test) if isinstance(below, ast.Attribute)}
            if {one, other} <= named:
                return True
    return False


def _speaks(node: ast.AST, one: str, other: str) -> bool:
    if isinstance(node, ast.Raise):
        return True
    if isinstance(node, ast.Assign):
        return any(isinstance(t, ast.Attribute) and t.attr in (one, other) for t in node.targets)
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return "warn" in name or name in ("error", "fail", "exit")


@dataclass(frozen=True, slots=True)
class Option:
    """An option as a validator would name it: what it is when it is on, its default as code where that is
    known, and what it is read from."""

    name: str
    on: object
    default: str | None
    receiver: str


def condition_for(option: Option) -> str:
    """The condition, as code, that an option is on."""
    where = f"{option.receiver}.{option.name}"
    if option.on != SET:
        return f"{where} == {option.on!r}"
    if option.default == "None":
        return f"{where} is not None"
    return f"{where} > 0" if option.default in ("0", "0.0", "-1") else where


def lost_pairs(
    lost: list[Loss], refusal: Refusal, fields: frozenset[str]
) -> Iterator[tuple[Setting, Behind, Loss]]:
    """The refused options of which one put into a field what is lost when another option is on: one of the
    same class (`fields`), or one that is read from what is called a configuration."""
    for loss in lost:
        for shared in refusal.settings:
            for mine, theirs in ((loss.asked, loss.opened), (loss.opened, loss.asked)):
                here = [one for one in mine if one.name == shared.name and one.on in (shared.on, SET)]
                others = [one for one in theirs if one.name in fields or _is_option(one)]
                others = [one for one in others if one.name != shared.name]
                if here and others and not any(one.name == shared.name for one in theirs):
                    yield shared, others[0], loss


def _is_option(found: Behind) -> bool:
    return _CONFIG.search(dotted(found.node.value)) is not None


def sibling(unit: Unit, refusal: Refusal, kept: Setting, name: str, condition: str) -> str:
    """The text of a refusal in the form of another one: `kept` stays, `condition` takes the other's place,
    and `name` its place in the message. Comments are about the other one, and stay with it."""
    span = unit.span(refusal.node)
    text = without_comments("".join(unit.file.lines[span.line - 1 : span.end_line])).rstrip("\n") + "\n"
    others = [setting for setting in refusal.settings if setting is not kept]
    for setting in others[:1]:
        text = text.replace(unit.text(setting.asked), condition, 1)
    for setting in others[1:]:
        for joint in (f" and {unit.text(setting.asked)}", f"{unit.text(setting.asked)} and "):
            text = text.replace(joint, "", 1)
    before = said = unit.text(refusal.raised)
    for setting in others[:1]:
        asked = canonical(setting.asked).removeprefix(f"{setting.receiver}.")
        # A message may say it in its own way: `bits=4`, `engine='steam'`.
        on = re.escape(str(setting.on))
        told = re.compile(rf"\b{re.escape(setting.name)}\s*=+\s*(['\"]?){on}\1(?![\w.])")
        said = said.replace(asked, name) if asked in said else told.sub(name, said)
        said = re.sub(rf"\b{re.escape(setting.name)}\b", name, said)
    return text.replace(before, said)


def without_comments(code: str) -> str:
    """Whole statements without their comments, and without the lines that hold nothing else."""
    lines = code.splitlines(keepends=True)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, IndentationError):
        return code
    for token in tokens:
        if token.type == tokenize.COMMENT:
            line, column = token.start
            kept = lines[line - 1][:column].rstrip()
            lines[line - 1] = f"{kept}\n" if kept else ""
    return "".join(lines)


def receiver_of(setting: Setting) -> str:
    """What an option of the same object is read from in the condition of a refusal."""
    node = setting.asked.left if isinstance(setting.asked, cst.Comparison) else setting.asked
    return dotted(node.value) if isinstance(node, cst.Attribute) else ""
