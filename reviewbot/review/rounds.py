"""A round: what a look at the head makes of the threads of the rounds before it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from reviewbot.errors import GitError
from reviewbot.lint import registry
from reviewbot.model import Review, Round, RuleNote, Settled, Standing, State, Thread
from reviewbot.review import threads
from reviewbot.review.ledger import MOST_ROUNDS, Dismissal, Entry, Ledger
from reviewbot.review.ledger import Look as Looked
from reviewbot.review.local import Look
from reviewbot.review.matching import Moves, Told, paired, told
from reviewbot.review.proposal import Read
from reviewbot.review.scope import lines_of, printable
from reviewbot.source.diff import ChangedLines, changed_lines
from reviewbot.source.git import Repository
from reviewbot.source.permalink import Remote

SILENCED = "a comment in the code silences it"


@dataclass(frozen=True)
class Made:
    """A round's review, and the ledger as it is after it."""

    review: Review
    ledger: Ledger


def next_round(
    look: Look,
    ledger: Ledger,
    repository: Repository,
    remote: Remote | None,
    known: tuple[int, Ledger] | None = None,
) -> Made:
    """The round that `look` is, after those of `ledger`.

    The same look again, at the head of the last round, is that round again: it changes nothing that it has
    decided already. `known` is for a round that was told before: its number, and a later ledger, from which
    findings take their ids; those that it does not have are left out.
    """
    last = ledger.rounds[-1] if ledger.rounds else None
    again = last is not None and (last.base, last.head) == (look.base, look.head)
    number = known[0] if known else 1 if last is None else last.number + (not again)
    read = lines_of(partial(repository.read, look.head))
    moves = _moves(look, ledger, repository)
    there = frozenset(change.path for change in look.changes if change.status != "deleted") | look.beside
    found = told(threads.one_a_cause(look.findings), read)
    matches = paired(found, ledger.entries, moves, there)
    kept, withheld = _withheld(found, matches, look, ledger, repository)
    if known:
        names = _known_names(kept, found, matches, look, ledger, known, repository, there)
        kept = [index for index in kept if index in names]
    else:
        names = _names(kept, matches, ledger)
    told_now = _told_now(kept, names, found, matches, look, number, read)
    entries = {entry.id: entry for _, entry in told_now}
    left = [entry for entry in ledger.entries if entry.id not in entries]
    silenced = paired(told(threads.one_a_cause(look.suppressed), read), left, moves, there)
    by_comment = {entry.id for entry in silenced.values()}
    others = {
        (rule, one.finding.span.path, one.finding.unit, one.text)
        for one in told(threads.one_a_cause(look.others), read)
        for rule in one.rules
    }
    for one in left:
        outside = (one.rule, moves.path(one.path), one.unit, one.text) in others
        entries[one.id] = _after(one, one.id in by_comment, outside, look, moves, number, read)
    ordered = tuple(sorted(entries.values(), key=lambda entry: entry.number))
    live = tuple(thread for thread, entry in told_now if entry.live)
    named = {thread.id for thread in live}
    review = Review(
        repository=str(remote) if remote else None,
        rounds=(_round(look, number, withheld, ordered),),
        threads=live,
        settled=tuple(_settled(entry) for entry in ordered if entry.id not in named),
        former=tuple(thread for thread, entry in told_now if not entry.live),
        rules=tuple(_note(rule) for rule in sorted({thread.finding.rule for thread, _ in told_now})),
    )
    rounds = ledger.rounds if again else (*ledger.rounds, Looked(number, look.base, look.head))
    after = replace(
        ledger,
        rounds=rounds if len(rounds) <= MOST_ROUNDS else (rounds[0], *rounds[1 - MOST_ROUNDS :]),
        rules=ledger.rules or tuple(sorted(look.rules)),
        entries=ordered,
        next=max([ledger.next, *(entry.number + 1 for entry in ordered)]),
    )
    return Made(review, after if after == ledger else replace(after, serial=ledger.serial + 1))


def known_as(review: Review, ledger: Ledger) -> Review:
    """A head that was looked at by itself, its findings under the ids that they have in the conversation.

    What the conversation does not know has ids that it has not given yet.
    """
    known = {entry.fingerprint: entry.id for entry in ledger.entries if entry.state not in ("fixed", "gone")}
    free = _from(max([ledger.next, *(entry.number + 1 for entry in ledger.entries)]))
    named = (
        replace(thread, id=known.get(thread.finding.fingerprint) or f"C{next(free)}")
        for thread in review.threads
    )
    return replace(review, threads=tuple(named))


def joined(reviews: Sequence[Review]) -> Review:
    """The last of several rounds' reviews (oldest first) with all their rounds, and with what the earlier
    ones saw of the threads that no longer stand."""
    last = reviews[-1]
    standing = {one.id: one for one in last.rounds[-1].standing}
    live = {thread.id for thread in last.threads}
    seen = {thread.id: thread for review in reviews for thread in (*review.threads, *review.former)}
    former = tuple(
        replace(thread, state=standing[name].state, since=standing[name].since)
        for name, thread in sorted(seen.items(), key=lambda item: int(item[0][1:]))
        if name not in live and name in standing
    )
    notes = {note.rule: note for review in reviews for note in review.rules}
    return replace(
        last,
        rounds=tuple(one for review in reviews for one in review.rounds),
        former=former,
        rules=tuple(notes[rule] for rule in sorted(notes)),
    )


