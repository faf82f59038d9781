"""`reviewbot parity`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reviewbot.errors import UsageError

if TYPE_CHECKING:
    from reviewbot.parity.restores import Restores
    from reviewbot.parity.result import Result

FORMATS = ("plain", "nemo-rl", "verl", "trl", "mapping")

EXAMPLES = """\
examples:
  reviewbot parity compare logs/reference logs/restored
  reviewbot parity compare reference restored --restores restores.jsonl --dtype bfloat16
  reviewbot parity compare 'a/*.jsonl.zst' 'b/*.jsonl.zst' --map token_ids=tokens --map reward=score

exit codes: 0 pass, 1 fail or set aside, 2 wrong use or a broken dump, 3 inconclusive
"""

COMPARE = """\
examples:
  reviewbot parity compare logs/reference logs/restored
  reviewbot parity compare reference restored --restores restores.jsonl --cut cut --dtype bfloat16
  reviewbot parity compare reference restored --log worker.log \\
      --pattern 'restored (?P<call>\\S+): prefix=(?P<prefix_tokens>\\d+) tail=(?P<tail_tokens>\\d+)'
  reviewbot parity compare a.parquet b.parquet --map token_ids=tokens --map reward=info.score

A restore record is a line of JSON with the step, prompt and sample of its row, the call, prefix_tokens,
tail_tokens, and prefix_sha256: the SHA-256 of the prefix's token ids as decimals joined by commas. The
call is its row's last one. A line {"left_key": NAME} names a saved prefix that was still
there when the run ended.

verdicts and exit codes:
  pass          0   the rows are equal
  set aside     1   rows differ from a near-tie on; 0 where --allow-set-aside covers them
  fail          1   a difference that nothing excuses
  inconclusive  3   nothing was restored, or nothing could have differed
"""


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.epilog = EXAMPLES
    actions = command.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    compare = actions.add_parser(
        "compare",
        help="compare two dumps row for row, token for token",
        description="Compares two dumps row for row, token for token.",
        epilog=COMPARE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    compare.add_argument(
        "reference", metavar="REFERENCE", help="the uninterrupted run: a folder, glob or file"
    )
    compare.add_argument(
        "restored", metavar="RESTORED", help="the run held against it: a folder, glob or file"
    )
    compare.add_argument(
        "--format", choices=FORMATS, help="the format of both (default: seen in the first row)"
    )
    compare.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="FIELD=COLUMN",
        help="which column holds a field of a row",
    )
    records = compare.add_mutually_exclusive_group()
    records.add_argument("--restores", type=Path, metavar="FILE", help="restore records as JSON lines")
    records.add_argument(
        "--log", type=Path, metavar="FILE", help="a log that has restore records in its lines"
    )
    compare.add_argument("--pattern", metavar="REGEX", help="with --log: named groups are a record's fields")
    compare.add_argument(
        "--cut", type=Path, metavar="DIR", help="the killed run: its journal.jsonl, and rows if any"
    )
    compare.add_argument(
        "--control", metavar="DIR", help="the reference again at another batch size: bounds set-asides"
    )
    limits(compare)
    output(compare)


def limits(command: argparse.ArgumentParser) -> None:
    """Declares what may differ."""
    command.add_argument(
        "--dtype", choices=("bfloat16", "float16", "float32"), help="what the rows do not say"
    )
    command.add_argument(
        "--noise", type=float, metavar="NATS", help="how far log-probs of one token may differ"
    )
    command.add_argument(
        "--allow-set-aside",
        type=int,
        default=0,
        metavar="N",
        help="end with 0 if at most N rows are set aside",
    )
    command.add_argument(
        "--min-unequal-groups",
        type=float,
        default=0.5,
        metavar="SHARE",
        help="of the groups that must have unequal rewards (default: 0.5)",
    )


def output(command: argparse.ArgumentParser) -> None:
    """Declares how a result is shown."""
    command.add_argument("--tokenizer", metavar="PATH", help="a tokenizer.json to show text with, or `ascii`")
    command.add_argument("--output-format", choices=("text", "json"), default="text")
    command.add_argument("--quiet", action="store_true", help="no progress")
    command.add_argument("--no-color", action="store_true", help="no colour (also: NO_COLOR)")


def main(options: argparse.Namespace) -> int:
    """Runs the action."""
    return _compare(options)


def _compare(options: argparse.Namespace) -> int:
    from reviewbot.parity import compare, context, restores
    from reviewbot.parity.dumps import dump
    from reviewbot.parity.judge import Limits

    columns = _columns(options.map)
    reference = dump.opened("reference", options.reference, options.format, columns)
    restored = dump.opened("restored", options.restored, options.format, columns)
    same = any(one.samefile(other) for one in reference.files for other in restored.files)
    settings = compare.Options(
        limits=Limits(noise=options.noise, dtype=options.dtype),
        restores=_restores(options),
        begun=restores.begun(options.cut / "journal.jsonl") if options.cut else None,
        min_unequal_groups=options.min_unequal_groups,
        decode=context.tokenizer(options.tokenizer) if options.tokenizer else None,
        same_files=same,
    )
    result = compare.compared(reference, restored, settings)
    show(result, options)
    return code(result, options.allow_set_aside)


def _columns(given: list[str]) -> dict[str, str]:
    """The mapping of the command line, or that of the configuration."""
    columns = {}
    for word in given:
        field, equals, column = word.partition("=")
        if not (field and equals and column):
            raise UsageError(f"--map {word}: FIELD=COLUMN was expected")
        columns[field.replace("-", "_")] = column
    return columns


def _restores(options: argparse.Namespace) -> Restores | None:
    from reviewbot.parity import restores

    if options.pattern and not options.log:
        raise UsageError("--pattern reads a log: name it with --log FILE")
    if options.log:
        if not options.pattern:
            raise UsageError("--log needs --pattern, a regular expression with named groups")
        return restores.from_log(options.log, options.pattern)
    return restores.from_file(options.restores) if options.restores else None


def show(result: Result, options: argparse.Namespace) -> None:
    """Prints the result in the format asked for."""
    from reviewbot.render import parity_json

    if options.output_format == "json":
        sys.stdout.write(parity_json.encode(result))
        return
    from rich.console import Console

    from reviewbot.render import parity_text

    wide: dict[str, Any] = {} if sys.stdout.isatty() else {"width": 160}
    parity_text.show(
        result, Console(no_color=options.no_color or None, highlight=False, soft_wrap=True, **wide)
    )


def code(result: Result, allow_set_aside: int) -> int:
    """The exit code of a verdict."""
    if result.verdict == "set_aside":
        return int(len(result.set_aside) > allow_set_aside)
    return {"pass": 0, "fail": 1, "inconclusive": 3}[result.verdict]
