"""Proposed diffs run: their tests, and what would no longer be caught. All of it happens in a sandbox."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path

from reviewbot.errors import NoSandbox, ProbeError, ReviewbotError, UnreadableFile
from reviewbot.model import Finding
from reviewbot.probe import confirm, harvest, mentions
from reviewbot.probe.mentions import Function
from reviewbot.probe.without import loss
from reviewbot.review.size.cuts import PARSES, Made, bare_fix
from reviewbot.review.size.kinds import checks_of, comparisons_of
from reviewbot.review.size.result import Standing
from reviewbot.source.export import export
from reviewbot.source.git import Repository
from reviewbot.source.patch import replacements
from reviewbot.source.units import File, Unit

NAMED = 3
EACH = 30.0  # seconds for the tests of one diff
# Whether such a check goes without loss only the producer of what it looks at can say: the probe runs it.
_BY_CONFIRMING = frozenset({"restated-arithmetic", "implied-check", "duplicate-test"})


@dataclass
class _Bench:
    """The head in a folder of its own, and what ran on it already."""

    folder: Path
    until: float
    python: str | None
    known: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """What is left for one run. Raises ProbeError where nothing is."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise ProbeError("the time for running was up")
        return min(EACH, max(left, 1.0))

    def passing(self, tests: Sequence[str]) -> tuple[frozenset[str], str]:
        """The tests of some files that pass now, and why others did not run.

        Raises ProbeError where they were stopped: nobody knows then whether the rest would have passed.
        """
        names = [str(self.folder / path) for path in tests]
        ran = harvest.outcomes(self.folder, names, seconds=self.seconds, python=self.python)
        stopped = next((why for why in ran.not_run if why.startswith(harvest.STOPPED)), None)
        if stopped is not None:
            raise ProbeError(stopped)
        passed = frozenset(name for name, outcome in ran.outcomes.items() if outcome == "passed")
        return passed, "; ".join(ran.not_run[:1])

    def passing_today(self, tests: Sequence[str]) -> frozenset[str]:
        """The tests of some files that pass at the head, run once."""
        key = tuple(tests)
        if key not in self.known:
            self.known[key] = self.passing(tests)[0]
        return self.known[key]

    @contextmanager
    def changed(self, made: Made) -> Iterator[None]:
        """The files as a cut leaves them, for as long as it lasts."""
        try:
            self._write(made.after)
            yield
        finally:
            self._write(made.before)

    def _write(self, files: Mapping[str, bytes]) -> None:
        for path, content in files.items():
            (self.folder / path).write_bytes(content)


def tried(
    made: Sequence[Made],
    repository: Repository,
    head: str,
    *,
    seconds: float,
    python: str | None = None,
    progress: Callable[[str], None] = lambda says: None,
) -> list[Made]:
    """The cuts, those with a diff run on the head's files: tested, withdrawn, or as they were and why.

    Raises NoSandbox where code cannot be shut in.
    """
    out = []
    with _bench(repository, head, seconds, python) as bench:
        for number, one in enumerate(made, 1):
            if one.cut.state == "applies":
                progress(f"running diff {number} of {len(made)}: {one.cut.id}")
                one = _best(bench, one)
            # A question that no run has answered stays one: nothing is proposed.
            if one.cut.certainty != "question" or one.cut.state == "tested":
                out.append(one)
    return out


def without_losses(
    findings: Sequence[Finding],
    repository: Repository,
    head: str,
    *,
    seconds: float,
    python: str | None = None,
    progress: Callable[[str], None] = lambda says: None,
) -> tuple[Finding, ...]:
    """The findings; those without their fix with which a test fails or something is no longer caught. Other
    fixes say what running them showed.

    Raises NoSandbox where code cannot be shut in.
    """
    read = partial(repository.read, head)
    made = {id(one): bare_fix(one, read) for one in findings if one.fix is not None}
    if not any(made.values()):
        return tuple(findings)
    out = []
    with _bench(repository, head, seconds, python) as bench:
        for number, finding in enumerate(findings, 1):
            fix = made.get(id(finding))
            if fix is not None:
                progress(f"running the fix of finding {number} of {len(findings)}")
                cut = _judged(bench, fix).cut
                if cut.state == "withdrawn" and finding.fix is not None:
                    finding = replace(finding, fix=None, no_fix=cut.says, withheld=finding.fix.says)
                elif cut.state == "tested" and finding.fix is not None:
                    finding = replace(finding, fix=replace(finding.fix, tried=cut.says))
            out.append(finding)
    return tuple(out)


@contextmanager
def _bench(repository: Repository, head: str, seconds: float, python: str | None) -> Iterator[_Bench]:
    with tempfile.TemporaryDirectory(prefix="reviewbot-size-") as name:
        folder = Path(name)
        export(repository, head, folder)
        # The nearest folder with this file is taken for the repository's own.
        if not (folder / "pyproject.toml").exists():
            (folder / "pyproject.toml").touch()
        yield _Bench(folder, time.monotonic() + seconds, python)


