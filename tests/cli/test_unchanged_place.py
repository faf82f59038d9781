"""A finding on lines that a change left alone says so, and which lines of the change it rests on."""

from __future__ import annotations

import re

import pytest

BEFORE = """\
from dataclasses import dataclass


@dataclass
class Episode:
    board: str
    moves: int


def closed(episode: Episode) -> Episode:
    return Episode(board=episode.board, moves=episode.moves)
"""
AFTER = BEFORE.replace("    moves: int\n", "    moves: int\n    seed: int = 0\n")
PLAYED = "\n\ndef played(episode: Episode) -> int:\n    return episode.moves + episode.seed\n"


@pytest.fixture
def grown(repository):
    """A field came into the class; what copies it is as it was."""
    repository.commit({"play.py": BEFORE + PLAYED})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"play.py": AFTER + PLAYED})
    return repository.folder


def test_the_comment_says_what_the_change_left_alone(reviewbot, grown):
    ran = reviewbot("review", "--base", "main", "--output-format", "markdown", cwd=grown)
    # It stands on the line that came in, not on all of the class.
    assert "`play.py:8`\n\n**C1 · `closed` builds" in ran.out
    assert (
        "The change leaves `play.py:12` as it was; this rests on what it changed at `play.py:8`." in ran.out
    )


def test_the_page_says_what_the_change_did(reviewbot, grown, tmp_path):
    ran = reviewbot("report", "--base", "main", "--out", tmp_path / "pages", cwd=grown)
    assert ran.code == 0
    text = " ".join(re.sub(r"<[^>]*>", "", (tmp_path / "pages" / "C1.html").read_text()).split())
    did = text.partition("This PR ")[2].partition(" Status")[0]
    assert did.startswith("Leaves play.py:12 as it was, in closed")
    assert "What it changes is play.py:8, on which the argument rests." in did
    assert "Touches" not in did
    assert "Raised as a comment on play.py, line 8." in text


def test_lines_that_did_change_are_not_called_left_alone(reviewbot, repository, tmp_path):
    repository.commit({"play.py": BEFORE.partition("def closed")[0] + PLAYED})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"play.py": AFTER + PLAYED})
    ran = reviewbot("review", "--base", "main", "--output-format", "markdown", cwd=repository.folder)
    assert "**C1 · `closed` builds" in ran.out
    assert "as it was" not in ran.out
