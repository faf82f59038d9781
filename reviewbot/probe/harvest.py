"""Inputs of a check: recorded while the repository's own tests run, or given in a file."""

from __future__ import annotations

import ast
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reviewbot.errors import ProbeError, UsageError
from reviewbot.flow import collection
from reviewbot.probe import closure, dumps, file_labels, packages, shape
from reviewbot.probe.inside import plain
from reviewbot.probe.inside.plain import Plain
from reviewbot.probe.mentions import Function, never_run, tests_for
from reviewbot.probe.sandbox import Box, ChildGone, Entry, Wants, readable
from reviewbot.probe.target import Target
from reviewbot.source.units import File

NO_PYTEST = (
    "the interpreter that was to run the tests has no pytest: name the one that they run in with --python, "
    "or install it there (python -m pip install pytest); it runs tests of unittest as well"
)
MOST_RECORDS = 60
MOST_REFUSED = 20
MOST_STAND_IN_RUNS = 6
MOST_DUMPED = 100_000


@dataclass(frozen=True, slots=True)
class Value:
    """What one call of a test returned, each time that it ran. `label` names it, `number` counts in the
    source; `values` is None where some are not plain."""

    number: int
    label: str
    line: int
    values: tuple[Plain, ...] | None


@dataclass(frozen=True)
class Call:
    """One recorded call. `after` holds the arguments as the call left them, if it changed them.

    `test` is the pytest id of the test that made it, "" for a given example. Of a test: the `values` of its
    calls, its `checks` as (line, text, whether it ran), and which arguments it only hands on to calls or has
    made to be different.
    """

    module: str
    arguments: dict[str, Plain]
    after: dict[str, Plain] | None = None
    raised: str = ""
    returned: Plain = None
    is_plain: bool = True
    test: str = ""
    values: tuple[Value, ...] = ()
    checks: tuple[tuple[int, str, bool], ...] = ()
    handed_on: tuple[str, ...] = ()


STOPPED = "the tests were stopped before their end"


@dataclass(frozen=True)
class Harvest:
    """What was recorded of each function, in the order asked; what could not run; layers of the sandbox;
    absent packages that had stand-ins; the outcome of each test by its pytest id, with what it said if it did
    not pass. `refused` says of each function why calls of it are no use, once for each reason. `failed` is
    why pytest itself could not run, `uncollected` which tests it leaves out that name a function."""

    calls: tuple[tuple[Call, ...], ...]
    not_run: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    outcomes: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[tuple[str, ...], ...] = ()
    failed: str = ""
    said: Mapping[str, str] = field(default_factory=dict)
    uncollected: tuple[str, ...] = ()

    def why_none(self, number: int) -> str:
        """Why no call of a function can be used, as a clause with the way out."""
        reasons = self.refused[number] if number < len(self.refused) else ()
        if reasons:
            more = f" ({len(reasons) - 1} more reasons)" if len(reasons) > 1 else ""
            return (
                f"its tests call it, and never with plain data: {reasons[0]}{more}; give what it is called "
                "with as JSON (--example FILE), or probe what it calls with the rows themselves"
            )
        return f"{self.what_ran()}; give inputs with --example FILE or --dump A B"

    def what_ran(self) -> str:
        """What became of the tests, where no call was recorded."""
        if self.failed:
            return f"its tests could not be run: pytest says: {self.failed}"
        none = "no call of it with plain arguments was recorded"
        if self.uncollected:
            return f"{none}: {self.uncollected[0]}"
        if NO_PYTEST in self.not_run:
            return f"its tests could not be run: {NO_PYTEST}"
        if self.not_run:
            return f"its tests ran and {none}: {self.not_run[0]}"
        for outcome, became in (("failed", "failed before one was made"), ("skipped", "was skipped")):
            named = [name for name, one in self.outcomes.items() if one == outcome]
            if named and len(named) == len(self.outcomes):
                more = f" and {len(named) - 1} more" if len(named) > 1 else ""
                return f"{none}: {named[0]}{more} {became} ({self.said.get(named[0], '')})"
        return f"its tests ran and {none}"


def outcomes(root: Path, tests: Sequence[str], *, seconds: float, python: str | None = None) -> Harvest:
    """Runs tests (pytest ids or files) in a sandbox for their outcomes alone."""
    return _run(root, (), tests, time.monotonic() + seconds, python, plugins=False)


