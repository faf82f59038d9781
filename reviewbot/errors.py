"""Every error that reviewbot raises on purpose.

    ReviewbotError
    ├── UsageError            the command was asked for something that makes no sense
    │   └── NeedsExtra        it needs packages that were not installed with it
    ├── ConfigError           [tool.reviewbot] says something that it cannot mean
    ├── SourceError           something to be read cannot be read
    │   ├── UnreadableFile    one file; the run goes on without it
    │   └── GitError          a repository, a commit or an object
    ├── RuleError             a rule broke its own contract
    ├── GitHubError           GitHub did not do what it was asked for
    │   ├── Denied            the token may not
    │   ├── Absent            there is no such thing, or the token may not see it
    │   ├── Refused           the request makes no sense to it
    │   ├── Busy              it asks for patience; nothing was stored
    │   └── Unsure            no answer, or a broken one: it may have been stored or not
    │       └── Unreachable   no connection: nothing was stored
    └── ProbeError            a check could not be run; the command ends with 3, inconclusive
        └── NoSandbox         code of the pull request cannot be shut in on this machine

Each message is one sentence for a person: what is wrong, where, and the way out.
"""

from __future__ import annotations


class ReviewbotError(Exception):
    """The root: the command line prints its message alone and exits with 2."""


class UsageError(ReviewbotError):
    """The command was asked for something that makes no sense."""


class NeedsExtra(UsageError):
    """`what` needs a package that comes with an extra, which was not installed.

    The way out names this project by its folder alone: a name on an index could be anybody's.
    """

    def __init__(self, what: str, package: str, extra: str) -> None:
        way = f"install it from reviewbot's checkout: pip install '.[{extra}]'"
        super().__init__(f"{what} needs the package {package}; {way}")


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


class GitHubError(ReviewbotError):
    """GitHub did not do what it was asked for. `status` is that of HTTP, 0 where there was no answer."""

    def __init__(self, says: str, status: int = 0) -> None:
        super().__init__(says)
        self.status = status


class Denied(GitHubError):
    """The token may not do this."""


class Absent(GitHubError):
    """There is no such thing, or the token may not see it."""


class Refused(GitHubError):
    """The request makes no sense to GitHub."""


class Busy(GitHubError):
    """GitHub asks for patience, and has stored nothing. `wait` is in seconds, None where it does not say."""

    def __init__(self, says: str, status: int, wait: float | None) -> None:
        super().__init__(says, status)
        self.wait = wait


class Unsure(GitHubError):
    """No answer came, or a broken one: what was to be stored may have been stored or not."""


class Unreachable(Unsure):
    """No connection came about, so nothing was stored."""


class ProbeError(ReviewbotError):
    """A check could not be run, so nothing was learnt about it."""


class NoSandbox(ProbeError):
    """Code of the pull request cannot be shut in on this machine, so it was not run."""
