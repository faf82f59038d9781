"""What `lint --probe` and `review --probe` share: findings are run, and say what came of it."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot.cli.streams import inert, put_error, tell
from reviewbot.model import Finding

if TYPE_CHECKING:
    from reviewbot.source.git import Repository

BUDGET = 60.0


def add(command: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.add_argument(
        "--probe",
        action="store_true",
        help="run the code of findings in a sandbox, of those rules that running can answer (excuse-branch, "
        "loop-may-be-empty, nan-passes, missing-equals-missing, implied-check, restated-arithmetic, "
        "duplicate-test, field-dropped-on-rebuild): what holds becomes proved, what does not is withdrawn; "
        "other findings stay as they are",
    )
    command.add_argument(
        "--probe-budget",
        type=seconds,
        default=BUDGET,
        metavar="SECONDS",
        help=f"for all of --probe (default: {BUDGET:g}s)",
    )
    add_python(command)


def add_python(command: argparse._ActionsContainer) -> None:
    """Declares the interpreter that the code under probe runs in."""
    command.add_argument(
        "--python",
        metavar="PATH",
        help="the interpreter that --probe runs the code in, with the packages and pytest of the repository "
        "(default: this one)",
    )


def python_of(options: argparse.Namespace) -> str | None:
    """The interpreter that is asked for. Raises UsageError for one that does not run."""
    if not options.python:
        return None
    from reviewbot.probe.packages import interpreter

    return interpreter(options.python)


_BECAME = {
    "confirmed": "confirmed",
    "refuted": "withdrawn",
    "shown": "it happens",
    "unknown": "not run to an end",
}


def seconds(text: str) -> float:
    """A budget as a user types it, such as 60s."""
    try:
        value = float(text.removesuffix("s"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds such as 60s") from None
    if value <= 0:
        raise argparse.ArgumentTypeError("a budget is more than 0 seconds")
    return value


def proved(
    findings: Sequence[Finding], root: Path, seconds: float, python: str | None = None
) -> tuple[Finding, ...]:
    """The findings without refuted ones; confirmed ones are proved and carry the evidence, what is shown to
    happen and may be meant carries it alone.

    Each that was run has a line on standard error. Where code cannot be shut in, all stay as they are.
    """
    from reviewbot.errors import NoSandbox
    from reviewbot.probe import confirm
    from reviewbot.render.probe_evidence import evidence

    able = [finding for finding in findings if confirm.can_confirm(finding)]
    others = sorted({finding.rule for finding in findings} - {finding.rule for finding in able})
    if others:
        tell(f"probe: running cannot answer {', '.join(others)}")
    if not able:
        return tuple(findings)
    try:
        made = confirm.confirm(able, root, seconds=seconds, python=python, progress=say)
        judged = {id(one.finding): one for one in made}
    except NoSandbox as error:
        tell(f"--probe: {error}")
        return tuple(findings)
    kept = []
    for finding in findings:
        one = judged.get(id(finding))
        if one is not None:
            where = f"{finding.span.path}:{finding.span.line}: {finding.rule}"
            became = _BECAME[one.state]
            tell(f"probe: {where}: {became}: {one.says}")
        if one is None or one.state == "unknown":
            kept.append(finding)
        elif one.state == "confirmed":
            kept.append(replace(finding, certainty="proved", evidence=evidence(one)))
        elif one.state == "shown":
            kept.append(replace(finding, evidence=evidence(one)))
    return tuple(kept)


def proved_at(
    repository: Repository, commit: str, seconds: float, python: str | None = None
) -> Callable[[Sequence[Finding]], tuple[Finding, ...]]:
    """`proved` for findings in a commit: its files are written into a folder of their own and run there.
    So are the fixes, and those with which something would be lost are dropped."""

    def prove(findings: Sequence[Finding]) -> tuple[Finding, ...]:
        import tempfile

        from reviewbot.source.export import export

        with tempfile.TemporaryDirectory(prefix="reviewbot-head-") as folder:
            export(repository, commit, Path(folder))
            # The nearest folder with this file is taken for the repository's own.
            if not (Path(folder) / "pyproject.toml").exists():
                (Path(folder) / "pyproject.toml").touch()
            until = time.monotonic() + seconds
            kept = proved(findings, Path(folder), seconds, python)
        return _with_fixes_tried(kept, repository, commit, until - time.monotonic(), python)

    return prove


def _with_fixes_tried(
    findings: tuple[Finding, ...],
    repository: Repository,
    commit: str,
    seconds: float,
    python: str | None = None,
) -> tuple[Finding, ...]:
    """The findings without those fixes with which something would be lost, each said on standard error."""
    from reviewbot.errors import NoSandbox
    from reviewbot.review.size.tried import without_losses

    if seconds <= 0:
        return findings
    try:
        kept = without_losses(findings, repository, commit, seconds=seconds, python=python, progress=say)
    except NoSandbox:
        return findings  # said before, of the findings themselves
    for before, after in zip(findings, kept, strict=True):
        if after.no_fix != before.no_fix:
            where = f"{after.span.path}:{after.span.line}: {after.rule}"
            tell(f"probe: {where}: its fix is not proposed: {after.no_fix}")
    return kept


def say(says: str) -> None:
    """Progress, on a terminal only."""
    if sys.stderr.isatty():
        put_error(f"\r\x1b[K{inert(says)}\r")
