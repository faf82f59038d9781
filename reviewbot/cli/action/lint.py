"""Mode lint: the review of a pull request as annotations and a summary."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot import config
from reviewbot.cli.action import runner

if TYPE_CHECKING:
    from reviewbot.model import Review

# GitHub drops a step's summary that is larger than a mebibyte; the remarks below it take some of that.
SUMMARY_LIMIT = 1024 * 1024 - 2048
# Without a token nobody knows the ids that findings had in earlier rounds.
_NUMBERS = (
    "The ids here are those of this run alone. Commands take those of the review that is posted after it."
)


def run(options: argparse.Namespace) -> int:
    """Returns 1 for a finding at or above --fail-on."""
    from reviewbot.cli import report
    from reviewbot.cli.review import reviewed
    from reviewbot.render import annotations

    base, head = _commits(options)
    made, settings = reviewed(Path.cwd(), base, head, os.environ.get("GITHUB_REPOSITORY"))
    fail_on = options.fail_on or settings.fail_on
    failing = config.failing(fail_on)
    bad = sum(thread.finding.certainty in failing for thread in made.threads)
    for thread in made.threads:
        print(annotations.annotation(thread.finding))
    for unread in made.rounds[-1].unread:
        print(annotations.command("notice", f"not reviewed: {unread.why}", file=unread.path))
    print(f"findings: {len(made.threads)}, failing: {bad} (fail-on: {fail_on})")
    leave(made, bad)
    if made.threads:
        runner.summary(f"\n{_NUMBERS}\n")
    with runner.pages() as site:
        report.write(site, made, quiet=True)
    return int(bad > 0)


def _commits(options: argparse.Namespace) -> tuple[str, str]:
    from reviewbot.github.event import pull_request

    if options.base and options.head:
        return options.base, options.head
    event = pull_request(runner.event())
    return options.base or event.base.sha, options.head or event.head.sha


def leave(made: Review, bad: int) -> None:
    """Writes what the runner and later steps read."""
    from reviewbot.render import comments, review_json

    summary = comments.document(made)
    if len(summary.encode()) > SUMMARY_LIMIT:
        summary = made.summary
    file = runner.temporary() / "reviewbot-review.json"
    file.write_text(review_json.encode(made), encoding="utf-8")
    runner.summary(summary)
    values = {"findings": str(len(made.threads)), "failing": str(bad)}
    runner.outputs({**values, "review": str(file)})