def from_tests(
    root: Path,
    functions: Sequence[Function],
    *,
    tests: Sequence[str] = (),
    seconds: float = 60.0,
    python: str | None = None,
    progress: Callable[[str], None] = lambda says: None,
) -> Harvest:
    """Runs the tests that could reach the functions (or `tests`, pytest ids) in a sandbox and records.

    Raises ProbeError where no test could reach them or the child cannot run pytest.
    """
    chosen = list(tests) or [str(path) for path in tests_for(root, functions)]
    if not chosen:
        names = ", ".join(function.unit for function in functions)
        left_out = never_run(root, functions)
        which = (
            f"no test that pytest runs mentions {names}: {left_out[0]}"
            if left_out
            else (f"no test of this repository mentions {names}")
        )
        raise ProbeError(f"{which}; give inputs with --example FILE or --dump A B")
    progress(f"recording calls in {len(chosen)} test file{'s' if len(chosen) > 1 else ''}")
    deadline = time.monotonic() + seconds
    # Plugins cost start-up and can need the network: they come in only if nothing was recorded without.
    # Stand-ins for absent packages come last; a run that asks for their values fails.
    first = harvest = _run(root, functions, chosen, deadline, python, plugins=False)
    if (
        not any(harvest.calls)
        and not any(harvest.refused)
        and not _missed(harvest)
        and time.monotonic() < deadline
    ):
        harvest = _run(root, functions, chosen, deadline, python, plugins=True)
    absent: set[str] = set()
    for _ in range(MOST_STAND_IN_RUNS):
        missed = _missed(harvest)
        if any(harvest.calls) or not missed - absent or time.monotonic() > deadline:
            break
        absent |= missed
        absent |= _absent(root, functions, chosen, python)
        harvest = _run(root, functions, chosen, deadline, python, plugins=False, absent=sorted(absent))
    if not any(harvest.calls):
        harvest = harvest if any(harvest.refused) else first
        return replace(harvest, uncollected=() if tests else never_run(root, functions))
    said = (f"the tests ran with stand-ins for {', '.join(sorted(absent)[:8])}",) if absent else ()
    return replace(harvest, not_run=(*said, *harvest.not_run), absent=tuple(sorted(absent)))


def _missed(harvest: Harvest) -> set[str]:
    """Packages for want of which tests could not be collected, or pytest not be started."""
    found = (re.search(r"No module named '(\w+)", says) for says in (harvest.failed, *harvest.not_run))
    return {match[1] for match in found if match}


def _absent(
    root: Path, functions: Sequence[Function], chosen: Sequence[str], python: str | None
) -> frozenset[str]:
    """Packages that the tests import for sure and that are not installed."""
    files = {Path(test.partition("::")[0]).resolve() for test in chosen}
    files |= {function.path.resolve() for function in functions}
    wanted = closure.certain_packages(root.resolve(), files)
    folders = [Path(folder) for folder in packages.packages(python).folders]

    def is_there(name: str) -> bool:
        return any((folder / name).is_dir() or any(folder.glob(f"{name}.*")) for folder in folders)

    return frozenset(name for name in wanted if name.isidentifier() and not is_there(name))


