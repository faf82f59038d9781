"""A pull request's whole life, as its conversation tells it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from conversation_page import page

from reviewbot.github import event, jobs, orders
from reviewbot.review import outcome

PATH = "tests/test_restore.py"
COMPARE = '''\
"""A restored run trains the same rows as one that was never stopped."""

from rows import first_difference, load


def compare(baseline, restored):
    for before, after in zip(baseline, restored, strict=True):
        first = first_difference(before["token_ids"], after["token_ids"])
        if first is not None and first < after["prefix_end"]:
            # Sampling noise before the cut.
            continue
        assert before["token_ids"] == after["token_ids"]
        assert before["loss_mask"] == after["loss_mask"]


def test_restored_rows_are_those_of_the_baseline(runs):
    compare(load(runs / "baseline"), load(runs / "restored"))


'''
ONCE = """\
def test_every_row_was_trained_once(runs):
    rows = load(runs / "restored")
    assert (len(rows) == len({row["id"] for row in rows}), "a row was trained twice")


"""
ONCE_MENDED = (
    ONCE.replace("assert (len", "assert len")
    .replace('rows}), "a row', 'rows}), "a row')
    .replace('twice")', 'twice"')
)
REWARDS = """\
def test_rewards_are_zero_or_one(runs):
    done = [row for row in load(runs / "restored") if row["done"]]
    for row in done:
        assert row["reward"] in (0.0, 1.0)
