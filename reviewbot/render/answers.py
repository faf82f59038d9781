"""What the bot answers to a command, and what it tells of a job that ran code of the pull request."""

from __future__ import annotations

from collections.abc import Mapping

from reviewbot.model import RuleNote, State, Thread
from reviewbot.parity.result import DIGEST_OF
from reviewbot.render import inert
from reviewbot.render.comments import MOST, Link, commit_links
from reviewbot.render.inert import Markdown
from reviewbot.render.markdown import render
from reviewbot.review.commands import USAGE, Verb
from reviewbot.review.ledger import Entry
from reviewbot.review.outcome import SHOWN, Kind, Outcome, Probe
from reviewbot.source.permalink import Remote

_DOES: Mapping[Verb, str] = {
    "help": "this list",
    "explain": "what a finding says, why, and what to write instead",
    "dismiss": "a finding is right as it stands, for that reason; it lapses when its code changes",
    "reopen": "takes a dismissal back",
    "recheck": "reviews the head again",
    "probe": "runs the finding's check on changed inputs and shows a difference that passes",
    "parity": "compares a run with a restored one on a GPU, for the head or for the commit that is named",
    "size": "where the lines of this change go",
}
_STATES: Mapping[State, str] = {
    "new": "new",
    "open": "open",
    "fixed": "fixed",
    "back": "back",
    "dismissed": "dismissed",
    "gone": "gone with the code that it stood in",
}
_VERDICTS: Mapping[Kind, Mapping[str, str]] = {
    "parity": {
        "pass": "no difference",
        "fail": "the runs differ",
        "set_aside": "rows differ from a near-tie on",
        "inconclusive": "inconclusive",
    },
    "probe": {
        "pass": "no difference was found that passes",
        "fail": "the check lets differences through",
        "inconclusive": "nothing could be run",
    },
}
_WITNESSES = 3
_VALUE = 120  # characters of a changed value


def help_page() -> str:
    """The commands."""
    return render("answers/help.md.j2", lines=[(f"/reviewbot {USAGE[verb]}", _DOES[verb]) for verb in USAGE])


def sentence(says: str) -> str:
    """One sentence, in which code stands between backticks."""
    return str(inert.claim(says)) + "\n"


def explanation(
    entry: Entry, note: RuleNote, why: str, address: str, thread: Thread | None, link: Link
) -> str:
    """A finding and its rule. `address` is that of its comment, "" if it has none."""
    inside = f", {inert.code(entry.unit)}" if entry.unit else ""
    return render(
        "answers/explain.md.j2",
        entry=entry,
        note=note,
        why=why,
        address=address,
        thread=thread,
        link=link,
        most=MOST,
        place=Markdown(f"{inert.code(entry.path)}{inside}"),
        state=f"{_STATES[entry.state]} since round {entry.since}",
    )


def headline(kind: Kind, outcome: Outcome) -> str:
    """What a job came to, as a clause."""
    return _VERDICTS[kind][outcome.verdict]


def reported(kind: Kind, outcome: Outcome, sha: str, finding: str, remote: Remote | None, log: str) -> str:
    """What a job reported of commit `sha`; of a probe, of the finding with that id. `log` is an address."""
    link_commit = commit_links(remote)
    says = headline(kind, outcome)
    if outcome.parity is not None:
        return render(
            "answers/parity.md.j2",
            found=outcome.parity,
            digest_of=DIGEST_OF,
            sha=sha,
            says=says,
            link_commit=link_commit,
            log=log,
            most=SHOWN,
        )
    assert outcome.probe is not None
    return render(
        "answers/probe.md.j2",
        found=outcome.probe,
        shown=_shown(outcome.probe),
        id=finding,
        sha=sha,
        says=says,
        link_commit=link_commit,
        log=log,
    )


def _shown(found: Probe) -> list[str]:
    return [
        "\n".join(
            f"{inert.one_line(change.where)}: {_value(change.before)} -> {_value(change.after)}"
            for change in witness.changes[:SHOWN]
        )
        for witness in found.witnesses[:_WITNESSES]
    ]


def _value(raw: bytes) -> str:
    text = inert.one_line(bytes(raw).decode("utf-8", "replace"))
    return text if len(text) <= _VALUE else text[:_VALUE] + "…"


def started(kind: Kind, sha: str, by: str, remote: Remote | None, log: str) -> str:
    """A job that was authorized, and who asked for it."""
    return render(
        "answers/started.md.j2",
        what=kind.capitalize(),
        sha=sha,
        by=by,
        link_commit=commit_links(remote),
        log=log,
    )


def nothing(kind: Kind, why: str, sha: str, remote: Remote | None, log: str) -> str:
    """A job that came to nothing; `why` is a clause."""
    return render(
        "answers/nothing.md.j2",
        what=kind.capitalize(),
        why=why,
        sha=sha,
        link_commit=commit_links(remote),
        log=log,
    )
