"""The pages that mode post leaves: every round of the pull request, as the bot's own ledger knows them."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from reviewbot.github import conversation
from reviewbot.github.client import GitHub, Pace
from reviewbot.review import ledger

pytestmark = pytest.mark.slow

PATH = "tests/test_tides.py"
BASE = "def levels(run):\n    return run\n"
TUPLE = "def test_highs(run):\n    assert (run(1) == [2], 'wrong')\n\n\n"
SAME = "def test_lows(run):\n    low = run(2)\n    assert low == low\n\n\n"
LENGTH = "def test_count(run):\n    assert len(run(3)) >= 0\n\n\n"
MENDED = "def test_highs(run):\n    assert run(1) == [2], 'wrong'\n\n\n"


@pytest.fixture
def posted(tmp_path, fake, repository, reviewbot):
    """Pushes files and lets mode post run; returns what ran and the text of each page."""
    temp = tmp_path / "temp"
    temp.mkdir()
    base = repository.commit({"tides.py": BASE})
    repository.git("switch", "--quiet", "--create", "topic")

    def run(files: dict[str, str]):
        head = repository.commit(files)
        if 7 in fake.world.pulls:
            fake.push(head)
        else:
            fake.open_pull(base, head)
        made = {"event": "pull_request", "head_sha": head, "head_branch": "topic"}
        made |= {"head_repository": {"full_name": "acme/trainer"}, "pull_requests": []}
        event = tmp_path / "event.json"
        event.write_text(json.dumps({"action": "completed", "workflow_run": made}))
        output = tmp_path / "output"
        output.unlink(missing_ok=True)
        env = {
            **fake.environ(),
            "GITHUB_EVENT_NAME": "workflow_run",
            "GITHUB_EVENT_PATH": event,
            "GITHUB_OUTPUT": output,
            "GITHUB_STEP_SUMMARY": tmp_path / "summary",
            "GITHUB_RUN_ID": "99",
            "RUNNER_TEMP": temp,
        }
        ran = reviewbot("action", "--mode=post", env={name: str(value) for name, value in env.items()})
        assert ran.code in (0, 1), ran.out
        outputs = dict(line.split("=", 1) for line in output.read_text().splitlines() if "=" in line)
        assert outputs["pages"] == str(temp / "reviewbot-pages")
        return {path.name: path.read_text() for path in (temp / "reviewbot-pages").glob("*.html")}

    return run


def listed(page: str) -> dict[str, str]:
    """The findings that a round's page lists, each with its state."""
    out = {}
    for state, part in re.findall(r'<h2 id="s-(\w+)">(.*?)(?=<h2|</main>)', page, re.DOTALL):
        out |= dict.fromkeys(re.findall(r"<b>(C\d+)</b>", part), state)
    return out


def changes(page: str) -> str:
    """What a round's page says of what changed."""
    found = re.search(r"<p>(Since round .*?)</p>", page)
    return found[1] if found else ""


def test_the_third_round_shows_all_three(posted, fake):
    pages = posted({PATH: TUPLE + SAME})
    assert listed(pages["round-1.html"]) == {"C1": "new", "C2": "new"}
    pages = posted({PATH: MENDED + SAME + LENGTH})
    pages = posted({PATH: TUPLE + LENGTH})
    assert listed(pages["round-1.html"]) == {"C1": "new", "C2": "new"}
    assert listed(pages["round-2.html"]) == {"C1": "fixed", "C2": "open", "C3": "new"}
    assert listed(pages["round-3.html"]) == {"C1": "back", "C2": "gone", "C3": "open"}
    assert changes(pages["round-2.html"]) == "Since round 1: fixed 1 of 2 (C1), 1 new (C3), 1 still open."
    assert "1 gone with the code (C2), 1 back (C1), 1 still open." in changes(pages["round-3.html"])
    for number in (1, 2, 3):
        assert f'href="round-{number}.html"' in pages["index.html"]
    assert "This page is about an older head" in pages["C2.html"]
    # What the conversation says of each is what the pages say.
    (summary,) = [one["body"] for one in fake.world.comments.values() if "reviewbot-summary" in one["body"]]
    assert "(http://127.0.0.1" in summary and "/actions/runs/99#artifacts)" in summary


def test_what_happened_between_the_rounds_and_a_round_that_was_pushed_away(posted, fake):
    posted({PATH: TUPLE + SAME})
    github = GitHub.of_environment(fake.slug, fake.environ(), Pace(0, 0, 0, 0))
    pull = github.pull(7)
    was = conversation.read(github, 7, pull.base, pull.head)
    lost = ledger.Look(1, pull.base, "1" * 40)
    first = replace(was.ledger, rounds=(lost,)).dismissed("C1", "mia", "the tuple is meant")
    body = f"{was.summary.body.partition('<!-- reviewbot-ledger')[0]}{ledger.encode(first)}\n"
    github.edit_comment(was.summary.id, body)
    posted({PATH: TUPLE + SAME + LENGTH})
    pages = posted({PATH: TUPLE + LENGTH})
    assert "round-1.html" not in pages
    assert listed(pages["round-2.html"]) == {"C1": "dismissed", "C2": "open", "C3": "new"}
    assert listed(pages["round-3.html"]) == {"C1": "dismissed", "C2": "gone", "C3": "open"}
    assert "<b>Dismissed</b> by mia" in pages["C1.html"]
    assert "Of round 1 the commit is not to be had any more" in pages["index.html"]
