"""`reviewbot completion`."""

from __future__ import annotations

import argparse
import sys

SHELLS = ("bash", "zsh", "tcsh")
EXAMPLES = """\
examples:
  reviewbot completion bash > ~/.local/share/bash-completion/completions/reviewbot
  reviewbot completion zsh > "${fpath[1]}/_reviewbot"
  reviewbot completion tcsh >> ~/.tcshrc
"""


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.epilog = EXAMPLES
    command.add_argument("shell", choices=SHELLS, help="the shell that is to complete `reviewbot`")


def main(options: argparse.Namespace) -> int:
    """Prints a script that completes commands, options and their values."""
    import shtab

    from reviewbot.cli.main import parser

    sys.stdout.write(shtab.complete(parser("*"), shell=options.shell))
    return 0
