"""Mode report: tells what a job came to that ran code of the pull request."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from reviewbot.cli.action import runner
from reviewbot.errors import UsageError

_WHY = {
    "cancelled": "the run was stopped",
    "skipped": "the job was skipped",
    "failure": "the job failed, ran out of time or lost its runner",
}


def run(options: argparse.Namespace) -> int:
    """Concludes the check run, whatever the job left."""
    from reviewbot.github.client import GitHub
    from reviewbot.github.jobs import Job, report
    from reviewbot.review.outcome import KINDS, Outcome, Rejected, read
    from reviewbot.source.permalink import from_slug

    kind = next((kind for kind in KINDS if kind == options.kind), None)
    whole = re.fullmatch(r"\d+ \d+", f"{options.pr} {options.check}", re.ASCII)
    if kind is None or not whole or not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", options.sha):
        raise UsageError("mode report needs --kind, --pr, --sha and --check as the authorizing job gave them")
    if options.id and not re.fullmatch(r"C[0-9]+", options.id, re.ASCII):
        raise UsageError(f"--id is {options.id!r}, and has to be the id of a finding, such as C17")
    job = Job(kind, int(options.pr), options.sha, options.id, int(options.check))
    ended = options.job_result or "failure"
    came_to: Outcome | str
    if ended == "success":
        try:
            came_to = read(Path(options.result), kind)
        except Rejected as rejected:
            came_to = str(rejected)
    else:
        came_to = _WHY.get(ended, _WHY["failure"])
    remote = from_slug(runner.slug(), runner.server().partition("://")[2])
    github = GitHub.of_environment(runner.slug())
    told = report(github, job, came_to, remote, runner.run_address(), cancelled=ended == "cancelled")
    if told is None:
        print("the check run was concluded before: nothing is reported")
        return 0
    conclusion, text = told
    print(f"{kind} of {job.sha}: {conclusion}")
    runner.summary(text)
    return 0
