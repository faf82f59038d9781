"""Runs that are made one after the other and compared, and the folders that they are told to write into."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.calls import bind, callee
from reviewbot.flow.commands import Command, assigned, commands
from reviewbot.flow.judgements import judgements
from reviewbot.flow.own_input import is_own_input
from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import canonical, dotted, keyword_argument, last_name, literal, walk
from reviewbot.flow.values import UNBOUND, values
from reviewbot.source.units import once

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

RUNS = pattern(
    r"(?i)(^|_)(run|train|launch|fit|generate|resume|restore|main|execute|leg|phase|simulate|rollout|invoke"
    r"|check_call|check_output|popen|call|evaluate|infer|start|step)(_|$|\d)"
)
# Folders by what they are for: what a run leaves behind, and what several runs may well share.
FOLDER = pattern(
    r"(?i)(^|[_.\-])(\w*dir|folder|root|tmp_path|tmpdir|dumps|log_path|out_path|output_path|save_path"
    r"|results_path)$|^(out|output)$"
)
_SHARED = pattern(
    r"(?i)ckpt|checkpoint|cache|data|model|input|load|resume|asset|token|config|repo|source|src|weight|venv|code"
    r"|project|home|work_?tree|script|cwd|template|fixture|snapshot"
)
_CONFIGURES = pattern(r"(Config|Configuration|Settings|Options|Args|Arguments|Params|Spec)$|^(dict|replace)$")
_CLEARS = frozenset({
    "rmtree", "unlink", "remove", "rename", "move", "replace", "clear", "mkdtemp", "rmdir", "clean", "purge",
})  # fmt: skip
_READS = pattern(r"(?i)^(r?glob|iterdir|listdir|scandir|open|walk|(read|load|parse|collect|scan)(_\w+|s)?)$")
_COMPARES = pattern(r"(?i)(^|[/_.\-])(compare\w*|comparison|parity|diff|cmp|verify\w*|check\w*)([/_.\-]|$)")


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Two runs of `unit` that get `folder` (as code): `first` and `second` are the calls, or one call that a
    loop makes several times. `read` is where the folder is read after the second; `before` where it was read
    by the same function between the two, if it was."""

    first: cst.Call
    second: cst.Call
    folder: str
    read: cst.CSTNode
    before: cst.CSTNode | None


def shared(unit: Unit) -> Iterator[Shared]:
    """The pairs of runs of a unit that write into one folder from which the compared values are read."""
    rank = unit.index.rank
    by_name: dict[str, list[cst.Call]] = {}
    for call in unit.find(cst.Call):
        if _CONFIGURES.search(last_name(call)):
            continue
        told = _is_told_a_folder(call) or any(
            _is_told_a_folder(made) for arg in call.args for made in _configured(unit, arg.value)
        )
        if RUNS.search(last_name(call)) or (told and not _READS.match(last_name(call))):
            by_name.setdefault(canonical(call.func), []).append(call)
    sides = [
        {id(below) for below in _sources(unit, side)}
        for one in judgements(unit)
        for side in (one.left, one.right)
        # What is expected may be written out, names of files in the folder among it.
        if not _TIMES.search(canonical(side))
        and not (_is_multiple(one.left) or _is_multiple(one.right))
        and not any(
            isinstance(part, (cst.Set, cst.List, cst.Tuple, cst.Dict)) or is_own_input(unit, part)
            for part in (one.left, one.right)
        )
    ]
    seen: set[str] = set()
    for calls in by_name.values():
        for place, first in enumerate(calls):
            for second in calls[place + 1 :]:
                for folder in folders(unit, first):
                    code = canonical(folder)
                    if code in seen or _is_repeated(unit, first, second):
                        continue
                    if not any(is_one(unit, folder, other) for other in folders(unit, second)):
                        continue
                    if cleared(unit, code, rank(first), rank(second)):
                        continue
                    found = _read(unit, code, first, second, sides)
                    if found is not None:
                        seen.add(code)
                        yield Shared(first, second, code, *found)


