"""`reviewbot init`."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot import config
from reviewbot.cli.streams import tell, wants_colour
from reviewbot.errors import UsageError

if TYPE_CHECKING:
    from reviewbot.render.workflows import Wishes

EXAMPLES = """\
examples:
  reviewbot init                                                     what would be written, as a diff
  reviewbot init --uses acme/reviewbot@COMMIT --apply                write it
  reviewbot init --uses acme/reviewbot@COMMIT --gpu registry.example/gpu@sha256:DIGEST --apply
  reviewbot init --apply                                             write anew, with the same values

Writes into .github/workflows of the repository around the working folder:
  reviewbot.yml           on each pull request: annotations and a summary, without any right to write
  reviewbot-post.yml      after it: posts the review, also of forks; runs nothing of the pull request
  reviewbot-commands.yml  on a comment that begins with /reviewbot
  reviewbot-parity.yml    with --gpu: a parity run of one approved commit, on a label or a command

What is not given is read from those of them that reviewbot wrote before. Files there that reviewbot did
not write stay as they are, unless --force is given; the others are written, and --apply ends with 2.
"""

UNNAMED = "OWNER/reviewbot@COMMIT"


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from reviewbot.render.workflows import Wishes

    default = Wishes(UNNAMED)
    command.epilog = EXAMPLES
    command.add_argument("--apply", action="store_true", help="write the files (default: show the diff)")
    command.add_argument(
        "--force",
        action="store_true",
        help="also over files that reviewbot did not write, or that were edited since",
    )
    command.add_argument(
        "--uses",
        metavar="OWNER/reviewbot@COMMIT",
        help="the reviewbot to run, by a commit that you trust (default: that of the workflows that are "
        "there, else where this one came from)",
    )
    command.add_argument(
        "--fail-on",
        choices=config.FAIL_ON,
        help="the least certainty that fails the check (default: that of the workflows that are there, "
        "else what pyproject.toml says, else proved)",
    )
    gpu = command.add_argument_group(
        "parity on a GPU", "Without one of these, what the workflow that is there says holds."
    )
    gpu.add_argument("--gpu", metavar="IMAGE@sha256:DIGEST", help="the container image in which it runs")
    gpu.add_argument(
        "--gpu-command",
        metavar="COMMAND",
        help="what it runs, with the commit in /src; has to leave /out/parity.json "
        f"(default: {default.command})",
    )
    gpu.add_argument(
        "--gpu-group",
        metavar="GROUP",
        help=f"the runner group (default: {default.group})",
    )
    gpu.add_argument(
        "--gpu-labels",
        metavar="LABEL,LABEL",
        help=f"the runners' labels (default: {','.join(default.labels)})",
    )
    gpu.add_argument(
        "--gpu-per-day",
        metavar="NUMBER",
        help=f"the most runs in 24 hours, of all pull requests together (default: {default.per_day})",
    )
    gpu.add_argument(
        "--gpu-per-pull",
        metavar="NUMBER",
        help=f"the most runs in 24 hours of one pull request (default: {default.per_pull})",
    )
    gpu.add_argument(
        "--label",
        help=f"the label of a pull request that starts a run (default: {default.label})",
    )
    command.add_argument("--no-color", action="store_true", help="no colours (NO_COLOR says the same)")


def main(options: argparse.Namespace) -> int:
    """Shows or writes the workflows. Returns 2 where --apply left a file of somebody else, or one that
    was edited.

    Raises `UsageError` for no reviewbot to pin, and for files that cannot be read or written.
    """
    from reviewbot.render.workflows import PATHS, WRITTEN, workflows
    from reviewbot.source.git import Repository

    root = Repository(Path.cwd()).root
    if root is None:
        raise UsageError("this repository has no work tree; run it in a checkout")
    there = {name: _read(root / name) for name in PATHS}
    wishes = _wishes(options, there)
    if options.apply and wishes.uses == UNNAMED:
        raise UsageError(
            "which reviewbot the workflows shall run is not known; name it by a commit that you trust: "
            "reviewbot init --apply --uses OWNER/reviewbot@SHA"
        )
    made = workflows(wishes)
    before = {name: there[name] for name in made}
    foreign = [name for name, text in before.items() if text and not text.startswith(WRITTEN)]
    edited = [name for name in made if before[name] not in ("", made[name]) and name not in foreign]
    edited = [name for name in edited if not _as_written(name, there)]
    if options.force:
        foreign, edited = [], []
    changed = {name: text for name, text in made.items() if text != before[name] and name not in foreign}
    if not options.apply:
        for name, text in changed.items():
            sys.stdout.writelines(_diff(name, before[name], text, wants_colour(options.no_color)))
    else:
        for name, text in changed.items():
            if name in edited:
                sys.stdout.writelines(_diff(name, before[name], text, wants_colour(options.no_color)))
            else:
                _write(root / name, text)
                print(f"written: {name}")
    for remark in (*_remarks(options, wishes, foreign, edited, bool(changed)), *_elsewhere(root)):
        tell(remark)
    return 2 if (foreign or edited) and options.apply else 0


def _as_written(name: str, there: Mapping[str, str]) -> bool:
    """Whether a workflow is, but for the values that it holds, what this reviewbot writes."""
    from reviewbot.render.workflows import Wishes, earlier, workflows

    values = {"uses": UNNAMED} | earlier(there) | earlier({name: there[name]})
    try:
        return workflows(Wishes(**values)).get(name) == there[name]
    except UsageError:
        return False


def _wishes(options: argparse.Namespace, there: Mapping[str, str]) -> Wishes:
    """What was given, else what the workflows say that reviewbot wrote before, else the defaults."""
    from reviewbot.render.workflows import Wishes, earlier

    given = {
        "uses": options.uses,
        "fail_on": options.fail_on,
        "image": options.gpu,
        "label": options.label,
        "group": options.gpu_group,
        "labels": None if options.gpu_labels is None else tuple(filter(None, options.gpu_labels.split(","))),
        "command": options.gpu_command,
        "per_day": options.gpu_per_day,
        "per_pull": options.gpu_per_pull,
    }
    values = earlier(there) | {name: value for name, value in given.items() if value is not None}
    if values.get("uses", UNNAMED) == UNNAMED:
        values["uses"] = _installed_from() or UNNAMED
    return Wishes(**values)


def _remarks(
    options: argparse.Namespace, wishes: Wishes, foreign: list[str], edited: list[str], changed: bool
) -> Iterator[str]:
    uses = wishes.uses
    if not changed:
        yield f"the {'other ' if foreign else ''}workflows are as they would be written"
    elif not options.apply:
        yield "nothing is written; --apply writes it"
    for name in foreign:
        if options.apply:
            yield f"{name} is not from reviewbot and left as it is; rename it, or overwrite it with --force"
        else:
            yield f"{name} is not from reviewbot; --apply leaves it unless --force is given"
    for name in edited:
        says = f"{name} was edited since, or written by another reviewbot"
        if options.apply:
            yield f"{says}, and is left as it is; the diff shows what --force would overwrite"
        else:
            yield f"{says}; --apply leaves it unless --force is given"
    if uses == UNNAMED:
        yield f"{UNNAMED} stands for the reviewbot that you trust: name it with --uses before you push"
    elif not re.search(r"@[0-9a-f]{40}(?:[0-9a-f]{24})?(?: #|$)", uses):
        yield f"{uses.partition('@')[2]} can be moved to other code; a full commit id cannot"
    if options.gpu:
        yield (
            f"limit the runner group {wishes.group} to reviewbot-parity.yml on the default branch, then "
            "set the repository variable REVIEWBOT_GPU_GROUP_LOCKED to true"
        )


def _elsewhere(root: Path) -> Iterator[str]:
    """Settings that a review of a pull request does not read, such as those of one package among several."""
    for pattern in ("*/pyproject.toml", "*/*/pyproject.toml"):
        for path in sorted(root.glob(pattern)):
            name = path.relative_to(root)
            if name.parts[0].startswith(".") or not re.search(r"(?m)^\[tool\.reviewbot\b", _read(path)):
                continue
            yield (
                f"{name}: these settings hold for commands that are run there; reviews of pull "
                "requests take those in the pyproject.toml at the root"
            )


def _installed_from() -> str:
    """The repository and commit that pip installed this reviewbot from, "" for any other way."""
    from reviewbot.source import permalink

    try:
        # https://packaging.python.org/en/latest/specifications/direct-url/
        origin = json.loads(metadata.distribution("reviewbot").read_text("direct_url.json") or "{}")
        remote = permalink.from_address(origin["url"])
        commit = origin["vcs_info"]["commit_id"]
    except (metadata.PackageNotFoundError, ValueError, KeyError, TypeError):
        return ""
    return f"{remote.owner}/{remote.name}@{commit}" if remote else ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({error})") from None


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from None


_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}


def _diff(name: str, before: str, after: str, colour: bool) -> Iterator[str]:
    old = f"a/{name}" if before else "/dev/null"
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), old, f"b/{name}"
    )
    for line in lines:
        paint = _COLOURS.get(line[0], "") if colour else ""
        yield f"{paint}{line.rstrip()}\x1b[0m\n" if paint else line
