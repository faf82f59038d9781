"""A review as a person reads it in a terminal."""

from __future__ import annotations

from itertools import groupby

from reviewbot.model import Review, Thread
from reviewbot.render.inert import visible

NAMED = 5  # files named for each reason not to read them


def text(review: Review) -> str:
    """One block a thread, then what was not read."""
    last = review.rounds[-1]
    lines = [line for thread in review.threads for line in _thread(thread)]
    for why, files in groupby(sorted(last.unread, key=lambda file: file.why), lambda file: file.why):
        names = [file.path for file in files]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        lines.append(f"not read ({why}): {', '.join(names[:NAMED])}{more}")
    count = len(review.threads)
    lines.append(
        f"{count} finding{'' if count == 1 else 's'} in {last.merge_base[:12]}..{last.head[:12]}: "
        f"{last.files} changed, {last.read} read, {len(last.suppressed)} silenced"
    )
    return "".join(visible(line) + "\n" for line in lines)


def _thread(thread: Thread) -> list[str]:
    finding = thread.finding
    span = finding.span
    lines = [
        f"{thread.id} {finding.certainty} {finding.rule} {span.path}:{span.line}:{span.column}",
        f"    {finding.message}",
    ]
    for number, step in enumerate(finding.steps, 1):
        lines.append(f"    {number}. {step.path}:{step.line}: {step.says}")
    lines.append(f"    still catches it: {'; '.join(finding.still_catches) or 'not worked out'}")
    if thread.proposal:
        lines.append(f"    proposed: {thread.proposal.says}")
        mark = "    | "
        lines.extend(mark + line for line in thread.proposal.text.rstrip("\n").split("\n"))
    return [*lines, ""]