# Whether a run has written a file again is asked of one folder.
_TIMES = pattern(r"st_mtime|getmtime|st_ino|mtime")


def _is_multiple(node: cst.BaseExpression) -> bool:
    """`2 * shards`: what both runs left is asked for."""
    return isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply)


def _is_repeated(unit: Unit, first: cst.Call, second: cst.Call) -> bool:
    """Whether the second run is the first once more, with the same configuration."""
    if canonical(first) != canonical(second):
        return False
    pairs = zip(first.args, second.args, strict=True)
    return all(
        canonical(one) == canonical(other)
        for a, b in pairs
        for one, other in zip(_configured(unit, a.value), _configured(unit, b.value), strict=False)
    )


def _configured(unit: Unit, node: cst.BaseExpression) -> list[cst.Call]:
    """The calls that made the configuration that a run is given: `Config(out=out, resume=True)`."""
    made = values(unit).resolve(node)
    return [made] if isinstance(made, cst.Call) and any(arg.keyword is not None for arg in made.args) else []


def _is_told_a_folder(call: cst.Call) -> bool:
    """Whether a call says by a keyword where what it leaves behind is to stand."""
    return any(arg.keyword is not None and _OUT.search(arg.keyword.value) is not None for arg in call.args)


# Of the folders, those that are there to be written into.
_OUT = pattern(r"(?i)^(out|output|log|logging|save|result|results|dump|work|run)_?(dir|folder|path|root)$")


def folders(unit: Unit, call: cst.Call) -> list[cst.BaseExpression]:
    """The folders that a run is given to write into, by the names that say so."""
    known = _folders_of(unit)
    if call not in known:
        # Each run is held against each later one.
        known[call] = list(_folders(unit, call))
    return known[call]


@once
def _folders_of(unit: Unit) -> dict[cst.Call, list[cst.BaseExpression]]:
    return {}


def _folders(unit: Unit, call: cst.Call) -> Iterator[cst.BaseExpression]:
    function = callee(unit, call)
    names = {id(value): name for name, value in bind(call, function).items()} if function is not None else {}
    for arg in call.args:
        if isinstance(arg.value, (cst.Name, cst.Call)):
            for made in _configured(unit, arg.value):
                yield from folders(unit, made)
        said = arg.keyword.value if arg.keyword is not None else names.get(id(arg.value), "")
        if said and (
            _SHARED.search(said) or (type(arg.value) is cst.SimpleString and not FOLDER.search(said))
        ):
            continue
        if type(arg.value) is cst.SimpleString:
            if said:
                yield arg.value
            continue
        for below in walk(arg.value):
            if isinstance(below, cst.BinaryOperation) and _is_below_a_folder(unit, below, arg.value):
                yield below
            name = dotted(below) if isinstance(below, (cst.Name, cst.Attribute)) else ""
            if (
                name
                and FOLDER.search(name)
                and not _SHARED.search(name)
                and _is_whole(unit, below, arg.value)
            ):
                assert isinstance(below, cst.BaseExpression)
                yield below


def _is_below_a_folder(unit: Unit, node: cst.BinaryOperation, until: cst.CSTNode) -> bool:
    """Whether a path of its own below a folder is meant: `tmp_path / "a"`."""
    name = last_name(node.left) if isinstance(node.left, (cst.Name, cst.Attribute)) else ""
    return (
        isinstance(node.operator, cst.Divide)
        and FOLDER.search(name) is not None
        and isinstance(node.right, cst.SimpleString)
        and not _SHARED.search(canonical(node))
        and _is_whole(unit, node, until)
    )


