"""`reviewbot rule`."""

from __future__ import annotations

import argparse
import os
import sys

import reviewbot
from reviewbot.cli.new_rule import NAME

EXAMPLES = """\
examples:
  reviewbot rule                      all rules, one line each
  reviewbot rule constant-verdict     one rule: what it finds, why it matters, what to write instead, examples
  reviewbot rule constant-verdict --all | less     with all of its examples, as Markdown
"""


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.epilog = EXAMPLES
    command.add_argument("id", nargs="?", metavar="ID", help="the rule's id (default: list all rules)")
    command.add_argument("--all", action="store_true", help="all examples of the rule, not the first three")


def main(options: argparse.Namespace) -> int:
    """Prints one rule, or all. On a terminal it is laid out, in a pipe it is plain text and Markdown."""
    from reviewbot.config import hint
    from reviewbot.errors import UsageError
    from reviewbot.lint import registry, suppress
    from reviewbot.render import rule_page

    if options.id == suppress.FAULT:
        _print(rule_page.SUPPRESSION)
        return 0
    known = registry.rule_ids()
    if options.id and options.id not in known and _is_of_checkout(options.id):
        # Another copy is installed than the one whose rule was written here.
        reviewbot.__path__.insert(0, os.getcwd())
        known = (*known, options.id)
    if options.id is None:
        _list({name: registry.first_sentence(name) for name in known})
        return 0
    if options.id not in known:
        near = hint(options.id, known) or "; `reviewbot rule` lists all"
        raise UsageError(f"no rule {options.id!r}{near}")
    _print(rule_page.page(options.id) if options.all else rule_page.short(options.id))
    return 0


def _print(page: str) -> None:
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page, hyperlinks=False))
    else:
        sys.stdout.write(page)


def _is_of_checkout(name: str) -> bool:
    """Whether the working folder is a checkout of reviewbot, and that rule stands in it."""
    path = os.path.join("rules", name.replace("-", "_") + ".py")
    return (
        NAME.fullmatch(name) is not None and os.path.isfile("reviewbot/lint/rule.py") and os.path.isfile(path)
    )


def _list(rules: dict[str, str]) -> None:
    if not sys.stdout.isatty():
        width = max(map(len, rules), default=0)
        sys.stdout.writelines(f"{name:{width}}  {says}\n" for name, says in rules.items())
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for name, says in rules.items():
        table.add_row(Text(name, style="bold", no_wrap=True), Text(says))
    Console().print(table)
