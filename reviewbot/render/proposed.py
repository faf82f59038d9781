"""The change that a finding's page proposes: the finding's own, or what the size review made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reviewbot.model import Review, Thread
from reviewbot.render.sources import Sources
from reviewbot.review.proposal import patch
from reviewbot.review.size.result import Cut

UNTRIED = "A suggestion: read it before you take it. Nothing of it has been run."
SAFE = "It cannot change what the code does, except that a check may now fail."


@dataclass(frozen=True, slots=True)
class Proposed:
    """`diff` is what `git apply` takes, "" where nothing is proposed; `says` names it, `known` is how it was
    tried, in a sentence. `withdrawn`: running it showed that it must not be proposed."""

    says: str
    diff: str
    known: str
    withdrawn: bool = False


def proposed(thread: Thread, head: str, sources: Sources, cut: Cut | None) -> Proposed | None:
    """What the page of a finding proposes against commit `head`; None for nothing."""
    fix = thread.finding.fix
    if thread.finding.no_fix:
        return Proposed(thread.finding.withheld, "", f"{thread.finding.no_fix}.", withdrawn=True)
    says = fix.says if fix else "take it out, with what only it used"
    if cut is not None and cut.state == "withdrawn":
        return Proposed(says, "", f"{cut.says}.", withdrawn=True)
    if cut is not None and cut.diff:
        along = ", ".join(f"{one.what} `{one.name}`" for one in cut.along)
        goes = f" Goes along, because only this used it: {along}." if along else ""
        return Proposed(says, cut.diff, f"Tried: {cut.says}.{goes}")
    # Whether the fix can be shown at all was found out when the review was made.
    diff = patch(fix, sources.at(head)) if fix and thread.proposal else ""
    known = f"Tried: {fix.tried}." if fix and fix.tried else SAFE if fix and fix.safe else UNTRIED
    return Proposed(says, diff, known) if diff else None


def cuts_of(review: Review, cuts: Iterable[Cut]) -> Mapping[str, Cut]:
    """The cuts of a size review by the ids of the same findings in this review."""
    made = {(cut.rule, cut.path, cut.line, cut.claim): cut for cut in cuts}
    found = {}
    for thread in review.threads:
        finding = thread.finding
        cut = made.get((finding.rule, finding.span.path, finding.span.line, finding.message))
        if cut is not None:
            found[thread.id] = cut
    return found
