"""`reviewbot review --post`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from functools import partial
from pathlib import Path

from reviewbot import extras
from reviewbot.cli import proving
from reviewbot.cli.streams import inert, tell, wants_colour
from reviewbot.errors import UsageError
from reviewbot.render.progress import busy, watched


def post(options: argparse.Namespace) -> int:
    """Posts, or leaves a draft. Returns 1 for a finding at or above --fail-on, also where the token may not
    post; then the findings are printed."""
    extras.check("--post" if options.post else "--pending", "github")
    from reviewbot.github import telling
    from reviewbot.github.client import GitHub
    from reviewbot.github.commits import fetch
    from reviewbot.source import permalink
    from reviewbot.source.git import Repository

    if not options.repository or options.pull is None:
        raise UsageError("--post needs --repo OWNER/REPO and --pull NUMBER")
    if options.base or options.head != "HEAD":
        raise UsageError("--post takes base and head from the pull request: leave --base and --head out")
    python = proving.python_of(options)
    server = os.environ.get("GITHUB_SERVER_URL", "").rstrip("/") or "https://github.com"
    remote = permalink.from_slug(options.repository, server.partition("://")[2])
    slug = f"{remote.owner}/{remote.name}"
    github = GitHub.of_environment(slug)
    pull = github.pull(options.pull)
    colour = wants_colour(options.no_color)
    token = os.environ.get("GITHUB_TOKEN", "")
    with tempfile.TemporaryDirectory(prefix="reviewbot-") as folder:
        objects = Path(folder) / "objects"
        fetch(objects, server, slug, [pull.base, pull.head], token)
        repository = Repository(objects)
        budget = options.probe_budget if options.probe else None
        task = telling.Task(
            github=github,
            pull=pull,
            repository=repository,
            remote=remote,
            fetch=telling.fetcher(objects, server, slug, token),
            fail_on=options.fail_on or "",
            pending=options.pending,
            resolve=options.resolve,
            prove=proving.proved_at(repository, pull.head, budget, python) if budget else tuple,
            watch=partial(watched, what="files", quiet=options.quiet, colour=colour),
        )
        with busy("reviewing", quiet=options.quiet, colour=colour):
            told = telling.tell(task)
    refused = told.posted.refused if told.posted else ()
    for says in refused:
        tell(says)
    if not told.url:
        from reviewbot.render import comments

        sys.stdout.write(comments.document(told.review))
    elif not options.quiet:
        what = "left as a draft on" if options.pending else "posted to"
        count = len(told.review.threads)
        print(f"{count} finding{'' if count == 1 else 's'}, {told.failing} failing; {what} {inert(told.url)}")
    return int(told.failing > 0)
