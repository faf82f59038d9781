"""`reviewbot action`: one file for each mode."""

from __future__ import annotations

import argparse
import importlib

from reviewbot import config
from reviewbot.errors import ReviewbotError

# What a step of a workflow can be. Each is a module of this package with a function `run`.
MODES = {
    "lint": "annotations and a summary; posts nothing, needs no token",
    "post": "post the review of the pull request whose workflow run came to its end",
    "command": "do what a comment or a label orders, or authorize the job that does",
    "fetch": "write the files of one commit into a folder, as data, for probe and parity",
    "probe": "run one check on changed inputs, in a sandbox",
    "parity": "run parity in a container without network",
    "report": "tell what a job reported that ran code of the pull request",
    "revoke": "take the label off and conclude what a push or a close made pointless",
}

EXAMPLES = """\
example, as a step of a workflow that runs on pull_request:
  reviewbot action --fail-on likely

modes:
{modes}

What happened is read from GITHUB_EVENT_PATH. In mode lint base and head are those of the event, unless both
are given; it prints annotations, appends the review to GITHUB_STEP_SUMMARY, and writes `findings`, `failing`
and `review` (the path of the review as JSON, in RUNNER_TEMP) to GITHUB_OUTPUT. `reviewbot init` writes
workflows that use the modes; docs/github.md explains them.
""".format(modes="\n".join(f"  {name:8} {says}" for name, says in MODES.items()))

_GIVEN = {
    "pr": ("NUMBER", "report: the pull request"),
    "sha": ("COMMIT", "fetch, report: the commit, by its full id"),
    "id": ("ID", "report: the finding that was probed"),
    "target": ("TARGET", "probe: the check, such as tests/parity.py::compare"),
    "check": ("NUMBER", "report: the check run to be concluded"),
    "kind": ("KIND", "report: what the job ran, probe or parity"),
    "job-result": ("RESULT", "report: how the job ended, as GitHub says it"),
    "result": ("FOLDER", "report: where the job's result lies"),
    "label": ("LABEL", "command, revoke: the label that starts a parity run"),
    "verbs": ("VERB,VERB", "command: what this workflow does (default: everything)"),
    "image": ("IMAGE@sha256:DIGEST", "parity: the container image"),
    "run": ("COMMAND", "parity: what the container runs"),
    "gpu-runs-per-day": ("NUMBER", "command: the most parity runs of all pull requests in 24 hours"),
    "gpu-runs-per-pull": ("NUMBER", "command: the most parity runs of one pull request in 24 hours"),
    "gpu-group-locked": ("true", "command: that the runner group admits the parity workflow alone"),
}


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.epilog = EXAMPLES
    command.add_argument("--mode", choices=MODES, default="lint", help="what to do (default: lint)")
    command.add_argument(
        "--base", default="", metavar="REF", help="lint: what the change is to be merged into"
    )
    command.add_argument("--head", default="", metavar="REF", help="lint: the change")
    command.add_argument(
        "--fail-on",
        choices=("", *config.FAIL_ON),
        default="",
        metavar="CERTAINTY",
        help=f"the least certainty that fails the check: {', '.join(config.FAIL_ON)}",
    )
    for name, (metavar, says) in _GIVEN.items():
        command.add_argument(f"--{name}", default="", metavar=metavar, help=says)


def main(options: argparse.Namespace) -> int:
    """Does the mode's work. Returns 1 for a finding at or above --fail-on, or a job without a result."""
    from reviewbot.render import annotations

    mode = importlib.import_module(f"reviewbot.cli.action.{options.mode}")
    try:
        code: int = mode.run(options)
    except ReviewbotError as error:
        # What an error names may come from the change: only an escaped line is safe in a runner's log.
        print(annotations.command("error", str(error), title="reviewbot"))
        return 2
    return code
