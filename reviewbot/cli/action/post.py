"""Mode post: the review of the pull request whose workflow run came to its end."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from reviewbot.cli.action import reading, runner
from reviewbot.cli.streams import inert

if TYPE_CHECKING:
    from reviewbot.github.client import GitHub, Pull
    from reviewbot.github.event import Run
    from reviewbot.github.telling import Told
    from reviewbot.review.ledger import Ledger


def run(options: argparse.Namespace) -> int:
    """Finds the pull request, and posts. Returns 1 for a finding at or above --fail-on."""
    from reviewbot.github import event
    from reviewbot.github.client import GitHub

    github = GitHub.of_environment(runner.slug())
    if runner.event_name() == "pull_request_target":
        pulls = [github.pull(event.pull_request(runner.event()).number)]
    else:
        pulls = _of_run(github, event.run_event(runner.event()).workflow_run)
    code = 0
    for pull in pulls:
        within = f"pull-{pull.number}" if len(pulls) > 1 else ""
        code = max(code, post(github, pull, options.fail_on, within=within))
    if not pulls:
        print("no open pull request has this commit as its head any more")
    return code


def _of_run(github: GitHub, run: Run) -> list[Pull]:
    """The open pull requests with the head of a run. What the run itself says of them may be anybody's."""
    found = {pull.number: pull for pull in github.pulls_of(run.head_sha)}
    if run.head_repository and run.head_branch:
        owner = run.head_repository.full_name.partition("/")[0]
        found |= {pull.number: pull for pull in github.pulls_from(owner, run.head_branch)}
    # A list says less of each than it says of itself.
    return [github.pull(n) for n, pull in sorted(found.items()) if pull.open and pull.head == run.head_sha]


def post(
    github: GitHub,
    pull: Pull,
    fail_on: str = "",
    amend: Callable[[Ledger], Ledger] = lambda ledger: ledger,
    within: str = "",
) -> int:
    """Reviews the head of a pull request and posts what changed, after `amend` has changed the ledger; then
    writes the pages of all its rounds, where `within` is as in `runner.pages`.

    Returns 1 where findings fail it.
    """
    from reviewbot.cli import report
    from reviewbot.github import telling
    from reviewbot.github.posting import Outdated
    from reviewbot.source.git import Repository
    from reviewbot.source.permalink import from_slug

    folder = reading.objects(pull.base, pull.head)
    task = telling.Task(
        github=github,
        pull=pull,
        repository=Repository(folder),
        remote=from_slug(runner.slug(), runner.server().partition("://")[2]),
        fetch=telling.fetcher(folder, runner.server(), runner.slug(), os.environ.get("GITHUB_TOKEN", "")),
        fail_on=fail_on,
        database=runner.temporary() / "reviewbot-index.sqlite",
        amend=amend,
        log=runner.run_address(),
    )
    try:
        told = telling.tell(task)
    except Outdated as error:
        print(f"nothing posted: {inert(str(error))}")
        return 0
    _leave(told)
    with runner.pages(within) as site:
        report.write(
            site, telling.with_earlier(task, told), slug=runner.slug(), repository=folder, quiet=True
        )
    return int(told.failing > 0)


def _leave(told: Told) -> None:
    """What the run's log, summary and outputs say; all findings, where the token may not post them."""
    from reviewbot.cli.action.lint import leave
    from reviewbot.render import annotations

    refused = told.posted.refused if told.posted else ()
    if not told.url:
        for thread in told.review.threads:
            print(annotations.annotation(thread.finding, thread.id))
    for says in refused:
        print(annotations.command("warning", says, title="reviewbot"))
    print(f"findings: {len(told.review.threads)}, failing: {told.failing} (fail-on: {told.fail_on})")
    leave(told.review, told.failing)
