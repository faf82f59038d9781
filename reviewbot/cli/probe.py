"""`reviewbot probe`."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot.cli.streams import tell
from reviewbot.errors import NoSandbox, ProbeError, UsageError

if TYPE_CHECKING:
    from reviewbot.probe.evidence import Result
    from reviewbot.probe.harvest import Call, Harvest
    from reviewbot.probe.run import Wish
    from reviewbot.probe.target import Target

BUDGET = (
    "time for all that is tried (10s): changes, shrinking, the checks' matrix; recording inputs and loading "
    "the check come on top, and of more than 15s they get more, too"
)
MOST_NAMED = 6
EXAMPLES = """\
examples:
  reviewbot probe tests/parity.py::compare                      inputs recorded from the repository's tests
  reviewbot probe tests/parity.py::compare --dump run_a run_b   inputs from two dumps of JSON lines
  reviewbot probe tests/test_parity.py::test_rows               which of its assertions decide
  reviewbot probe 'python compare.py --a A.jsonl --b B.jsonl'   a command line; edits are made in the files
  reviewbot probe tests/parity.py::compare --drop L107 L120-124 what would still be caught without these
  reviewbot probe tests/parity.py::compare --producer worker.py::finish
  reviewbot probe tests/parity.py::compare --save evidence.json
  reviewbot probe replay evidence.json

The code under probe runs in a sandbox (Landlock, seccomp, limits; no network, no new processes). Code that
means to deceive can make a run look green, so that no witness says nothing about it; a witness can be run
again by anyone.

exit codes:
  0  no difference was found that passes, but for those that are told with why they are no fault (what a
     tolerance lets through, what a test only reads, when and where a run was); replay: every witness still
     passes
  1  a difference passes that is a witness (shown or, with --kill-matrix alone, only listed), as in a field of
     the rows that is never compared, unless the check is named after another one (compare_tokens); no change
     whatever makes the check fail; or a field is dropped on rebuild; replay: a witness is caught now
  2  wrong use, or input that cannot be read
  3  inconclusive: nothing could be run, there were no inputs or none that the check compares anything of,
     or the time was up before every change was tried and no witness was found
