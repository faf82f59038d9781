"""Mode command: does what a comment or a label orders, or authorizes the job that does."""

from __future__ import annotations

import argparse

from reviewbot.cli.action import reading, runner
from reviewbot.errors import UsageError


def run(options: argparse.Namespace) -> int:
    """Gives the outputs of an authorized job; `run` is empty where there is none."""
    from reviewbot.cli.action.post import post
    from reviewbot.github import budget, event, orders
    from reviewbot.github.client import GitHub
    from reviewbot.review.commands import VERBS
    from reviewbot.source.permalink import from_slug

    verbs = tuple(filter(None, options.verbs.replace(" ", "").split(","))) or VERBS
    unknown = set(verbs) - set(VERBS)
    if unknown:
        raise UsageError(f"--verbs: there is no command {min(unknown)!r}; there are {', '.join(VERBS)}")
    setting = orders.Setting(
        verbs=verbs,
        gpu=options.gpu_group_locked.strip().lower() == "true",
        label=options.label,
        log=runner.run_address(),
        budget=budget.Budget(_count(options, "gpu-runs-per-day"), _count(options, "gpu-runs-per-pull")),
        remote=from_slug(runner.slug(), runner.server().partition("://")[2]),
    )
    github = GitHub.of_environment(runner.slug())
    if runner.event_name() == "issue_comment":
        work = orders.Work(
            lambda pull, amend: post(github, pull, options.fail_on, amend), reading.explain, reading.size
        )
        authorized = orders.heard(github, event.comment_event(runner.event()), work, setting)
    else:
        authorized = orders.labeled(github, event.pull_event(runner.event()), setting)
    if authorized is None:
        print("no job is authorized")
        return 0
    job = authorized.job
    print(f"authorized: {job.kind} of {job.sha}")
    runner.outputs(
        {
            "run": job.kind,
            "pr": str(job.pull),
            "sha": job.sha,
            "id": job.finding,
            "target": authorized.target,
            "check": str(job.check),
        }
    )
    return 0


def _count(options: argparse.Namespace, name: str) -> int:
    given = getattr(options, name.replace("-", "_")).strip()
    if not given:
        from reviewbot.github.budget import Budget

        return Budget().per_day if name.endswith("day") else Budget().per_pull
    if not given.isascii() or not given.isdigit():
        raise UsageError(f"--{name} is {given!r}, and has to be a number")
    return int(given)