def _best(bench: _Bench, made: Made) -> Made:
    """The cut with all that could go along, if running shows that nothing is lost by it; else the other."""
    if made.bold is not None:
        bold = _judged(bench, made.bold)
        if bold.cut.state == "tested":
            return bold
    return _judged(bench, made)


def _judged(bench: _Bench, made: Made) -> Made:
    state: Standing
    try:
        state, says = _run(bench, made)
    except NoSandbox:
        raise
    except ReviewbotError as error:
        state, says = "applies", f"{PARSES}; not run: {error}"
    # What is withdrawn is not handed on: nobody is to take it by mistake.
    diff = "" if state == "withdrawn" else made.cut.diff
    return replace(made, cut=replace(made.cut, state=state, says=says, diff=diff))


def _run(bench: _Bench, made: Made) -> tuple[Standing, str]:
    gone, units = _touched(made)
    tests = _tests(bench, made, units)
    if not tests:
        return "applies", f"{PARSES}; not run: no test names what it changes"
    expected = {name for name in bench.passing_today(tests) if not _removed(name, made)}
    with bench.changed(made):
        after, why = bench.passing(tests)
    failing = sorted(expected - after)
    if failing:
        more = f" and {len(failing) - 1} more" if len(failing) > 1 else ""
        return "withdrawn", f"`{failing[0]}`{more} no longer passes with it"
    if not expected:
        return "applies", f"{PARSES}; not run: {why or 'no test of it passes today'}"
    ran = "1 test still passes" if len(expected) == 1 else f"{len(expected)} tests still pass"
    if not gone:
        return "tested", f"{ran}; no check goes"
    try:
        state, caught = _caught(bench, made, units)
    except NoSandbox:
        raise
    except ReviewbotError as error:
        return "applies", f"{ran}; what it would no longer catch is not known: {error}"
    return (state, f"{ran}; {caught}") if state != "withdrawn" else (state, caught)


def _caught(bench: _Bench, made: Made, units: Sequence[tuple[str, str]]) -> tuple[Standing, str]:
    """What the probe says of the checks that go."""
    if made.finding.rule in _BY_CONFIRMING:
        (judged,) = confirm.confirm([made.finding], bench.folder, seconds=bench.seconds, python=bench.python)
        if judged.state == "confirmed":
            return "tested", judged.says or "a run confirms the finding"
        if judged.state == "refuted":
            return "withdrawn", judged.says or "a run refutes the finding"
        raise ProbeError(judged.says or "a run of the finding came to no end")
    changed = {path: content.decode() for path, content in made.after.items()}
    said = []
    for path in dict.fromkeys(path for path, _ in units):
        mine = [unit for where, unit in units if where == path]
        done = loss(bench.folder, path, mine, changed, seconds=min(5.0, bench.seconds), python=bench.python)
        if not done.passes:
            return "withdrawn", f"`{done.entry}` no longer passes what it passes today"
        if done.survive:
            named = ", ".join(f"`{one}`" for one in done.survive[:NAMED])
            return (
                "withdrawn",
                f"`{done.entry}` would no longer catch {len(done.survive)} of {done.tried}: {named}",
            )
        said.append(f"each of {done.tried} changes that `{done.entry}` catches is still caught")
    return "tested", "; ".join(said)


def _touched(made: Made) -> tuple[bool, list[tuple[str, str]]]:
    """Whether a check of the head, or a comparison of two values that may decide one, goes or changes, and
    the units (path, name) in which it does."""
    units: list[tuple[str, str]] = []
    for path, before in made.before.items():
        if not path.endswith(".py"):
            continue
        lines = {
            line + 1
            for first, last, _ in replacements(before, made.after[path])
            for line in range(first, last)
        }
        for unit in File(path, before).units:
            spans = chain(checks_of(unit), comparisons_of(unit))
            if any(not lines.isdisjoint(range(first, last + 1)) for first, last in spans):
                units.append((path, unit.name))
    listed = [(path, name) for path, name in units if name]
    finding = made.finding
    if finding.rule == "implied-check" and not units:
        listed, units = [(finding.span.path, finding.unit)], [(finding.span.path, finding.unit)]
    return bool(units), listed


def _tests(bench: _Bench, made: Made, units: Sequence[tuple[str, str]]) -> list[str]:
    """The test files (below the folder) that could tell: those changed, and those that name what changed."""
    found = [path for path in made.after if _is_test_file(path)]
    wanted = [(path, name) for path, name in units if not _is_test_file(path)]
    wanted += [(path, made.finding.unit) for path in made.after if path.endswith(".py") and path not in found]
    functions = [Function(bench.folder / path, name or "_") for path, name in dict.fromkeys(wanted)]
    if functions:
        listed = mentions.tests_for(bench.folder, functions)
        found += [path.relative_to(bench.folder).as_posix() for path in listed]
    return list(dict.fromkeys(found))


def _is_test_file(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def _removed(name: str, made: Made) -> bool:
    """Whether a cut deletes the test of that pytest id."""
    path, _, rest = name.partition("::")
    if path not in made.after:
        return False
    qualified = rest.partition("[")[0].replace("::", ".")
    try:
        found: Unit | None = File(path, made.after[path]).unit(qualified)
    except UnreadableFile:
        return False
    return found is None
