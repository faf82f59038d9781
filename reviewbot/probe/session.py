"""A target loaded in a sandbox, and verdicts on changed arguments from it."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from reviewbot.errors import ProbeError
from reviewbot.probe import closure, packages
from reviewbot.probe.inside import edits, plain
from reviewbot.probe.inside.edits import Edit, World
from reviewbot.probe.inside.judge import VERDICTS, Protocol, Verdict
from reviewbot.probe.inside.plain import Array, Instance, Plain
from reviewbot.probe.inside.restrict import Held
from reviewbot.probe.inside.sites import Site
from reviewbot.probe.inside.switchboard import Key
from reviewbot.probe.sandbox import Box, ChildGone, Wants, readable
from reviewbot.probe.target import Target

MOST_RESTARTS = 5
MOST_SITES = 20_000
# Requests go out in parts, so that a child that dies takes little with it.
PART = 400


@dataclass(frozen=True, slots=True)
class Run:
    """What one run showed. `fired`: the checks that fired; `outcomes`: each branch with what it came to, and
    `times` how often.

    `returned` (with `is_plain`) and `seen` (a function's returned value and short variables) and `reached`
    (how often each check ran) are filled in watched runs only.
    """

    verdict: Verdict
    says: str = ""
    where: tuple[str, int] | None = None
    fired: tuple[Key, ...] = ()
    outcomes: frozenset[tuple[int, bool]] = frozenset()
    times: Mapping[tuple[int, bool], int] = field(default_factory=dict)
    returned: Plain = None
    is_plain: bool = False
    seen: Mapping[str, Mapping[str, Plain]] = field(default_factory=dict)
    reached: Mapping[Key, int] = field(default_factory=dict)

    @property
    def passes(self) -> bool:
        """Whether the difference went unnoticed: a skipped test is green too."""
        return self.verdict in ("pass", "skip")

    @property
    def noticed(self) -> bool:
        """Whether a check fired or the code fell over."""
        return self.verdict in ("fail", "crash")


@dataclass(frozen=True)
class Made:
    """What a producer returned, how it left its arguments, what it logged."""

    returned: Plain
    after: dict[str, Plain]
    log: tuple[str, ...]


@dataclass(frozen=True)
class How:
    """How the returned value is read, and how long one run may take."""

    protocol: Protocol = "raises"
    expected: Plain = None
    seconds: float = 2.0


class Session:
    """The target in a child of its own, which is started again if a run hangs or kills it."""

    def __init__(
        self,
        target: Target,
        *,
        module: str | None = None,
        also: Sequence[str] = (),
        python: str | None = None,
        worlds: Iterable[World] = (),
        instead: Mapping[str, str] | None = None,
        calls: Mapping[str, tuple[int, bool]] | None = None,
        files: Mapping[str, tuple[int, str]] | None = None,
        absent: Sequence[str] = (),
        figures: bool = False,
        seconds: float = 5.0,
        bare: bool = False,
    ) -> None:
        self.target = target
        self.module = module or target.module
        self.also = tuple(also)
        self.python = python
        self.how = How()
        self.sites: list[Site] = []
        self.loaded: dict[str, Any] = {}
        self.held = Held()
        self.runs = 0
        self.instead = dict(instead or {})
        # Of a test: {label of a call: (its number, whether its value is a list of one for each time)}.
        self.calls = dict(calls or {})
        # Of a command line: {label of a file: (its place in the words, the file's name)}.
        self.files = dict(files or {})
        self.absent = tuple(absent)
        # Whether constants and operations of functions can be changed too.
        self.figures = figures
        # Whether it runs as it is written, without a counter or a switch.
        self.bare = bare
        # What the user gave for it: who gives more waits longer for it to be loaded, too.
        self.seconds = seconds
        self._producers: list[dict[str, Any]] = []
        self._worlds: list[World] = []
        self._restarts = 0
        self._libraries = _libraries(worlds)
        self._needs_packages = closure.packages(target, also) | self._libraries
        self._box: Box | None = None

    def __enter__(self) -> Session:
        self._start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def heavy(self) -> bool:
        """Whether a package is loaded whose parts take seconds to import."""
        return bool(self._needs_packages & closure.HEAVY)

    def close(self) -> None:
        """Ends the child."""
        if self._box is not None:
            self._box.close()
            self._box = None

    def add(self, world: World) -> int:
        """Hands arguments over; the number names them from now on."""
        self._worlds.append(dict(world))
        if self._box is not None:
            self._tell(len(self._worlds) - 1)
        return len(self._worlds) - 1

    def world(self, number: int) -> World:
        """The arguments of that number."""
        return self._worlds[number]

    def judge(
        self,
        world: int,
        edited: Sequence[Sequence[Edit]],
        *,
        observing: bool = False,
        off: Collection[int | Key] = (),
        forced: Mapping[int, bool] | None = None,
        watch: bool = False,
        until: float | None = None,
    ) -> list[Run | None]:
        """One run for each list of edits; None where the edits have no place in that world.

        observing: no check raises, so that `fired` holds every one that would. off: checks that never
        fire. forced: branches with a given outcome. Runs that did not start before `until` (on the clock
        of `time.monotonic`) are left out, so the list can be shorter.
        """
        base = self._worlds[world]
        out: list[Run | None] = []
        for start in range(0, len(edited), PART):
            if until is not None and time.monotonic() > until:
                break
            part = edited[start : start + PART]
            # An edit that this process cannot apply is never asked about, whatever the child would say.
            sound = [not listed or edits.apply(base, listed) is not None for listed in part]
            asked = {
                "do": "judge",
                "base": world,
                "observing": observing,
                "off": [list(key) if isinstance(key, tuple) else key for key in off],
                "forced": list((forced or {}).items()),
                "watch": watch,
                "protocol": self.how.protocol,
                "expected": plain.encode(self.how.expected),
                "seconds": self.how.seconds,
            }
            todo = [listed for listed, good in zip(part, sound, strict=True) if good]
            runs = iter(self._part(asked, todo))
            out += [next(runs) if good else None for good in sound]
        self.runs += len(out)
        return out

    def one(self, world: int, edited: Sequence[Edit] = (), **options: Any) -> Run:
        """A single run. Raises ProbeError where the edits have no place."""
        (run,) = self.judge(world, [edited], **options)
        if run is None:
            raise ProbeError("an edit has no place in these arguments")
        return run

    def counts(self) -> dict[Key, int]:
        """How often each check ran in this child, over all runs so far."""
        if self._box is None:
            return {}
        self._box.send({"do": "count"})
        try:
            return {_key(key): int(count) for key, count in self._await("counted", 20.0)}
        except (TypeError, ValueError, IndexError):
            raise ProbeError("the child counted what makes no sense") from None

    def add_producer(
        self, path: str, unit: str, module: str, also: Sequence[str] = ()
    ) -> tuple[int, list[tuple[str, bool]]]:
        """Brings in a producer. Returns its number and its parameters: name, whether it must be given.

        Raises ProbeError where it cannot be loaded.
        """
        assert self._box is not None
        place = {
            "root": str(self.target.root),
            "path": path,
            "unit": unit,
            "module": module,
            "also": list(also),
        }
        self._box.send({"do": "producer", "place": place})
        found = self._await("parameters", 60.0)
        self._producers.append(place)
        try:
            return len(self._producers) - 1, [(str(name), bool(needed)) for name, needed in found]
        except (TypeError, ValueError):
            raise ProbeError("the child named parameters that make no sense") from None

    def produce(
        self, number: int, listed: Sequence[Mapping[str, Plain]], raised: list[str] | None = None
    ) -> list[Made | None]:
        """What a producer makes of each set of arguments; None where it raises, its error in `raised`."""
        if self._box is None:
            self._start()
        assert self._box is not None
        out: list[Made | None] = []
        for start in range(0, len(listed), PART):
            part = listed[start : start + PART]
            arguments = [plain.encode(dict(one)) for one in part]
            self._box.send({"do": "produce", "number": number, "arguments": arguments, "seconds": 2.0})
            for index in range(len(part)):
                made = self._made(index)
                if isinstance(made, str) and raised is not None:
                    raised.append(made)
                out.append(None if isinstance(made, str) else made)
            self._await("done", 20.0)
        return out

    def _made(self, index: int) -> Made | str:
        assert self._box is not None
        try:
            line = self._box.receive(time.monotonic() + 10)
            if line.get("at") != index:
                raise ChildGone("it answered what was not asked")
            if "raised" in line:
                return str(line["raised"])[:300]
            after = plain.decode(line["after"])
            if type(after) is not dict:
                raise ValueError("arguments are named")
            return Made(plain.decode(line["returned"]), after, tuple(str(said) for said in line["log"]))
        except (KeyError, TypeError, ValueError, TimeoutError, ChildGone):
            self.close()
            raise ProbeError("a producer could not be run") from None

    # ---- the child ----

    def _start(self) -> None:
        read, listed = readable(self.target.root)
        cpu = 20 + int(2 * self.seconds)
        wants = Wants("boot", read=read, list=listed, cpu=cpu)
        search = closure.search_paths(self.target.root, self.target.path)
        if self.python:
            wants = Wants("boot", read=read, list=listed, cpu=cpu, python=self.python)
        if self._needs_packages:
            # torch alone reserves several GiB of address space without using them.
            memory = (16 << 30) if self._needs_packages & closure.HEAVY else (4 << 30)
            found = packages.packages(wants.python)
            reads, lists = (*read, *found.read), (*listed, *found.list)
            wants = Wants("boot", reads, lists, memory, cpu=cpu + 100, files=256, python=wants.python)
            search = [*search, *found.folders]
        self._box = Box(wants)
        self.held = self._box.held
        self.sites = []
        place = {
            "root": str(self.target.root),
            "path": self.target.path,
            "unit": self.target.unit,
            "module": self.module,
            "also": self.also,
        }
        asked: dict[str, Any] = {
            "do": "load",
            "place": place,
            "search": search,
            "instead": self.instead,
            "calls": self.calls,
        }
        # What the arguments are made of is imported while there is time for it.
        asked["absent"] = self.absent
        asked["figures"] = self.figures
        asked["bare"] = self.bare
        asked["libraries"] = sorted(self._libraries)
        if self.target.kind == "command":
            asked["command"] = {"words": self.target.words, "files": self.files}
        self._box.send(asked)
        # Importing torch from a cold disk takes longer than everything else together.
        self.loaded = self._await("loaded", max(60.0, 4 * self.seconds))
        for producer in self._producers:
            self._box.send({"do": "producer", "place": producer})
            self._await("parameters", 60.0)
        for number in range(len(self._worlds)):
            self._tell(number)

    def _tell(self, number: int) -> None:
        assert self._box is not None
        self._box.send({"do": "world", "number": number, "world": plain.encode(dict(self._worlds[number]))})
        self._await("kept", 20.0)

    def _await(self, key: str, seconds: float) -> Any:
        assert self._box is not None
        deadline = time.monotonic() + seconds
        try:
            while True:
                line = self._box.receive(deadline)
                if "sites" in line:
                    self._sites(line["sites"])
                elif "error" in line:
                    raise ProbeError(str(line["error"])[:500])
                elif key in line:
                    return line[key]
        except TimeoutError:
            self.close()
            raise ProbeError(
                f"{self.target.path} was not loaded within {seconds:g} s; a larger budget leaves it more time"
            ) from None

    def _part(self, asked: dict[str, Any], listed: Sequence[Sequence[Edit]]) -> list[Run]:
        runs: list[Run] = []
        while len(runs) < len(listed):
            try:
                self._ask(asked, listed[len(runs) :], runs)
            except (ChildGone, TimeoutError) as error:
                why = error.why if isinstance(error, ChildGone) else "it did not answer in time"
                verdict: Verdict = "timeout" if isinstance(error, TimeoutError) else "crash"
                runs.append(Run(verdict, why))
                self.close()
                self._restarts += 1
                if self._restarts > MOST_RESTARTS:
                    raise ProbeError(f"{self.target.name} cannot be run again and again: {why}") from None
                self._start()
        return runs

    def _ask(self, asked: dict[str, Any], listed: Sequence[Sequence[Edit]], runs: list[Run]) -> None:
        assert self._box is not None
        self._box.send({**asked, "edits": [[edits.encode(edit) for edit in one] for one in listed]})
        expected = 0
        while True:
            # One run has its own alarm in the child; what outlasts it is stuck where no alarm reaches.
            line = self._box.receive(time.monotonic() + self.how.seconds * 2 + 3)
            if "sites" in line:
                self._sites(line["sites"])
            elif "done" in line:
                if expected != len(listed):
                    raise ChildGone("it left answers out")
                return
            elif line.get("at") == expected:
                runs.append(self._run(line))
                expected += 1
            else:
                raise ChildGone("it answered what was not asked")

    def _run(self, line: dict[str, Any]) -> Run:
        """A run from a line, everything in it checked: the code under probe could have written it."""
        try:
            verdict = line["verdict"]
            if verdict not in VERDICTS:
                raise ValueError("no such verdict")
            where = line.get("where")
            return Run(
                cast(Verdict, verdict),
                str(line.get("says", ""))[:400],
                (str(where[0])[:300], int(where[1])) if where else None,
                tuple(map(_key, line["fired"])),
                frozenset((int(number), bool(outcome)) for number, outcome, _ in line["outcomes"]),
                {(int(number), bool(out)): int(times) for number, out, times in line["outcomes"]},
                plain.decode(line.get("returned")),
                bool(line.get("plain")),
                {str(name)[:200]: plain.decode(seen) for name, seen in line.get("seen", {}).items()},
                {_key(key): int(count) for key, count in line.get("reached", ())},
            )
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError):
            raise ChildGone("it wrote a line that makes no sense") from None

    def _sites(self, listed: Any) -> None:
        """New sites; those that cannot stand in a file of the repository are a forgery."""
        try:
            for path, line, end, kind, form, escape, unit, text in listed:
                site = Site(
                    str(path),
                    int(line),
                    int(end),
                    kind,
                    str(form)[:20],
                    escape,
                    str(unit)[:200],
                    str(text)[:200],
                )
                file = (self.target.root / site.path).resolve()
                sound = file.is_relative_to(self.target.root.resolve()) and file.is_file()
                if (
                    not sound
                    or kind not in ("check", "branch", "figure")
                    or not 0 < site.line <= site.end_line
                ):
                    raise ValueError("no such place")
                self.sites.append(site)
        except (TypeError, ValueError, OSError):
            raise ChildGone("it named places that do not exist") from None
        if len(self.sites) > MOST_SITES:
            raise ChildGone("it named more places than can be right")

    def known(self, number: int) -> Site | None:
        """The site of a number, if there is one."""
        return self.sites[number] if 0 <= number < len(self.sites) else None


def _key(listed: Any) -> Key:
    return (int(listed[0]), *(str(part)[:200] for part in listed[1:]))


def _libraries(worlds: Iterable[World]) -> frozenset[str]:
    """The packages that arguments are made of."""
    found: set[str] = set()

    def look(value: Plain) -> None:
        if type(value) is Array:
            found.add(value.kind)
            return
        if type(value) is Instance:
            found.update(name for name in ("torch", "numpy", "pandas") if value.cls.startswith(name))
            if value.cls.startswith("_pytest.") or value.how == "fixture":
                found.add("pytest")
        for _, part in plain.items(value):
            if type(part) in (list, tuple, dict, Array, Instance):
                look(part)

    for world in worlds:
        look(dict(world))
    return frozenset(found)
