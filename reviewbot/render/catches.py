"""What still catches a finding's fault, where there is something to say of it."""

from __future__ import annotations

import re

from reviewbot.model import Finding

_NONE = re.compile(r"nothing else in (`[^`]*`|this module)")


def told(finding: Finding) -> tuple[str, ...]:
    """The clauses that name something. That a function has no other check, which is so of most, is in the
    JSON, in comments and on pages, where it answers a question that stands there."""
    return tuple(one for one in finding.still_catches if not _NONE.fullmatch(one))
