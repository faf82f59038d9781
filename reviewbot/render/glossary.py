"""The field's terms, and prose in which each is explained once a page, where it first stands."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from importlib import resources

from markupsafe import Markup, escape

from reviewbot.render.inert import one_line, visible


@dataclass(frozen=True, slots=True)
class Term:
    """A term, what it means in a sentence or two, and the pattern that finds it in prose."""

    name: str
    says: str
    pattern: str

    @property
    def anchor(self) -> str:
        """The id of its explanation on a page."""
        return "word-" + re.sub("[^a-z]+", "-", self.name.lower())


def _terms() -> tuple[Term, ...]:
    file = resources.files("reviewbot.templates").joinpath("glossary.toml")
    entries = tomllib.loads(file.read_text(encoding="utf-8"))["term"]
    return tuple(Term(e["name"], e["says"], e.get("pattern", re.escape(e["name"]) + "s?")) for e in entries)


TERMS = _terms()
_ANY = re.compile("|".join(rf"(?P<t{n}>\b(?:{t.pattern})\b)" for n, t in enumerate(TERMS)), re.IGNORECASE)
# Code as messages write it: between two equal runs of backticks.
_CODE = re.compile(r"(?<!`)(?P<run>`+)(?!`)(?P<inner>.*?[^`])(?P=run)(?!`)", re.DOTALL)


@dataclass
class Words:
    """The terms that one page has explained so far. What its methods return is HTML and inert."""

    used: list[Term] = field(default_factory=list)

    def plain(self, text: str) -> Markup:
        """Words in which a term that was not yet explained on this page is."""
        out: list[str] = []
        at = 0
        text = visible(text, keep="\n\t")
        for match in _ANY.finditer(text):
            term = TERMS[int((match.lastgroup or "t0")[1:])]
            if term in self.used:
                continue
            self.used.append(term)
            out += [escape(text[at : match.start()]), _explained(term, match[0])]
            at = match.end()
        return Markup("").join([*out, escape(text[at:])])

    def prose(self, text: str, *, explain: bool = True) -> Markup:
        """A sentence in which `code` between backticks is code."""
        return self._prose(one_line(text), explain)

    def _prose(self, words: str, explain: bool) -> Markup:
        show = self.plain if explain else escape
        out: list[Markup] = []
        at = 0
        for match in _CODE.finditer(words):
            out += [show(words[at : match.start()]), code(match["inner"])]
            at = match.end()
        return Markup("").join([*out, show(words[at:])])

    def claim(self, text: str, *, explain: bool = False) -> Markup:
        """A finding's message as a sentence: a capital first, a full stop last."""
        words = one_line(text)
        ended = words + ("" if words.endswith((".", "?", "!", "…")) else ".")
        return self.prose(ended[:1].upper() + ended[1:], explain=explain)

    def paragraphs(self, text: str) -> Markup:
        """Paragraphs of our own documentation, parted by empty lines."""
        parts = (self._prose(" ".join(part.split()), True) for part in text.split("\n\n") if part.strip())
        return Markup("\n").join(Markup("<p>{}</p>").format(part) for part in parts)


def code(text: str) -> Markup:
    """The text as code on one line."""
    return Markup("<code>{}</code>").format(one_line(text))


def _explained(term: Term, shown: str) -> Markup:
    return Markup(
        '<a class="term" href="#{0}" aria-describedby="{0}">{1}'
        '<span class="tip" aria-hidden="true">{2}</span></a>'
    ).format(term.anchor, shown, term.says)
