"""Whatever a pull request holds, what is posted of it does nothing."""

from __future__ import annotations

import re

import pytest
from samples import weak

NAMES = [
    "tests/test_@ada.py",
    "tests/test_`x`.py",
    "tests/test_|a|[x](https://evil.example).py",
    "tests/test_<img src=x>.py",
    "tests/test_::error::x.py",
    "tests/test_$(id).py",
    "tests/test_ -->.py",
    "tests/test_\u202eyp.py",
    "tests/test_#12 &#64;ada.py",
]
# The claim, the witness and the proposed diff quote code.
CODE = """\
def test_a(run):
    # ``` @all <!-- --> </details> ~~~ https://evil.example
    assert (run == "``` @all <script>alert(1)</script> &#64;all", "````suggestion\\n")


"""
ELEMENTS = {"p", "a", "code", "pre", "strong", "em", "sub", "b", "ul", "ol", "li", "h3", "blockquote"}
ELEMENTS |= {"details", "summary"}
ALLOWED = re.compile(r"https://github\.com/acme/trainer/(blob|commit|pull)/[^ ]+")


@pytest.mark.parametrize("path", NAMES)
def test_nothing_acts_in_what_is_posted(fake, bot, pull, page, path):
    pull({path: CODE + weak("b"), "tests/@all.bin": b"\0"}, title="@all <b>`$(id)`", head_ref="x`@all`")
    bot.review()
    bot.push({path: weak("b")})
    bot.review()
    world = fake.world
    kept = (*bot.comments, *world.comments.values(), *world.reviews.values())
    posted = [one["body"] for one in kept]
    posted += [one["output"]["summary"] for one in fake.world.checks.values()]
    assert len(posted) >= 5
    for body in posted:
        seen = page(body)
        assert seen.acts == {}, body
        assert all(ALLOWED.fullmatch(link) for link in seen.links), seen.links
        assert set(seen.elements) <= ELEMENTS


def test_a_configuration_and_rules_of_the_head_are_not_used(bot, pull):
    mute = '[tool.reviewbot]\nselect = ["loop-may-be-empty"]\nexclude = ["tests"]\n'
    pull(
        {
            "tests/test_a.py": weak("a"),
            "pyproject.toml": mute,
            "rules/constant_verdict.py": "raise SystemExit\n",
        }
    )
    assert [thread.finding.rule for thread in bot.review().review.threads] == ["constant-verdict"]


def test_what_cannot_be_reviewed_is_named(bot, pull, repository):
    repository.git("config", "core.symlinks", "true")
    pull(
        {
            "tests/test_a.py": weak("a"),
            "tests/test_broken.py": "def broken(:\n",
            "tests/test_nul.py": b"x = 1\0\n",
            "tests/test_large.py": "x = '" + "x" * 2_100_000 + "'\n",
            "image.png": b"\x89PNG\0\0",
        }
    )
    told = bot.review()
    assert [thread.id for thread in told.review.threads] == ["C1"]
    for name in ("test_broken.py", "test_nul.py", "test_large.py", "image.png"):
        assert name in bot.summary
    assert "4 files not read" in bot.summary
