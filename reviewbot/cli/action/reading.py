"""What the privileged modes say of a pull request: its commits are fetched as objects, and read as data."""

from __future__ import annotations

import argparse
import os
import shutil
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot.cli.action import runner

if TYPE_CHECKING:
    from reviewbot.github.client import Pull
    from reviewbot.review.ledger import Entry, Ledger


def objects(*commits: str) -> Path:
    """A bare repository with these commits and all of their history; no file of them is written out."""
    from reviewbot.github.commits import fetch

    folder = runner.temporary() / "reviewbot-objects"
    shutil.rmtree(folder, ignore_errors=True)
    return fetch(folder, runner.server(), runner.slug(), commits, os.environ.get("GITHUB_TOKEN", ""))


def explain(pull: Pull, entry: Entry) -> str:
    """A finding explained, from its rule and, where the head still has it, from its own argument."""
    from reviewbot.cli.review import reviewed
    from reviewbot.lint import registry
    from reviewbot.model import RuleNote
    from reviewbot.render import answers, comments
    from reviewbot.source.git import Repository
    from reviewbot.source.permalink import from_slug
    from reviewbot.source.pinned import linked

    known = entry.rule in registry.rule_ids()
    says = registry.first_sentence(entry.rule) if known else "This reviewbot has no such rule any more."
    note = RuleNote(entry.rule, says, registry.section(entry.rule, "Instead") if known else "")
    why = registry.section(entry.rule, "Why") if known else ""
    remote = from_slug(runner.slug(), runner.server().partition("://")[2])
    folder = objects(pull.base, pull.head)
    # The configuration is that of the base.
    made, _ = reviewed(folder, pull.base, pull.head, runner.slug())
    found = (one for one in made.threads if one.finding.fingerprint == entry.fingerprint)
    address = f"https://{remote}/pull/{pull.number}#discussion_r{entry.comment}" if entry.comment else ""
    link = comments.links(pull.head, linked(remote, Repository(folder)))
    return answers.explanation(entry, note, why, address, next(found, None), link)


def size(pull: Pull, ledger: Ledger) -> str:
    """Where the lines of a pull request go, in Markdown; findings have the ids of the conversation."""
    from reviewbot.cli import size as command
    from reviewbot.render import size_markdown
    from reviewbot.review.rounds import known_as
    from reviewbot.source.permalink import from_slug

    parser = argparse.ArgumentParser()
    command.add(parser)
    asked = [f"--base={pull.base}", f"--head={pull.head}", f"--repository={runner.slug()}", "--quiet"]
    with chdir(objects(pull.base, pull.head)):
        made = command.sized(parser.parse_args(asked), False, lambda review: known_as(review, ledger))
    return size_markdown.text(made, from_slug(runner.slug(), runner.server().partition("://")[2]))
