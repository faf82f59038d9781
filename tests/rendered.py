"""Markdown looked at as GitHub does it: its own CommonMark fork, then its filters over what is text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

import pytest
from cmarkgfm import github_flavored_markdown_to_html
from cmarkgfm.cmark import Options
from hypothesis import strategies as st

# What GitHub's filters look for in text that is neither code nor a link.
FILTERS = {
    "mention": r"(?<![\w`/])@[A-Za-z0-9][A-Za-z0-9-]*",
    "e-mail": r"[\w.+-]+@[\w-]+\.\w+",
    "issue": r"(?:^|[\s(\[{:\w/.-])#\d+|\bGH-\d+",
    "emoji": r":[a-z0-9+_-]+:",
    "commit": r"\b[0-9a-f]{7,40}\b",
    "address": r"(?:https?|ftp)://\w|\bwww\.\w",
    "formula": r"\$[^\s$\u200b][^$]*\$",
}


@dataclass
class Page(HTMLParser):
    """The elements in order, links, and text by where it stands."""

    elements: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    words: str = ""
    quoted: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        attributes = dict(attrs)
        assert set(attributes) <= {"href", "lang", "align"}, attributes
        if "href" in attributes:
            self.links.append(attributes["href"])
        if tag in ("code", "pre"):
            self.quoted.append("")
        self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if {"code", "pre"} & set(self._open):
            self.quoted[-1] += data
            self.words += "\x00"
        elif "a" not in self._open:
            self.words += data

    def handle_comment(self, data):
        self.comments.append(data)

    def handle_decl(self, decl):
        raise AssertionError(f"a declaration: {decl}")

    def handle_pi(self, data):
        raise AssertionError(f"a processing instruction: {data}")

    @property
    def acts(self) -> dict[str, str]:
        """What GitHub's filters would act on."""
        hits = {name: re.search(pattern, self.words, re.IGNORECASE) for name, pattern in FILTERS.items()}
        return {name: hit[0] for name, hit in hits.items() if hit}


def as_page(markdown: str) -> Page:
    """What a Markdown text becomes, with nothing filtered out for safety."""
    seen = Page()
    seen.feed(github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE))
    seen.close()
    assert seen._open == [], seen._open
    return seen


@pytest.fixture(scope="session")
def page():
    """The function that looks at Markdown as GitHub does."""
    return as_page


# What Markdown or GitHub would act on, in pieces, and what cannot be seen.
_PIECES = """
` `` ``` ~~~ | || \\ \\\\ * ** _ __ ~~ # - + > = [ ] ( ) < > & ! $ $$ @ : ^ { } {{ {% a b x. 1. 1) 4711 @ada
@acme/team &#64;ada &commat;ada \\@ada ada@example.org #12 acme/trainer#3 GH-7 acme/trainer@deadbeef1
deadbeefcafe 1234567 :tada: :+1: http://evil.example https://evil.example/#L1 ftp://evil.example
www.evil.example mailto:ada@example.org <https://evil.example> [text](https://evil.example)
![image](https://evil.example/i.png) [ref]: [^1] [^1]: [x] <b> </b> <script> <!-- --> </details> <summary>
<img/src=x> <?php ?> <!DOCTYPE <![CDATA[ ]]> &lt; &amp;lt; &#0; --- === ```suggestion $x$ $`x`$ xmpp:a@b.c
"""
_SPACES = ("\n", "\r\n", "\r", "\n\n", " ", "    ", "\t", "\0", "\x1b[31m", "\u2028")
_UNSEEN = ("\u202e", "\u2066", "\u200b", "\ufeff", "\u00ad", "\U000e0041", "\ud800", "\u3164")


@pytest.fixture(scope="session")
def hostile() -> st.SearchStrategy[str]:
    """Texts that a pull request could hold to make its review act."""
    pieces = st.sampled_from([*_PIECES.split(), *_SPACES, *_UNSEEN, "\u00e9", "\u4e2d", "\U0001f600"])
    lists = st.lists(pieces, max_size=12)
    return st.one_of(lists.map("".join), lists.map(" ".join), st.text(max_size=40))
