"""The workload `engines`: the same rows from two engines, or from one that is set up in two ways."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from reviewbot.errors import UsageError
from reviewbot.parity import compare
from reviewbot.parity.engines.engine import Settings
from reviewbot.parity.result import Result, Run
from reviewbot.parity.spec import Spec
from reviewbot.parity.workloads import plan as planning
from reviewbot.parity.workloads.plan import Plan, Progress, account, dump, out

SIDES = ("reference", "other")


def run(plan: Plan, other: Settings, python: str | None, progress: Progress) -> Result:
    """Runs both legs where they are not finished, and compares.

    `other` is how the second engine is set up, `python` the interpreter that has it. Raises `UsageError`
    where both legs would be the same.
    """
    if other == plan.settings and python in (None, plan.python):
        raise UsageError(
            "--workload engines compares two: say what is different, such as --other-engine vllm, "
            "--other-dtype bfloat16 or --other-attention-backend eager"
        )
    begun = time.monotonic()
    reference = Spec(work=plan.work, settings=plan.settings, outs=(out(plan, "reference"),))
    planning.run(plan, {"reference": reference}, progress)
    outs = tuple(
        msgspec.structs.replace(one, at_a_time=other.at_a_time)
        for one in (out(plan, "other"), *planning.faulty(plan))
    )
    second = Spec(work=plan.work, settings=other, outs=outs)
    planning.run(plan, {"other": second}, progress, python)
    compared = time.monotonic()
    result = planning.ties_confirmed(plan, _judged(plan, other, plan.folder / "other"))
    seconds = time.monotonic() - compared
    faults = tuple(
        planning.became(plan, fault, lambda folder: _judged(plan, other, folder)) for fault in plan.faults
    )
    legs = [account(plan.folder / side) for side in SIDES]
    spent = sum(leg["seconds"] for leg in legs)
    return msgspec.structs.replace(
        result,
        planted=faults,
        run=Run(
            workload="engines",
            seconds=round(time.monotonic() - begun, 1),
            tokens=legs[0]["decoded"],
            tokens_per_second=round(sum(leg["decoded"] for leg in legs) / spent, 1) if spent else 0.0,
            folder=str(plan.folder),
        ),
        profile={
            "load": round(sum(leg["load"] for leg in legs), 3),
            "generate": round(sum(leg["seconds"] - leg["write"] for leg in legs), 3),
            "write": round(sum(leg["write"] for leg in legs), 3),
            "compare": round(seconds, 3),
        },
        hints=(*result.hints, *_hints(result, *(leg["engine"] for leg in legs))),
        could_not_notice=(*result.could_not_notice, *planning.blind(faults)),
    )


def _hints(result: Result, reference: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
    """In what the two engines differ, where that made log-probs of the same tokens differ too far."""
    known = result.logprobs
    if result.verdict != "fail" or known is None or known.mean_difference is None:
        return
    if known.max_difference is None or known.max_difference <= known.noise:
        return
    settings = [
        f"{key.replace('_', ' ')} {str(reference.get(key))[:20]} against {str(other.get(key))[:20]}"
        for key in reference | other
        if reference.get(key) != other.get(key)
    ]
    yield (
        f"the engines differ in {', '.join(settings) or 'nothing that they record'}: log-probs of the same "
        f"tokens are {known.mean_difference:.2g} apart on average, {known.max_difference:.2g} at most; where "
        f"that is rounding, --noise says how much of it passes, and as much is no longer noticed"
    )


def _judged(plan: Plan, other: Settings, folder: Path) -> Result:
    accounts = account(plan.folder / "reference"), account(folder)
    doubts = []
    if accounts[0]["noise"] != accounts[1]["noise"]:
        doubts.append("the noise that samples are drawn with differs between the legs")
    return compare.compared(
        dump(plan, "reference", plan.folder / "reference"),
        dump(plan, "other", folder),
        compare.Options(
            limits=plan.limits(plan.settings, other),
            min_unequal_groups=plan.min_unequal_groups,
            decode=plan.decode,
            manifests=(accounts[0]["engine"], accounts[1]["engine"]),
            doubts=tuple(doubts),
            sides=SIDES,
        ),
    )
