"""A command line that cannot be read is answered with the word that may have been meant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from typing import NoReturn

from reviewbot.cli.streams import inert, put_error


class Parser(argparse.ArgumentParser):
    """argparse's own, whose errors name the nearest command, option or value."""

    def parse_known_args(  # type: ignore[override]  # its overloads are of namespaces that nobody gives
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As ever, but a command itself refuses what it does not know, and so shows its own usage."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown

    def error(self, message: str) -> NoReturn:
        """Ends the process with 2, as argparse does."""
        put_error(self.format_usage())
        put_error(f"{self.prog}: error: {inert(message + _meant(message, self))}\n")
        self.exit(2)


def _meant(message: str, parser: argparse.ArgumentParser) -> str:
    from reviewbot.config import hint

    choice = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message, re.DOTALL)
    if choice:
        return hint(choice[1], tuple(re.findall(r"[\w.-]+", choice[2])))
    unknown = re.match(r"unrecognized arguments: (--[\w-]+)", message)
    return hint(unknown[1], tuple(_options(parser))) if unknown else ""


def flags(parser: argparse.ArgumentParser) -> frozenset[str]:
    """The long options that take no value, of a parser and of the commands below it, and `--` itself."""
    found = {"--"}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found.update(*map(flags, action.choices.values()))
        elif action.nargs == 0:
            found.update(option for option in action.option_strings if option.startswith("--"))
    return frozenset(found)


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The options of a parser and of the commands below it, as far as they are filled in."""
    for action in parser._actions:
        yield from (option for option in action.option_strings if option.startswith("--"))
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _options(command)