def _round(look: Look, number: int, withheld: int, entries: Iterable[Entry]) -> Round:
    # What is not looked at beside the change is none of its files.
    own = {printable(change.path) for change in look.changes}
    return Round(
        number=number,
        base=look.base,
        merge_base=look.merge_base,
        head=look.head,
        files=look.files,
        read=look.files - len(own & {one.path for one in look.unread}),
        unread=look.unread,
        suppressed=look.suppressed,
        failed=look.failed,
        beside=len(look.beside),
        withheld=withheld,
        standing=tuple(
            Standing(one.id, one.state, one.since, one.dismissal is not None and one.state == "open")
            for one in entries
        ),
    )


def _told_now(
    kept: list[int],
    names: Mapping[int, str],
    found: list[Told],
    matches: Mapping[int, Entry],
    look: Look,
    number: int,
    read: Read,
) -> list[tuple[Thread, Entry]]:
    """The threads of this round's findings, in their order and by their ids, with their entries."""
    # The room that comments have is shared by those that stand and those that are still to come.
    unsaid = [index for index in kept if index not in matches or matches[index].comment is None]
    said = sum(entry.comment is not None and entry.live for entry in matches.values())
    chosen = threads.inline([found[index].finding for index in unsaid], threads.INLINE_LIMIT - said)
    inline = {unsaid[at] for at in chosen} | {index for index in kept if _spoken(matches.get(index))}
    revealed = frozenset(finding.fingerprint for finding in look.revealed)
    out = []
    files = 0
    for index in kept:
        one = found[index]
        beside = look.changed.beside(one.finding)
        made = threads.thread(
            names[index], one.finding, one.also, look.shown, read, beside, inline=index in inline
        )
        if made.place == "file" and not _spoken(matches.get(index)):
            files += 1
            if files > threads.FILE_LIMIT:
                made = replace(made, place="summary", anchor=None)
        entry = _entry(made, one, matches.get(index), number)
        thread = replace(
            made,
            state=entry.state,
            first_round=entry.first_round,
            last_round=number,
            place=entry.place,
            revealed=one.finding.fingerprint in revealed,
            since=entry.since,
            lapsed=entry.dismissal is not None,
        )
        out.append((thread, entry))
    live = [thread for thread, entry in out if entry.live]
    apart = {thread.id: thread for thread in threads.one_suggestion_a_line(live, look.shown, read)}
    return [(apart.get(thread.id, thread), entry) for thread, entry in out]


def _moves(look: Look, ledger: Ledger, repository: Repository) -> Moves:
    """Where the files of the last round are now. Its head may be gone, after a push by force."""
    renamed = {
        change.old_path: change.path
        for change in look.changes
        if change.status == "renamed" and change.old_path is not None
    }
    if not ledger.rounds:
        return Moves(renamed)
    try:
        diff = repository.diff(repository.commit(ledger.rounds[-1].head), look.head)
        old = {entry.path for entry in ledger.entries}
        hunks = {
            c.old_path: diff.hunks(c) for c in diff.changes if c.old_path is not None and c.old_path in old
        }
        since = {c.old_path: c.path for c in diff.changes if c.status == "renamed" and c.old_path is not None}
    except GitError:
        return Moves(renamed)
    return Moves(renamed | since, hunks)


def _withheld(
    found: list[Told], matches: Mapping[int, Entry], look: Look, ledger: Ledger, repository: Repository
) -> tuple[list[int], int]:
    """The findings that are told, by their places, and the number of the others.

    A rule that the first round did not have, such as one of a newer release, tells of nothing that stood
    there then.
    """
    later = look.rules - set(ledger.rules) if ledger.rules and ledger.rounds else frozenset()
    every = list(range(len(found)))
    if not any(one.finding.rule in later for one in found):
        return every, 0
    since = _changed_since(ledger.rounds[0].head, look.head, repository)

    def tells(index: int) -> bool:
        finding = found[index].finding
        return finding.rule not in later or index in matches or (since is not None and since.touch(finding))

    kept = [index for index in every if tells(index)]
    return kept, len(every) - len(kept)


def _changed_since(first: str, head: str, repository: Repository) -> ChangedLines | None:
    """None where the first head is not to be had: what changed since is unknown."""
    try:
        return changed_lines(repository.diff(repository.commit(first), head).files())
    except GitError:
        return None


def _names(kept: Iterable[int], matches: Mapping[int, Entry], ledger: Ledger) -> dict[int, str]:
    """An id for each finding: its thread's, or the first from `ledger.next` on that nothing has."""
    taken = {entry.number for entry in ledger.entries}
    free = (number for number in _from(ledger.next) if number not in taken)
    return {index: matches[index].id if index in matches else f"C{next(free)}" for index in kept}


