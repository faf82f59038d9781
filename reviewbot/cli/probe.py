"""`reviewbot probe`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot.errors import ProbeError, UsageError

if TYPE_CHECKING:
    from reviewbot.probe.evidence import Result
    from reviewbot.probe.harvest import Call
    from reviewbot.probe.target import Target

EXAMPLES = """\
examples:
  reviewbot probe tests/parity.py::compare                        inputs recorded from the repository's tests
  reviewbot probe tests/parity.py::compare --dump run_a run_b     inputs from two dumps of JSON lines
  reviewbot probe tests/test_parity.py::test_rows                 which of its assertions decide
  reviewbot probe 'python compare.py --a A.jsonl --b B.jsonl'     a command line; edits are made in the files
  reviewbot probe tests/parity.py::compare --save evidence.json
  reviewbot probe replay evidence.json

The code under probe runs in a sandbox (Landlock, seccomp, limits; no network, no new processes). Code that
means to deceive can make a run look green, so that no witness says nothing about it; a witness can be run
again by anyone.

exit codes:
  0  no difference was found that passes; replay: every witness still passes
  1  a witness was found; replay: one is caught now
  2  wrong use, or input that cannot be read
  3  inconclusive: nothing could be run, or there were no inputs
"""


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.epilog = EXAMPLES
    command.add_argument(
        "target",
        nargs="+",
        metavar="TARGET",
        help="path.py::function, path.py::Class.method, test_file.py::test_name, a command line in quotes; "
        "or: replay EVIDENCE",
    )
    command.add_argument("--from-tests", action="store_true", help="record inputs from tests (the default)")
    command.add_argument("--example", type=Path, metavar="FILE", help="arguments as a JSON object")
    command.add_argument(
        "--budget", type=_seconds, default=5.0, metavar="SECONDS", help="for the search (5s)"
    )
    command.add_argument("--output-format", choices=("text", "json", "markdown"), default="text")
    command.add_argument("--save", type=Path, metavar="FILE", help="write the evidence, for `probe replay`")
    command.add_argument(
        "--python", metavar="PATH", help="the interpreter that runs the code (default: this one)"
    )
    command.add_argument("--quiet", action="store_true", help="no progress")


def _seconds(text: str) -> float:
    try:
        value = float(text.removesuffix("s"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds such as 5s") from None
    if not 0 < value <= 3600:
        raise argparse.ArgumentTypeError("a budget lies between 0 and 3600 seconds")
    return value


def main(options: argparse.Namespace) -> int:
    """Probes and prints. Returns 1 for a witness, 3 where nothing could be run."""
    from reviewbot.probe import target as targets

    words: Sequence[str] = options.target
    if words[0] == "replay":
        return _replay(words[1:], options)
    if len(words) != 1:
        raise UsageError(f"one target at a time: {' '.join(words)!r}; put a command line into quotes")
    target = targets.parse(words[0])
    try:
        result = _result(target, options)
    except ProbeError as error:
        print(f"reviewbot: inconclusive: {error}", file=sys.stderr)
        return 3
    _write(result, options)
    return int(bool(result.witnesses))


def _replay(words: Sequence[str], options: argparse.Namespace) -> int:
    from reviewbot.probe import replay
    from reviewbot.render.inert import visible

    if len(words) != 1:
        raise UsageError("replay needs one file that `reviewbot probe --save FILE` wrote")
    try:
        done = replay.replay(Path(words[0]), python=options.python)
    except ProbeError as error:
        print(f"reviewbot: inconclusive: {error}", file=sys.stderr)
        return 3
    for line in replay.in_words(done):
        print(visible(line))
    return int(not done.holds)


def _result(target: Target, options: argparse.Namespace) -> Result:
    from reviewbot.probe import run

    calls, inputs, not_run = _inputs(target, options)
    result = run.probe(target, calls, seconds=options.budget, inputs=inputs, python=options.python)
    from dataclasses import replace

    return replace(result, not_run=(*not_run, *result.not_run))


def _inputs(target: Target, options: argparse.Namespace) -> tuple[Sequence[Call], str, tuple[str, ...]]:
    from reviewbot.probe import harvest

    if options.example:
        return [harvest.from_example(options.example, target)], str(options.example), ()
    function = harvest.Function(target.root / target.path, target.unit)
    found = harvest.from_tests(target.root, [function], python=options.python)
    if not found.calls[0]:
        why = f": {found.not_run[0]}" if found.not_run else ""
        raise ProbeError(
            f"its tests ran and no call of {target.unit} with plain arguments was recorded{why}; "
            "give inputs with --example FILE or --dump A B"
        )
    return found.calls[0], "", found.not_run


def _write(result: Result, options: argparse.Namespace) -> None:
    from reviewbot.render import probe_json, probe_text

    saved = str(options.save) if options.save else "evidence.json"
    if options.save:
        try:
            options.save.write_text(probe_json.encode(result, saved), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{options.save}: cannot be written ({error.strerror})") from None
    if options.output_format == "json":
        sys.stdout.write(probe_json.encode(result, saved))
    else:
        sys.stdout.write(probe_text.text(result))
