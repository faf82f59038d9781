"""A pull request on a GitHub of our own, and what talks to it without waiting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from fakegithub import FakeGitHub
from rendered import hostile, page

from reviewbot.github import telling
from reviewbot.github.client import GitHub
from reviewbot.github.patience import Pace
from reviewbot.review import ledger
from reviewbot.source.git import Repository
from reviewbot.source.permalink import Remote

__all__ = ["hostile", "page"]

FAST = Pace(between_requests=0, between_writes=0, secondary_wait=0, backoff=0)
REMOTE = Remote("github.com", "acme", "trainer")


@pytest.fixture
def opened(fake, repository):
    """Pull request 7: `a.py` with a line changed, `b.py` removed, `c.py` added."""
    lines = [f"x{number} = {number}\n" for number in range(1, 41)]
    base = repository.commit({"a.py": "".join(lines), "b.py": "gone = 1\n", "kept.py": "kept = 1\n"})
    lines[9] = "x10 = 'ten'\n"
    head = repository.commit({"a.py": "".join(lines), "b.py": None, "c.py": "new = 1\nlast = 2"})
    return fake.open_pull(base, head)


@pytest.fixture
def github(fake):
    """The client with the token of the shipped workflow."""
    return GitHub.of_environment(fake.slug, fake.environ(), FAST)


@dataclass
class Bot:
    """Reviews pull request 7 as mode post does, and reads what stands there then."""

    fake: FakeGitHub
    repository: Any

    def client(self, token: str = "poster") -> GitHub:
        """The client of one of the fake's tokens."""
        return GitHub.of_environment(self.fake.slug, self.fake.environ(token), FAST)

    def review(self, token: str = "poster", number: int = 7, **more: Any) -> telling.Told:
        """Posts the round of the head."""
        github = self.client(token)
        given = {"fetch": lambda commit: None, "fail_on": "proved", **more}
        repository = Repository(self.repository.folder)
        return telling.tell(telling.Task(github, github.pull(number), repository, REMOTE, **given))

    def push(self, files: dict[str, str | bytes | None], number: int = 7) -> str:
        """Commits on the branch and pushes it."""
        head = self.repository.commit(files)
        self.fake.push(head, number)
        return head

    @property
    def comments(self) -> list[dict[str, Any]]:
        """The comments on lines and files, replies among them, the oldest first."""
        return list(self.fake.world.review_comments.values())

    @property
    def titles(self) -> list[str]:
        """Each comment's id and place, such as `C1 tests/test_a.py:2`; no line for one on a file."""
        made = [c for c in self.comments if c["by"].endswith("[bot]")]
        return [f"{name(c['body'])} {c['path']}{':' + str(c['line']) if c['line'] else ''}" for c in made]

    @property
    def summary(self) -> str:
        """The one summary comment."""
        mine = [c for c in self.fake.world.comments.values() if "reviewbot-summary" in c["body"]]
        assert len(mine) == 1
        return str(mine[0]["body"])

    @property
    def ledger(self) -> ledger.Ledger:
        """What the summary keeps."""
        kept = ledger.decode(self.summary, self.fake.slug, 7)
        assert kept is not None
        return kept

    def body(self, thread: str) -> str:
        """The one comment of a thread."""
        found = [c for c in self.comments if c["by"].endswith("[bot]") and name(c["body"]) == thread]
        assert len(found) == 1
        return str(found[0]["body"])

    def conversation(self) -> object:
        """All that is said and shown, and all that is kept, without times and GitHub's own ids."""
        world = self.fake.world
        kept = self.ledger
        return (
            sorted((c["path"], c["line"] or 0, ledger.bare(c["body"]), c["by"]) for c in self.comments),
            [(ledger.bare(c["body"]), c["by"]) for c in world.comments.values()],
            [replace(entry, comment=None) for entry in kept.entries],
            (kept.rounds, kept.rules, kept.next),
            [
                (c["name"], c["head_sha"], c["conclusion"], len(c["annotations"]))
                for c in world.checks.values()
            ],
        )


def name(body: str) -> str:
    """The id that a comment starts with."""
    return "C" + body.partition("**C")[2].partition(" ")[0]


@pytest.fixture
def bot(fake, repository) -> Bot:
    """Who posts."""
    return Bot(fake, repository)


@pytest.fixture
def pull(fake, repository, bot) -> Callable[..., object]:
    """Opens pull request 7 with the files of a change; `base` are those before it."""

    def open_it(files: dict[str, Any], base: Mapping[str, Any] = {}, **more: Any) -> object:
        start = repository.commit({"README.md": "A trainer.\n", **base})
        repository.git("switch", "--quiet", "--create", "topic")
        return fake.open_pull(start, repository.commit(files), **more)

    return open_it
