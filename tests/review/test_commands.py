"""Commands in comments: what gives one, and above all what does not."""

from __future__ import annotations

import cmarkgfm
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewbot.render import inert
from reviewbot.review.commands import LONGEST_REASON, USAGE, VERBS, Command, Misuse, Said, parse, served


def said(body: str, edited: bool = False, by_bot: bool = False) -> Said:
    return Said(body, edited, by_bot)


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ("/reviewbot help", Command("help")),
        ("/reviewbot explain C17", Command("explain", id="C17")),
        ("/reviewbot dismiss C17 checked upstream", Command("dismiss", id="C17", reason="checked upstream")),
        ("/reviewbot dismiss c3: it's  fine\t here ", Command("dismiss", id="C3", reason="it's fine here")),
        ("/reviewbot reopen C1204", Command("reopen", id="C1204")),
        ("/reviewbot recheck", Command("recheck")),
        ("/reviewbot probe C2", Command("probe", id="C2")),
        ("/reviewbot parity", Command("parity")),
        ("/reviewbot parity DEADBEE", Command("parity", sha="deadbee")),
        (f"/reviewbot parity {'a1' * 20}", Command("parity", sha="a1" * 20)),
        ("/reviewbot size", Command("size")),
        ("/reviewbot\tHelp \r\nand now for something else", Command("help")),
        ("/reviewbot recheck\n/reviewbot dismiss C1 second line", Command("recheck")),
        ("/reviewbot dismiss C1 @all `$(id)` <!-- ", Command("dismiss", id="C1", reason="@all `$(id)` <!--")),
    ],
)
def test_a_command_is_the_first_line(body, command):
    assert parse(said(body)) == command


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\n/reviewbot help",
        " /reviewbot help",
        "    /reviewbot help",
        "> /reviewbot help",
        ">/reviewbot help\n",
        "```\n/reviewbot help\n```",
        "`/reviewbot help`",
        "- /reviewbot help",
        "* /reviewbot help",
        "<!-- -->/reviewbot help",
        "<details>\n/reviewbot help",
        "\ufeff/reviewbot help",
        "\u200b/reviewbot help",
        "please /reviewbot help",
        "@reviewbot help",
        "/reviewbots help",
        "/reviewbot-parity",
        "/reviewbot\u00a0help",
        "/reviewbot\u2028help",
        "/REVIEWBOT help",
        "On Monday a person wrote:\n> /reviewbot dismiss C1 no",
    ],
)
def test_anything_before_it_or_beside_it_makes_it_no_command(body):
    assert parse(said(body)) is None


def test_an_edit_and_a_bot_give_none():
    body = "/reviewbot dismiss C1 fine"
    assert parse(said(body)) == Command("dismiss", id="C1", reason="fine")
    assert parse(said(body, edited=True)) is None
    assert parse(said(body, by_bot=True)) is None


@pytest.mark.parametrize(
    ("body", "verb", "says"),
    [
        ("/reviewbot", None, "say what to do"),
        ("/reviewbot \t", None, "say what to do"),
        ("/reviewbot dissmiss C1 x", None, "did you mean `dismiss`?"),
        ("/reviewbot `id`", None, "there is no such command"),
        ("/reviewbot dismiss", "dismiss", "needs the id of a finding"),
        ("/reviewbot dismiss C1", "dismiss", "needs a reason"),
        ("/reviewbot dismiss C1 \u2003 ", "dismiss", "needs a reason"),
        (f"/reviewbot dismiss C1 {'x' * 501}", "dismiss", "at most 500 characters"),
        ("/reviewbot explain 17", "explain", "such as `C17`"),
        ("/reviewbot explain C0", "explain", "such as `C17`"),
        ("/reviewbot explain C\u0661", "explain", "such as `C17`"),
        ("/reviewbot explain C1 C2", "explain", "one id and nothing after it"),
        ("/reviewbot recheck now", "recheck", "takes nothing after it"),
        ("/reviewbot parity abc123", "parity", "first seven digits"),
        ("/reviewbot parity main", "parity", "first seven digits"),
        ("/reviewbot parity --upload-pack=x", "parity", "first seven digits"),
        (f"/reviewbot parity {'a' * 65}", "parity", "first seven digits"),
        ("/reviewbot parity deadbeef deadbeef", "parity", "first seven digits"),
    ],
)
def test_a_call_that_says_nothing_is_answered_in_one_sentence(body, verb, says):
    found = parse(said(body))
    assert isinstance(found, Misuse)
    assert found.verb == verb
    assert says in found.says


def test_each_verb_has_its_usage_and_takes_it():
    given = {"ID": "C4", "REASON": "known", "[SHA]": "0" * 40}
    for verb in VERBS:
        words = [given.get(word, word) for word in USAGE[verb].split()]
        found = parse(said("/reviewbot " + " ".join(words)))
        assert isinstance(found, Command), found
        assert found.verb == verb


def test_two_workflows_share_the_verbs_and_one_answers_for_the_rest():
    first, second = ("help", "dismiss"), ("parity",)
    for body, wanted in (
        ("/reviewbot dismiss C1 fine", first),
        ("/reviewbot what", first),
        ("/reviewbot", first),
        ("/reviewbot parity", second),
        ("/reviewbot parity zzz", second),
    ):
        found = parse(said(body))
        assert found is not None
        assert [served(found, verbs) for verbs in (first, second)] == [wanted is first, wanted is second]


HOSTILE = st.text(
    alphabet=st.sampled_from("/reviewbot dismiss C17\n\r\t`>@#<!-&;:$()[]\u200b\u202e\u2028é0x")
)


@given(st.text() | HOSTILE)
@example("\x00")
def test_text_without_the_call_in_its_first_place_orders_nothing(text):
    if not text.startswith("/reviewbot"):
        assert parse(said(text)) is None


@given(st.text() | HOSTILE, st.sampled_from(("", "dismiss ", "dismiss C1 ", "explain ", "parity ", "help ")))
def test_what_comes_out_of_any_text_is_well_formed_and_an_answer_to_it_is_inert(text, start):
    found = parse(said(f"/reviewbot {start}{text}"))
    if isinstance(found, Command):
        assert found.verb in VERBS
        assert found.id == "" or (found.id[0] == "C" and found.id[1:].isascii() and found.id[1:].isdigit())
        assert found.sha == "" or (found.sha.isascii() and found.sha.isalnum() and 7 <= len(found.sha) <= 64)
        assert len(found.reason) <= LONGEST_REASON
        assert "\n" not in found.reason and "\r" not in found.reason
    else:
        assert found is not None
        shown = cmarkgfm.github_flavored_markdown_to_html(inert.prose(found.says))
        assert shown.count("<p>") == 1
        assert "<a" not in shown and "@" not in shown
        assert "\n" not in found.says


@given(st.text())
def test_lines_after_the_first_change_nothing(text):
    alone = parse(said("/reviewbot dismiss C1 known"))
    assert parse(said(f"/reviewbot dismiss C1 known\n{text}")) == alone
