"""The lint, post and command workflows from end to end: one pull request reviewed, posted, dismissed."""

from __future__ import annotations

import pytest

from reviewbot.github import conversation
from reviewbot.github.client import GitHub
from reviewbot.github.patience import Pace

pytestmark = pytest.mark.slow

FINE = "def test_rows(run):\n    assert run(1) == [2], 'wrong'\n"
WEAK = "def test_rows(run):\n    assert (run(1) == [2], 'wrong')\n"


@pytest.fixture
def github(fake):
    return GitHub.of_environment(fake.slug, fake.environ(), Pace(0, 0, 0, 0))


@pytest.fixture
def opened(fake, repository):
    """A pull request from a fork, whose author is hostile, and which weakens a test."""
    base = repository.commit({"tests/test_rows.py": FINE, "pyproject.toml": "[project]\nname = 'x'\n"})
    repository.git("switch", "--quiet", "--create", "topic")
    hostile = {
        "tests/test_rows.py": WEAK,
        # What a change says of how it is reviewed does not count, and nothing of it is imported.
        "pyproject.toml": "[tool.reviewbot]\nignore = ['constant-verdict']\n",
        "reviewbot.py": "open('/tmp/reviewbot-pwned', 'w')\n",
        "conftest.py": "open('/tmp/reviewbot-pwned', 'w')\n",
    }
    head = repository.commit(hostile)
    fake.world.roles |= {"mia": "maintain"}
    title = "x`touch pwned`$(touch pwned)\n::error::pwned"
    return fake.open_pull(base, head, fork="mallory/trainer", title=title)


def finished(fake, pull) -> dict[str, object]:
    """The event of a finished lint run."""
    run = {"event": "pull_request", "head_sha": pull.head, "head_branch": "topic"}
    return {
        "action": "completed",
        "workflow_run": {**run, "head_repository": {"full_name": "mallory/trainer"}, "pull_requests": []},
    }


def said(fake, body: str, by: str) -> dict[str, object]:
    number = fake.say(body, by)
    user = {"login": by, "type": "User"}
    comment = {"id": number, "body": body, "created_at": fake.world.now(), "user": user}
    return {"action": "created", "issue": {"number": 7, "pull_request": {"url": "u"}}, "comment": comment}


def state(github, pull, name: str = "C1") -> str:
    entry = conversation.read(github, 7, pull.base, pull.head).ledger.entry(name)
    assert entry is not None
    return entry.state


def test_lint_annotates_and_writes_nothing(act, opened, fake, tmp_path):
    run = act("reviewbot", "pull_request", fake.payload("opened"))
    assert run.jobs == {"lint": "failed"}, run.log
    assert "::error file=tests/test_rows.py,line=2" in run.log
    assert "::error::pwned" not in run.log
    assert [call for call in fake.writes if not call.path.endswith("git-upload-pack")] == []
    assert not list(tmp_path.rglob("pwned"))


def test_a_review_is_posted_and_its_finding_dismissed_by_whoever_may(act, opened, fake, github):
    run = act("reviewbot-post", "workflow_run", finished(fake, opened))
    assert "post" in run.jobs, run.log
    (comment,) = github.review_comments(7)
    assert (comment.path, comment.line, comment.author) == ("tests/test_rows.py", 2, "github-actions[bot]")
    assert [check.conclusion for check in github.checks(opened.head, "reviewbot")] == ["failure"]
    again = act("reviewbot-post", "workflow_run", finished(fake, opened))
    assert "post" in again.jobs and len(github.review_comments(7)) == 1

    run = act("reviewbot-commands", "issue_comment", said(fake, "/reviewbot dismiss C1 fine", "mallory"))
    assert run.jobs == {"command": "succeeded"}, run.log
    assert state(github, opened) == "new"
    (refusal,) = [one.body for one in github.comments(7) if "reviewbot-answer" in one.body]
    assert "`dismiss` takes the role write, maintain or admin, and yours is none." in refusal

    order = said(fake, "/reviewbot dismiss C1 the tuple is meant", "mia")
    run = act("reviewbot-commands", "issue_comment", order)
    assert run.jobs == {"command": "succeeded"}, run.log
    assert state(github, opened) == "dismissed"
    assert "the tuple is meant" in github.review_comments(7)[0].body
    assert [one["content"] for one in fake.world.reactions][-2:] == ["eyes", "+1"]
    (check,) = github.checks(opened.head, "reviewbot")
    assert check.conclusion == "success"


def test_questions_are_answered_from_the_rule_and_the_lines(act, opened, fake, github):
    act("reviewbot-post", "workflow_run", finished(fake, opened))
    for body, wanted in (
        ("/reviewbot help", "`/reviewbot dismiss ID REASON`"),
        ("/reviewbot explain C1", "`constant-verdict`"),
        ("/reviewbot size", "tests/test_rows.py"),
    ):
        run = act("reviewbot-commands", "issue_comment", said(fake, body, "stranger"))
        assert run.jobs == {"command": "succeeded"}, run.log
        assert wanted in github.comments(7)[-1].body, body
