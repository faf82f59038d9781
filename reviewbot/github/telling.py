"""A pull request's head looked at, made a round, and told on GitHub."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from reviewbot import config
from reviewbot.errors import ConfigError, GitError
from reviewbot.github import anchors, posting
from reviewbot.github.client import Conclusion, GitHub, Pull
from reviewbot.github.commits import fetch
from reviewbot.github.conversation import read
from reviewbot.github.posting import Posted
from reviewbot.index.gather import Watch
from reviewbot.lint import registry
from reviewbot.model import Finding, Review
from reviewbot.render import comments
from reviewbot.review import history, local, rounds
from reviewbot.review import ledger as ledgers
from reviewbot.review.ledger import Ledger
from reviewbot.source.git import Repository
from reviewbot.source.permalink import Remote
from reviewbot.source.pinned import linked

TRIES = 3  # rounds made anew where another run wrote in between


@dataclass(frozen=True)
class Task:
    """What to tell of. `fetch` gets a commit, by its full id, into `repository`, and may fail. `amend` is
    what a person ordered: it changes the ledger before the round is made of it.

    `prove` and `watch` are as in `review.local.look`, `database` too. `log` is the address of the run that
    leaves the pages, "" where none does.
    """

    github: GitHub
    pull: Pull
    repository: Repository
    remote: Remote
    fetch: Callable[[str], object]
    fail_on: str = ""
    pending: bool = False
    resolve: bool = False
    prove: Callable[[Sequence[Finding]], Sequence[Finding]] = tuple
    watch: Watch = lambda items, total: items
    database: Path | None = None
    amend: Callable[[Ledger], Ledger] = lambda ledger: ledger
    log: str = ""


@dataclass(frozen=True)
class Told:
    """What was told of, how many findings fail, and from what certainty on; `posted` is None for a draft."""

    review: Review
    failing: int
    fail_on: str
    url: str
    posted: Posted | None


def tell(task: Task) -> Told:
    """Posts the round of `task.pull`'s head, or leaves it as a draft. Raises `GitHubError`.

    Configuration and rules are those of the base; nothing of the head is run, unless `task.prove` does.
    """
    github, pull = task.github, task.pull
    settings = local.settings(task.repository, pull.base)
    # What reads a file again, for rounds and proposals, knows the same limit as the look.
    repository = task.repository.up_to(settings.max_file_bytes)
    remote = linked(task.remote, repository)
    names = sorted(set(settings.select or registry.rule_ids()) - set(settings.ignore))
    rules = [registry.load(name) for name in names]
    seen = local.look(
        repository, pull.base, pull.head, settings, rules, task.prove, task.watch, task.database
    )
    files = github.files(pull.number)
    look = replace(seen, shown=anchors.shown(files))
    fail_on = task.fail_on or settings.fail_on
    failing = config.failing(fail_on)
    room = comments.LIMIT - ledgers.ROOM - posting.FRAME
    missing = pull.changed_files - len(files)
    unshown = f"GitHub names {len(files)} of {pull.changed_files} changed files: the others take no comment."
    notes = [unshown] if missing > 0 else []

    def render(review: Review, refused: Sequence[str]) -> Review:
        return comments.rendered(review, remote, [*notes, *refused], room, task.log)

    for left in reversed(range(TRIES)):
        was = read(github, pull.number, pull.base, pull.head, drafts=task.pending)
        was = replace(was, ledger=task.amend(was.ledger))
        for round_ in (*was.ledger.rounds[:1], *was.ledger.rounds[-1:]):
            _bring(task, round_.head)
        made = rounds.next_round(look, was.ledger, repository, remote)
        bad = sum(thread.finding.certainty in failing for thread in made.review.threads)
        if task.pending:
            draft = render(made.review, ())
            posting.draft(github, was, draft, made.ledger, remote)
            return Told(draft, bad, fail_on, f"https://{task.remote}/pull/{pull.number}", None)
        conclusion: Conclusion = "failure" if bad else "neutral" if made.review.threads else "success"
        try:
            posted = posting.post(
                github, was, made.review, made.ledger, remote, render, conclusion, resolve=task.resolve
            )
        except posting.Raced:
            if not left:
                raise
        else:
            return Told(posted.review, bad, fail_on, posted.url, posted)
    raise AssertionError


def with_earlier(task: Task, told: Told) -> Review:
    """What was told, with the rounds before it: the commits that the bot's own ledger names, read again as
    data."""
    if told.posted is None:
        return told.review

    def look_again(one: ledgers.Look) -> local.Look | None:
        _bring(task, one.base)
        _bring(task, one.head)
        try:
            settings = local.settings(task.repository, one.base)
            names = sorted(set(settings.select or registry.rule_ids()) - set(settings.ignore))
            rules = [registry.load(name) for name in names]
            return local.look(task.repository, one.base, one.head, settings, rules, database=task.database)
        except (GitError, ConfigError):  # pushed away by force; settings of then that nobody knows any more
            return None

    repository = task.repository.up_to(local.settings(task.repository, task.pull.base).max_file_bytes)
    remote = linked(task.remote, repository)
    before = history.earlier(told.posted.ledger, repository, remote, look_again)
    return rounds.joined([*before, told.review])


def _bring(task: Task, commit: str) -> None:
    """Sees to it that a commit is there, unless a push by force has taken it away."""
    try:
        task.repository.commit(commit)
    except GitError:
        with suppress(GitError):
            task.fetch(commit)


def fetcher(folder: Path, server: str, slug: str, token: str) -> Callable[[str], object]:
    """Gets commits of a GitHub's repository into the repository in `folder`."""
    return lambda commit: fetch(folder, server, slug, [commit], token)