def _run(
    root: Path,
    functions: Sequence[Function],
    tests: Sequence[str],
    deadline: float,
    python: str | None,
    *,
    plugins: bool,
    absent: Sequence[str] = (),
) -> Harvest:
    wants, asked = by_pytest(root, tests, python, entry="recorder", plugins=plugins, absent=absent)
    nearest = functions[0].path if functions else Path(tests[0].partition("::")[0])
    asked |= {
        "functions": [[str(f.path), f.unit, str(number)] for number, f in enumerate(functions)],
        "most": MOST_RECORDS,
        "wired": [str(number) for number, f in enumerate(functions) if f.is_test],
        "search": closure.search_paths(root, nearest.resolve().relative_to(root.resolve()).as_posix()),
    }
    calls: list[list[Call]] = [[] for _ in functions]
    refused: list[dict[str, None]] = [{} for _ in functions]
    not_run: list[str] = []
    outcomes: dict[str, str] = {}
    said: dict[str, str] = {}
    failed = ""
    with Box(wants, asked) as box:
        layers = tuple(box.held.names)
        try:
            while True:
                line = box.receive(deadline)
                if "record" in line:
                    number, call = _call(line["record"])
                    if not 0 <= number < len(calls):
                        continue
                    if call and len(calls[number]) < MOST_RECORDS:
                        calls[number].append(call)
                    elif not call and len(refused[number]) < MOST_REFUSED:
                        refused[number][_why_not(line["record"])] = None
                elif "outcome" in line:
                    name, outcome, why = map(str, line["outcome"])
                    outcomes[name[:300]], said[name[:300]] = outcome[:20], why[:300]
                elif "failed" in line:
                    failed = str(line["failed"])[:500]
                elif "not_run" in line:
                    not_run.append(": ".join(str(part)[:300] for part in line["not_run"][:2]))
                elif "done" in line:
                    break
        except TimeoutError:
            not_run.append(f"{STOPPED}: they took too long; a larger budget leaves them more time")
        except ChildGone as error:
            not_run.append(
                NO_PYTEST if "No module named 'pytest'" in error.why else f"{STOPPED}: {error.why}"
            )
        except (TypeError, ValueError):
            not_run.append(f"{STOPPED}: they sent what makes no sense")
    return Harvest(
        tuple(map(tuple, calls)),
        tuple(dict.fromkeys(not_run))[:20],
        layers,
        tuple(tests),
        outcomes=outcomes,
        said=said,
        failed=failed,
        refused=tuple(tuple(reasons) for reasons in refused),
    )


def by_pytest(
    root: Path,
    tests: Sequence[str],
    python: str | None,
    *,
    entry: Entry,
    plugins: bool,
    absent: Sequence[str] = (),
) -> tuple[Wants, dict[str, Any]]:
    """What a child needs that runs tests by pytest, and what it is told of them.

    Plugins cost start-up and can need the network, so that they come in on request only.
    """
    read, listed = readable(root)
    found = packages.packages(python)
    wants = Wants(
        entry,
        read=(*read, *found.read),
        list=(*listed, *found.list),
        memory=16 << 30,
        cpu=120,
        fork=True,
        files=256,
        python=python or Wants(entry).python,
    )
    asked = {
        "packages": found.folders,
        "root": str(root),
        "tests": list(tests),
        "environment": {} if plugins else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        "words": _words(root.resolve(), tests),
        "absent": list(absent),
    }
    return wants, asked


def classes_of(calls: Sequence[Call], module: str) -> list[str]:
    """Top-level names of the target's own module of which recorded objects are made."""
    found: dict[str, None] = {}
    for call in calls[:8]:
        for _, part in shape.walk(dict(call.arguments)):
            cls = getattr(part, "cls", None)
            if type(cls) is str and cls.partition(":")[0] == module:
                found[cls.partition(":")[2].partition(".")[0]] = None
    return list(found)


_SETTINGS = (
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
)


