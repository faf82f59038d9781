"""Answers in a pull request's conversation: each is there once, however often its job runs."""

from __future__ import annotations

from functools import partial

from reviewbot.github.client import Comment, GitHub
from reviewbot.github.patience import once
from reviewbot.render.comments import LIMIT
from reviewbot.review.ledger import hidden


def answer(github: GitHub, pull: int, key: str, text: str, *, anew: bool = True) -> None:
    """Says `text` under `key` (letters, digits and dashes): an answer of that key is edited, not repeated.
    Where there is none, one is given if `anew`.

    Raises `Unsure` where GitHub leaves it open, each time, whether the answer was stored, and `Busy` where it
    asks for patience for too long.
    """
    mark = f"<!-- reviewbot-answer {key} -->"
    body = f"{text.rstrip()}\n\n{mark}"
    if len(body.encode("utf-8", "surrogatepass")) > LIMIT:
        body = f"The answer is longer than GitHub takes; your own machine says all of it.\n\n{mark}"

    def there() -> Comment | None:
        mine = (one for one in github.comments(pull) if one.author == github.viewer)
        return next((one for one in mine if mark in hidden(one.body)), None)

    now = there()
    if now is None:
        if anew:
            once(lambda: github.add_comment(pull, body), there, github.pace)
    elif now.body != body:
        edit = partial(github.edit_comment, now.id, body)
        once(edit, lambda: None, github.pace)
