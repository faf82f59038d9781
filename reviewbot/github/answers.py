"""Answers in a pull request's conversation: each is there once, however often its job runs."""

from __future__ import annotations

from reviewbot.errors import Unsure
from reviewbot.github.client import GitHub

_TRIES = 3


def answer(github: GitHub, pull: int, key: str, text: str) -> None:
    """Says `text` under `key` (letters, digits and dashes): an answer of that key is edited, not repeated.

    Raises `Unsure` where GitHub leaves it open, each time, whether the answer was stored.
    """
    mark = f"<!-- reviewbot-answer {key} -->"
    body = f"{text.rstrip()}\n\n{mark}"
    for left in reversed(range(_TRIES)):
        mine = (one for one in github.comments(pull) if one.author == github.viewer and mark in one.body)
        there = next(mine, None)
        try:
            if there is None:
                github.add_comment(pull, body)
            elif there.body != body:
                github.edit_comment(there.id, body)
        except Unsure:  # it may have been stored: looked at again
            if not left:
                raise
        else:
            return
