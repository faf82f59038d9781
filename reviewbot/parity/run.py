"""The workload `restore`: a reference, a leg killed in mid-generation, and one restored from its disk."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from reviewbot.parity import compare, gpu, process, restores, writer
from reviewbot.parity.context import Decode
from reviewbot.parity.dumps.dump import Dump, found
from reviewbot.parity.dumps.nemo_rl import NemoRL
from reviewbot.parity.dumps.plain import Plain
from reviewbot.parity.engines.engine import Settings
from reviewbot.parity.faults import FAULTS
from reviewbot.parity.folder import emptied
from reviewbot.parity.judge import Limits
from reviewbot.parity.leg import Out, Spec, Work
from reviewbot.parity.result import Mismatch, Planted, Result, Run

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
    limits: Limits | None = None
    decode: Decode | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    python: str | None = None


def restore(plan: Plan, progress: Progress) -> Result:
    """Runs what is not finished yet in the folder, and compares.

    The result is that of the restored leg; `planted` says what became of each fault.
    """
    begun = time.monotonic()
    before = gpu.used()
    whole = [_out(plan, "reference")]
    if plan.control:
        whole.append(_out(plan, "control", at_a_time=max(1, plan.settings.at_a_time // 2)))
    _legs(plan, "reference", whole, progress)
    _freed(before, "reference")
    reference = account(plan.folder / "reference")
    _killed(plan, progress, reference["decoded"])
    _freed(before, "cut")
    parts = [_out(plan, "restored"), *(_out(plan, f"planted/{fault}", fault) for fault in plan.faults)]
    _legs(plan, "restored", parts, progress, reference["decoded"], str(plan.folder / "cut"))
    result = judged(plan, plan.folder / "restored")
    faults = tuple(_planted(plan, fault) for fault in plan.faults)
    return msgspec.structs.replace(
        result,
        planted=faults,
        mismatch=_mismatch(plan) if plan.trainer else None,
        run=_summary(plan, time.monotonic() - begun),
        could_not_notice=(*result.could_not_notice, *_blind(plan, faults)),
    )


def judged(plan: Plan, folder: Path) -> Result:
    """The comparison of one restored leg with the reference."""
    cut = plan.folder / "cut"
    reference = _dump(plan, "reference", plan.folder / "reference")
    restored = _dump(plan, "restored", folder, cut)
    begun = restores.begun(cut / "journal.jsonl")
    accounts = account(plan.folder / "reference"), account(folder)
    return compare.compared(
        reference,
        restored,
        compare.Options(
            limits=plan.limits or Limits(noise=NOISE[plan.settings.dtype], dtype=plan.settings.dtype),
            restores=restores.from_file(folder / "restores.jsonl"),
            begun=begun,
            control_flips=_flips(plan) if plan.control else None,
            decode=plan.decode,
            manifests=(accounts[0]["engine"], accounts[1]["engine"]),
            doubts=tuple(_doubts(plan, len(begun), accounts)),
        ),
    )


def account(folder: Path) -> dict[str, Any]:
    """What a leg says of itself."""
    said: dict[str, Any] = msgspec.json.decode((folder / "account.json").read_bytes())
    return said


def _doubts(plan: Plan, cut: int, accounts: tuple[dict[str, Any], dict[str, Any]]) -> list[str]:
    killed = msgspec.json.decode((plan.folder / "cut" / "killed.json").read_bytes())
    doubts = []
    if killed["status"] != -signal.SIGKILL:
        doubts.append(f"the cut leg was not killed: it ended with {killed['status']}")
    if cut < plan.min_cut:
        doubts.append(f"the kill cut {cut} calls in mid-generation, fewer than {plan.min_cut}")
    if accounts[0]["noise"] != accounts[1]["noise"]:
        doubts.append("the noise that samples are drawn with differs between the legs")
    return doubts


def _out(plan: Plan, name: str, fault: str | None = None, at_a_time: int | None = None) -> Out:
    folder = str(plan.folder / name)
    return Out(folder=folder, fault=fault, at_a_time=at_a_time or plan.settings.at_a_time)


def _legs(
    plan: Plan,
    name: str,
    outs: Sequence[Out],
    progress: Progress,
    total: int | None = None,
    cut: str | None = None,
) -> None:
    """The legs that are not finished yet, in one process: they need one start of the engine."""
    todo = tuple(out for out in outs if not (Path(out.folder) / "account.json").exists())
    for out in todo:
        emptied(Path(out.folder))
    if todo:
        _run(plan, name, Spec(work=plan.work, settings=plan.settings, outs=todo, cut=cut), progress, total)


def _freed(before: tuple[int, ...], name: str) -> None:
    """The next leg starts on GPUs that nothing of the last one is left on."""
    if not gpu.freed(before):
        raise process.LegFailed(f"a GPU still holds memory a minute after the {name} leg ended")


def _run(plan: Plan, name: str, spec: Spec, progress: Progress, total: int | None) -> int:
    progress(name, 0, total)
    options = {"python": plan.python} if plan.python else {}

    leg = name

    def hear(said: dict[str, Any]) -> None:
        nonlocal leg
        leg = said.get("leg", leg)
        progress(leg, said.get("tokens", 0), total)

    return process.run(name, spec, plan.folder, hear, env=plan.env, **options)


def _killed(plan: Plan, progress: Progress, total: int) -> None:
    """The leg that stands in mid-generation when SIGKILL comes."""
    cut = plan.folder / "cut"
    if (cut / "killed.json").exists():
        return
    emptied(cut)
    outs = (_out(plan, "cut"),)
    spec = Spec(work=plan.work, settings=plan.settings, outs=outs, min_cut=plan.min_cut)
    status = _run(plan, "cut", spec, progress, total)
    writer.whole(cut / "killed.json", msgspec.json.encode({"status": status}))


def _dump(plan: Plan, name: str, *folders: Path) -> Dump:
    files = [
        file for folder in folders if any(folder.glob("train_data_step*")) for file in found(str(folder))
    ]
    files.sort(key=lambda file: (len(file.name), file.name))
    return Dump(name, tuple(files), Plain() if plan.work.dump_format == "plain" else NemoRL())


def _flips(plan: Plan) -> int:
    """Rows in which the control leg differs from the reference."""
    reference, control = (_dump(plan, name, plan.folder / name) for name in ("reference", "control"))
    return compare.flips(reference, control, Limits(dtype=plan.settings.dtype))


def _mismatch(plan: Plan) -> Mismatch:
    """The trainer's log-probs of the reference's rows beside the engine's."""
    out = plan.folder / "trainer.json"
    if not out.exists():
        spec = {
            "folder": str(plan.folder / "reference"),
            "dump_format": plan.work.dump_format,
            "model": plan.settings.model,
            "dtype": plan.settings.dtype,
            "threads": plan.settings.threads,
            "samples": plan.work.samples,
            "out": str(out),
            "rows_out": str(plan.folder / "trainer_rows.jsonl"),
        }
        options = {"python": plan.python} if plan.python else {}
        process.trainer(spec, plan.folder, plan.settings.threads, **options)
    return msgspec.json.decode(out.read_bytes(), type=Mismatch)


