"""The commands that a person gives in a comment: `/reviewbot dismiss C17 the row is checked upstream`.

A comment is a command only if its very first characters say so. Quotes, code, lists and text that comes
before it, such as an answer by e-mail or a pasted help text, therefore never give one.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

from reviewbot.config import hint

Verb = Literal["help", "explain", "dismiss", "reopen", "recheck", "probe", "parity", "size"]
VERBS: tuple[Verb, ...] = get_args(Verb)

# What follows a verb. A name in brackets may be left out.
USAGE: dict[Verb, str] = {
    "help": "help",
    "explain": "explain ID",
    "dismiss": "dismiss ID REASON",
    "reopen": "reopen ID",
    "recheck": "recheck",
    "probe": "probe ID",
    "parity": "parity [SHA]",
    "size": "size",
}
LONGEST_REASON = 500  # characters
_NAMED = 24  # characters of an unknown word that an answer repeats

_CALL = re.compile(r"/reviewbot(?:[ \t]+(?P<rest>.*))?", re.DOTALL)
_ID = re.compile(r"[Cc]([1-9][0-9]{0,5})")
# As short as git itself abbreviates, at most an id of a repository that uses SHA-256.
_SHA = re.compile(r"[0-9a-fA-F]{7,64}")


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `id` is a thread's (C17), `sha` a commit's first digits in lower case, at least seven,
    `reason` one line; each is "" where the verb has none, `sha` also where it was left out."""

    verb: Verb
    id: str = ""
    sha: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Misuse:
    """A comment that calls the bot and says nothing that it can do. `says` is one sentence, in which
    code stands between backticks. `verb` is None where it is the verb that is not known."""

    verb: Verb | None
    says: str


@dataclass(frozen=True, slots=True)
class Said:
    """A comment as its event tells of it. `by_bot`: its author is a bot or the token's own user."""

    body: str
    edited: bool
    by_bot: bool


def parse(said: Said) -> Command | Misuse | None:
    """What a comment orders; None for one that orders nothing, was edited, or is a bot's."""
    if said.edited or said.by_bot:
        return None
    first = re.split(r"[\r\n]", said.body, maxsplit=1)[0]
    called = _CALL.fullmatch(first)
    if called is None:
        return None
    words = (called["rest"] or "").split(maxsplit=1)
    if not words:
        return Misuse(None, "say what to do: `/reviewbot help` lists it")
    verb = next((known for known in VERBS if words[0].lower() == known), None)
    if verb is None:
        return Misuse(None, _unknown(words[0]))
    return _command(verb, words[1].strip() if len(words) > 1 else "")


def _unknown(word: str) -> str:
    near = hint(word.lower()[:_NAMED], VERBS).replace("'", "`")
    known = word[:_NAMED] if re.fullmatch(r"[A-Za-z0-9_-]+", word) else ""
    named = f"there is no command `{known}`" if known else "there is no such command"
    return f"{named}{near or '; `/reviewbot help` lists those there are'}"


def _command(verb: Verb, rest: str) -> Command | Misuse:
    if verb == "parity":
        return _parity(rest)
    if " " not in USAGE[verb]:
        return Command(verb) if not rest else _misuse(verb, "takes nothing after it")
    words = rest.split(maxsplit=1)
    found = _ID.fullmatch(words[0].rstrip(":,")) if words else None
    if found is None:
        return _misuse(verb, "needs the id of a finding, such as `C17`")
    name, more = f"C{found[1]}", words[1] if len(words) > 1 else ""
    if verb == "dismiss":
        return _dismiss(name, more)
    return Command(verb, id=name) if not more else _misuse(verb, "takes one id and nothing after it")


def _dismiss(name: str, reason: str) -> Command | Misuse:
    told = " ".join(reason.split())
    if not told:
        return _misuse("dismiss", "needs a reason")
    if len(told) > LONGEST_REASON:
        return _misuse("dismiss", f"takes a reason of at most {LONGEST_REASON} characters")
    return Command("dismiss", id=name, reason=told)


def _parity(rest: str) -> Command | Misuse:
    if not rest:
        return Command("parity")
    if not _SHA.fullmatch(rest):
        return _misuse("parity", "takes at least the first seven digits of a commit and nothing after them")
    return Command("parity", sha=rest.lower())


def _misuse(verb: Verb, says: str) -> Misuse:
    return Misuse(verb, f"`{verb}` {says}: `/reviewbot {USAGE[verb]}`")


def served(parsed: Command | Misuse, verbs: Collection[str]) -> bool:
    """Whether it is for whoever serves `verbs`. Who serves `help` also answers for words that are no verb."""
    return (parsed.verb or "help") in verbs
