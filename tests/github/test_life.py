"""A pull request's whole life, as its conversation tells it."""

from __future__ import annotations

from samples import strong, weak


def test_a_pull_request_from_its_opening_to_its_merge(fake, repository, bot, pull):
    # It is opened with three checks that can never fail.
    pull({"tests/test_rows.py": weak("rows") + weak("rewards", "4") + weak("masks", "5")})
    told = bot.review()
    assert (told.failing, [thread.state for thread in told.review.threads]) == (3, ["new"] * 3)
    assert bot.titles == ["C1 tests/test_rows.py:2", "C2 tests/test_rows.py:6", "C3 tests/test_rows.py:10"]
    assert "3 findings in what this changes" in bot.summary
    assert [check["conclusion"] for check in fake.world.checks.values()] == ["failure"]
    first = bot.body("C2")

    # Somebody answers; the same review once more says nothing at all.
    fake.reply(bot.comments[1]["id"], "The rewards are checked elsewhere.")
    writes = len(fake.writes)
    bot.review()
    assert len(fake.writes) == writes
    assert len(bot.comments) == 4

    # A push mends one and moves the others down.
    bot.push(
        {
            "tests/test_rows.py": "import math\n\n\n"
            + strong("rows")
            + weak("rewards", "4")
            + weak("masks", "5")
        }
    )
    told = bot.review()
    assert "Since round 1: fixed 1 of 3 (C1), 2 still open." in bot.summary
    assert bot.body("C1").startswith("<!-- reviewbot-status -->\n> **Fixed** in round 2, at [`")
    assert bot.body("C2") == first
    assert len(bot.comments) == 4

    # It is rebased onto a newer base and pushed by force: nothing new is said.
    repository.git("switch", "--quiet", "main")
    fake.world.pulls[7].base = repository.commit({"other.py": "x = 1\n"})
    repository.git("switch", "--quiet", "topic")
    repository.git("rebase", "--quiet", "main")
    fake.push(repository.git("rev-parse", "HEAD"))
    told = bot.review()
    assert [(thread.id, thread.state) for thread in told.review.threads] == [("C2", "open"), ("C3", "open")]
    assert len(bot.comments) == 4

    # What was mended breaks again, and has its old id.
    bot.push({"tests/test_rows.py": weak("rows") + weak("rewards", "4") + weak("masks", "5")})
    told = bot.review()
    assert [(thread.id, thread.state) for thread in told.review.threads] == [
        ("C1", "back"),
        ("C2", "open"),
        ("C3", "open"),
    ]
    assert "> **Back** in round 4: [`tests/test_rows.py:2`]" in bot.body("C1")
    assert len(bot.comments) == 4

    # A maintainer dismisses one, with a reason.
    told = bot.review(amend=lambda one: one.dismissed("C2", "ada", "meant, see #12"))
    assert [thread.id for thread in told.review.threads] == ["C1", "C3"]
    assert "> **Dismissed** by `ada` in round 4: meant, see #" in bot.body("C2")
    assert "dismissed by `ada`: meant" in bot.summary

    # Its code changes: the dismissal was for another.
    bot.push({"tests/test_rows.py": weak("rows") + weak("rewards", "44") + weak("masks", "5")})
    told = bot.review()
    assert [thread.id for thread in told.review.threads if thread.lapsed] == ["C2"]
    assert "> **Open again** in round 5" in bot.body("C2")
    assert "1 open again since the dismissed code changed (C2)" in bot.summary

    # The last push mends all three.
    bot.push({"tests/test_rows.py": strong("rows") + strong("rewards", "44") + strong("masks", "5")})
    told = bot.review()
    assert told.failing == 0 and told.review.threads == ()
    assert "Since round 5: fixed 3 of 3 (C1, C2, C3)." in bot.summary
    assert list(fake.world.checks.values())[-1]["conclusion"] == "success"

    # It is merged; what people said is all there, and the bot has one summary and three comments.
    fake.world.pulls[7].state, fake.world.pulls[7].merged = "closed", True
    assert [one["by"] for one in bot.comments] == ["github-actions[bot]"] * 3 + ["ada"]
    assert len(fake.world.comments) == 1