"""


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.epilog = EXAMPLES
    command.add_argument(
        "target",
        nargs="+",
        metavar="TARGET",
        help="path.py::function, path.py::Class.method, test_file.py::test_name, a command line in quotes "
        "(a script's file and what it is given; no `-m`, no shell); or: replay EVIDENCE",
    )
    show = command.add_argument_group("what to show (default: everything)")
    show.add_argument("--witness", action="store_true", help="differences that pass")
    show.add_argument("--kill-matrix", action="store_true", help="which check notices what; dead checks")
    show.add_argument("--drop", nargs="+", metavar="L107", help="what is still caught without these checks")
    show.add_argument("--patch", type=Path, metavar="DIFF", help="what is still caught with a patch applied")
    inputs = command.add_argument_group("where inputs come from")
    inputs.add_argument("--from-tests", action="store_true", help="record them from tests (the default)")
    inputs.add_argument("--example", type=Path, metavar="FILE", help="arguments as a JSON object")
    inputs.add_argument("--dump", nargs=2, type=Path, metavar=("A", "B"), help="rows of the two sides")
    inputs.add_argument(
        "--producer",
        action="append",
        default=[],
        metavar="PATH::FUNCTION",
        help="the product's code that writes fields of the inputs; it is run again after each edit",
    )
    command.add_argument("--budget", type=_seconds, default=10.0, metavar="SECONDS", help=BUDGET)
    command.add_argument("--output-format", choices=("text", "json", "markdown"), default="text")
    command.add_argument("--save", type=Path, metavar="FILE", help="write the evidence, for `probe replay`")
    command.add_argument(
        "--python",
        metavar="PATH",
        help="the interpreter that runs the code, with the packages of the repository and pytest, which runs "
        "tests of unittest too (default: this one)",
    )
    command.add_argument(
        "-q", "--quiet", action="store_true", help="no progress, no questions, no word on what was saved"
    )


def _seconds(text: str) -> float:
    try:
        value = float(text.removesuffix("s"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds such as 5s") from None
    if not 0 < value <= 3600:
        raise argparse.ArgumentTypeError("a budget is above 0 and at most 3600 seconds")
    return value


def main(options: argparse.Namespace) -> int:
    """Probes and prints. Returns 1 where a difference passes, 3 where nothing could be run."""
    start = time.monotonic()
    from reviewbot.probe import packages, verdict
    from reviewbot.probe import target as targets

    words: Sequence[str] = options.target
    if options.python:
        options.python = packages.interpreter(options.python)
    if words[0] == "replay":
        return _replay(words[1:], options)
    if len(words) != 1:
        raise UsageError(f"one target at a time: {' '.join(words)!r}; put a command line into quotes")
    target = targets.parse(words[0])
    try:
        result = _result(target, options)
    except ProbeError as error:
        tell(f"inconclusive: {error}")
        return 3
    _write(replace(result, seconds=time.monotonic() - start), options)
    code = verdict.exit_code(result)
    if code == 3:
        way_out = "" if result.complete else "; a larger --budget leaves more"
        tell(f"inconclusive: {result.inconclusive}{way_out}")
    return code


def _replay(words: Sequence[str], options: argparse.Namespace) -> int:
    from reviewbot.probe import replay
    from reviewbot.render.inert import visible

    if len(words) != 1:
        raise UsageError("replay needs one file that `reviewbot probe --save FILE` wrote")
    try:
        done = replay.replay(Path(words[0]), python=options.python)
    except ProbeError as error:
        tell(f"inconclusive: {error}")
        return 3
    for line in replay.in_words(done):
        print(visible(line))
    return int(not done.holds)


def _result(target: Target, options: argparse.Namespace) -> Result:
    from reviewbot.probe import rebuild
    from reviewbot.probe import target as targets
    from reviewbot.probe.evidence import Result

    producers = tuple(targets.parse(one) for one in options.producer)
    with _progress(options.quiet) as show:
        lost, unbuilt = (
            rebuild.fields_dropped(target, python=options.python) if target.kind == "check" else ((), ())
        )
        try:
            result = _searched(target, producers, options, show)
        except NoSandbox:
            raise
        except ProbeError as error:
            if not lost:
                raise
            # What filled fields showed needs no inputs.
            result = Result(target.name, target.sha256, lost[0].layers, 0, (), not_run=(str(error),))
    return replace(result, dropped=lost, not_run=(*result.not_run, *unbuilt))


def _searched(
    target: Target,
    producers: tuple[Target, ...],
    options: argparse.Namespace,
    show: Callable[[str, int, int], None],
) -> Result:
    from reviewbot.probe import harvest, run

    calls, recorded, inputs, not_run, absent = _inputs(
        target, producers, options, lambda says: show(says, 0, 0)
    )
    wish = replace(_wish(target, options), producers=producers, producer_calls=recorded, absent=absent)
    if target.kind == "test":
        calls, labels = harvest.of_test(calls)
        wish = replace(wish, labels=labels)
    elif target.kind == "command":
        call, files = harvest.from_command(target)
        calls, wish = [call], replace(wish, files=files)
    result = run.probe(target, calls, wish, inputs=inputs, progress=show)
    return replace(result, not_run=(*not_run, *result.not_run))


def _wish(target: Target, options: argparse.Namespace) -> Wish:
    from reviewbot.probe import patch
    from reviewbot.probe.run import Wish

    everything = not (options.witness or options.kill_matrix)
    return Wish(
        witnesses=everything or options.witness,
        checks=everything or options.kill_matrix,
        drop=tuple(map(_lines, options.drop or ())),
        patched=patch.patched(target.root, options.patch) if options.patch else {},
        patch=str(options.patch or ""),
        seconds=options.budget,
        python=options.python,
    )


def _lines(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"L?(\d+)(?:-L?(\d+))?", text)
    if not found:
        raise UsageError(f"--drop takes lines such as L107 or L267-274, not {text!r}")
    first = int(found[1])
    return first, int(found[2] or first)


def _inputs(
    target: Target,
    producers: Sequence[Target],
    options: argparse.Namespace,
    progress: Callable[[str], None],
) -> tuple[Sequence[Call], tuple[tuple[Call, ...], ...], str, tuple[str, ...], tuple[str, ...]]:
    """The target's calls, those of each producer, where they come from, what could not run, which packages
    had stand-ins."""
    from reviewbot.probe import harvest
    from reviewbot.probe.mentions import Function

    none: tuple[tuple[Call, ...], ...] = tuple(() for _ in producers)
    if target.kind == "command":
        return [], none, "the files that the command line names", (), ()
    part = options.dump is not None
    given = harvest.from_example(options.example, target, partial=part) if options.example else None
    if options.dump:
        call, source = harvest.from_dumps(options.dump[0], options.dump[1], target, given)
        return [call], none, source, (), ()
    if given:
        return [given], none, str(options.example), (), ()
    functions = [Function(one.root / one.path, one.unit, one.kind == "test") for one in (target, *producers)]
    whole = f"{target.root / target.path}::{target.unit.replace('.', '::')}"
    tests = [whole + target.case] if target.kind == "test" else ()
    found = harvest.from_tests(
        target.root,
        functions,
        tests=tests,
        seconds=max(60.0, 4 * options.budget),
        python=options.python,
        progress=progress,
    )
    if target.case and not found.calls[0] and found.failed.startswith("not found"):
        known = harvest.outcomes(target.root, [whole], seconds=60.0, python=options.python).outcomes
        raise UsageError(_unknown_case(target, list(known)))
    if not found.calls[0] and found.failed:
        raise UsageError(f"{target.unit}: {found.why_none(0)}")
    if not found.calls[0]:
        raise ProbeError(f"{target.unit}: {found.why_none(0)}")
    return found.calls[0], found.calls[1:], "", (*_other_cases(target, found), *found.not_run), found.absent


def _unknown_case(target: Target, known: Sequence[str]) -> str:
    """That a test has no such case, and which it has, from the pytest ids of these."""
    says = f"{target.path}::{target.unit} has no case {target.case}"
    cases = [f"[{name.partition('[')[2]}" for name in known if "[" in name]
    more = f" and {len(cases) - MOST_NAMED} more" if len(cases) > MOST_NAMED else ""
    return f"{says}; it has {', '.join(cases[:MOST_NAMED])}{more}" if cases else f"{says}: it has no cases"


def _other_cases(target: Target, found: Harvest) -> tuple[str, ...]:
    """That the other cases of a parametrised test were left alone, if any were."""
    cases = [name for name in found.outcomes if "[" in name]
    if target.kind != "test" or target.case or len(cases) < 2:
        return ()
    case = cases[-1].partition("[")[2]
    return (f"1 of {len(cases)} cases tried; name another one, as in '{target.name}[{case}'",)


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on a terminal; nothing in a pipe."""
    if quiet or not sys.stderr.isatty():
        yield lambda says, done, of: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def show(says: str, done: int, of: int) -> None:
            bar.update(task, description=says, completed=done, total=of or None)

        yield show


def _write(result: Result, options: argparse.Namespace) -> None:
    from reviewbot.render import probe_json, probe_markdown, probe_text

    saved = str(options.save) if options.save else "evidence.json"
    if options.save:
        try:
            options.save.write_text(probe_json.encode(result, saved), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{options.save}: cannot be written ({error.strerror})") from None
        if not options.quiet:
            again = f"; run it again with: {probe_json.replay(saved)}" if result.witnesses else ""
            tell(f"evidence is in {saved}{again}")
    if options.output_format == "json":
        sys.stdout.write(probe_json.encode(result, saved))
    elif options.output_format == "markdown":
        sys.stdout.write(probe_markdown.text(result, saved))
    else:
        sys.stdout.write(probe_text.text(result, matrix=options.kill_matrix, questions=not options.quiet))