def _words(root: Path, tests: Sequence[str]) -> list[str]:
    """pytest's options: none of the repository's own but the way it imports test files."""
    words = ["-q", "--tb=short", "-p", "no:cacheprovider", "-o", "addopts=", f"--rootdir={root}"]
    folders = {Path(test.partition("::")[0]).resolve().parent for test in tests}
    inside = {
        above for folder in folders for above in (folder, *folder.parents) if above.is_relative_to(root)
    }
    if not any((folder / name).is_file() for folder in inside for name in _SETTINGS):
        # It would look for settings further up, outside of the repository and of what it may read.
        words += ["-c", os.devnull, f"--confcutdir={root}"]
    for name in ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"):
        try:
            text = (root / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        mode = re.search(r"--import-mode[= ](\w+)", text)
        if mode:
            return [*words, f"--import-mode={mode[1]}"]
    return words


def _call(record: Any) -> tuple[int, Call | None]:
    """A record from the child, which is untrusted. (function's number, call); None if it is no use."""
    try:
        number = int(record["name"])
        if type(record["arguments"]) is str:
            return number, None
        arguments = plain.decode(record["arguments"])
        after = record["after"]
        returned = plain.decode(record["returned"]) if record["plain"] else None
        values = _values(record.get("values", ()))
        differ = frozenset(map(int, record.get("to_differ", ())))
        inputs = [*map(str, record.get("handed_on", ())), *(v.label for v in values if v.number in differ)]
        if type(arguments) is not dict:
            return number, None
        return number, Call(
            str(record["module"])[:200],
            arguments,
            plain.decode(after) if type(after) is dict else None,
            str(record["raised"])[:300],
            returned,
            bool(record["plain"]),
            str(record["test"])[:300],
            values,
            tuple((int(line), str(text)[:200], bool(ran)) for line, text, ran in record.get("checks", ())),
            tuple(name[:100] for name in inputs),
        )
    except (KeyError, TypeError, ValueError, RecursionError):
        return -1, None


def _why_not(record: Any) -> str:
    """Why a record is no use, from what the untrusted child says of it."""
    said = record.get("arguments") if isinstance(record, dict) else None
    test = str(record.get("test", ""))[:200] if isinstance(record, dict) else ""
    where = f" (in {test})" if test else ""
    return f"{said[:200] if isinstance(said, str) else 'its arguments cannot be read'}{where}"


def _values(listed: Any) -> tuple[Value, ...]:
    out = []
    for at, (number, text, line, values) in enumerate(listed):
        many = sum(1 for other in listed if other[1] == text) > 1
        label = f"{text!s} at L{int(line)}"[:90] if many else str(text)
        before = sum(1 for other in listed[:at] if other[1] == text and other[2] == line)
        # Of `a, b = load(), load()` the two calls are two values.
        label += f" (call {before + 1} there)" if before else ""
        plain_ones = None if values is None else tuple(plain.decode(value) for value in values)
        out.append(Value(int(number), label[:100], int(line), plain_ones))
    return tuple(out)


def from_example(path: Path, target: Target, *, partial: bool = False) -> Call:
    """Arguments from a JSON file: an object with one key for each parameter, or with `partial` for some.

    Integers as keys of an object become integers again. Raises UnreadableFile, UsageError.
    """
    arguments = dumps.document(path)
    if type(arguments) is not dict:
        raise UsageError(f"{path}: an example is an object with one key for each parameter of {target.unit}")
    if target.kind == "check" and not partial:
        arguments = _bound(path, arguments, target)
    return Call(target.module, _numbers(arguments))


def _bound(path: Path, arguments: dict[str, Plain], target: Target) -> dict[str, Plain]:
    """The arguments that an example gives; an object for a method that gives none is made without arguments.

    Raises UsageError for keys that are no parameters, and for parameters that are not given.
    """
    parameters, more = _parameters(target)
    names = [name for name, _ in parameters]
    owner = target.unit.rpartition(".")[0]
    if owner and "self" in names[:1] and "self" not in arguments:
        arguments = {"self": plain.Instance(f"{target.module}:{owner}", "new", {}), **arguments}
    missing = [name for name, needed in parameters if needed and name not in arguments]
    other = [name for name in arguments if name not in names]
    if missing or (other and not more):
        said = [f"gives no {_named(missing)}"] * bool(missing)
        said += [f"gives {_named(other)}, which it does not take"] * bool(other and not more)
        takes = _named([name for name in names if name != "self"]) or "nothing"
        raise UsageError(f"{path}: {' and '.join(said)}; {target.unit} takes {takes}")
    return arguments


def _named(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def from_dumps(left: Path, right: Path, target: Target, given: Call | None = None) -> tuple[Call, str]:
    """The rows of two dumps as the target's first two parameters, `given` for the others; and where they come
    from, in words.

    The parameter whose name says baseline gets the first dump. Of large dumps the first rows are taken, as
    many as thousands of runs can be made of. Raises UsageError where the target takes something else,
    UnreadableFile for a dump that cannot be read.
    """
    parameters, _ = _parameters(target)
    rest = dict(given.arguments) if given else {}
    free = [name for name, _ in parameters if name not in rest and name not in ("self", "cls")]
    if len(free) < 2:
        raise UsageError(f"{target.name} takes no two sides that dumps could be given for")
    first, second = free[:2]
    if shape.is_baseline(second) and not shape.is_baseline(first):
        first, second = second, first
    missing = [
        name for name, needed in parameters if needed and name not in (first, second) and name not in rest
    ]
    if missing:
        raise UsageError(
            f"{target.name} also takes {', '.join(missing)}; give {'it' if len(missing) == 1 else 'them'} "
            "with --example FILE beside --dump"
        )
    sides, longest = {}, 0
    for name, path in ((first, left), (second, right)):
        sides[name], total = dumps.rows(path, MOST_DUMPED)
        longest = max(longest, total)
        if not total:
            raise UsageError(f"{path} holds no row, so that there is nothing to compare")
    most = _fitting(list(sides.values()))
    source = f"{left} and {right}" + (f" (the first {most} of {longest} rows)" if most < longest else "")
    sides = {name: listed[:most] for name, listed in sides.items()}
    ordered = {
        name: sides[name] if name in sides else rest[name]
        for name, _ in parameters
        if name in {**sides, **rest}
    }
    return Call(target.module, ordered), source


def _fitting(sides: Sequence[Sequence[Plain]]) -> int:
    """How many rows of each side hold at most `MOST_DUMPED` values together."""
    left = MOST_DUMPED
    for number in range(max(map(len, sides))):
        left -= sum(dumps.count(side[number]) for side in sides if number < len(side))
        if left < 0:
            return max(number, 1)
    return max(map(len, sides))


def _parameters(target: Target) -> tuple[list[tuple[str, bool]], bool]:
    """Names of the target's parameters, whether each must be given; and whether it takes other names too."""
    content = (target.root / target.path).read_bytes()
    unit = File(target.path, content).unit(target.unit)
    if unit is None or not isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        raise UsageError(f"{target.name} is not a function, so dumps cannot be its arguments")
    arguments = unit.tree.args
    named = [*arguments.posonlyargs, *arguments.args]
    optional = {arg.arg for arg in named[len(named) - len(arguments.defaults) :]}
    found = [(arg.arg, arg.arg not in optional) for arg in named]
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    found += [(arg.arg, default is None) for arg, default in keywords]
    if any(collection.decorator_name(one) == "classmethod" for one in unit.tree.decorator_list):
        found = found[1:]
    rest = [(one.arg, False) for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return found + rest, arguments.kwarg is not None


def _numbers(value: Plain) -> Plain:
    if type(value) is dict:
        keys = list(value)
        whole = bool(keys) and all(type(key) is str and re.fullmatch(r"-?\d{1,18}", key) for key in keys)
        return {int(key) if whole else key: _numbers(item) for key, item in value.items()}
    return [_numbers(item) for item in value] if type(value) is list else value


def from_command(target: Target) -> tuple[Call, dict[str, tuple[int, str]]]:
    """The contents of a command line's JSON files as arguments, and where each stands in its words.

    Raises UsageError where it names no such file.
    """
    arguments: dict[str, Plain] = {}
    files: dict[str, tuple[int, str]] = {}
    left = 2 * MOST_DUMPED
    for place, label in file_labels.placed(target).items():
        path = Path(target.words[place])
        arguments[label] = _contents(path, target, left)
        left -= dumps.count(arguments[label])
        files[label] = (place, path.name + "/" * path.is_dir())
    if not arguments:
        raise UsageError(f"{target.name!r} names no JSON file that edits could be made in")
    return Call("__main__", arguments), files


def _contents(path: Path, target: Target, left: int) -> Plain:
    """What a file or folder holds. Raises UsageError where that is more than `left` values."""
    if path.is_dir():
        return {file.name: _contents(file, target, left) for file in dumps.inside(path)}
    if path.suffix == ".jsonl":
        found, total = dumps.rows(path, left)
        whole: Plain = found
        fits = len(found) == total
    else:
        whole, fits = dumps.document(path), True
    if not fits or dumps.count(whole) > left:
        raise UsageError(
            f"the files of {target.name!r} hold more than {2 * MOST_DUMPED:,} values, too many to run it on "
            "thousands of times; give it a part of them"
        )
    return whole


def of_test(calls: Sequence[Call]) -> tuple[list[Call], dict[str, tuple[int, bool]]]:
    """The calls of a test with the values of its own calls among the arguments, and what these stand for."""
    many = {
        value.label: (
            value.number,
            any(v.values and len(v.values) > 1 for c in calls for v in c.values if v.label == value.label),
        )
        for call in calls
        for value in call.values
    }
    out = []
    for call in calls:
        arguments = dict(call.arguments)
        for value in call.values:
            if value.values:
                arguments[value.label] = list(value.values) if many[value.label][1] else value.values[0]
        if "tmp_path" in arguments:
            arguments["tmp_path"] = plain.Instance("pathlib:Path", "folder", {})
        out.append(replace(call, arguments=arguments))
    return out, many
