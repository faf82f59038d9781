"""Mode post: the review of the pull request whose workflow run came to its end."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from reviewbot.cli.action import runner
from reviewbot.errors import UsageError

if TYPE_CHECKING:
    from reviewbot.github.client import GitHub, Pull


def run(options: argparse.Namespace) -> int:
    """Finds the pull request by the run's head commit, and posts."""
    from reviewbot.github.client import GitHub
    from reviewbot.github.event import run_event

    event = run_event(runner.event())
    github = GitHub.of_environment(runner.slug())
    for pull in github.pulls_of(event.workflow_run.head_sha):
        if pull.open and pull.head == event.workflow_run.head_sha:
            post(github, pull)
    return 0


def post(github: GitHub, pull: Pull) -> None:
    """Reviews the head of a pull request and posts what changed."""
    raise UsageError("posting is not built in yet")
