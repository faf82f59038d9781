"""Links to lines of a file at a commit, in the form that GitHub gives them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import quote, urlsplit

from reviewbot.errors import UsageError

GITHUB = "github.com"
_NAME = r"(?!\.{1,2}(?:/|$))[A-Za-z0-9_.-]+"
_HOST = r"[A-Za-z0-9.-]+(?::\d+)?"
_SLUG = re.compile(rf"(?:(?P<host>{_HOST})/)?(?P<owner>{_NAME})/(?P<name>{_NAME})")
_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>\[[^]]+\]|[^:/\s\[]+):(?!//)(?P<path>[^\s]+)")


class Pins(Protocol):
    """What commits pin of other repositories (`source.pinned.Pinned`)."""

    def at(self, commit: str, path: str) -> Elsewhere | None:
        """Where a path leads that is not in the repository itself."""


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository on GitHub or a GitHub Enterprise host (`host` carries the port, if it has one).

    `pins` knows which of its paths stand in other repositories.
    """

    host: str
    owner: str
    name: str
    pins: Pins | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.host}/{self.owner}/{self.name}"

    def permalink(self, commit: str, path: str, line: int | None = None, end_line: int | None = None) -> str:
        """The address of lines `line` to `end_line` of `path` at a commit, given by its full id.

        A path in a submodule or a dependency that is pinned leads into that repository, at its own commit; ""
        where it is not known into which.
        """
        there = self.pins.at(commit, path) if self.pins else None
        return there.permalink(line, end_line) if there else self._blob(commit, path, line, end_line)

    def _blob(self, commit: str, path: str, line: int | None, end_line: int | None) -> str:
        # Also "(" and ")" become escapes, so that the address can stand in a Markdown link.
        return f"https://{self}/blob/{commit}/{quoted(path)}{_fragment(line, end_line)}"


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A place in another repository, at a commit given by its full id.

    `remote` is None where it is none to link to. `path` is "" where it is known which repository holds the
    place, in which `folder` of it, and not in which file.
    """

    remote: Remote | None
    commit: str
    path: str
    folder: str = ""

    def permalink(self, line: int | None, end_line: int | None) -> str:
        """Its address, "" for none."""
        if self.remote is None:
            return ""
        if self.path:
            return self.remote.permalink(self.commit, self.path, line, end_line)
        inside = quoted(f"/{self.folder}") if self.folder else ""
        return f"https://{self.remote}/tree/{self.commit}{inside}"


def quoted(path: str) -> str:
    """A path as a part of an address: bytes of a name that are no UTF-8 stay what they are."""
    try:
        name = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, which no name of git's holds
        name = path.encode("utf-8", "replace")
    return quote(name, safe="/")


def _fragment(line: int | None, end_line: int | None) -> str:
    if line is None:
        return ""
    return f"#L{line}" if end_line is None or end_line <= line else f"#L{line}-L{end_line}"


def from_address(address: str) -> Remote | None:
    """The repository that a remote's address names; None for a folder of this machine and the like.

    Knows `https://HOST[:PORT]/OWNER/REPO[.git]`, `ssh://[USER@]HOST[:PORT]/OWNER/REPO[.git]`,
    `git://...`, and `[USER@]HOST:OWNER/REPO[.git]`. A user name or a password in it is left out.
    """
    if "://" in address:
        try:
            parts = urlsplit(address)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            return None
        # The port of ssh says nothing of where the pages are.
        if port and parts.scheme in ("http", "https"):
            host = f"{host}:{port}"
        return _remote(host, parts.path) if parts.scheme != "file" else None
    match = _SCP.fullmatch(address)
    # Without a dot it is a drive's letter, or a name that only this machine's ssh knows.
    return _remote(match["host"], match["path"]) if match and "." in match["host"] else None


def _remote(host: str, path: str) -> Remote | None:
    names = path.strip("/").removesuffix(".git").split("/")
    named = len(names) == 2 and all(re.fullmatch(_NAME, name) for name in names)
    if not named or not re.fullmatch(_HOST, host):
        return None
    # GitHub also listens for ssh on the port of https, under another name.
    host = host.lower()
    owner, name = names
    return Remote(GITHUB if host == f"ssh.{GITHUB}" else host, owner, name)


def from_slug(slug: str, host: str) -> Remote:
    """`OWNER/REPO` on `host`, or `HOST/OWNER/REPO`, as a user types it. Raises `UsageError`."""
    match = _SLUG.fullmatch(slug)
    if match is None:
        raise UsageError(f"{slug!r} names no repository; write OWNER/REPO or HOST/OWNER/REPO")
    return Remote((match["host"] or host).lower(), match["owner"], match["name"])


def from_remotes(remotes: Mapping[str, str]) -> Remote | None:
    """The repository of the remote `origin`, or of the first other one that names any."""
    for name in sorted(remotes, key=lambda name: (name != "origin", name)):
        found = from_address(remotes[name])
        if found is not None:
            return found
    return None
