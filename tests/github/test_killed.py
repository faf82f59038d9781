"""A run that dies at any request leaves nothing that the next run does not mend."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from fakegithub import FakeGitHub, Fault, diffs
from samples import strong, weak

from reviewbot.errors import GitHubError
from reviewbot.github import event, jobs, orders, posting
from reviewbot.github.answers import answer

FILES = {"tests/test_rows.py": weak("a") + weak("b"), "tests/test_large.py": "x = 1\n" * 100 + weak("c")}
LATER = {"tests/test_rows.py": "import math\n\n\n" + strong("a") + weak("b") + weak("d")}
ROOT = Path(__file__).parents[2]


def opened(fake: FakeGitHub, bot, pull) -> None:
    """A pull request whose second round edits a comment, adds one, and knows a dismissal."""
    pull(FILES)
    bot.review()
    bot.review(amend=lambda one: one.dismissed("C1", "ada", "meant"))
    bot.push(LATER)


def dies(at: int, after: bool) -> list[Fault]:
    """From request number `at` on nothing gets through; that one is carried out all the same if `after`."""
    return [
        Fault(".*", "", 0, after=after, skip=at),
        Fault(".*", "", 0, skip=at, times=10**9),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("later", [False, True], ids=["first", "second"])
def test_killed_at_every_request_in_turn(fake, repository, bot, pull, monkeypatch, later, after):
    monkeypatch.setattr(diffs, "LARGEST_PATCH", 400)
    if later:
        opened(fake, bot, pull)
    else:
        pull(FILES)
    start = fake.world.snapshot()
    calls = len(fake.calls)
    bot.review()
    wanted = bot.conversation()
    count = len(fake.calls) - calls
    assert count >= 12
    for at in range(count):
        fake.world.restore(start)
        fake.faults[:] = dies(at, after)
        with pytest.raises(GitHubError):
            bot.review()
        fake.faults.clear()
        bot.review()
        assert bot.conversation() == wanted, f"killed at request {at}: {fake.calls[-1]}"


@pytest.mark.slow
def test_a_process_that_is_killed_while_a_review_is_stored(fake, bot, pull):
    pull(FILES)
    command = [sys.executable, "-m", "reviewbot", "review", "--post", "--repo", fake.slug, "--pull", "7"]
    environ = {**os.environ, **fake.environ(), "PYTHONPATH": str(ROOT)}
    started: list[subprocess.Popen[bytes]] = []

    def kill() -> None:
        started[-1].send_signal(signal.SIGKILL)
        started[-1].wait(30)

    for path in ("/reviews$", "/check-runs$", "/issues/7/comments$"):
        fake.faults.append(Fault("POST", path, None, then=kill))
        started.append(subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        started[-1].wait(120)
        assert started[-1].returncode == -signal.SIGKILL
        time.sleep(0.1)
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (1, "")
    assert "3 findings, 3 failing; posted to" in done.stdout
    places = ["tests/test_large.py:102", "tests/test_rows.py:2", "tests/test_rows.py:6"]
    assert sorted(bot.titles) == [f"C{number} {place}" for number, place in enumerate(places, 1)]
    assert len(fake.world.comments) == 1 and len(fake.world.checks) == 1


@pytest.mark.slow
@pytest.mark.parametrize("by_label", [False, True], ids=["command", "label"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_an_authorization_that_is_killed_at_every_request_and_run_again(fake, bot, pull, after, by_label):
    """GitHub runs the same run again: it has the same address."""
    opened = pull({"tests/test_rows.py": weak("a")})
    fake.world.roles["mia"] = "maintain"
    bot.review()
    number = fake.say("/reviewbot parity", "mia")
    fake.world.pulls[7].labels = ["gpu-parity"] if by_label else []
    label = fake.payload("labeled", sender="mia", label={"name": "gpu-parity"})
    label["pull_request"]["updated_at"] = fake.world.now()
    user = {"login": "mia", "type": "User"}
    comment = {"id": number, "body": "/reviewbot parity", "created_at": fake.world.now(), "user": user}
    said = {"action": "created", "issue": {"number": 7, "pull_request": {}}, "comment": comment}
    setting = orders.Setting(
        gpu=True, label="gpu-parity", log="https://github.com/acme/trainer/actions/runs/9"
    )
    work = orders.Work(lambda *_: None, lambda *_: "", lambda *_: "")

    def authorize() -> orders.Authorized | None:
        github = bot.client()
        if by_label:
            return orders.labeled(
                github, msgspec.json.decode(json.dumps(label), type=event.PullEvent), setting
            )
        heard = msgspec.json.decode(json.dumps(said), type=event.CommentEvent)
        return orders.heard(github, heard, work, setting)

    start = fake.world.snapshot()
    calls = len(fake.calls)
    assert authorize() is not None
    count = len(fake.calls) - calls
    assert count >= 8
    for at in range(count):
        fake.world.restore(start)
        fake.faults[:] = dies(at, after)
        with suppress(GitHubError):
            authorize()
        fake.faults.clear()
        made = authorize()
        assert made is not None, f"killed at request {at}: {fake.calls[-1]}"
        open_ones = [one for one in fake.world.checks.values() if one["status"] != "completed"]
        assert [(one["id"], one["head_sha"]) for one in open_ones] == [(made.job.check, opened.head)]
        under_way = [one for one in fake.world.comments.values() if "is under way" in one["body"]]
        assert len(under_way) == 1 and f"parity-{made.job.check} " in under_way[0]["body"]


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("pushed", [False, True], ids=["report", "revoke"])
def test_a_report_and_a_revocation_that_are_killed_at_every_request_and_run_again(
    fake, bot, pull, after, pushed
):
    opened = pull({"tests/test_rows.py": weak("a")})
    job = jobs.begin(bot.client(), 7, opened.head, "parity")
    answer(bot.client(), 7, jobs.key(job), "is under way")
    opened.labels = ["gpu-parity"]
    payload = json.dumps(fake.payload("synchronize", before=opened.head))
    synchronized = msgspec.json.decode(payload, type=event.PullEvent)

    def run() -> None:
        if pushed:
            orders.revoke(bot.client(), synchronized, "gpu-parity")
        else:
            jobs.report(bot.client(), job, "the job left no result", None, "", cancelled=False)

    start = fake.world.snapshot()
    calls = len(fake.calls)
    run()
    count = len(fake.calls) - calls

    def stands() -> object:
        checks = [(one["id"], one["status"], one["conclusion"]) for one in fake.world.checks.values()]
        return checks, [one["body"] for one in fake.world.comments.values()], list(opened_now().labels)

    def opened_now():
        return fake.world.pulls[7]

    wanted = stands()
    assert count >= 5 and wanted[0] == [(job.check, "completed", "neutral" if pushed else "failure")]
    for at in range(count):
        fake.world.restore(start)
        fake.faults[:] = dies(at, after)
        with suppress(GitHubError):
            run()
        fake.faults.clear()
        run()
        assert stands() == wanted, f"killed at request {at}: {fake.calls[-1]}"


# What a server does under load, or where it loses an answer, at one of the next requests.
DISTURBED = (
    Fault("POST|PATCH", "", 502, after=True),
    Fault("POST|PATCH", "", 502),
    Fault("POST|PATCH", "", 0, after=True),
    Fault("POST|PATCH|GET", "", 403, message="a secondary rate limit", headers={"retry-after": "0"}),
    Fault("POST|PATCH", "", 403, message="You have triggered an abuse detection mechanism"),
    Fault("POST|PATCH", "", 422, errors=[{"resource": "x", "field": "y", "code": "abuse"}]),
    # The diff is another than the one that the lines were computed from.
    Fault("POST", "/reviews$", 422, errors=["line must be part of the diff"]),
)


def disturbances(dice: random.Random, requests: int) -> list[Fault]:
    """Up to two of them, and then mostly death."""
    some = [replace(one, skip=dice.randrange(8)) for one in dice.sample(DISTURBED, dice.randrange(3))]
    return some + (dies(dice.randrange(requests), dice.random() < 0.5) if dice.random() < 0.8 else [])


@pytest.mark.slow
@pytest.mark.parametrize("deed", ["first", "second", "dismiss"])
def test_disturbed_and_killed_at_random_several_times_in_a_row(fake, bot, pull, monkeypatch, deed):
    monkeypatch.setattr(diffs, "LARGEST_PATCH", 400)
    monkeypatch.setattr(posting, "BATCH", 2)
    monkeypatch.setattr(posting, "ANNOTATIONS", 2)
    if deed == "second":
        opened(fake, bot, pull)
    else:
        pull(FILES)
    run = bot.review
    if deed == "dismiss":
        bot.review()
        run = dismissal(fake, bot)
    start = fake.world.snapshot()
    calls = len(fake.calls)
    run()
    wanted = told_of(bot)
    requests = len(fake.calls) - calls
    for seed in range(12):
        dice = random.Random(seed)
        fake.world.restore(start)
        for _ in range(dice.randrange(1, 4)):
            fake.faults[:] = disturbances(dice, requests)
            with suppress(GitHubError):
                run()
        fake.faults.clear()
        run()
        assert told_of(bot) == wanted, f"seed {seed}"


def dismissal(fake, bot):
    """A maintainer's command, as the same run does it again and again."""
    fake.world.roles["mia"] = "maintain"
    body = "/reviewbot dismiss C1 it is meant"
    user = {"login": "mia", "type": "User"}
    comment = {"id": fake.say(body, "mia"), "body": body, "created_at": fake.world.now(), "user": user}
    said = {"action": "created", "issue": {"number": 7, "pull_request": {}}, "comment": comment}
    heard = msgspec.json.decode(json.dumps(said), type=event.CommentEvent)
    work = orders.Work(lambda pull, amend: bot.review(amend=amend), lambda *_: "", lambda *_: "")
    return lambda: orders.heard(bot.client(), heard, work, orders.Setting())


def told_of(bot) -> object:
    """The conversation, but for the sentence that an order which came to no end is done after all."""
    lines, said, *rest = bot.conversation()
    return lines, [one for one in said if not one[0].startswith("`dismiss` is done.")], rest
