"""`reviewbot new-rule`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

EXAMPLES = """\
example, in a checkout of reviewbot:
  reviewbot new-rule sleep-in-test
  python -m pip install pytest
  python -m pytest tests/test_rules.py -k sleep-in-test

The name is the rule's id: two to five words that name the weakness, with dashes between them. The skeleton is
complete: its examples pass. Write the examples first, then what tells them apart.
"""

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.epilog = EXAMPLES
    command.add_argument("name", metavar="NAME", help="the rule's id, such as sleep-in-test")
    command.add_argument(
        "--folder", default="rules", metavar="FOLDER", help="where rules stand (default: rules)"
    )


def main(options: argparse.Namespace) -> int:
    """Writes a rule's file. Raises `UsageError` for a name that cannot be one or is taken."""
    from reviewbot.errors import UsageError
    from reviewbot.lint import registry
    from reviewbot.render import skeleton

    name, folder = options.name, Path(options.folder)
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be a rule's id; write words with dashes, such as sleep-in-test")
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; run this in a checkout of reviewbot, or give --folder")
    path = folder / f"{name.replace('-', '_')}.py"
    if path.exists() or name in registry.rule_ids():
        raise UsageError(f"there is a rule {name} already; `reviewbot rule {name}` explains it")
    try:
        path.write_text(skeleton.rule(name), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from None
    print(f"{path} is written. Its examples are its tests:")
    print(f"  python -m pytest tests/test_rules.py -k {name}")
    print("That needs `python -m pip install pytest`; `make test` brings its own, and runs every test.")
    return 0