def _planted(plan: Plan, fault: str) -> Planted:
    folder = plan.folder / "planted" / fault
    if not account(folder)["planted"]:
        return Planted(fault=fault, says=FAULTS[fault], planted=False, caught=False)
    result = judged(plan, folder)
    return Planted(
        fault=fault,
        says=FAULTS[fault],
        planted=True,
        caught=result.verdict == "fail",
        caught_by=tuple(dict.fromkeys(failure.field for failure in result.failures)),
        first=result.failures[0].why if result.failures else None,
    )


def _blind(plan: Plan, faults: Sequence[Planted]) -> list[str]:
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


def _summary(plan: Plan, seconds: float) -> Run:
    legs = {name: account(plan.folder / name) for name in ("reference", "restored")}
    decoded = legs["reference"]["decoded"]
    spent = sum(leg["seconds"] for leg in legs.values())
    return Run(
        seconds=round(seconds, 1),
        tokens=decoded,
        tokens_per_second=round(sum(leg["decoded"] for leg in legs.values()) / spent, 1) if spent else 0.0,
        saved_share=round(legs["restored"]["saved"] / decoded, 4) if decoded else 0.0,
        restored_decoded=legs["restored"]["decoded"],
        cut_calls=len(restores.begun(plan.folder / "cut" / "journal.jsonl")),
        folder=str(plan.folder),
    )
