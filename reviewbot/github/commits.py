"""Commits fetched as data: objects alone, without a work tree, and nothing in them is run."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from reviewbot.errors import GitError, UsageError
from reviewbot.github.waiting import waiting
from reviewbot.source.git import Repository

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
TIMEOUT = 900  # seconds


def fetch(
    folder: Path, server: str, slug: str, commits: Sequence[str], token: str, *, depth: int = 0
) -> Path:
    """Fetches commits, given by their full ids, into a new bare repository `folder`, and returns it.

    `server` is the address of the GitHub (`https://github.com`), `slug` the repository there
    (`OWNER/REPO`), which also has the commits of its forks' pull requests. `depth` cuts the history off; 0
    takes all of it. Raises `GitError`.
    """
    for commit in commits:
        if not _SHA.fullmatch(commit):
            raise UsageError(f"{commit!r} is no full commit id")
    scheme = server.partition("://")[0]
    hard = {
        # A commit can name submodules and filters; none of them is fetched or run.
        "core.hooksPath": os.devnull,
        "protocol.allow": "never",
        f"protocol.{scheme}.allow": "always",
        "fetch.recurseSubmodules": "false",
        "transfer.fsckObjects": "false",  # old histories have flaws that hurt nobody who only reads
        "gc.auto": "0",
    }
    if token:
        basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        hard[f"http.{server}/.extraHeader"] = f"Authorization: basic {basic}"
    _git(["init", "--quiet", "--bare", str(folder)], {})
    words = ["-C", str(folder), "fetch", "--quiet", "--no-tags", "--no-recurse-submodules"]
    if depth:
        words.append(f"--depth={depth}")
    with waiting(f"the commits from {server.partition('://')[2] or server}"):
        _git([*words, "--", f"{server}/{slug}.git", *commits], hard)
    for commit in commits:
        Repository(folder).bounded(commit)
    return folder


def _git(words: Sequence[str], settings: Mapping[str, str]) -> None:
    # Settings travel in the environment: other processes can read what stands in arguments.
    env = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        env |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    try:
        done = subprocess.run(
            ["git", *words], env=env, capture_output=True, text=True, errors="replace", timeout=TIMEOUT
        )
    except FileNotFoundError:
        raise GitError("git is not installed on this runner") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git {words[0]} took longer than {TIMEOUT} seconds") from None
    if done.returncode:
        says = " ".join(done.stderr.split())[:300]
        raise GitError(f"git cannot fetch the commits: {says or 'it says nothing'}")
