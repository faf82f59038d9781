"""Every error that reviewbot raises on purpose.

    ReviewbotError
    ├── UsageError            the command was asked for something that makes no sense
    ├── ConfigError           [tool.reviewbot] says something that it cannot mean
    ├── SourceError           something to be read cannot be read
    │   ├── UnreadableFile    one file; the run goes on without it
    │   └── GitError          a repository, a commit or an object
    ├── RuleError             a rule broke its own contract
    └── ProbeError            a check could not be run; the command ends with 3, inconclusive
        └── NoSandbox         code of the pull request cannot be shut in on this machine

Each message is one sentence for a person: what is wrong, where, and the way out.
"""

from __future__ import annotations


class ReviewbotError(Exception):
    """The root: the command line prints its message alone and exits with 2."""


class UsageError(ReviewbotError):
    """The command was asked for something that makes no sense."""


class ConfigError(ReviewbotError):
    """The configuration says something that it cannot mean."""


class SourceError(ReviewbotError):
    """Something to be read cannot be read."""


class UnreadableFile(SourceError):
    """One file cannot be read or parsed.

    `path` is the file as the user named it, `why` one clause without a full stop, `line` where it
    went wrong (from 1) if that is known.
    """

    def __init__(self, path: str, why: str, line: int | None = None) -> None:
        where = path if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {why}")
        self.path, self.why, self.line = path, why, line


class GitError(SourceError):
    """A repository, a commit or an object cannot be read."""


class RuleError(ReviewbotError):
    """A rule broke its own contract."""


class ProbeError(ReviewbotError):
    """A check could not be run, so nothing was learnt about it."""


class NoSandbox(ProbeError):
    """Code of the pull request cannot be shut in on this machine, so it was not run."""
