"""Other repositories that a commit pins: its submodules, and dependencies that are taken from git.

A place in one of them links to that repository at the very commit that is pinned. What names them comes out
of the commit and may be hostile: a repository counts only on the GitHub that the commit itself is on or on
github.com, by a well-formed owner and name, and at a full commit id.
"""

from __future__ import annotations

import configparser
import posixpath
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from reviewbot.errors import GitError
from reviewbot.source.git import Repository
from reviewbot.source.permalink import GITHUB, Elsewhere, Remote, from_address

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MODULES = ".gitmodules"
_LOCKS = ("uv.lock", "poetry.lock")
_LARGEST = 16 * 1024 * 1024  # bytes of a lock file
_REQUIREMENTS = re.compile(r"(?:requirements/[^/]+|[^/]*requirements[^/]*|constraints[^/]*)\.(?:txt|in)")
# https://packaging.python.org/en/latest/specifications/version-specifiers/#direct-references
_DIRECT = re.compile(
    r"\s*(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*@\s*git\+(?P<address>[^\s#;]+)@(?P<commit>[0-9a-f]{40})"
    r"(?:#(?P<more>[^\s;]*))?\s*(?:;.*)?",
    re.ASCII,
)
_INSTALLED = re.compile(r"(?:^|/)(?:site|dist)-packages/(?P<name>[^/]+)(?:/|$)")
# Where pip and others put the whole repository of an editable requirement.
_CLONED = re.compile(r"(?:^|/)src/(?P<name>[^/]+)/(?P<path>.+)$")


@dataclass(frozen=True, slots=True)
class Dependency:
    """A package taken from git. `folder` is the one of the repository that it stands in, "" for its root."""

    remote: Remote
    commit: str
    folder: str = ""


def linked(home: Remote, repository: Repository) -> Remote:
    """The repository's own page, whose links to what its commits pin lead there."""
    return replace(home, pins=Pinned(repository, home))


