"""Much to say: requests stay few, and nothing is lost unsaid."""

from __future__ import annotations

import re

import pytest
from samples import strong, weak

from reviewbot.render.comments import LIMIT
from reviewbot.review import ledger

PATH = "tests/test_rows.py"


@pytest.mark.slow
def test_three_hundred_findings(fake, bot, pull):
    pull({f"tests/test_{number}.py": weak("a") + weak("b") + weak("c") for number in range(100)})
    told = bot.review()
    assert len(told.review.threads) == told.failing == 300
    assert len(fake.calls) <= 40 and len(fake.writes) <= 12
    # Forty where they stand, in two reviews; the summary says how many it has no room for.
    assert len(bot.titles) == 40 and len(fake.world.reviews) == 2
    assert len(bot.summary) <= LIMIT
    named = set(re.findall(r"\*\*(C\d+)\*\*|<b>(C\d+)</b>", bot.summary))
    left = sum(map(int, re.findall(r"… and (\d+) more", bot.summary)))
    assert len(named) + left == 300
    (check,) = fake.world.checks.values()
    assert len(check["annotations"]) == 300
    # All are known in the next round, at no more cost.
    assert len(bot.ledger.entries) == 300
    calls = len(fake.calls)
    bot.push({"tests/test_0.py": strong("a") + weak("b") + weak("c")})
    told = bot.review()
    assert {thread.state for thread in told.review.threads} == {"open"} and len(told.review.threads) == 299
    assert "fixed 1 of 300 (C1), 299 still open" in bot.summary
    # One comment's room is free, and the next finding takes it.
    assert len(bot.titles) == 41 and len(fake.calls) - calls <= 40


def test_a_ledger_that_has_no_room_is_whole_again_from_its_copy_and_the_comments(bot, pull, monkeypatch):
    pull({PATH: "".join(weak(f"t{number}") for number in range(60))})
    monkeypatch.setattr(ledger.encode, "__defaults__", (2_000,))
    bot.review()
    kept = bot.ledger
    assert len(kept.entries) < 30 and kept.next == 61
    bot.push({PATH: "import math\n" + "".join(weak(f"t{number}") for number in range(61))})
    told = bot.review()
    assert [thread.state for thread in told.review.threads] == ["open"] * 60 + ["new"]
    assert told.review.threads[-1].id == "C61" and len(bot.titles) == 40


@pytest.mark.slow
def test_three_thousand_files(fake, bot, pull):
    files = {f"package/module_{number}.py": f"x = {number}\n" for number in range(3_100)}
    pull({**files, "tests/test_a.py": weak("a"), "a_test.py": weak("b")})
    told = bot.review()
    assert told.review.rounds[0].read == 3_102
    assert bot.titles == ["C1 a_test.py:2"]
    assert "GitHub names 3000 of 3102 changed files" in bot.summary and "<b>C2</b>" in bot.summary
    assert len(fake.calls) <= 50


def test_a_body_that_is_too_long_is_cut_at_a_piece_and_says_so(bot, pull, page):
    pull({PATH: weak("a", "'" + "\U0001f600`" * 30_000 + "'")})
    bot.review()
    assert max(len(one["body"].encode("utf-16-le")) // 2 for one in bot.comments) <= LIMIT
    assert "too long to be shown here" in bot.body("C1")
    page(bot.body("C1"))
    assert ledger.marked(bot.body("C1"), "acme/trainer", 7) is not None
