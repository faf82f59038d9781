"""What a runner gives to a step and takes from it."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reviewbot.errors import UsageError


def event() -> Path:
    """The file of the event that started the workflow."""
    path = os.environ.get("GITHUB_EVENT_PATH", "")
    if not path:
        raise UsageError("no event: set GITHUB_EVENT_PATH, or give --base and --head")
    return Path(path)


def event_name() -> str:
    """Its name, such as `issue_comment`."""
    return os.environ.get("GITHUB_EVENT_NAME", "")


def temporary() -> Path:
    """The folder that is emptied after the job."""
    return Path(os.environ.get("RUNNER_TEMP", "."))


def slug() -> str:
    """The repository, `OWNER/REPO`."""
    name = os.environ.get("GITHUB_REPOSITORY", "")
    if not name:
        raise UsageError("no repository: set GITHUB_REPOSITORY to OWNER/REPO")
    return name


def server() -> str:
    """The address of the GitHub that the repository is on."""
    return os.environ.get("GITHUB_SERVER_URL", "").rstrip("/") or "https://github.com"


def run_address() -> str:
    """Where this run's log can be read, "" outside of a workflow."""
    number = os.environ.get("GITHUB_RUN_ID", "")
    return f"{server()}/{slug()}/actions/runs/{number}" if number.isdigit() else ""


def summary(text: str) -> None:
    """Appends Markdown to the step's summary."""
    _append("GITHUB_STEP_SUMMARY", text)


def outputs(values: dict[str, str]) -> None:
    """Gives values to later steps and jobs, whatever stands in them."""
    text = ""
    for name, value in values.items():
        # Nobody can end the value who does not know how it ends.
        end = secrets.token_hex(16)
        text += f"{name}<<{end}\n{value}\n{end}\n" if "\n" in value or "\r" in value else f"{name}={value}\n"
    _append("GITHUB_OUTPUT", text)


@contextmanager
def pages(within: str = "") -> Iterator[Path]:
    """The folder for the pages of a review, empty; once they are written, later steps are told of it.

    `within` names a folder in it, where pages of several reviews are to be told of together.
    """
    folder = temporary() / "reviewbot-pages"
    shutil.rmtree(folder / within, ignore_errors=True)
    yield folder / within
    if address := run_address():
        summary(
            f"\nAs pages: in the [artifacts of this run]({address}#artifacts), where they are uploaded.\n"
        )
    outputs({"pages": str(folder)})


@contextmanager
def foreign_output() -> Iterator[None]:
    """While code of others writes into the log, the runner takes no line of it for a command."""
    word = secrets.token_hex(16)
    print(f"::stop-commands::{word}", flush=True)
    try:
        yield
    finally:
        print(f"\n::{word}::", flush=True)


def _append(variable: str, text: str) -> None:
    path = os.environ.get(variable)
    if path is None:
        return
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)