def _known_names(
    kept: Iterable[int],
    found: list[Told],
    matches: Mapping[int, Entry],
    look: Look,
    ledger: Ledger,
    known: tuple[int, Ledger],
    repository: Repository,
    there: frozenset[str],
) -> dict[int, str]:
    """The ids that the findings of a round that was told before were given then, as far as that is known."""
    number, later = known
    taken = {entry.id for entry in ledger.entries}
    unnamed = [index for index in kept if index not in matches]
    given = [entry for entry in later.entries if entry.first_round <= number and entry.id not in taken]
    back = paired([found[index] for index in unnamed], given, _moves(look, later, repository), there)
    named = {unnamed[at]: entry.id for at, entry in back.items()}
    return named | {index: matches[index].id for index in kept if index in matches}


def _from(number: int) -> Iterator[int]:
    while True:
        yield number
        number += 1


def _spoken(old: Entry | None) -> bool:
    """Whether a thread has a comment of its own already."""
    return old is not None and old.comment is not None and old.place != "summary"


def _entry(thread: Thread, one: Told, old: Entry | None, number: int) -> Entry:
    """A finding's entry after this round."""
    state, since = _state(one, old, number)
    place, comment = thread.place, None
    if old is not None and old.comment is not None:
        # It stays where it was said, also where that was taken away by a person.
        place, comment = old.place, old.comment
    return Entry(
        id=thread.id,
        rule=one.finding.rule,
        path=one.finding.span.path,
        unit=one.finding.unit,
        line=one.finding.span.line,
        fingerprint=one.finding.fingerprint,
        text=one.text,
        code=one.code,
        says=one.says,
        state=state,
        since=since,
        first_round=old.first_round if old else number,
        last_round=number,
        place=place,
        comment=comment,
        dismissal=old.dismissal if old and old.dismissal and old.dismissal.by else None,
    )


def _state(one: Told, old: Entry | None, number: int) -> tuple[State, int]:
    if old is None or (old.first_round == number and old.live):
        return "new", number
    dismissal = old.dismissal
    if dismissal is not None and dismissal.by and dismissal.code == one.code:
        return "dismissed", old.since if old.state == "dismissed" else number
    if old.state in ("fixed", "gone") or (old.state == "back" and old.since == number):
        return "back", number
    return "open", old.since if old.state == "open" else number


def _after(
    entry: Entry, silenced: bool, outside: bool, look: Look, moves: Moves, number: int, read: Read
) -> Entry:
    """The entry of a thread that no finding of this round belongs to. `outside`: one belongs to it that the
    change does not cause any more, such as after it was rebased onto a branch that has it."""
    path = moves.path(entry.path)
    if silenced:
        if entry.state == "dismissed":
            return entry
        dismissal = Dismissal("", SILENCED, number, look.head, entry.code)
        return replace(entry, state="dismissed", since=number, path=path, dismissal=dismissal)
    if entry.state in ("fixed", "gone"):
        return entry
    if _unknown(entry, path, look):
        return replace(entry, path=path, state="open", since=number) if entry.state == "back" else entry
    if outside:
        return replace(entry, state="gone", since=number, path=path)
    return replace(entry, state=_why_not(entry, path, look, read), since=number, path=path)


def _unknown(entry: Entry, path: str, look: Look) -> bool:
    """Whether nothing was learnt of the file, or of what the rule says of it."""
    known = {printable(change.path) for change in look.changes if change.new_id in (None, change.old_id)}
    unread = {one.path for one in look.unread} - known
    failed = {one.path for one in look.failed if one.why.startswith(f"rule {entry.rule}:")}
    return printable(path) in unread or path in failed


def _why_not(entry: Entry, path: str, look: Look, read: Read) -> State:
    """`fixed` where its code is still there and looked at, otherwise `gone`."""
    # A file that was only renamed is as it is at the base.
    there = {
        change.path for change in look.changes if change.new_id not in (None, change.old_id)
    } | look.beside
    if entry.rule not in look.rules or path not in there:
        return "gone"
    name = entry.unit.rpartition(".")[2]
    lines = read(path) or []
    if (
        name
        and path.endswith(".py")
        and not any(re.search(rf"\b(def|class)\s+{re.escape(name)}\b", x) for x in lines)
    ):
        return "gone"
    return "fixed"


def _settled(entry: Entry) -> Settled:
    told = entry.dismissal if entry.state == "dismissed" else None
    return Settled(
        id=entry.id,
        rule=entry.rule,
        path=entry.path,
        state=entry.state if not entry.live else "open",
        since=entry.since,
        by=told.by if told else "",
        reason=told.reason if told else "",
    )


def _note(rule: str) -> RuleNote:
    if rule not in registry.rule_ids():
        return RuleNote(rule, "A comment that is to silence a rule and cannot.", "")
    return RuleNote(rule, registry.first_sentence(rule), registry.section(rule, "Instead"))
