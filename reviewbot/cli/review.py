"""`reviewbot review`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot import config
from reviewbot.cli import proving
from reviewbot.cli.streams import tell, wants_colour
from reviewbot.errors import UsageError
from reviewbot.render.progress import busy, watched

if TYPE_CHECKING:
    from reviewbot.config import Config
    from reviewbot.index.gather import Watch
    from reviewbot.model import Review

EXAMPLES = """\
examples:
  reviewbot review                                     what HEAD changes since it left the default branch
  reviewbot review --base main --head topic            one local branch against another
  reviewbot review --base main --output-format json    rounds, threads and bodies, as they would be posted
  reviewbot review --base main --round 2f1c --round 9a0b   as the third round, after these heads
  reviewbot review --post --repo acme/trainer --pull 7            post a pull request's review
  reviewbot review --post --repo acme/trainer --pull 7 --pending  leave it as a draft, for you to send

Both commits are read from git's objects; the work tree is neither read nor changed, and nothing of either
is run without --probe. The configuration is that of the base commit's pyproject.toml: a change does not
decide how it is reviewed.
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
    command.add_argument(
        "--round",
        metavar="SHA",
        action="append",
        default=[],
        help="an earlier head of the change, whose findings keep their ids; repeat it, oldest first",
    )
    command.add_argument("--output-format", choices=("text", "markdown", "json"), default="text")
    command.add_argument(
        "--fail-on", choices=config.FAIL_ON, help="the least certainty that ends the run with 1"
    )
    command.add_argument(
        "--repository",
        "--repo",
        metavar="OWNER/REPO",
        help="where links lead, also HOST/OWNER/REPO (default: what the remote's address says)",
    )
    post = command.add_argument_group(
        "posting",
        "with a token in GITHUB_TOKEN; GITHUB_API_URL for GitHub Enterprise (needs the extra `github`)",
    )
    post.add_argument("--post", action="store_true", help="post the review of --pull")
    post.add_argument("--pull", type=int, metavar="NUMBER", help="the pull request; its commits are fetched")
    post.add_argument(
        "--pending", action="store_true", help="leave it as a draft of your own, to be sent or dropped by you"
    )
    post.add_argument(
        "--resolve",
        action="store_true",
        help="resolve the conversations of what is settled (the token needs contents: write)",
    )
    command.add_argument("-q", "--quiet", action="store_true", help="no progress, no remarks")
    command.add_argument("--no-color", action="store_true", help="no colours (NO_COLOR says the same)")

    proving.add(command)


def main(options: argparse.Namespace) -> int:
    """Reviews and prints. Returns 1 for a finding at or above --fail-on, 2 where a rule failed on a file."""
    if options.post or options.pending:
        from reviewbot.cli.review_post import post

        if options.round:
            raise UsageError("--round is for a review that is printed: a posted one knows its rounds")
        return post(options)
    if options.pull is not None or options.resolve:
        raise UsageError("--pull and --resolve are for posting: say so with --post")
    colour = wants_colour(options.no_color)
    budget = options.probe_budget if options.probe else None
    python = proving.python_of(options)
    show = partial(watched, what="files", quiet=options.quiet, colour=colour)
    with busy("reviewing", quiet=options.quiet, colour=colour):
        made, settings = reviewed(
            Path.cwd(), options.base, options.head, options.repository, budget, show, options.round, python
        )
    sys.stdout.write(_written(made, options.output_format, colour))
    last = made.rounds[-1]
    remarks = [f"{file.path}:{file.line}: {file.why}" for file in last.failed]
    if made.repository is None and not options.quiet:
        remarks.append(
            "no remote names a repository on GitHub, so comments carry no links; "
            "name it with --repository OWNER/REPO"
        )
    for remark in remarks:
        tell(remark)
    failing = config.failing(options.fail_on or settings.fail_on)
    if any(thread.finding.certainty in failing for thread in made.threads):
        return 1
    return 2 if last.failed else 0


def _written(made: Review, form: str, colour: bool) -> str:
    if form == "json":
        from reviewbot.render import review_json

        return review_json.encode(made)
    if form == "markdown":
        from reviewbot.render import comments

        return comments.document(made)
    from reviewbot.render import review_text
    from reviewbot.review.scope import lines_of
    from reviewbot.source.git import Repository

    read = lines_of(partial(Repository(Path.cwd()).read, made.rounds[-1].head))

    def bare(path: str) -> list[str] | None:
        lines = read(path)
        return lines and [line.rstrip("\r\n") for line in lines]

    return review_text.text(made, lru_cache(bare), colour=colour)


def reviewed(
    folder: Path,
    base: str | None,
    head: str,
    slug: str | None,
    probe_seconds: float | None = None,
    watch: Watch | None = None,
    earlier: Sequence[str] = (),
    python: str | None = None,
) -> tuple[Review, Config]:
    """The rendered review of a local repository's `head` against `base`, and the settings it was made with.

    Without a base the remote's default branch is taken; without a slug (`OWNER/REPO`, `HOST/OWNER/REPO`)
    links lead where the remote's address says. With `probe_seconds` the findings' code is run, no longer
    than that, in the interpreter `python`. `watch` is as in `review.local.look`. `earlier` heads, oldest
    first, are the rounds before.
    """
    from reviewbot.index.gather import unwatched
    from reviewbot.lint import registry
    from reviewbot.lint.cache import index_file
    from reviewbot.render import comments
    from reviewbot.review import local, rounds
    from reviewbot.review.ledger import Ledger
    from reviewbot.source import permalink, pinned
    from reviewbot.source.git import Repository

    repository = Repository(folder)
    head_id = repository.commit(head)
    base_id = repository.commit(base or repository.default_branch())
    settings = local.settings(repository, base_id)
    repository = repository.up_to(settings.max_file_bytes)
    remote = permalink.from_remotes(repository.remotes())
    if slug:
        server = os.environ.get("GITHUB_SERVER_URL", "").partition("://")[2].strip("/")
        host = server or (remote.host if remote else permalink.GITHUB)
        remote = permalink.from_slug(slug, host)
    if remote:
        remote = pinned.linked(remote, repository)
    names = sorted(set(settings.select or registry.rule_ids()) - set(settings.ignore))
    rules = registry.loaded(tuple(names))
    facts = index_file(repository.root or folder)
    heads = [repository.commit(one) for one in earlier]
    ledger = Ledger("", 0)
    made = []
    for one in (*dict.fromkeys(one for one in heads if one != head_id), head_id):
        prove = proving.proved_at(repository, one, probe_seconds, python) if probe_seconds else tuple
        seen = local.look(repository, base_id, one, settings, rules, prove, watch or unwatched, facts)
        next_ = rounds.next_round(seen, ledger, repository, remote)
        ledger = next_.ledger
        made.append(next_.review)
    return comments.rendered(rounds.joined(made), remote), settings
