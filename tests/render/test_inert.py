"""Whatever a pull request writes stays text: in words, in code, in fences."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.render import inert
from reviewbot.render.markdown import _environment

MANY = settings(max_examples=100, deadline=None)


def without_marks(text: str) -> str:
    """What a reader sees, with white space folded and without what only holds filters off."""
    return " ".join(text.replace(inert.BREAK, "").split())


@MANY
@given(data=st.data())
def test_words_are_one_paragraph_and_say_what_they_said(page, hostile, data):
    text = data.draw(hostile)
    seen = page(inert.plain(text))
    assert set(seen.elements) <= {"p"}
    assert len(seen.elements) <= 1
    assert seen.acts == {}
    assert without_marks(seen.words) == without_marks(inert.one_line(text))


@MANY
@given(data=st.data())
def test_prose_is_words_and_code(page, hostile, data):
    text = data.draw(hostile)
    seen = page(inert.prose(text))
    assert set(seen.elements) <= {"p", "code"}
    assert seen.elements.count("p") <= 1
    assert seen.links == seen.comments == []
    assert seen.acts == {}


@MANY
@given(data=st.data())
def test_a_code_span_is_one_span_that_holds_the_text(page, hostile, data):
    text = data.draw(hostile)
    seen = page(inert.code(text))
    assert seen.elements == (["p", "code"] if inert.one_line(text) else [])
    assert [without_marks(text) for text in seen.quoted] == [without_marks(inert.one_line(text))][
        : len(seen.quoted)
    ]


@MANY
@given(data=st.data())
def test_a_link_leads_where_it_should(page, hostile, data):
    text = data.draw(hostile)
    seen = page(inert.link("x" + text, "https://github.com/acme/trainer"))
    assert seen.elements == ["p", "a", "code"]
    assert seen.links == ["https://github.com/acme/trainer"]
    assert without_marks(seen.quoted[0]) == without_marks(inert.one_line("x" + text))


def test_a_file_name_cannot_turn_its_link_into_a_definition(page):
    assert page(inert.link("x]:y", "https://github.com/acme/trainer")).elements == ["p", "a", "code"]


@MANY
@given(data=st.data(), language=st.sampled_from(["diff", "suggestion", "python"]))
def test_a_fence_holds_everything_to_its_end(page, hostile, data, language):
    text = data.draw(hostile)
    seen = page(inert.block(text, language) + "\n\nafter\n")
    assert seen.elements == ["pre", "code", "p"]
    assert seen.words.strip("\x00\n") == "after"


@MANY
@given(data=st.data())
def test_a_cell_cannot_make_cells(page, hostile, data):
    text = data.draw(hostile)
    seen = page(f"| a | b |\n| - | - |\n| {inert.plain('x' + text)} | last |\n")
    assert seen.elements.count("td") == 2
    assert seen.words.split()[-1] == "last"


@MANY
@given(data=st.data())
def test_a_claim_is_a_sentence(page, hostile, data):
    text = data.draw(hostile)
    seen = page(f"**C1 · {inert.claim(text)}** <sub>proved</sub>")
    assert set(seen.elements) <= {"p", "strong", "code", "sub"}
    assert seen.elements[:2] == ["p", "strong"]
    assert seen.elements[-1] == "sub"
    assert seen.acts == {}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the value \u202eevil\u2066", "the value <U+202E>evil<U+2066>"),
        ("a\0b\x1b[31m", "a<U+0000>b<U+001B>[31m"),
        ("soft\u00adhyphen, joiner\u200d", "soft<U+00AD>hyphen, joiner<U+200D>"),
        ("lone \ud800", "lone <U+D800>"),
        ("blank \u3164", "blank <U+3164>"),
        ("caf\u00e9 \u4e2d \U0001f600", "caf\u00e9 \u4e2d \U0001f600"),
    ],
)
def test_what_cannot_be_seen_is_spelled_out(text, shown):
    assert inert.visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "a` `@ada",
        "\\`@ada`",
        "www.www.evil.example http:http://evil.example",
        "_www.evil.example gh-gh-12 ##12 @@ada ::tada::",
        "deadbeefcafedeadbeefcafe",
        "$`x`$ $x$",
        "`a`b`@c",
        "- [ ] a\n- [x] b",
        "*a* **b** _c_ __d__ ~~e~~ ***f***",
        "[a](https://evil.example) ![b](https://evil.example)",
    ],
)
def test_what_hypothesis_seldom_makes(page, text):
    for filtered in (inert.plain, inert.prose, inert.claim):
        seen = page(filtered(text))
        assert set(seen.elements) <= {"p", "code"}
        assert seen.acts == {}


def test_code_of_a_message_stays_code(page):
    seen = page(inert.claim("`x == x` compares ``a ` b`` with itself"))
    assert seen.quoted == ["x == x", "a ` b"]
    assert inert.claim("it cannot fail") == "It cannot fail."


def test_ordinary_words_stay_readable_in_the_source():
    text = "line 5 checks it: rows (all 3), don't; see a/b.py - or not?"
    assert inert.plain(text) == text


def test_a_very_long_text_is_cut_off_and_says_so():
    cut = inert.one_line("x" * 100_000)
    assert len(cut) == inert.LONGEST + 1
    assert cut.endswith("\u2026")


def test_the_end_of_a_suggestion_is_the_end_of_its_lines():
    assert inert.block("a\r\nb\r\n", "suggestion") == "```suggestion\na\nb\n```"
    assert inert.block("", "suggestion") == "```suggestion\n```"
    assert inert.block("```\n", "suggestion") == "````suggestion\n```\n````"
    assert re.fullmatch("```diff\n-a<U\\+202E>\n```", inert.block("-a\u202e", "diff"))


def test_a_template_that_names_no_filter_puts_out_words():
    """The safe way is the one that nobody has to think of."""
    made = _environment().from_string("{{ text }} {{ number }} {{ ours }}")
    shown = made.render(text="@ada <b> deadbeefcafe", number=3, ours=inert.code("@ada"))
    assert shown == f"@{inert.BREAK}ada &lt;b&gt; deadbe{inert.BREAK}efcafe 3 `@ada`"


@pytest.mark.parametrize("inside", ["```\n@ada", "````\n@ada\n```", "~~~\n```suggestion\n@ada\n"])
def test_code_that_holds_a_fence_does_not_end_its_own(page, inside):
    seen = page(inert.block(inside, "python"))
    assert (seen.elements.count("pre"), seen.acts) == (1, {}) and "@ada" in seen.quoted[-1]


@pytest.mark.parametrize("inside", ["a`@ada`b", "``@ada``", "`"])
def test_code_that_holds_backticks_does_not_end_its_own_span(page, inside):
    seen = page(f"see {inert.code(inside)} there")
    assert (seen.elements.count("code"), seen.acts, seen.quoted) == (1, {}, [inside])


def test_words_between_tags_act_no_more_than_others(page):
    words = "@ada <b> deadbeefcafe #12 :tada: www.evil.example"
    seen = page(f"<details><summary>C1: {inert.within_html(words)}</summary></details>")
    assert (seen.acts, seen.elements) == ({}, ["details", "summary"])
    assert seen.words.replace(inert.BREAK, "").strip() == f"C1: {words}"
