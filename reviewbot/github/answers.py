"""Answers in a pull request's conversation: each is there once, however often its job runs."""

from __future__ import annotations

from reviewbot.errors import Unsure
from reviewbot.github.client import GitHub
from reviewbot.render.comments import LIMIT
from reviewbot.review.ledger import hidden

_TRIES = 3


def answer(github: GitHub, pull: int, key: str, text: str, *, anew: bool = True) -> None:
    """Says `text` under `key` (letters, digits and dashes): an answer of that key is edited, not repeated.
    Where there is none, one is given if `anew`.

    Raises `Unsure` where GitHub leaves it open, each time, whether the answer was stored.
    """
    mark = f"<!-- reviewbot-answer {key} -->"
    body = f"{text.rstrip()}\n\n{mark}"
    if len(body.encode("utf-8", "surrogatepass")) > LIMIT:
        body = f"The answer is longer than GitHub takes; your own machine says all of it.\n\n{mark}"
    for left in reversed(range(_TRIES)):
        mine = (one for one in github.comments(pull) if one.author == github.viewer)
        there = next((one for one in mine if mark in hidden(one.body)), None)
        try:
            if there is None:
                if anew:
                    github.add_comment(pull, body)
            elif there.body != body:
                github.edit_comment(there.id, body)
        except Unsure:  # it may have been stored: looked at again
            if not left:
                raise
        else:
            return
