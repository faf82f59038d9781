"""`reviewbot`: reads the command's name, hands over, turns errors into one line and an exit code."""

from __future__ import annotations

import argparse
import errno
import gc
import importlib
import io
import os
import sys
import warnings
from collections.abc import Sequence

from reviewbot import __version__
from reviewbot.cli.arguments import Parser, flags
from reviewbot.cli.streams import tell
from reviewbot.errors import ReviewbotError, UsageError

# name: what it does, in the words of --help. Each is a module of this package with `add` and `main`.
COMMANDS = {
    "lint": "find tests that do not test, in files and folders",
    "review": "review what one commit changes against another, as it would be posted",
    "size": "count where a change's lines go, and what its findings would take away or add",
    "report": "write a review, and what probes and parity runs showed, as pages",
    "probe": "run a check on changed inputs and show a difference that it lets through",
    "rule": "explain a rule from its own file, or list all rules",
    "new-rule": "write the skeleton of a new rule",
    "completion": "print a script that completes commands and options in a shell",
    "init": "write the GitHub workflows into a repository",
    "action": "review a pull request as a step of a GitHub workflow",
    "parity": "compare the rows that two runs trained on, or make the runs and compare them",
}

EXIT_CODES = """\
exit codes:
  0  nothing to fail for
  1  a finding at or above --fail-on, or a parity run that failed
  2  wrong use, or input that cannot be read
  3  inconclusive
"""


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The whole command line; with `only`, the options of that command alone are filled in."""
    top = Parser(
        prog="reviewbot",
        description="Finds tests that do not test, and proves it by running them.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"reviewbot {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=summary[:1].upper() + summary[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if only in (name, "*"):
            _module(name).add(command)
    return top


def _module(name: str):  # type: ignore[no-untyped-def]
    from reviewbot.lint import methods

    module = "reviewbot.cli." + name.replace("-", "_")
    if module in sys.modules:
        return sys.modules[module]
    with methods.kept("commands"):
        return importlib.import_module(module)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    name = next((word for word in words if not word.startswith("-")), None)
    top = parser(name)
    options = top.parse_args(words)
    if options.command is None:
        parser().print_help()
        return 2
    try:
        _stand_somewhere()
        if options.command != "action":  # whose options are a workflow's inputs, and those are often empty
            _none_is_empty(words, flags(top))
        command = _module(options.command)
        gc.freeze()  # what is imported by now stays, and is not looked through time and again
        gc.enable()
        code: int = command.main(options)
        sys.stdout.flush()
    except ReviewbotError as error:
        tell(str(error))
        return 2
    except ModuleNotFoundError as error:
        from reviewbot import extras

        needs = extras.lacking(error, f"`reviewbot {options.command}`, asked this way,")
        if needs is None:
            raise
        tell(str(needs))
        return 2
    except KeyboardInterrupt:
        tell("interrupted")
        return 130
    except BrokenPipeError:
        # The reader of our output went away: nothing is left to say, also not at interpreter exit. What was
        # found is not known to all ends, so it is no success: the code of a program that SIGPIPE ended.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        tell(f"the output cannot be written ({os.strerror(error.errno).lower()})")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    return code


def _stand_somewhere() -> None:
    """Raises UsageError where the working folder has been deleted: every path is one from there."""
    try:
        os.getcwd()
    except OSError as error:
        why = "is not there any more" if isinstance(error, FileNotFoundError) else "cannot be entered"
        raise UsageError(f"the working folder {why}: go to another one, or enter it anew") from None


def _none_is_empty(words: Sequence[str], valueless: frozenset[str]) -> None:
    """Raises UsageError for an option whose value is empty, as `--base "$BASE"` is where BASE is not set, and
    for an argument that is. `valueless` are the options that take none.

    What is done without the option is not what was asked for.
    """
    for before, word in zip(("", *words), words, strict=False):
        option = before if word == "" and before.startswith("--") else word[:-1]
        if (word == "" and option == before) or (word.startswith("--") and word.endswith("=")):
            if word == "" and option in valueless:
                break
            raise UsageError(f"{option} has an empty value; name one, or leave the option out")
    if "" in words:
        raise UsageError("an argument is empty; name what it should be, or leave it out")


def run() -> int:
    """The whole command line as one process; `entry` hands its exit code on."""
    # A file's name can hold bytes, and a terminal lack characters, that could not be written otherwise.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if not sys.warnoptions:
        # What Python thinks of a pattern or a literal under review is its author's concern, not our user's.
        warnings.simplefilter("ignore")
        sys.warnoptions.append("ignore")  # processes that are started from here take this over
    return main()
