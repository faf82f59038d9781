"""`reviewbot report`."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot.cli import proving
from reviewbot.cli.streams import inert, tell
from reviewbot.errors import GitError, SourceError, UnreadableFile, UsageError
from reviewbot.render.progress import busy, watched

if TYPE_CHECKING:
    from reviewbot.model import Review, Round
    from reviewbot.parity.result import Result
    from reviewbot.render.pages import Extra
    from reviewbot.render.probe_document import Evidence
    from reviewbot.render.sources import Read, Sources
    from reviewbot.review.size.result import Cut, Size

MANIFEST = "pages.json"
EXAMPLES = """\
examples:
  reviewbot report --base main --out pages                    reviews HEAD and writes its pages
  reviewbot report --base main --out pages --probe            and runs the code of what it finds
  reviewbot report --base main --round 2f1c --out pages       and of an earlier head: what changed since
  reviewbot review --base main --output-format json > r.json
  reviewbot report r.json --out pages                         the pages of a review that was made before
  reviewbot probe tests/parity.py::check --save e.json
  reviewbot report r.json --probe e.json --out pages          with a page for what the probe showed
  reviewbot report --probe e.json --out pages                 that page alone
  reviewbot report --size s.json --out pages                  where the lines of a change go

The pages load nothing and need no server: open DIR/index.html. Code is read from the repository in the
working folder, from git's objects; without it, or without the commits, the pages go without code.
"""


def add(command: argparse.ArgumentParser) -> None:
    """Declares the options."""
    command.epilog = EXAMPLES
    option = command.add_argument
    option("review", nargs="?", metavar="REVIEW.json", help="what `review --output-format json` wrote")
    option("--out", required=True, metavar="DIR", help="the folder of the pages; made if it is not there")
    option("--base", metavar="REF", help="review now, against this commit or branch")
    option("--head", metavar="REF", help="what is reviewed then (default: HEAD)")
    option(
        "--round",
        metavar="SHA",
        action="append",
        default=[],
        help="an earlier head of the change: a round of its own; repeat it, oldest first",
    )
    option(
        "--probe",
        action="append",
        nargs="?",
        default=[],
        metavar="EVIDENCE.json",
        help="what `probe --save` wrote; may be given again; without a file the findings' code is run, as "
        "`review --probe` does",
    )
    option(
        "--parity",
        action="append",
        default=[],
        metavar="RESULT.json",
        help="what `parity --output-format json` wrote; may be given again",
    )
    option("--size", metavar="SIZE.json", help="what `size --output-format json` wrote")
    option(
        "--repository",
        metavar="OWNER/REPO",
        help="where links lead, also HOST/OWNER/REPO (default: what the review or the remote says)",
    )
    option(
        "--probe-budget",
        type=proving.seconds,
        default=proving.BUDGET,
        metavar="SECONDS",
        help=f"for all of --probe without a file (default: {proving.BUDGET:g}s)",
    )
    proving.add_python(command)
    option("-q", "--quiet", action="store_true", help="no progress")


def main(options: argparse.Namespace) -> int:
    """Writes the pages and prints where they begin."""
    from reviewbot.render import probe_document

    out = Path(options.out)
    _earlier(out)
    # What is given is read first: a review may take minutes, and a broken file would throw it away.
    evidence = [(Path(name).name, probe_document.decode(_bytes(name), name)) for name in _files(options)]
    extras: list[Extra] = []
    for number, name in enumerate(options.parity, 1):
        from reviewbot.render import parity_page

        extras.append(parity_page.extra(_parity(name), Path(name).name, f"parity-{number}.html"))
    size = _size(options.size) if options.size is not None else None
    review = _review(options)
    cuts: tuple[Cut, ...] = ()
    if size is not None:
        from reviewbot.render import size_page

        cuts = size.cuts
        sources = _sources(review, options.repository or size.repository)
        extras.append(size_page.extra(size, review, sources, "size.html"))
    write(out, review, evidence, extras, cuts, slug=options.repository, quiet=options.quiet)
    if review is not None and review.repository is None and not options.repository and not options.quiet:
        tell(
            "no remote names a repository on GitHub, so pages carry no links; "
            "name it with --repository OWNER/REPO"
        )
    print(inert(str(out / "index.html")))
    return 0


def write(
    out: Path,
    review: Review | None,
    evidence: Sequence[tuple[str, Evidence]] = (),
    extras: Sequence[Extra] = (),
    cuts: Sequence[Cut] = (),
    *,
    slug: str | None = None,
    repository: Path | None = None,
    quiet: bool = False,
) -> None:
    """Writes the pages into a folder of their own, in place of earlier ones. Code comes from `repository`, by
    default the one in the working folder; `slug` says where links lead, if not where the review or the
    remote says."""
    from reviewbot.lint import registry
    from reviewbot.render import site

    old = _earlier(out)
    known = frozenset(registry.rule_ids())

    @lru_cache
    def why(rule: str) -> str:
        return registry.section(rule, "Why") if rule in known else ""

    show = partial(watched, what="pages", quiet=quiet)
    sources = _sources(review, slug, repository)
    written: set[str] = set()
    try:
        _write(out, site.site(review, evidence, extras, sources, why, cuts, show), old, written)
    except BaseException:
        # What an end before the end leaves is ours all the same, and may be written anew.
        _keep(out, old | written)
        raise
    for name in old - written:
        (out / name).unlink(missing_ok=True)
    _keep(out, written)


def _review(options: argparse.Namespace) -> Review | None:
    """The review of the file, or one made now, or none where other results are all that is asked for."""
    from reviewbot.render import review_json

    if options.review is not None:
        if options.base or options.head or options.round:
            raise UsageError("give a review, or --base, --head and --round, not both")
        if None in options.probe:
            raise UsageError(
                "--probe without a file runs what a review finds now: give --base, or name the evidence"
            )
        made = review_json.decode(_bytes(options.review), options.review)
        if not made.rounds:
            raise UsageError(f"{options.review}: holds no round, so there is nothing to show")
        return made
    if (_files(options) or options.parity or options.size) and not (
        options.base or options.head or options.round
    ):
        return None
    from reviewbot.cli.review import reviewed

    show = partial(watched, what="files", quiet=options.quiet)
    seconds = options.probe_budget if None in options.probe else None
    head = options.head or "HEAD"
    python = proving.python_of(options)
    with busy("reviewing", quiet=options.quiet):
        return reviewed(
            Path.cwd(), options.base, head, options.repository, seconds, show, options.round, python
        )[0]


def _files(options: argparse.Namespace) -> list[str]:
    """The evidence that is given, as against findings to be run now."""
    return [name for name in options.probe if name is not None]


def _bytes(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UnreadableFile(name, f"cannot be read ({error.strerror})") from None


def _parity(name: str) -> Result:
    import msgspec

    from reviewbot.parity.result import Result

    try:
        return msgspec.json.decode(_bytes(name), type=Result)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(f"{name}: not a result of `reviewbot parity` as JSON ({error})") from None


def _size(name: str) -> Size:
    from reviewbot.render import size_json

    size = size_json.decode(_bytes(name), name)
    if not size.rounds:
        raise UsageError(f"{name}: holds no round, so there is nothing to show")
    return size


def _sources(review: Review | None, slug: str | None, folder: Path | None = None) -> Sources:
    """The repository of a folder, by default the working one, as far as it has the commits."""
    from reviewbot.render.sources import Sources, nowhere
    from reviewbot.review import local
    from reviewbot.review.scope import lines_of
    from reviewbot.source import permalink, pinned
    from reviewbot.source.git import Repository

    server = os.environ.get("GITHUB_SERVER_URL", "").partition("://")[2].strip("/") or permalink.GITHUB
    slug = slug or (review.repository if review else None)
    remote = permalink.from_slug(slug, server) if slug else None
    try:
        repository = Repository(folder or Path.cwd())
        if review is not None:
            repository.commit(review.rounds[-1].head)
            limit = local.settings(repository, review.rounds[-1].base).max_file_bytes
            repository = repository.up_to(limit)
    except GitError:
        return nowhere(remote)

    @lru_cache
    def at(commit: str) -> Read:
        def read(path: str) -> bytes | None:
            try:
                return repository.read(commit, path)
            except GitError:
                return None

        return lines_of(read)

    @lru_cache
    def renamed(merge_base: str, head: str) -> dict[str, str | None]:
        changes = repository.diff(merge_base, head).changes
        return {change.path: change.old_path for change in changes}

    def old_path(one: Round, path: str) -> str | None:
        try:
            return renamed(one.merge_base, one.head).get(path, path)
        except GitError:
            return path

    remote = remote or permalink.from_remotes(repository.remotes())
    return Sources(at, old_path, pinned.linked(remote, repository) if remote else None)


def _earlier(out: Path) -> set[str]:
    """The pages that an earlier run left in a folder; a folder that holds anything else is not written to."""
    if not out.exists():
        return set()
    if not out.is_dir():
        raise UsageError(f"--out {out}: is a file; name a folder")
    try:
        kept = json.loads((out / MANIFEST).read_text(encoding="utf-8"))
        if kept["of"] != "reviewbot":
            raise ValueError
        return {name for name in kept["pages"] if Path(name).name == name}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        if any(out.iterdir()):
            raise UsageError(
                f"--out {out}: holds files that are no pages of reviewbot; name another folder"
            ) from None
        return set()


def _write(out: Path, files: Iterable[tuple[str, str]], old: set[str], written: set[str]) -> None:
    """Writes files, in place of the `old` ones alone, and puts their names into `written`."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files:
            if name not in old and name not in written and os.path.lexists(out / name):
                raise UsageError(f"--out {out}: its {name} is no page of reviewbot; name another folder")
            written.add(name)
            (out / name).write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
    except OSError as error:
        raise UsageError(f"--out {out}: cannot be written ({error.strerror})") from None


def _keep(out: Path, names: set[str]) -> None:
    """Writes down which files of a folder are pages of ours."""
    if names:
        text = json.dumps({"of": "reviewbot", "pages": sorted(names)}, indent=1)
        with suppress(OSError):
            (out / MANIFEST).write_text(f"{text}\n", encoding="utf-8")
