"""A review as a person reads it in a terminal."""

from __future__ import annotations

from itertools import groupby

from reviewbot.model import Review
from reviewbot.render.inert import visible
from reviewbot.render.terminal import Read, block

NAMED = 5  # files named for each reason not to read them


def text(review: Review, read: Read, *, colour: bool = False) -> str:
    """One block a thread, then what was not looked at, then the sum. `read` gives lines of the head."""
    last = review.rounds[-1]
    blocks = [block(thread.finding, read, thread.id, colour=colour) for thread in review.threads]
    lines = []
    for why, files in groupby(sorted(last.unread, key=lambda file: file.why), lambda file: file.why):
        names = [file.path if file.line is None else f"{file.path}:{file.line}" for file in files]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        lines.append(f"not read ({why}): {', '.join(names[:NAMED])}{more}")
    lines += [f"not looked through: {file.path}:{file.line}: {file.why}" for file in last.failed]
    count = len(review.threads)
    lines.append(
        f"{count} finding{'' if count == 1 else 's'} in what {last.head[:12]} changes since "
        f"{last.merge_base[:12]}: {last.files} file{'' if last.files == 1 else 's'} changed, "
        f"{last.read} read, {len(last.suppressed)} silenced"
    )
    return "".join(blocks) + "".join(f"{visible(line)}\n" for line in lines)
