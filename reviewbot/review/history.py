"""The rounds before the last one, looked at again.

The ledger keeps of an earlier round its commits and the ids of what it found, no more. So its page is made by
looking at the same commits once more, as data, like a new round; the ids are those of the ledger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from reviewbot.model import Review, Thread
from reviewbot.review import ledger as ledgers
from reviewbot.review.ledger import Entry, Ledger
from reviewbot.review.local import Look
from reviewbot.review.rounds import next_round
from reviewbot.source.git import Repository
from reviewbot.source.permalink import Remote

MOST = 12  # rounds before the last one; each costs a whole look

# A look at a round's commits; None where they are not to be had any more.
LookAgain = Callable[[ledgers.Look], Look | None]


def earlier(
    ledger: Ledger, repository: Repository, remote: Remote | None, look_again: LookAgain
) -> list[Review]:
    """The reviews of the rounds before the last one of `ledger`, oldest first, as far as they can be made.

    A thread that the ledger does not know, such as a finding of a rule that is newer than the round, is left
    out. What a person did between two rounds is known as far as it still holds.
    """
    rounds = ledger.rounds[:-1][-MOST:]
    if not rounds:
        return []
    then = _without(ledger, rounds[0].number)
    out = []
    for one in rounds:
        look = look_again(one)
        if look is None:
            then = _without(ledger, one.number + 1)
            continue
        made = next_round(look, then, repository, remote, (one.number, ledger))
        ordered = _dismissed(made.ledger, ledger, one.number)
        if ordered != made.ledger:
            made = next_round(look, ordered, repository, remote, (one.number, ledger))
        then = made.ledger
        places = {entry.id: entry for entry in ledger.entries}
        threads = tuple(_placed(thread, places) for thread in made.review.threads)
        out.append(replace(made.review, threads=threads))
    return out


def _without(ledger: Ledger, number: int) -> Ledger:
    """What the ledger tells of the rounds before `number` by itself."""
    rounds = tuple(one for one in ledger.rounds if one.number < number)
    entries = (_at(entry, number) for entry in ledger.entries if entry.first_round < number)
    return replace(ledger, rounds=rounds, entries=tuple(entries))


def _at(entry: Entry, number: int) -> Entry:
    """An entry before round `number`. What happened to it later says nothing of how it stood then."""
    if entry.since < number:
        return entry
    return replace(entry, state="open", since=entry.first_round, dismissal=None)


def _dismissed(then: Ledger, ledger: Ledger, number: int) -> Ledger:
    """The ledger with what persons dismissed in round `number`."""
    for entry in ledger.entries:
        told = entry.dismissal
        if told and told.by and told.round == number and then.entry(entry.id):
            then = then.dismissed(entry.id, told.by, told.reason)
    return then


def _placed(thread: Thread, entries: dict[str, Entry]) -> Thread:
    """A thread where it was spoken of."""
    if thread.id in entries and entries[thread.id].place == "summary":
        return replace(thread, place="summary", anchor=None)
    return thread
