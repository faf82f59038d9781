"""How many jobs of a kind were started of late, and how many may be.

They are counted by the comment that each leaves in its pull request, of what the token's own user wrote: the
same token counts that started them, and no state is kept beside the conversations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from reviewbot.github.client import GitHub
from reviewbot.review.ledger import hidden
from reviewbot.review.outcome import Kind

FORM = "%Y-%m-%dT%H:%M:%SZ"  # as GitHub writes times
DAY = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Budget:
    """The most jobs in 24 hours, in the whole repository and in one pull request."""

    per_day: int = 20
    per_pull: int = 5


def moment(when: str) -> datetime:
    """A time as GitHub writes it; now, by this machine's clock, where it is none."""
    try:
        return datetime.strptime(when, FORM).replace(tzinfo=UTC)
    except ValueError:
        return datetime.now(UTC)


def exceeded(github: GitHub, budget: Budget, kind: Kind, pull: int, when: str) -> str:
    """Why no further job may start at `when`, as a sentence without a full stop; "" where one may."""
    since = (moment(when) - DAY).strftime(FORM)
    mark = re.compile(rf"<!-- reviewbot-answer {kind}-\d+ -->", re.ASCII)
    started = [
        one.number
        for one in github.comments_since(since)
        if one.author == github.viewer and any(map(mark.fullmatch, hidden(one.body)))
    ]
    here, limit = started.count(pull), min(budget.per_pull, budget.per_day)
    if here >= limit:
        return f"{_runs(kind, here)} of this pull request started in the last 24 hours, and {limit} may"
    if len(started) >= budget.per_day:
        return f"{_runs(kind, len(started))} started here in the last 24 hours, and {budget.per_day} may"
    return ""


def _runs(kind: Kind, count: int) -> str:
    return f"{count} {kind} run{'' if count == 1 else 's'}"
