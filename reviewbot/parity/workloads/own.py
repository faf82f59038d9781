"""The repository's own harness: a command that makes one leg's rows, and what it leaves compared.

`command` runs it once a leg; `revisions` runs it at two commits. A leg's name, its folder and that of the
killed run come to it in its environment, and in place of `{leg}`, `{out}` and `{cut}` among its words.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from reviewbot.errors import UsageError
from reviewbot.parity import compare, process, restores, writer
from reviewbot.parity.context import Decode
from reviewbot.parity.dumps import dump
from reviewbot.parity.executors.executor import LegFailed, LegLost
from reviewbot.parity.folder import emptied
from reviewbot.parity.judge import Limits
from reviewbot.parity.restores import Restores
from reviewbot.parity.result import Result, Run
from reviewbot.parity.workloads.plan import Progress
from reviewbot.source.git import Repository

LEGS = ("reference", "cut", "restored")
REVISIONS = ("base", "head")


@dataclass(frozen=True, slots=True)
class Harness:
    """How a repository makes its rows.

    `command` makes a leg; `setup` goes before it in each clean tree. The `cut` leg gets SIGKILL when a line
    of its output matches `cut_when`; without that it has to end itself. `pattern` finds restore records in
    the restored leg's output, for a harness that writes no restores.jsonl. `python` stands for `{python}`.
    """

    command: tuple[str, ...]
    setup: tuple[str, ...] = ()
    legs: tuple[str, ...] = LEGS
    cut_when: str = ""
    pattern: str = ""
    mapping: Mapping[str, str] = field(default_factory=dict)
    python: str = sys.executable
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the legs' folders are, and how they are compared."""

    folder: Path
    harness: Harness
    limits: Limits
    min_cut: int = 1
    min_unequal_groups: float = 0.5
    form: str | None = None
    decode: Decode | None = None


def run(plan: Plan, progress: Progress) -> Result:
    """The workload `command`: each leg by the harness as it stands here.

    Raises `UsageError` for a harness that has no reference or restored leg, `LegFailed`.
    """
    harness = plan.harness
    if not {"reference", "restored"} <= set(harness.legs) <= set(LEGS):
        raise UsageError(
            f"[tool.reviewbot.parity] legs: reference, restored and at most cut, not {harness.legs}"
        )
    begun = time.monotonic()
    for leg in (name for name in LEGS if name in harness.legs):
        _leg(plan, leg, Path.cwd(), {"REVIEWBOT_LEG": leg}, progress)
    compared = time.monotonic()
    try:
        reference, restored = (_dump(plan, leg) for leg in ("reference", "restored"))
    except UsageError:
        # A cut leg that ran to its end leaves nothing to restore, and so the restored one has no rows.
        if spared := _spared(plan):
            raise LegLost(spared) from None
        raise
    cut = plan.folder / "cut"
    calls = None
    if "cut" in harness.legs:
        restored.add(dump.rows_in(cut, (*reference.files, *restored.files)))
        calls = restores.begun(cut / "journal.jsonl") if (cut / "journal.jsonl").is_file() else None
    options = compare.Options(
        limits=plan.limits,
        restores=_records(plan),
        begun=calls,
        min_unequal_groups=plan.min_unequal_groups,
        decode=plan.decode,
        doubts=tuple(_doubts(plan, None if calls is None else len(calls))),
    )
    result = compare.compared(reference, restored, options)
    ran = Run(
        workload="command",
        seconds=round(time.monotonic() - begun, 1),
        folder=str(plan.folder),
        cut_calls=None if calls is None else len(calls),
        command=harness.command,
    )
    return msgspec.structs.replace(result, run=ran, profile=_profile(plan, harness.legs, compared))


def revisions(plan: Plan, repository: Repository, base: str, head: str, progress: Progress) -> Result:
    """The workload `revisions`: an uninterrupted leg at each of two commits, each in a tree of its own.

    Raises `GitError`, `UsageError` for twice the same commit, `LegFailed`.
    """
    commits = tuple(repository.commit(ref) for ref in (base, head))
    if commits[0] == commits[1]:
        raise UsageError(f"--base {base} and --head {head} are the same commit, {commits[0][:12]}")
    begun = time.monotonic()
    for name, commit in zip(REVISIONS, commits, strict=True):
        if (plan.folder / f"{name}.json").exists():
            continue
        tree = emptied(plan.folder / f"{name}-tree")
        repository.checkout(commit, tree)
        said = {"REVIEWBOT_LEG": "reference", "REVIEWBOT_REVISION": name, "REVIEWBOT_COMMIT": commit}
        _leg(plan, name, tree, said, progress)
    compared = time.monotonic()
    one, other = (_dump(plan, name) for name in REVISIONS)
    options = compare.Options(
        limits=plan.limits,
        min_unequal_groups=plan.min_unequal_groups,
        decode=plan.decode,
        manifests=({"commit": commits[0]}, {"commit": commits[1]}),
        sides=REVISIONS,
    )
    result = compare.compared(one, other, options)
    ran = Run(
        workload="revisions",
        seconds=round(time.monotonic() - begun, 1),
        folder=str(plan.folder),
        command=plan.harness.command,
        commits=commits,
    )
    return msgspec.structs.replace(result, run=ran, profile=_profile(plan, REVISIONS, compared))