def _is_whole(unit: Unit, node: cst.CSTNode, until: cst.CSTNode) -> bool:
    """Whether a folder itself is meant, and not something below it: `out`, `str(out)`, not `out / "a"`."""
    above = unit.parent(node) if node is not until else None
    while above is not None and not isinstance(above, cst.BaseStatement):
        if isinstance(above, (cst.BinaryOperation, cst.Attribute, cst.Subscript)):
            return False
        if type(above) is cst.FormattedString:
            ending = canonical(above).rstrip("\"'")
            return ending.endswith("}")
        if above is until:
            return True
        above = unit.parent(above)
    return True


def is_one(unit: Unit, one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    if canonical(one) != canonical(other):
        return False
    flow = values(unit)
    pairs = zip(flow.reads(one), flow.reads(other), strict=False)
    return all(flow.reaching(a) - {UNBOUND} == flow.reaching(b) - {UNBOUND} for a, b in pairs)


def cleared(unit: Unit, folder: str, after: int, before: int) -> bool:
    """Whether the folder, or something that is called to clear, stands between two places."""
    rank = unit.index.rank
    for call in unit.find(cst.Call):
        if after < rank(call) < before and last_name(call) in _CLEARS and _names(call, folder):
            return True
    return False


def _read(
    unit: Unit, folder: str, first: cst.Call, second: cst.Call, sides: list[set[int]]
) -> tuple[cst.CSTNode, cst.CSTNode | None] | None:
    """Where compared values are read from the folder after both runs, and between the two."""
    rank = unit.index.rank
    between: dict[str, cst.Call] = {}
    apart = _told_apart(first, second)
    for call in unit.find(cst.Call):
        if call in (first, second) or not _READS.match(last_name(call)):
            continue
        if apart and any(name in text for text in _texts(call) for name in apart):
            continue
        if not _names(call, folder) and not _reads_configured(unit, call, folder):
            continue
        if rank(first) < rank(call) < rank(second):
            between[last_name(call)] = call
        elif rank(call) > rank(second) and any(id(call) in side for side in sides):
            return call, between.get(last_name(call))
    return None


def _told_apart(first: cst.Call, second: cst.Call) -> set[str]:
    """What the two runs are called where each has a name of its own: `run1` and `run2` of `name="run1"` and
    `name="run2"`. What is read by such a name is of one of them."""
    names: set[str] = set()
    for arg in first.args:
        other = keyword_argument(second, arg.keyword.value) if arg.keyword is not None else None
        pair = [literal(one) if one is not None else None for one in (arg.value, other)]
        if all(isinstance(one, str) and one for one in pair) and pair[0] != pair[1]:
            names.update(map(str, pair))
    return names


def _texts(node: cst.CSTNode) -> Iterator[str]:
    for below in walk(node):
        text = literal(below) if isinstance(below, cst.SimpleString) else None
        if isinstance(text, str):
            yield text


def _reads_configured(unit: Unit, call: cst.Call, folder: str) -> bool:
    """Whether a call is given the folder as its configuration has it: `read(config.out)`."""
    for below in walk(call):
        if isinstance(below, cst.Attribute) and isinstance(below.value, cst.Name):
            for made in _configured(unit, below.value):
                given = keyword_argument(made, below.attr.value)
                if given is not None and folder == canonical(given):
                    return True
    return False


def _names(call: cst.Call, folder: str) -> bool:
    return any(
        canonical(below) == folder
        for below in walk(call)
        if isinstance(below, (cst.Name, cst.Attribute, cst.BinaryOperation))
    )


def _sources(unit: Unit, node: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    for source in (node, *(b.value for b in values(unit).slice(node) if b.value is not None)):
        yield from walk(source)


# Shell scripts.


@dataclass(frozen=True, slots=True)
class SharedByScript:
    """Two commands of a script that get one folder, under `option`, and the command that compares."""

    first: Command
    second: Command
    option: str
    folder: str
    compares: Command


def shared_by_script(text: str) -> Iterator[SharedByScript]:
    """The pairs of commands of a shell script that run one program with one folder to write into, before a
    command that compares; the first pair of each folder."""
    every = commands(text)
    compares = [one for one in every if any(_COMPARES.search(word) for word in one.program)]
    if not compares:
        return
    seen: set[str] = set()
    of_program: dict[tuple[str, ...], list[Command]] = {}
    for one in every:
        if not one.function and one.program:
            of_program.setdefault(one.program, []).append(one)
    inside: dict[str, list[str]] = {}
    for one in every:
        inside.setdefault(one.function, []).extend(one.words)
    known: dict[int, set[tuple[str, str]]] = {}

    def options(one: Command) -> set[tuple[str, str]]:
        if one.line not in known:
            known[one.line] = set(dict(_options(one, inside)).items())
        return known[one.line]

    for first in every:
        if first.function or first in compares or not first.program:
            continue
        for second in of_program[first.program]:
            if second.line <= first.line or second.words == first.words:
                continue
            common = options(first) & options(second)
            after = next((one for one in compares if one.line > second.line), None)
            if after is not None:
                common |= _compared_as(after, first) & _compared_as(after, second)
            for option, folder in sorted(common):
                if after is None or folder in seen or _cleared_by_script(every, first, second, folder):
                    continue
                if _varies(text, folder):
                    continue
                seen.add(folder)
                yield SharedByScript(first, second, option, folder, after)


def _options(command: Command, inside: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """The folders that a command is given to write into; of a function of the script, those inside it, whose
    words `inside` knows."""
    words = [*command.words, *inside.get(command.words[0], ())]
    for place, word in enumerate(words):
        option, equals, folder = word.lstrip("+-").partition("=")
        if not equals and word.startswith("--") and place + 1 < len(words):
            folder = words[place + 1]
        if not folder or folder.startswith("-") or re.search(r"\$\{?[1-9@*]", folder):
            continue
        if FOLDER.search(option) and not _SHARED.search(option):
            yield option, folder


def _compared_as(compares: Command, run: Command) -> set[tuple[str, str]]:
    """The folders that a run is given under any option, and that the command which compares is given as well,
    by another name: they are what is compared, and so what the run leaves behind."""
    given = dict(_pairs(run.words[len(run.program) :]))
    asked = _pairs(compares.words[1:])
    named = {(option, folder) for option, folder in asked if option}
    folders = {folder for _, folder in asked}
    return {
        (option, folder)
        for option, folder in given.items()
        if option
        and folder in folders
        and (option, folder) not in named
        and "/" in folder
        and not _SHARED.search(option)
        and not option.startswith("check")  # a formatter's: it only reads
        and not re.search(r"\$\{?[1-9@*]|\.\w{1,5}$", folder)
    }


def _pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    """What follows each option, and what stands alone, under no option."""
    found: list[tuple[str, str]] = []
    option = ""
    for word in words:
        name, equals, value = word.partition("=")
        if word.startswith("-") and not equals:
            option = word.lstrip("-")
        elif equals and re.fullmatch(r"[+-]*[\w.-]+", name):
            found.append((name.lstrip("+-"), value))
            option = ""
        else:
            found.append((option, word))
            option = ""
    return found


def _varies(text: str, folder: str) -> bool:
    """Whether a variable in a folder's name is set more than once, so that it may differ."""
    known = assigned(text)
    return any(len(known.get(name, [])) > 1 for name in re.findall(r"\$\{?(\w+)", folder))


def _cleared_by_script(every: list[Command], first: Command, second: Command, folder: str) -> bool:
    return any(
        one.words[0] in ("rm", "mv", "cp", "rsync") and folder in one.words
        for one in every
        if first.line < one.line < second.line
    )


def may_share(unit: Unit) -> bool:
    """Whether a unit's `ast` might make two runs: yes too often, never no wrongly."""
    return unit.calls_any(_READS.match) and (unit.calls_any(RUNS.search) or unit.names_any(_OUT.search))
