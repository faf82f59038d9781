"""`reviewbot lint`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from reviewbot import config
from reviewbot.errors import UsageError
from reviewbot.lint import registry
from reviewbot.lint.engine import lint
from reviewbot.lint.repo import Repo
from reviewbot.render import findings_json, terminal
from reviewbot.source.files import OnDisk


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.add_argument(
        "paths", nargs="*", default=["."], metavar="PATH", help="files and folders (default: .)"
    )
    command.add_argument("--output-format", choices=("text", "json"), default="text")
    command.add_argument(
        "--fail-on", choices=config.FAIL_ON, help="the least certainty that ends the run with 1"
    )


def main(options: argparse.Namespace) -> int:
    """Lints and prints. Returns 1 for a finding at or above --fail-on."""
    known = frozenset(registry.rule_ids())
    settings, _root = config.load(Path.cwd(), known)
    rules = [registry.load(name) for name in sorted(set(settings.select or known) - set(settings.ignore))]
    report = lint(
        _sources(options.paths), rules, Repo(settings, OnDisk(options.paths[0] if options.paths else "."))
    )
    if options.output_format == "json":
        sys.stdout.write(findings_json.encode(report.findings))
    else:
        sys.stdout.write(terminal.text(report))
    for unread in report.unread:
        print(f"reviewbot: {unread.path}: {unread.why}", file=sys.stderr)
    failing = config.failing(options.fail_on or settings.fail_on)
    return int(any(finding.certainty in failing for finding in report.findings))


def _sources(paths: list[str]) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for given in map(Path, paths):
        if not given.exists():
            raise UsageError(f"{given}: no such file or folder")
        files = sorted(given.rglob("*.py")) if given.is_dir() else [given]
        found.extend((file.as_posix(), file.read_bytes()) for file in files)
    return found
