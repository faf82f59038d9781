"""What a probe comes to: whether anything makes the check fail, and the exit code."""

from __future__ import annotations

from reviewbot.probe.evidence import Result
from reviewbot.probe.search import Aside


def never_fails(result: Result) -> bool:
    """Whether no change made it say no: what it prints counts for nothing, and at most it falls over.

    A test may be made to fall over and no more. It is told only where something that it compares passes.
    """
    watched = any(one.why == Aside.WATCHED.value for one in result.set_aside)
    most = result.passed > result.edits_tried / 2
    told = most and result.complete and not watched and not all_beside(result) and not result.inconclusive
    return told and all(kill.crash for kill in result.kills) and (result.kind != "test" or result.escaped)


def all_beside(result: Result) -> bool:
    """Whether nothing passes but what lies beside the two sides, so that it says nothing of the check."""
    return bool(result.set_aside) and all(one.why == Aside.BESIDE.value for one in result.set_aside)


def exit_code(result: Result) -> int:
    """1 for a difference that passes, a field that is dropped on rebuild and a check that nothing makes fail;
    3 where a probe without any of these says nothing; else 0."""
    if result.escaped or result.dropped or never_fails(result):
        return 1
    return 3 if result.inconclusive else 0
