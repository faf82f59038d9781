"""`reviewbot review`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from reviewbot import config
from reviewbot.model import CERTAINTIES

EXAMPLES = """\
examples:
  reviewbot review                                     what HEAD changes since it left the default branch
  reviewbot review --base main --head topic            one local branch against another
  reviewbot review --base main --output-format json    rounds, threads and bodies, as they would be posted

Both commits are read from git's objects; the work tree is neither read nor changed, and nothing of either
is run. The configuration is that of the base commit's pyproject.toml: a change does not decide how it is
reviewed.
"""


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.epilog = EXAMPLES
    command.add_argument(
        "--base",
        metavar="REF",
        help="what the change is to be merged into (default: the remote's default branch)",
    )
    command.add_argument("--head", metavar="REF", default="HEAD", help="the change (default: HEAD)")
    command.add_argument("--output-format", choices=("text", "markdown", "json"), default="text")
    command.add_argument(
        "--fail-on", choices=config.FAIL_ON, help="the least certainty that ends the run with 1"
    )
    command.add_argument(
        "--repository",
        metavar="OWNER/REPO",
        help="where links lead, also HOST/OWNER/REPO (default: what the remote's address says)",
    )


def main(options: argparse.Namespace) -> int:
    """Reviews and prints. Returns 1 for a finding at or above --fail-on."""
    from reviewbot.lint import registry
    from reviewbot.render import comments, review_json, review_text
    from reviewbot.review import local
    from reviewbot.source import permalink
    from reviewbot.source.git import Repository

    repository = Repository(Path.cwd())
    head = repository.commit(options.head)
    base = repository.commit(options.base or repository.default_branch())
    settings = local.settings(repository, base)
    remote = permalink.from_remotes(repository.remotes())
    if options.repository:
        server = os.environ.get("GITHUB_SERVER_URL", "").partition("://")[2].strip("/")
        host = server or (remote.host if remote else permalink.GITHUB)
        remote = permalink.from_slug(options.repository, host)
    names = sorted(set(settings.select or registry.rule_ids()) - set(settings.ignore))
    made = local.review(repository, base, head, settings, [registry.load(name) for name in names], remote)
    made = comments.rendered(made, remote)
    if options.output_format == "json":
        sys.stdout.write(review_json.encode(made))
    elif options.output_format == "markdown":
        sys.stdout.write(comments.document(made))
    else:
        sys.stdout.write(review_text.text(made))
    if remote is None:
        print(
            "reviewbot: no remote names a repository on GitHub, so comments carry no links; "
            "name it with --repository OWNER/REPO",
            file=sys.stderr,
        )
    fail_on = options.fail_on or settings.fail_on
    failing = () if fail_on == "never" else CERTAINTIES[: CERTAINTIES.index(fail_on) + 1]
    return int(any(thread.finding.certainty in failing for thread in made.threads))
