"""The commands themselves, as a person and as a workflow calls them."""

from __future__ import annotations

import json

import pytest
from fakegithub import READER
from samples import strong, weak

PATH = "tests/test_a.py"
FILES = {PATH: weak("a") + weak("b")}


@pytest.mark.slow
def test_review_post(reviewbot, fake, bot, pull):
    pull(FILES)
    words = ("review", "--post", "--repo", "acme/trainer", "--pull", "7")
    ran = reviewbot(*words, "--fail-on", "never", env=fake.environ())
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(
        f"2 findings, 0 failing; posted to {fake.pages}/acme/trainer/pull/7#issuecomment-"
    )
    assert len(bot.titles) == 2
    fake.tokens["reader"] = READER
    fake.world.comments.clear()
    ran = reviewbot(*words, env=fake.environ("reader"))
    assert ran.code == 1 and "needs `pull-requests: write`" in ran.err and "**C2**" in ran.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--pull", "7"], "say so with --post"),
        (["--post"], "--post needs --repo OWNER/REPO and --pull NUMBER"),
        (
            ["--post", "--repo", "acme/trainer", "--pull", "7", "--base", "main"],
            "leave --base and --head out",
        ),
        (["--post", "--repo", "acme/trainer", "--pull", "7"], "set GITHUB_TOKEN"),
    ],
)
def test_wrong_use(reviewbot, words, says):
    ran = reviewbot("review", *words, env={"GITHUB_TOKEN": ""})
    assert ran.code == 2 and says in ran.err


@pytest.mark.slow
@pytest.mark.parametrize("fork", [None, "mallory/trainer"])
def test_mode_post_finds_the_pull_request_of_a_run(reviewbot, fake, bot, pull, tmp_path, fork):
    opened = pull(FILES, fork=fork)
    # Another pull request of the same commit is told of too, a closed one is not.
    fake.open_pull(opened.base, opened.head, 8)
    fake.open_pull(opened.base, opened.head, 9, state="closed")
    event = tmp_path / "event.json"
    run = {"head_sha": opened.head, "event": "pull_request", "head_branch": "topic"}
    event.write_text(
        json.dumps({"workflow_run": {**run, "head_repository": {"full_name": fork or fake.slug}}})
    )
    runner = {
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_EVENT_NAME": "workflow_run",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    ran = reviewbot("action", "--mode", "post", env={**fake.environ(), **runner})
    assert (ran.code, ran.err) == (1, ""), ran.out
    assert {one["pull"] for one in fake.world.comments.values()} == {7, 8}
    assert len(bot.titles) == 4 and "::error" not in ran.out
    assert "2 findings in what this changes" in (tmp_path / "summary.md").read_text()
    assert "failing=2" in (tmp_path / "output").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("fork", [None, "mallory/trainer"])
def test_mode_post_of_a_run_that_a_push_overtook_posts_nothing(reviewbot, fake, bot, pull, tmp_path, fork):
    """Nor does that of a branch of the same name in another fork: it is the commit that counts."""
    opened = pull(FILES, fork=fork)
    event = tmp_path / "event.json"
    run = {"head_sha": opened.head, "event": "pull_request", "head_branch": "topic"}
    of = {"head_repository": {"full_name": fork or fake.slug}}
    event.write_text(json.dumps({"workflow_run": {**run, **of}}))
    later = bot.push({"later.py": "x = 1\n"})
    fake.open_pull(opened.base, later, 8, fork="eve/trainer")
    runner = {"GITHUB_EVENT_PATH": str(event), "RUNNER_TEMP": str(tmp_path)}
    ran = reviewbot("action", "--mode", "post", env={**fake.environ(), **runner})
    assert ran.code == 0 and "no open pull request has this commit as its head any more" in ran.out
    assert fake.writes == []


@pytest.mark.slow
def test_mode_post_with_a_weak_token_leaves_annotations(reviewbot, fake, pull, tmp_path):
    opened = pull(FILES)
    fake.tokens["reader"] = READER
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"workflow_run": {"head_sha": opened.head, "event": "pull_request"}}))
    runner = {"GITHUB_EVENT_PATH": str(event), "RUNNER_TEMP": str(tmp_path)}
    ran = reviewbot("action", "--mode", "post", env={**fake.environ("reader"), **runner})
    assert ran.code == 1
    assert (
        ran.out.count("::error file=tests/test_a.py") == 2
        and ran.out.count("::warning title=reviewbot::") == 3
    )


@pytest.mark.slow
def test_a_dismissal_by_comment_shows_in_the_conversation(reviewbot, fake, bot, pull, tmp_path):
    pull(FILES)
    bot.review()
    fake.world.roles["ada"] = "write"
    number = fake.say("/reviewbot dismiss C1 the rows are counted upstream")
    comment = {"id": number, "body": fake.world.comments[number]["body"], "created_at": fake.world.now()}
    event = tmp_path / "event.json"
    event.write_text(
        json.dumps(
            {
                "action": "created",
                "issue": {"number": 7, "pull_request": {"url": "u"}},
                "comment": {**comment, "user": {"login": "ada", "type": "User"}},
            }
        )
    )
    runner = {
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_EVENT_NAME": "issue_comment",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    ran = reviewbot("action", "--mode", "command", env={**fake.environ(), **runner})
    assert (ran.code, ran.err) == (0, ""), ran.out
    assert "**Dismissed** by `ada` in round 1: the rows are counted upstream" in bot.body("C1")
    assert "1 finding in what this changes" in bot.summary
    assert next(one["content"] for one in fake.world.reactions if one["comment"] == number) == "eyes"


@pytest.mark.slow
def test_size_is_answered_as_tables_with_the_ids_of_the_conversation(reviewbot, fake, bot, pull, tmp_path):
    pull({PATH: weak("a") + weak("b")})
    bot.review()
    # What is mended takes its id with it, and what the bot has not looked at yet has the next one.
    bot.push({PATH: strong("a") + weak("b")})
    bot.review()
    head = bot.push({PATH: strong("a") + weak("b") + weak("d")})
    number = fake.say("/reviewbot size")
    comment = {"id": number, "body": fake.world.comments[number]["body"], "created_at": fake.world.now()}
    event = tmp_path / "event.json"
    event.write_text(
        json.dumps(
            {
                "action": "created",
                "issue": {"number": 7, "pull_request": {"url": "u"}},
                "comment": {**comment, "user": {"login": "ada", "type": "User"}},
            }
        )
    )
    fake.world.roles["ada"] = "write"
    runner = {
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_EVENT_NAME": "issue_comment",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    ran = reviewbot("action", "--mode", "command", env={**fake.environ(), **runner})
    assert (ran.code, ran.err) == (0, ""), ran.out
    (answer,) = [
        one["body"]
        for one in fake.world.comments.values()
        if "where the lines of this change go" in one["body"]
    ]
    assert "| lines by kind | added | deleted |" in answer and "```text" not in answer
    assert f"/acme/trainer/blob/{head}/tests/test_a.py#L" in answer
    assert [line[:6] for line in answer.splitlines() if line.startswith("| C")] == ["| C2 |", "| C3 |"]
    assert "<summary>C2: " in answer and "C1" not in answer
