"""Jobs that run code of a pull request, as their check runs tell of them: begun once, concluded once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from reviewbot.errors import GitHubError
from reviewbot.github.answers import answer
from reviewbot.github.client import Check, CheckOutput, Conclusion, GitHub
from reviewbot.github.patience import once
from reviewbot.parity.result import Verdict
from reviewbot.render import answers
from reviewbot.review.outcome import Kind, Outcome
from reviewbot.source.permalink import Remote

_CONCLUSIONS: dict[Verdict, Conclusion] = {
    "pass": "success",
    "fail": "failure",
    "set_aside": "neutral",
    "inconclusive": "neutral",
}


@dataclass(frozen=True, slots=True)
class Job:
    """One authorized job: what it runs, of which pull request and commit (a full id), for which finding
    ("" for parity), under which check run."""

    kind: Kind
    pull: int
    sha: str
    finding: str
    check: int


def name(kind: Kind, finding: str = "") -> str:
    """The name of a job's check run."""
    return f"reviewbot {kind} {finding}".rstrip()


def key(job: Job) -> str:
    """What its answer in the pull request is found by."""
    return f"{job.kind}-{job.check}"


def latest(github: GitHub, sha: str, kind: Kind, finding: str = "") -> Check | None:
    """The last check run of such a job on a commit, if this token's app made it."""
    found = [check for check in github.checks(sha, name(kind, finding)) if check.external_id == sha]
    return max(found, key=lambda check: check.id, default=None)


def running(github: GitHub, sha: str, kind: Kind, finding: str = "") -> list[Check]:
    """The check runs of such jobs on a commit that nobody has concluded, the latest first."""
    found = (check for check in github.checks(sha, name(kind, finding)) if check.external_id == sha)
    return [check for check in found if check.status != "completed"]


def begun(github: GitHub, pull: int, sha: str, kind: Kind, finding: str, log: str) -> Job | None:
    """The job that the run with this log had begun before it was started again; None where it had not, and
    where somebody has concluded it."""
    there = latest(github, sha, kind, finding)
    ours = there is not None and bool(log) and there.details_url == log and there.status != "completed"
    return Job(kind, pull, sha, finding, there.id) if there is not None and ours else None


def begin(github: GitHub, pull: int, sha: str, kind: Kind, finding: str = "", log: str = "") -> Job:
    """A job with a new check run. `log` is the address of its run."""
    before = latest(github, sha, kind, finding)

    def stored() -> Check | None:
        there = latest(github, sha, kind, finding)
        return there if there is not None and (before is None or there.id != before.id) else None

    add = partial(
        github.add_check,
        name(kind, finding),
        sha,
        external_id=sha,
        status="in_progress",
        output=CheckOutput(f"{kind} is under way", "The report follows in the pull request."),
        details_url=log,
    )
    check = once(add, stored, github.pace)
    return Job(kind, pull, sha, finding, check.id)


def conclude(github: GitHub, job: Job, conclusion: Conclusion, title: str, summary: str) -> bool:
    """Concludes a job's check run, unless somebody has. Says whether it did."""
    if not _under_way(github, job):
        return False
    output = CheckOutput(title, summary)
    edit = partial(github.edit_check, job.check, status="completed", conclusion=conclusion, output=output)
    once(edit, lambda: _concluded(github, job), github.pace)
    return True


def supersede(github: GitHub, pull: int, sha: str, kind: Kind, why: str, finding: str = "") -> None:
    """Concludes what is under way on a commit and has become pointless. `why` is a clause."""
    for check in running(github, sha, kind, finding):
        withdraw(github, Job(kind, pull, sha, finding, check.id), why)


def withdraw(github: GitHub, job: Job, why: str) -> bool:
    """Concludes a job that is not to come to anything, unless somebody has, and says so where it was told of
    that it is under way. `why` is a clause."""
    if not _under_way(github, job):
        return False
    # The conclusion comes last: whoever breaks off before it can be run again.
    text = answers.nothing(job.kind, why, job.sha, None, "")
    failed: GitHubError | None = None
    try:
        answer(github, job.pull, key(job), text, anew=False)
    except GitHubError as error:  # the check run is concluded all the same
        failed = error
    done = conclude(github, job, "neutral", why, answers.sentence(why))
    if failed is not None:
        raise failed
    return done


def _check(github: GitHub, job: Job) -> Check | None:
    checks = github.checks(job.sha, name(job.kind, job.finding))
    return next((check for check in checks if check.id == job.check), None)


def _under_way(github: GitHub, job: Job) -> bool:
    """Whether nobody has concluded a job's check run."""
    check = _check(github, job)
    return check is not None and check.status != "completed"


def _concluded(github: GitHub, job: Job) -> Check | None:
    check = _check(github, job)
    return check if check is not None and check.status == "completed" else None


def report(
    github: GitHub, job: Job, outcome: Outcome | str, remote: Remote | None, log: str, *, cancelled: bool
) -> tuple[Conclusion, str] | None:
    """Tells what a job came to, and concludes its check run. A string says why it came to nothing.

    Returns the conclusion and the text; None where somebody had concluded it before, so that there is
    nothing to tell.
    """
    conclusion: Conclusion
    if isinstance(outcome, str):
        conclusion = "neutral" if cancelled else "failure"
        title = f"{job.kind} came to nothing"
        text = answers.nothing(job.kind, outcome, job.sha, remote, log)
    else:
        conclusion = _CONCLUSIONS[outcome.verdict]
        title = answers.headline(job.kind, outcome)
        text = answers.reported(job.kind, outcome, job.sha, job.finding, remote, log)
    if not _under_way(github, job):
        return None
    failed: GitHubError | None = None
    try:
        answer(github, job.pull, key(job), text)
    except GitHubError as error:  # the check run is concluded all the same
        failed = error
    conclude(github, job, conclusion, title, text)
    if failed is not None:
        raise failed
    return conclusion, text
