"""A ledger comes back as it was, from its own place alone, and never longer than it may be."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from reviewbot.review import ledger
from reviewbot.review.ledger import Entry, Ledger, Look, Mark

HEAD = "5ac1f0c2b7d9e3684f50a1b2c3d4e5f60718293a"


def entry(number: int, **changes: object) -> Entry:
    digest = hashlib.sha256(str(number).encode()).hexdigest()
    made = Entry(
        id=f"C{number}",
        rule="excuse-branch",
        path=f"tests/parity/test_{number % 7}.py",
        unit="compare_rows",
        line=number,
        fingerprint=digest[:16],
        text=digest[16:32],
        code=digest[32:48],
        says=digest[48:],
        state="open",
        since=1,
        first_round=1,
        last_round=1,
        place="line",
    )
    return replace(made, **changes)


def kept(*entries: Entry) -> Ledger:
    looks = (Look(1, HEAD, HEAD),)
    return Ledger("acme/trainer", 7, 3, looks, ("excuse-branch",), entries, len(entries) + 1)


def test_it_comes_back_as_it_was_from_among_other_text():
    made = kept(entry(1), entry(2)).dismissed("c2", "ada", "an -- old --> row, <!-- meant -->")
    body = f"### Summary\n\n{ledger.encode(made)}\n\nand more\n"
    assert ledger.decode(body, "Acme/Trainer", 7) == made
    assert ledger.bare(body) == "### Summary\n\n\n\nand more\n"


@pytest.mark.parametrize(("repository", "pull"), [("acme/other", 7), ("acme/trainer", 8)])
def test_a_copy_from_elsewhere_is_none(repository, pull):
    assert ledger.decode(ledger.encode(kept(entry(1))), repository, pull) is None
    line = ledger.mark(Mark("acme/trainer", 7, Look(1, HEAD, HEAD), entry(1)))
    assert ledger.marked(line, repository, pull) is None


@pytest.mark.parametrize("at", range(30, 200, 17))
def test_a_broken_one_is_none(at):
    line = ledger.encode(kept(entry(1)))
    assert ledger.decode(line[:at] + line[at + 1 :], "acme/trainer", 7) is None


def test_one_whose_digest_is_another_is_none():
    line = ledger.encode(kept(entry(1)))
    digit = line.index(" ", len("<!-- reviewbot-ledger")) + 1
    other = "0" if line[digit] != "0" else "1"
    assert ledger.decode(line[:digit] + other + line[digit + 1 :], "acme/trainer", 7) is None


def test_one_that_unpacks_to_too_much_is_none(monkeypatch):
    line = ledger.encode(kept(*map(entry, range(1, 50))))
    assert ledger.decode(line, "acme/trainer", 7) is not None
    monkeypatch.setattr(ledger, "_LARGEST", 1000)
    assert ledger.decode(line, "acme/trainer", 7) is None


def test_three_hundred_threads_fit_whole():
    made = kept(*map(entry, range(1, 301)))
    line = ledger.encode(made)
    assert len(line) <= ledger.ROOM
    assert ledger.decode(line, "acme/trainer", 7) == made


def test_where_room_is_short_entries_with_a_mark_of_their_own_go_first_then_those_that_are_settled():
    entries = [
        *(entry(n, comment=n) for n in range(1, 200)),
        *(entry(n, state="fixed") for n in range(200, 400)),
        *map(entry, range(400, 430)),
    ]
    line = ledger.encode(kept(*entries), room=6_000)
    assert len(line) <= 6_000
    got = ledger.decode(line, "acme/trainer", 7)
    assert got is not None and got.next == 430
    names = {one.id for one in got.entries}
    assert {f"C{n}" for n in range(400, 430)} <= names
    assert not names & {f"C{n}" for n in range(1, 200)}
    assert len(line) > 5_800


def test_the_entry_of_a_comment_comes_back():
    made = Mark("acme/trainer", 7, Look(3, HEAD, HEAD), entry(1200, comment=5))
    body = "**C1200**\n\n" + ledger.mark(made) + "\n"
    assert ledger.marked(body, "acme/trainer", 7) == made


def test_a_dismissal_holds_for_the_code_that_was_seen_and_ends_when_reopened():
    first = kept(entry(1))
    dismissed = first.dismissed("C1", "ada", "meant")
    found = dismissed.entry("c1")
    assert found is not None and found.state == "dismissed"
    assert found.dismissal == ledger.Dismissal("ada", "meant", 1, HEAD, entry(1).code)
    again = dismissed.reopened("C1").entry("C1")
    assert again == entry(1)
    assert dismissed.reopened("C1").serial == first.serial + 2
    with pytest.raises(KeyError):
        first.dismissed("C9", "ada", "meant")


@pytest.mark.parametrize("fence", ["```", "````suggestion", "  ```diff"])
def test_code_that_the_bot_quotes_holds_no_state(fence):
    """A pull request decides what its code says; only the bot's own lines are its memory."""
    forged = ledger.encode(replace(kept(entry(1)), serial=99))
    pretended = ledger.mark(ledger.Mark("acme/trainer", 7, ledger.Look(9, "", ""), entry(2)))
    closing = fence.strip(" adefginostu")
    quoted = f"{fence}\n{forged}\n{pretended}\n<!-- reviewbot-summary -->\n{closing}\n"
    assert ledger.decode(quoted, "acme/trainer", 7) is None
    assert ledger.marked(quoted, "acme/trainer", 7) is None
    assert ledger.hidden(quoted) == []
    assert ledger.bare(quoted) == quoted
    real = ledger.encode(kept(entry(3)))
    # A person's browser sends other line ends.
    for body in (f"{quoted}{real}\n", f"{real}\n{quoted}", f"{quoted}{real}\n".replace("\n", "\r\n")):
        found = ledger.decode(body, "acme/trainer", 7)
        assert found is not None and [one.id for one in found.entries] == ["C3"]
    assert ledger.decode(f"`{real}`\n> {real}\n  {real}", "acme/trainer", 7) is None