class Pinned:
    """What the commits of `repository`, which is `home` on a GitHub, pin of other repositories."""

    def __init__(self, repository: Repository, home: Remote) -> None:
        self._repository, self._home = repository, home
        # A review links thousands of places at two commits.
        self._submodules = lru_cache(maxsize=8)(self._read_submodules)
        self._dependencies = lru_cache(maxsize=8)(self._read_dependencies)

    def at(self, commit: str, path: str) -> Elsewhere | None:
        """Where a path of a commit leads, if that is another repository; None where it is this one, or where
        it is not known which."""
        if not _SHA.fullmatch(commit):
            return None
        for folder, remote in self._submodules(commit):
            inside = posixpath.relpath(path, folder) if path.startswith(f"{folder}/") else ""
            if inside:
                there = self._repository.submodule(commit, folder)
                return Elsewhere(remote, there, inside) if there and remote else Elsewhere(None, "", path)
        return self._installed(commit, path)

    def _installed(self, commit: str, path: str) -> Elsewhere | None:
        """A package's place by the folder that it is installed into. What a wheel does not tell is where in
        the repository its files stood; a clone does."""
        installed, cloned = _INSTALLED.search(path), _CLONED.search(path)
        match = installed or cloned
        if match is None or self._repository.read(commit, path) is not None:
            return None
        found = self._dependencies(commit).get(_normal(match["name"]))
        if found is None:
            # Whatever is installed is no file of this repository.
            return Elsewhere(None, "", path) if installed else None
        return Elsewhere(found.remote, found.commit, match["path"] if match is cloned else "", found.folder)

    def _read_submodules(self, commit: str) -> tuple[tuple[str, Remote | None], ...]:
        """Each submodule's folder and its repository, None where that is not one to link to; inner ones
        first."""
        content = self._text(commit, _MODULES)
        if content is None:
            return ()
        parser = configparser.RawConfigParser(strict=False, allow_no_value=True, delimiters=("=",))
        try:
            parser.read_string(content)
        except configparser.Error:
            return ()
        found = {}
        for section in parser.sections():
            if section.startswith("submodule"):
                path, url = (_unquoted(parser.get(section, name, fallback="")) for name in ("path", "url"))
                folder = posixpath.normpath(path) if path else ""
                if folder and not folder.startswith(("/", "..")) and folder != ".":
                    found[folder] = self._remote(url)
        return tuple(sorted(found.items(), key=lambda item: -len(item[0])))

    def _remote(self, url: str) -> Remote | None:
        if url.startswith(("./", "../")):
            # https://git-scm.com/docs/git-submodule: relative to the repository's own address.
            path = posixpath.normpath(f"{self._home.owner}/{self._home.name}/{url}")
            url = f"https://{self._home.host}/{path}"
        found = from_address(url)
        return found if found is not None and found.host in (GITHUB, self._home.host) else None

    def _read_dependencies(self, commit: str) -> dict[str, Dependency]:
        found: dict[str, Dependency] = {}
        for name in self._repository.names(commit):
            if _REQUIREMENTS.fullmatch(name) and (text := self._text(commit, name)) is not None:
                found |= self._direct(text.splitlines())
        project = self._toml(commit, "pyproject.toml")
        found |= self._direct(_strings(project))
        for lock in _LOCKS:
            # A lock says what is really installed.
            found |= dict(self._locked(self._toml(commit, lock)))
        return found

    def _direct(self, lines: Any) -> dict[str, Dependency]:
        found = {}
        for line in lines:
            match = _DIRECT.fullmatch(line.partition(" #")[0]) if "git+" in line else None
            remote = self._remote(match["address"]) if match else None
            if match and remote:
                folder = re.search(r"(?:^|&)subdirectory=([^&]+)", match["more"] or "")
                found[_normal(match["name"])] = Dependency(
                    remote, match["commit"], _folder(folder[1] if folder else "")
                )
        return found

    def _locked(self, lock: dict[str, Any]) -> Iterator[tuple[str, Dependency]]:
        packages = lock.get("package")
        for one in packages if isinstance(packages, list) else ():
            source = one.get("source") if isinstance(one, dict) else None
            if not isinstance(source, dict):
                continue
            if isinstance(source.get("git"), str):  # uv: ADDRESS?rev=...&subdirectory=...#COMMIT
                address, _, commit = source["git"].partition("#")
                address, _, query = address.partition("?")
                inside = re.search(r"(?:^|&)subdirectory=([^&]+)", query)
                folder = inside[1] if inside else ""
            elif source.get("type") == "git":  # poetry
                address, commit = str(source.get("url", "")), str(source.get("resolved_reference", ""))
                folder = str(source.get("subdirectory", ""))
            else:
                continue
            remote = self._remote(address)
            if remote and _SHA.fullmatch(commit):
                yield _normal(str(one.get("name", ""))), Dependency(remote, commit, _folder(folder))

    def _toml(self, commit: str, path: str) -> dict[str, Any]:
        try:
            return tomllib.loads(self._text(commit, path) or "")
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}

    def _text(self, commit: str, path: str) -> str | None:
        try:
            content = self._repository.read(commit, path)
        except GitError:
            return None
        return content.decode("utf-8", "replace") if content and len(content) <= _LARGEST else None


def _unquoted(value: str | None) -> str:
    text = (value or "").strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _normal(name: str) -> str:
    """One name for a package and for what is imported of it."""
    return re.sub(r"[-_.]+", "_", name.partition(".dist-info")[0].removesuffix(".py")).lower()


def _folder(text: str) -> str:
    folder = posixpath.normpath(text) if text else ""
    return "" if folder.startswith(("/", "..")) or folder == "." else folder


def _strings(value: object) -> Iterator[str]:
    """The strings in a TOML document, where a requirement can stand."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            stack += one
        elif isinstance(one, dict):
            stack += one.values()
