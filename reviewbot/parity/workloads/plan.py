"""What the workloads share: a plan, legs that are run once, and what they leave."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from reviewbot.parity import prefill, process, writer
from reviewbot.parity.context import Decode
from reviewbot.parity.dumps.dump import Dump, found
from reviewbot.parity.dumps.nemo_rl import NemoRL
from reviewbot.parity.dumps.plain import Plain
from reviewbot.parity.engines.engine import Settings
from reviewbot.parity.executors.executor import Executor, Leg, LegFailed
from reviewbot.parity.executors.local import Local
from reviewbot.parity.faults import FAULTS
from reviewbot.parity.folder import emptied
from reviewbot.parity.judge import Limits
from reviewbot.parity.result import Planted, Result
from reviewbot.parity.rows import Identity, identity
from reviewbot.parity.spec import Out, Spec, Work

MIN_CUT = 3  # calls that the kill must cut in mid-generation
NOISE = {"float32": 1e-4, "bfloat16": 0.07, "float16": 0.02}  # nats, of the same token in two legs

# Told the leg's name, the tokens it has decoded, and how many it is expected to decode in all, if known.
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run, in which folder, with which faults planted one after the other beside the true run."""

    folder: Path
    work: Work
    settings: Settings
    faults: Sequence[str] = ()
    control: bool = False
    trainer: bool = False
    min_cut: int = MIN_CUT
    min_unequal_groups: float = 0.5
    noise: float | None = None
    decode: Decode | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    python: str | None = None
    executor: Executor = field(default_factory=Local)

    def limits(self, *settings: Settings) -> Limits:
        """What may differ between legs of these settings."""
        noise = max(NOISE[one.dtype] for one in settings) if self.noise is None else self.noise
        dtypes = {one.dtype for one in settings}
        return Limits(noise=noise, dtype=dtypes.pop() if len(dtypes) == 1 else None)


def out(plan: Plan, name: str, fault: str | None = None, at_a_time: int | None = None) -> Out:
    """One leg's folder, and what is its own."""
    folder = str(plan.folder / name)
    return Out(folder=folder, fault=fault, at_a_time=at_a_time or plan.settings.at_a_time)


def run(plan: Plan, specs: Mapping[str, Spec], progress: Progress, python: str | None = None) -> None:
    """Runs processes that do not need one another, each with those of its legs that are not finished yet."""
    started = []
    for name, spec in specs.items():
        todo = tuple(one for one in spec.outs if not _finished(Path(one.folder)))
        for one in todo:
            emptied(Path(one.folder))
        if todo:
            left = msgspec.structs.replace(spec, outs=todo)
            started.append(Leg(name, left, python or plan.python, plan.env))
            progress(name, 0, None)
    legs = {leg.name: leg.name for leg in started}

    def hear(name: str, said: dict[str, Any]) -> None:
        legs[name] = said.get("leg", legs[name])
        progress(legs[name], said.get("tokens", 0), expected(plan) if "tokens" in said else None)

    ended = plan.executor.run(started, plan.folder, hear) if started else {}
    for name, how in ended.items():
        if specs[name].min_cut:
            said = {"status": how.status, "seconds": how.seconds, "load": how.load}
            writer.whole(plan.folder / name / "killed.json", msgspec.json.encode(said))


def _finished(folder: Path) -> bool:
    return (folder / "account.json").exists() or (folder / "killed.json").exists()


def expected(plan: Plan) -> int | None:
    """How many tokens a leg decodes at most, once the reference has shown it."""
    finished = (plan.folder / "reference" / "account.json").exists()
    return int(account(plan.folder / "reference")["decoded"]) if finished else None


def faulty(plan: Plan) -> list[Out]:
    """A leg for each fault that is planted."""
    return [out(plan, f"planted/{fault}", fault) for fault in plan.faults]


def account(folder: Path) -> dict[str, Any]:
    """What a leg says of itself."""
    said: dict[str, Any] = msgspec.json.decode((folder / "account.json").read_bytes())
    return said


def dump(plan: Plan, name: str, *folders: Path) -> Dump:
    """The rows of one side, from the folders of one leg or two."""
    files = [
        file for folder in folders if any(folder.glob("train_data_step*")) for file in found(str(folder))
    ]
    files.sort(key=lambda file: (len(file.name), file.name))
    return Dump(name, tuple(files), Plain() if plan.work.dump_format == "plain" else NemoRL())


def ties_confirmed(plan: Plan, result: Result) -> Result:
    """The result after the engine was asked once more about each row that is set aside.

    Raises `LegFailed`.
    """
    if not result.set_aside:
        return result
    wanted = {row.row: row.first_difference for row in result.set_aside}
    asked: dict[Identity, prefill.Asked] = {}
    reference = dump(plan, "reference", plan.folder / "reference")
    for line in reference.lines():
        row = reference.numbered(reference.row(line), line.where)
        if (where := identity(row)) in wanted:
            asked[where] = _asked(plan, where, (row.token_ids or [])[: wanted[where]])
    out, log = plan.folder / "prefill.json", plan.folder / "prefill.log"
    spec = prefill.Spec(settings=plan.settings, asked=tuple(asked.values()), out=str(out))
    path = plan.folder / "prefill.spec.json"
    writer.whole(path, msgspec.json.encode(spec))
    if process.module("prefill", path, log=log, threads=plan.settings.threads, python=plan.python):
        raise LegFailed(f"the clean pass over rows that are set aside failed {process.last_words(log)}")
    scores = msgspec.json.decode(out.read_bytes(), type=prefill.Scores)
    return prefill.confirmed(result, {where: scores.get(one.row, {}) for where, one in asked.items()})


def _asked(plan: Plan, where: Identity, tokens: list[int]) -> prefill.Asked:
    step, prompt, sample = where
    if plan.work.dump_format == "nemo-rl":  # its rows are named by their place in the step
        prompt, sample = divmod(int(prompt), plan.work.samples)
    temperature = plan.work.temperature if sample else 0.0
    return prefill.Asked(row=f"{step}-{prompt}-{sample}", tokens=tuple(tokens), temperature=temperature)


def became(plan: Plan, fault: str, judged: Callable[[Path], Result]) -> Planted:
    """What became of a planted fault, by the comparison of its leg."""
    folder = plan.folder / "planted" / fault
    if not account(folder)["planted"]:
        return Planted(fault=fault, says=FAULTS[fault], planted=False, caught=False)
    result = judged(folder)
    return Planted(
        fault=fault,
        says=FAULTS[fault],
        planted=True,
        caught=result.verdict == "fail",
        caught_by=tuple(dict.fromkeys(failure.field for failure in result.failures)),
        first=result.failures[0].why if result.failures else None,
    )


def blind(faults: Sequence[Planted]) -> list[str]:
    """What the planted faults say that the run could not have noticed."""
    missed = [
        f"a fault like {f.fault}: {f.says}; it was planted and not caught"
        for f in faults
        if f.planted and not f.caught
    ]
    never = [
        f"a fault like {f.fault}: {f.says}; this run gave it no occasion" for f in faults if not f.planted
    ]
    if not faults:
        return ["which faults it would have caught: none was planted (--plant all)"]
    return [*missed, *never]
