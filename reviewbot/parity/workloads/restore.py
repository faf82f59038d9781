"""The workload `restore`: a reference, a leg killed in mid-generation, and one restored from its disk."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from reviewbot.parity import compare, process, restores, writer
from reviewbot.parity.executors.executor import LegFailed
from reviewbot.parity.judge import Limits
from reviewbot.parity.result import Mismatch, Result, Run
from reviewbot.parity.spec import Spec
from reviewbot.parity.workloads import plan as planning
from reviewbot.parity.workloads.plan import Plan, Progress, account, dump, out


def run(plan: Plan, progress: Progress) -> Result:
    """Runs what is not finished yet in the folder, and compares.

    The result is that of the restored leg; `planted` says what became of each fault.
    """
    begun = time.monotonic()
    spec = Spec(work=plan.work, settings=plan.settings, outs=(out(plan, "reference"),))
    whole = spec
    if plan.control:
        control = out(plan, "control", at_a_time=max(1, plan.settings.at_a_time // 2))
        whole = msgspec.structs.replace(spec, outs=(*spec.outs, control))
    cut = msgspec.structs.replace(spec, outs=(out(plan, "cut"),), min_cut=plan.min_cut)
    planning.run(plan, {"reference": whole, "cut": cut}, progress)
    # The restored leg and those with faults: one start of the engine.
    outs = (out(plan, "restored"), *planning.faulty(plan))
    restored = msgspec.structs.replace(spec, outs=outs, cut=str(plan.folder / "cut"))
    planning.run(plan, {"restored": restored}, progress)
    compared = time.monotonic()
    result = planning.ties_confirmed(plan, judged(plan, plan.folder / "restored"))
    seconds = time.monotonic() - compared
    faults = tuple(planning.became(plan, fault, lambda folder: judged(plan, folder)) for fault in plan.faults)
    return msgspec.structs.replace(
        result,
        planted=faults,
        mismatch=_mismatch(plan) if plan.trainer else None,
        run=_summary(plan, time.monotonic() - begun),
        profile=_profile(plan, seconds),
        hints=(*result.hints, *_hints(plan, result)),
        could_not_notice=(*result.could_not_notice, *planning.blind(faults)),
    )


def _hints(plan: Plan, result: Result) -> Iterator[str]:
    if "reward" in result.vacuous_fields and plan.work.task == "calculator":
        yield "a model that has not learnt to use the calculator earns nothing; --task digest pays any model"


def judged(plan: Plan, folder: Path) -> Result:
    """The comparison of one restored leg with the reference."""
    cut = plan.folder / "cut"
    reference = dump(plan, "reference", plan.folder / "reference")
    restored = dump(plan, "restored", folder, cut)
    begun = restores.begun(cut / "journal.jsonl")
    accounts = account(plan.folder / "reference"), account(folder)
    return compare.compared(
        reference,
        restored,
        compare.Options(
            limits=plan.limits(plan.settings),
            restores=restores.from_file(folder / "restores.jsonl"),
            begun=begun,
            control_flips=_flips(plan) if plan.control else None,
            min_unequal_groups=plan.min_unequal_groups,
            decode=plan.decode,
            manifests=(accounts[0]["engine"], accounts[1]["engine"]),
            doubts=tuple(_doubts(plan, len(begun), accounts)),
        ),
    )


def _doubts(plan: Plan, cut: int, accounts: tuple[dict[str, Any], dict[str, Any]]) -> list[str]:
    status = _killed(plan)["status"]
    doubts = []
    if status != -signal.SIGKILL:
        doubts.append(f"the cut leg was not killed: it ended with {status}")
    if cut < plan.min_cut:
        doubts.append(
            f"the kill cut {cut} call{'s' * (cut != 1)} in mid-generation, fewer than {plan.min_cut}"
        )
    if accounts[0]["noise"] != accounts[1]["noise"]:
        doubts.append("the noise that samples are drawn with differs between the legs")
    return doubts


def _killed(plan: Plan) -> dict[str, Any]:
    said: dict[str, Any] = msgspec.json.decode((plan.folder / "cut" / "killed.json").read_bytes())
    return said


def _flips(plan: Plan) -> int:
    """Rows in which the control leg differs from the reference."""
    reference, control = (dump(plan, name, plan.folder / name) for name in ("reference", "control"))
    return compare.flips(reference, control, Limits(dtype=plan.settings.dtype))


def _mismatch(plan: Plan) -> Mismatch:
    """The trainer's log-probs of the reference's rows beside the engine's. Raises `LegFailed`."""
    out = plan.folder / "trainer.json"
    if not out.exists():
        said = {
            "folder": str(plan.folder / "reference"),
            "dump_format": plan.work.dump_format,
            "model": plan.settings.model,
            "dtype": plan.settings.dtype,
            "threads": plan.settings.threads,
            "samples": plan.work.samples,
            "out": str(out),
            "rows_out": str(plan.folder / "trainer_rows.jsonl"),
        }
        spec, log = plan.folder / "trainer.spec.json", plan.folder / "trainer.log"
        writer.whole(spec, msgspec.json.encode(said))
        if process.module("trainer", spec, log=log, threads=plan.settings.threads, python=plan.python):
            raise LegFailed(f"the trainer failed {process.last_words(log)}")
    return msgspec.json.decode(out.read_bytes(), type=Mismatch)


def _summary(plan: Plan, seconds: float) -> Run:
    legs = {name: account(plan.folder / name) for name in ("reference", "restored")}
    decoded = legs["reference"]["decoded"]
    spent = sum(leg["seconds"] for leg in legs.values())
    return Run(
        workload="restore",
        seconds=round(seconds, 1),
        tokens=decoded,
        tokens_per_second=round(sum(leg["decoded"] for leg in legs.values()) / spent, 1) if spent else 0.0,
        saved_share=round(legs["restored"]["saved"] / decoded, 4) if decoded else 0.0,
        restored_decoded=legs["restored"]["decoded"],
        cut_calls=len(restores.begun(plan.folder / "cut" / "journal.jsonl")),
        folder=str(plan.folder),
    )


def _profile(plan: Plan, compared: float) -> dict[str, float]:
    """Seconds by stage, of the three legs whose rows are compared."""
    reference, restored = (account(plan.folder / name) for name in ("reference", "restored"))
    killed = _killed(plan)
    stages = {
        "load": reference["load"] + restored["load"] + killed["load"],
        "generate": reference["seconds"] - reference["write"],
        "kill": killed["seconds"] - killed["load"],
        "restore": restored["seconds"] - restored["write"],
        "write": reference["write"] + restored["write"],
        "compare": compared,
    }
    return {stage: round(seconds, 3) for stage, seconds in stages.items()}
