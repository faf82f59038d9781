"""Mode revoke: a push or a close ends an approval."""

from __future__ import annotations

import argparse

from reviewbot.cli.action import runner


def run(options: argparse.Namespace) -> int:
    """Takes the label off and concludes what is under way."""
    from reviewbot.github import event, orders
    from reviewbot.github.client import GitHub

    orders.revoke(GitHub.of_environment(runner.slug()), event.pull_event(runner.event()), options.label)
    return 0
