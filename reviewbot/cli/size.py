"""`reviewbot size`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot import config, extras
from reviewbot.cli import proving
from reviewbot.cli.streams import tell, wants_colour
from reviewbot.errors import NoSandbox, UsageError
from reviewbot.render.progress import busy, watched

if TYPE_CHECKING:
    from reviewbot.model import Review
    from reviewbot.review.size.result import Size
    from reviewbot.review.size.whole import Try
    from reviewbot.source.git import Repository

EXAMPLES = """\
examples:
  reviewbot size                                     what HEAD adds since it left the default branch
  reviewbot size --base main --head topic            one local branch against another
  reviewbot size --base main --round 2f1c --round 9a0b   the change at earlier heads too, oldest first
  reviewbot size --base main --probe                 run what the proposed diffs touch, and keep to what holds
  reviewbot size --base main --chart size.svg        the bar chart (needs the extra `pages`)
  reviewbot size --base main --output-format json    everything, diffs included

Every sum adds up to `git diff --numstat` from the commit at which the head left the base. Each finding of
`reviewbot review` says which lines it would take away or add; what only these lines used goes along. The
diffs are shown with --diffs, and apply with `git apply`.

Nothing of either commit is run without --probe; with it, tests and checks run in a sandbox.

exit codes:
  0  written
  1  a finding at or above --fail-on (default: never)
  2  wrong use, or input that cannot be read
  3  --probe, and code cannot be shut in on this machine
"""


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.epilog = EXAMPLES
    command.add_argument(
        "--base",
        metavar="REF",
        help="what the change is to be merged into (default: the remote's default branch)",
    )
    command.add_argument("--head", metavar="REF", default="HEAD", help="the change (default: HEAD)")
    command.add_argument(
        "--round",
        metavar="SHA",
        action="append",
        default=[],
        help="an earlier head of the change; repeat it, oldest first",
    )
    command.add_argument("--output-format", choices=("text", "markdown", "json"), default="text")
    command.add_argument("--chart", type=Path, metavar="FILE", help="write the bar chart as SVG")
    command.add_argument("--diffs", action="store_true", help="show the proposed diffs (text)")
    command.add_argument(
        "--fail-on", choices=config.FAIL_ON, default="never", help="the least certainty that ends it with 1"
    )
    command.add_argument(
        "--repository",
        metavar="OWNER/REPO",
        help="where links lead, also HOST/OWNER/REPO (default: what the remote's address says)",
    )
    command.add_argument("-q", "--quiet", action="store_true", help="no progress, no remarks")
    command.add_argument("--no-color", action="store_true", help="no colours (NO_COLOR says the same)")
    proving.add(command)


def main(options: argparse.Namespace) -> int:
    """Counts and prints."""
    if options.chart is not None and options.chart.suffix != ".svg":
        raise UsageError(f"--chart writes SVG: {options.chart} does not end in .svg")
    if options.chart is not None:
        extras.check("--chart", "pages")
    colour = wants_colour(options.no_color)
    try:
        with busy("sizing", quiet=options.quiet, colour=colour):
            made = sized(options, colour)
    except NoSandbox as error:
        tell(f"inconclusive: --probe: {error}")
        return 3
    if options.chart is not None:
        _chart(made, options.chart)
    sys.stdout.write(_written(made, options, colour))
    last = made.rounds[-1]
    if not options.quiet:
        for file in last.files:
            if file.note:
                tell(f"{file.path}: lines not told apart: {file.note}")
    failing = config.failing(options.fail_on)
    return int(any(cut.certainty in failing for cut in made.cuts))


def sized(
    options: argparse.Namespace, colour: bool, named: Callable[[Review], Review] = lambda review: review
) -> Size:
    """What the options ask for. `named` gives the findings of a head other ids."""
    from reviewbot.cli.review import reviewed
    from reviewbot.lint import registry
    from reviewbot.review.size.count import round_size
    from reviewbot.review.size.whole import whole
    from reviewbot.source.git import Repository

    folder = Path.cwd()
    repository = Repository(folder)
    show = partial(watched, quiet=options.quiet, colour=colour)
    base = repository.commit(options.base or repository.default_branch())
    heads = [repository.commit(head) for head in (*options.round, options.head)]
    # What is said of the last head is what counts; what was said of it as an earlier one is the same.
    heads = [*dict.fromkeys(head for head in heads if head != heads[-1]), heads[-1]]
    rounds = []
    for number, head in enumerate(heads, 1):
        files = partial(show, what=f"round {number}: files")
        # The ids of the last head are told: they are those that a review of these rounds gives.
        earlier = heads[:-1] if head == heads[-1] else ()
        review, settings = reviewed(folder, base, head, options.repository, None, files, earlier)
        review = named(review)
        repository = repository.up_to(settings.max_file_bytes)
        names = sorted(set(settings.select or registry.rule_ids()) - set(settings.ignore))
        rules = registry.loaded(tuple(names))
        rounds.append(
            round_size(
                repository.root or folder,
                repository,
                review,
                number,
                settings,
                rules,
                partial(show, what="counting"),
            )
        )
    tried = _tried(options, repository, heads[-1])
    watch = partial(show, what="diffs")
    return whole(repository.root or folder, repository, review, rounds, tried, watch)


def _tried(options: argparse.Namespace, repository: Repository, head: str) -> Try | None:
    """What runs the diffs, where that is asked for."""
    if not options.probe:
        return None
    from reviewbot.review.size.tried import tried

    say = (lambda says: None) if options.quiet else proving.say
    return partial(
        tried,
        repository=repository,
        head=head,
        seconds=options.probe_budget,
        python=proving.python_of(options),
        progress=say,
    )


def _chart(made: Size, path: Path) -> None:
    from reviewbot.render import size_chart

    drawn = size_chart.svg(made)
    try:
        path.write_text(drawn, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from None


def _written(made: Size, options: argparse.Namespace, colour: bool) -> str:
    if options.output_format == "json":
        from reviewbot.render import size_json

        return size_json.encode(made)
    if options.output_format == "markdown":
        from reviewbot.render import size_markdown
        from reviewbot.source import permalink

        host, _, slug = (made.repository or "").partition("/")
        remote = permalink.from_slug(slug, host) if slug else None
        return size_markdown.text(made, remote)
    from reviewbot.render import size_text

    return size_text.text(made, colour=colour, diffs=options.diffs)
