"""The parity workflow from end to end: label or command, authorize, parity, report; revoke on a push."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

from reviewbot.github.client import GitHub
from reviewbot.github.conversation import SUMMARY
from reviewbot.github.patience import Pace
from reviewbot.review import ledger as ledgers
from reviewbot.review.ledger import Entry, Ledger, Look

pytestmark = pytest.mark.slow

PASS = {
    "verdict": "pass",
    "rows": 16,
    "failures": [],
    "failures_total": 0,
    "set_aside": [],
    "set_aside_allowed": 0,
    "restored_calls": 3,
}


@pytest.fixture
def github(fake):
    return GitHub.of_environment(fake.slug, fake.environ(), Pace(0, 0, 0, 0))


@pytest.fixture
def shown(fake, repository, github):
    """Pull request 7, whose head the bot has shown."""
    base = repository.commit({"train.py": "x = 1\n"})
    head = repository.commit({"train.py": "x = 2\n", "go.sh": "echo\n"})
    pull = fake.open_pull(base, head)
    fake.world.roles |= {"mia": "maintain"}
    kept = Ledger(fake.slug, 7, 1, (Look(1, base, head),))
    github.add_comment(7, f"### reviewbot: 0 findings\n\n{SUMMARY}\n{ledgers.encode(kept)}")
    return pull


def labeled(fake, by: str) -> dict[str, object]:
    fake.world.pulls[7].labels.append("gpu-parity")
    payload = fake.payload("labeled", sender=by, label={"name": "gpu-parity"})
    payload["pull_request"]["updated_at"] = fake.world.now()
    return payload


def said(fake, body: str, by: str, kind: str = "User") -> dict[str, object]:
    number = fake.say(body, by)
    user = {"login": by, "type": kind}
    comment = {"id": number, "body": body, "created_at": fake.world.now(), "user": user}
    return {"action": "created", "issue": {"number": 7, "pull_request": {"url": "u"}}, "comment": comment}


def answers(github) -> list[str]:
    return [one.body for one in github.comments(7) if "reviewbot-answer" in one.body]


def test_a_label_by_a_maintainer_runs_the_shown_commit_and_reports_it(act, shown, fake, github, docker):
    (docker / "leaves").write_text(json.dumps(PASS))
    run = act("reviewbot-parity", "pull_request_target", labeled(fake, "mia"))
    assert run.jobs == {"authorize": "succeeded", "parity": "succeeded", "report": "succeeded"}, run.log
    (check,) = github.checks(shown.head, "reviewbot parity")
    assert (check.status, check.conclusion) == ("completed", "success")
    (text,) = answers(github)
    assert "no difference" in text and "16 rows compared" in text
    assert "Code that means to deceive can report a pass" in text
    # The container saw files, and neither a git folder nor a token.
    files = (docker / "files").read_text()
    assert "go.sh" in files and "/.git" not in files
    assert "poster" not in (docker / "env").read_text() + (docker / "asked").read_text()


@pytest.mark.parametrize(
    "forged",
    [
        {**PASS, "sha": "f" * 40},
        {**PASS, "failures_total": 3},
        {**PASS, "failures": [{"row": None, "field": "</details><img src=x> @mia"}]},
    ],
)
def test_a_forged_result_is_never_a_success(act, shown, fake, github, docker, forged):
    (docker / "leaves").write_text(json.dumps(forged))
    run = act("reviewbot-parity", "pull_request_target", labeled(fake, "mia"))
    assert run.jobs["report"] == "succeeded", run.log
    assert [check.conclusion for check in github.checks(shown.head, "reviewbot parity")] == ["failure"]
    (text,) = answers(github)
    assert "came to nothing" in text and "<img" not in text and "@mia" not in text


def test_a_container_that_leaves_nothing_is_concluded_too(act, shown, fake, github):
    run = act("reviewbot-parity", "pull_request_target", labeled(fake, "mia"))
    assert (run.jobs["parity"], run.jobs["report"]) == ("failed", "succeeded"), run.log
    assert [check.conclusion for check in github.checks(shown.head, "reviewbot parity")] == ["failure"]


def test_a_label_by_a_stranger_is_taken_off_and_runs_nothing(act, shown, fake, github, docker):
    run = act("reviewbot-parity", "pull_request_target", labeled(fake, "mallory"))
    assert run.jobs == {"authorize": "succeeded"}, run.log
    assert fake.world.pulls[7].labels == []
    assert not (docker / "asked").exists()
    assert github.checks(shown.head, "reviewbot parity") == []


def test_a_command_names_the_commit_and_other_comments_start_nothing(act, shown, fake, github, docker):
    (docker / "leaves").write_text(json.dumps(PASS))
    for body, by, kind in (
        ("> /reviewbot parity", "mia", "User"),
        ("/reviewbot parity", "other[bot]", "Bot"),
        ("parity, please: /reviewbot parity", "mia", "User"),
    ):
        assert act("reviewbot-parity", "issue_comment", said(fake, body, by, kind)).jobs == {}
    run = act("reviewbot-parity", "issue_comment", said(fake, "/reviewbot parity", "mallory"))
    assert run.jobs == {"authorize": "succeeded"}, run.log
    assert not (docker / "asked").exists()
    run = act("reviewbot-parity", "issue_comment", said(fake, f"/reviewbot parity {shown.head[:9]}", "mia"))
    assert run.jobs == {"authorize": "succeeded", "parity": "succeeded", "report": "succeeded"}, run.log
    assert [check.conclusion for check in github.checks(shown.head, "reviewbot parity")] == ["success"]


def test_nothing_runs_where_the_runner_group_is_not_said_to_be_locked(act, shown, fake, docker, github):
    run = act("reviewbot-parity", "pull_request_target", labeled(fake, "mia"), locked="")
    assert run.jobs == {"authorize": "succeeded"}, run.log
    assert not (docker / "asked").exists()
    assert "REVIEWBOT_GPU_GROUP_LOCKED" in answers(github)[0]


def test_a_push_revokes(act, shown, fake, repository, github):
    old = shown.head
    github.add_check("reviewbot parity", old, external_id=old, status="in_progress")
    fake.world.pulls[7].labels.append("gpu-parity")
    fake.push(repository.commit({"train.py": "x = 3\n"}))
    run = act("reviewbot-parity", "pull_request_target", fake.payload("synchronize", before=old))
    assert run.jobs == {"revoke": "succeeded"}, run.log
    assert fake.world.pulls[7].labels == []
    assert [check.conclusion for check in github.checks(old, "reviewbot parity")] == ["neutral"]


def blank(name: str, **more: object) -> Entry:
    kinds = {"str": "", "int": 1, "State": "open", "Place": "line"}
    filled = {f.name: kinds[str(f.type)] for f in fields(Entry) if f.default is MISSING}
    return Entry(**{**filled, "id": name, "rule": "excuse-branch", **more})


CHECKED = (Path(__file__).parent / "weak_check.txt").read_text(encoding="utf-8")


def test_a_probe_goes_the_same_way(act, shown, fake, repository, github):
    head = repository.commit({"tests/test_parity.py": CHECKED})
    fake.push(head)
    found = blank("C1", path="tests/test_parity.py", unit="compare")
    kept = Ledger(fake.slug, 7, 2, (Look(2, shown.base, head),), (), (found,), 2)
    (summary,) = [one for one in github.comments(7) if SUMMARY in one.body]
    github.edit_comment(summary.id, f"### reviewbot\n\n{SUMMARY}\n{ledgers.encode(kept)}")
    run = act("reviewbot-commands", "issue_comment", said(fake, "/reviewbot probe C1", "mia"))
    assert run.jobs == {"command": "succeeded", "probe": "succeeded", "report": "succeeded"}, run.log
    (text,) = answers(github)
    assert "the check lets differences through" in text, text + run.log
    assert "tokens" in text
    assert [one.conclusion for one in github.checks(head, "reviewbot probe C1")] == ["failure"]
