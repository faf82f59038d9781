"""Fields that may differ between equal runs, by their names: when, where and in which process it was."""

from __future__ import annotations

import re

_NAME = re.compile(
    r"(^|_)(time|times|timestamp|ts|date|datetime|now|created|updated|modified|mtime|started|ended|finished"
    r"|duration|elapsed|latency|seconds|secs|ms|uuid|guid|pid|host|hostname|node|port|url|uri|path|paths|dir"
    r"|folder|file|filename|nonce)(_(at|on|s|ms|ns|us|sec|secs|seconds))?$",
    re.IGNORECASE,
)


def is_volatile(field: str) -> bool:
    """Whether it says nothing of what a run came to."""
    return bool(_NAME.search(field))