def _leg(plan: Plan, name: str, tree: Path, said: Mapping[str, str], progress: Progress) -> None:
    """One leg, unless it is finished: `<name>.json` says how it ended, `<name>.log` is its output."""
    done = plan.folder / f"{name}.json"
    if done.exists():
        return
    out = emptied(plan.folder / name).resolve()
    cut = (plan.folder / "cut").resolve()
    folders = {"REVIEWBOT_OUT": str(out), "REVIEWBOT_CUT": str(cut)}
    env = {**_environment(tree, plan.harness, name), **said, **folders}
    places = {
        "{out}": str(out),
        "{cut}": str(cut),
        "{leg}": said["REVIEWBOT_LEG"],
        "{tree}": str(tree.resolve()),
        "{python}": plan.harness.python,
    }
    until = _until(plan.harness.cut_when) if name == "cut" else None
    begun = time.monotonic()
    log = plan.folder / f"{name}.log"
    with log.open("wb") as file:
        lines = 0

        def heard(line: bytes) -> bool:
            nonlocal lines
            file.write(line)
            lines += 1
            progress(name, lines, None)
            return until is not None and until.search(line.decode(errors="replace")) is not None

        progress(name, 0, None)
        for words in (plan.harness.setup, plan.harness.command):
            if not words or (words is plan.harness.setup and name not in REVISIONS):
                continue
            if words is plan.harness.command and (python := _own_python(tree, plan.harness, name)):
                places["{python}"] = python
            filled = [_filled(word, places) for word in words]
            status = process.spawned(filled, heard, env=env, cwd=tree, timeout=plan.harness.timeout)
            file.flush()
            _ended(name, status, log, filled[0])
    seconds = round(time.monotonic() - begun, 3)
    writer.whole(done, msgspec.json.encode({"status": status, "seconds": seconds}))


def _until(cut_when: str) -> re.Pattern[str] | None:
    try:
        return re.compile(cut_when) if cut_when else None
    except re.error as error:
        raise UsageError(f"[tool.reviewbot.parity] cut-when {cut_when!r}: {error}") from None


def _own_python(tree: Path, harness: Harness, name: str) -> str | None:
    """The interpreter of the environment that `setup` made in a clean tree, if it made one."""
    python = tree.resolve() / ".venv" / "bin" / "python"
    return str(python) if harness.setup and name in REVISIONS and python.exists() else None


def _filled(word: str, places: Mapping[str, str]) -> str:
    for place, value in places.items():
        word = word.replace(place, value)
    return word


def _ended(name: str, status: int, log: Path, word: str) -> None:
    """A leg ends with 0; the cut one as it likes, and the verdict says whether that cut anything."""
    if status == 0 or (name == "cut" and status not in (126, 127)):
        return
    how = f"was ended by signal {-status}" if status < 0 else f"ended with {status}"
    raise LegFailed(f"the {name} leg's {word} {how} {process.last_words(log)}")


def _environment(tree: Path, harness: Harness, name: str) -> dict[str, str]:
    """What the harness runs in: the tree's modules before all others, and the programs beside its Python."""
    kept = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONHOME")}
    modules = [str(folder.resolve()) for folder in (tree, tree / "src") if folder.is_dir()]
    programs = [str(Path(harness.python).absolute().parent)]
    if harness.setup and name in REVISIONS:
        programs.insert(0, str(tree.resolve() / ".venv" / "bin"))
    return kept | {
        "PYTHONPATH": os.pathsep.join([*modules, *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PATH": os.pathsep.join([*programs, os.environ.get("PATH", os.defpath)]),
    }


def _dump(plan: Plan, name: str) -> dump.Dump:
    return dump.opened(name, str(plan.folder / name), plan.form, dict(plan.harness.mapping))


def _records(plan: Plan) -> Restores | None:
    file = plan.folder / "restored" / "restores.jsonl"
    if file.is_file():
        return restores.from_file(file)
    return (
        restores.from_log(plan.folder / "restored.log", plan.harness.pattern)
        if plan.harness.pattern
        else None
    )


def _spared(plan: Plan) -> str:
    """That the cut leg ended by itself, and why nothing killed it, as a clause; "" where it was killed or is
    not there."""
    if "cut" not in plan.harness.legs:
        return ""
    status = msgspec.json.decode((plan.folder / "cut.json").read_bytes())["status"]
    if status in (-signal.SIGKILL, 128 + signal.SIGKILL):
        return ""
    if not plan.harness.cut_when:
        return f"the cut leg was not killed: it ended with {status}"
    no_line = f"no line of its output matches cut-when, {plan.harness.cut_when!r}"
    return (
        f"the cut leg was not killed: {no_line} (see {plan.folder / 'cut.log'}), and it ended with {status}"
    )


def _doubts(plan: Plan, cut: int | None) -> list[str]:
    if "cut" not in plan.harness.legs:
        return []
    doubts = []
    if cut is None and (spared := _spared(plan)):
        doubts.append(spared)
    if cut is not None and cut < plan.min_cut:
        doubts.append(
            f"the kill cut {cut} call{'s' * (cut != 1)} in mid-generation, fewer than {plan.min_cut}"
        )
    return doubts


def _profile(plan: Plan, legs: Sequence[str], compared: float) -> dict[str, float]:
    took = {leg: msgspec.json.decode((plan.folder / f"{leg}.json").read_bytes())["seconds"] for leg in legs}
    return took | {"compare": round(time.monotonic() - compared, 3)}