"""
REWARDS_MENDED = REWARDS.replace("    for row", "    assert done\n    for row")
EXCUSE = COMPARE[COMPARE.index("        if first") : COMPARE.index("        assert before")]
COMPARE_MENDED = COMPARE.replace(EXCUSE, "").replace(
    '        first = first_difference(before["token_ids"], after["token_ids"])\n', ""
)
RESULT = {
    "verdict": "pass",
    "rows": 24,
    "failures": [],
    "failures_total": 0,
    "set_aside": [],
    "set_aside_allowed": 0,
    "restored_calls": 5,
    "could_not_notice": ["`reward` is 1.0 in every row"],
    "environment": {"digest": "c0ffee12" * 8},
}


@pytest.fixture
def maintainer(fake, bot):
    """What mia, who maintains the repository, does on GitHub; each deed starts the workflow for it."""
    fake.world.roles["mia"] = "maintain"
    setting = orders.Setting(
        gpu=True, label="gpu-parity", log="https://github.com/acme/trainer/actions/runs/9"
    )
    work = orders.Work(lambda pull, amend: bot.review(amend=amend), lambda *_: "", lambda *_: "")

    class Maintainer:
        def says(self, body: str) -> None:
            number = fake.say(body, "mia")
            user = {"login": "mia", "type": "User"}
            comment = {"id": number, "body": body, "created_at": fake.world.now(), "user": user}
            payload = {"action": "created", "issue": {"number": 7, "pull_request": {}}, "comment": comment}
            orders.heard(bot.client(), decoded(payload, event.CommentEvent), work, setting)

        def labels(self) -> jobs.Job:
            fake.world.pulls[7].labels.append("gpu-parity")
            payload = fake.payload("labeled", sender="mia", label={"name": "gpu-parity"})
            payload["pull_request"]["updated_at"] = fake.world.now()
            found = orders.labeled(bot.client(), decoded(payload, event.PullEvent), setting)
            assert found is not None
            return found.job

    return Maintainer()


def decoded(payload: dict[str, Any], kind: type) -> Any:
    return msgspec.json.decode(json.dumps(payload), type=kind)


def states(told) -> dict[str, str]:
    """What stands, and what does not any more."""
    return {one.id: one.state for one in (*told.review.threads, *told.review.settled)}


@pytest.mark.slow
def test_a_pull_request_from_its_opening_to_its_merge(fake, repository, bot, pull, maintainer, tmp_path):
    # It is opened. Three of its checks do not check what they say.
    pull({PATH: COMPARE + ONCE + REWARDS}, title="Restore runs from a prefix", author="emil")
    told = bot.review()
    assert states(told) == {"C1": "new", "C2": "new", "C3": "new"}
    assert bot.titles == [f"C1 {PATH}:11", f"C2 {PATH}:22", f"C3 {PATH}:27"]
    assert "3 findings in what this changes" in bot.summary
    assert [check["conclusion"] for check in fake.world.checks.values()] == ["failure"]

    # The author answers. The same review once more says nothing at all.
    fake.reply(bot.comments[0]["id"], "The noise is real, we saw it in bf16.", by="emil")
    writes = len(fake.writes)
    bot.review()
    assert len(fake.writes) == writes and len(bot.comments) == 4

    # A push mends one and moves the others down.
    first = bot.body("C3")
    bot.push({PATH: "import math\n" + COMPARE + ONCE_MENDED + REWARDS})
    told = bot.review()
    assert states(told) == {"C1": "open", "C2": "fixed", "C3": "open"}
    assert "Since round 1: fixed 1 of 3 (C2), 2 still open." in bot.summary
    assert bot.body("C2").startswith("<!-- reviewbot-status -->\n> **Fixed** in round 2, at [`")
    assert bot.body("C3") == first and len(bot.comments) == 4

    # It is rebased onto a newer base and pushed by force: nothing new is said.
    repository.git("switch", "--quiet", "main")
    fake.world.pulls[7].base = repository.commit({"other.py": "x = 1\n"})
    repository.git("switch", "--quiet", "topic")
    repository.git("rebase", "--quiet", "main")
    fake.push(repository.git("rev-parse", "HEAD"))
    told = bot.review()
    assert states(told) == {"C1": "open", "C2": "fixed", "C3": "open"} and len(bot.comments) == 4

    # What was mended breaks again, and has its old id.
    bot.push({PATH: COMPARE + ONCE + REWARDS})
    told = bot.review()
    assert states(told) == {"C1": "open", "C2": "back", "C3": "open"}
    assert f"> **Back** in round 4: [`{PATH}:22`]" in bot.body("C2") and len(bot.comments) == 4

    # A maintainer dismisses one, with a reason.
    maintainer.says("/reviewbot dismiss C3 the loader raises where no row is done")
    assert "> **Dismissed** by `mia` in round 4: the loader raises where no row is done" in bot.body("C3")
    assert "dismissed by `mia`: the loader raises" in bot.summary

    # A push mends the other two. The dismissal holds, since its code is the same.
    bot.push({PATH: COMPARE_MENDED + ONCE_MENDED + REWARDS})
    told = bot.review()
    assert states(told) == {"C1": "fixed", "C2": "fixed", "C3": "dismissed"} and told.failing == 0
    assert "fixed 2 of 2 (C1, C2)" in bot.summary

    # The maintainer has seen that, and sets the label: the GPU runs exactly this commit.
    job = maintainer.labels()
    assert job.sha == fake.world.pulls[7].head
    (tmp_path / "parity.json").write_text(json.dumps(RESULT))
    made = outcome.read(tmp_path, "parity")
    jobs.report(
        bot.client(), job, made, None, "https://github.com/acme/trainer/actions/runs/9", cancelled=False
    )
    (parity,) = [one for one in fake.world.comments.values() if "reviewbot-answer parity-" in one["body"]]
    assert "no difference" in parity["body"] and "under way" not in parity["body"]
    assert fake.world.checks[job.check]["conclusion"] == "success"

    # A last push touches what was dismissed: the dismissal was for other code.
    rewards = REWARDS.replace("(0.0, 1.0)", "(0.0, 0.5, 1.0)")
    bot.push({PATH: COMPARE_MENDED + ONCE_MENDED + rewards})
    payload = fake.payload("synchronize", before=job.sha)
    orders.revoke(bot.client(), decoded(payload, event.PullEvent), "gpu-parity")
    assert fake.world.pulls[7].labels == []
    told = bot.review()
    assert "> **Open again** in round 6" in bot.body("C3")
    bot.push({PATH: COMPARE_MENDED + ONCE_MENDED + REWARDS_MENDED.replace("(0.0, 1.0)", "(0.0, 0.5, 1.0)")})
    told = bot.review()
    assert states(told) == {"C1": "fixed", "C2": "fixed", "C3": "fixed"}
    assert list(fake.world.checks.values())[-1]["conclusion"] == "success"

    # It is merged. What people said is all there; the bot has one summary, three threads and its answers.
    fake.world.pulls[7].state, fake.world.pulls[7].merged = "closed", True
    assert [one["by"] for one in bot.comments] == ["github-actions[bot]"] * 3 + ["emil"]
    assert [one["by"] for one in fake.world.comments.values()].count("mia") == 1
    assert sum("reviewbot-summary" in one["body"] for one in fake.world.comments.values()) == 1

    # For whoever wants to look at it: REVIEWBOT_PAGES names a folder to keep the page in.
    kept = Path(os.environ.get("REVIEWBOT_PAGES", tmp_path)) / "conversation.html"
    kept.write_text(page(fake), encoding="utf-8")
    assert kept.read_text(encoding="utf-8").count("<article") == len(fake.world.comments) + 4
