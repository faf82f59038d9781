"""`reviewbot action`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot import config
from reviewbot.errors import ReviewbotError, UsageError

if TYPE_CHECKING:
    from reviewbot.model import Review

EXAMPLES = """\
example, as a step of a workflow that runs on pull_request:
  reviewbot action --fail-on likely

Base and head are those of the event (GITHUB_EVENT_PATH), unless both are given. Prints annotations, appends
the review to GITHUB_STEP_SUMMARY, and writes `findings`, `failing` and `review` (the path of the review as
JSON, in RUNNER_TEMP) to GITHUB_OUTPUT.
"""

# GitHub drops a step's summary that is larger.
SUMMARY_LIMIT = 1024 * 1024


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.epilog = EXAMPLES
    command.add_argument("--base", default="", metavar="REF", help="what the change is to be merged into")
    command.add_argument("--head", default="", metavar="REF", help="the change")
    command.add_argument(
        "--fail-on",
        choices=("", *config.FAIL_ON),
        default="",
        metavar="CERTAINTY",
        help=f"the least certainty that ends the run with 1: {', '.join(config.FAIL_ON)}",
    )


def main(options: argparse.Namespace) -> int:
    """Reviews for a runner. Returns 1 for a finding at or above --fail-on."""
    from reviewbot.cli.review import reviewed
    from reviewbot.render import annotations

    try:
        base, head = _commits(options)
        made, settings = reviewed(Path.cwd(), base, head, os.environ.get("GITHUB_REPOSITORY"))
    except ReviewbotError as error:
        # What an error names may come from the change: only an escaped line is safe in a runner's log.
        print(annotations.command("error", str(error), title="reviewbot"))
        return 2
    fail_on = options.fail_on or settings.fail_on
    failing = config.failing(fail_on)
    bad = sum(thread.finding.certainty in failing for thread in made.threads)
    for thread in made.threads:
        print(annotations.annotation(thread.finding, thread.id))
    for unread in made.rounds[-1].unread:
        print(annotations.command("notice", f"not reviewed: {unread.why}", file=unread.path))
    print(f"findings: {len(made.threads)}, failing: {bad} (fail-on: {fail_on})")
    _leave(made, bad)
    return int(bad > 0)


def _commits(options: argparse.Namespace) -> tuple[str, str]:
    from reviewbot.github.event import pull_request

    if options.base and options.head:
        return options.base, options.head
    path = os.environ.get("GITHUB_EVENT_PATH", "")
    if not path:
        raise UsageError("no event: set GITHUB_EVENT_PATH, or give --base and --head")
    event = pull_request(Path(path))
    return options.base or event.base.sha, options.head or event.head.sha


def _leave(made: Review, bad: int) -> None:
    """Writes what the runner and later steps read."""
    from reviewbot.render import comments, review_json

    summary = comments.document(made)
    if len(summary.encode()) > SUMMARY_LIMIT:
        summary = made.summary
    report = Path(os.environ.get("RUNNER_TEMP", ".")) / "reviewbot-review.json"
    report.write_text(review_json.encode(made), encoding="utf-8")
    _append("GITHUB_STEP_SUMMARY", summary)
    _append("GITHUB_OUTPUT", f"findings={len(made.threads)}\nfailing={bad}\nreview={report}\n")


def _append(variable: str, text: str) -> None:
    path = os.environ.get(variable)
    if path is None:
        return
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)
