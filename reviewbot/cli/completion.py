"""`reviewbot completion`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

SHELLS = ("bash", "zsh", "tcsh", "fish")
RULES = ("RULES", "ID")  # what options and arguments are called whose values are ids of rules
EXAMPLES = """\
examples:
  reviewbot completion bash > ~/.local/share/bash-completion/completions/reviewbot
  reviewbot completion zsh > "${fpath[1]}/_reviewbot"
  reviewbot completion tcsh >> ~/.tcshrc
  reviewbot completion fish > ~/.config/fish/completions/reviewbot.fish
"""


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.epilog = EXAMPLES
    command.add_argument("shell", choices=SHELLS, help="the shell that is to complete `reviewbot`")


def main(options: argparse.Namespace) -> int:
    """Prints a script that completes commands, options and their values."""
    import shtab

    from reviewbot.cli.main import parser
    from reviewbot.lint.registry import rule_ids

    whole = parser("*")
    for action in _actions(whole):
        if action.metavar in RULES and action.choices is None:
            # Here alone: what is no rule has a better answer than a list of them all.
            action.choices = sorted(rule_ids())
    sys.stdout.write(shtab.complete(whole, shell=options.shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The options and arguments of the commands of a parser."""
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        for name, command in action.choices.items():
            # An id of `action` is that of a finding.
            yield from command._actions if name != "action" else ()
