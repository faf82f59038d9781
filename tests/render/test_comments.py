"""Comments and summaries: as they are kept in tests/golden, inert whatever they hold, never too long."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.model import (
    Anchor,
    Finding,
    Fix,
    Proposal,
    Review,
    Round,
    RuleNote,
    Span,
    Step,
    Thread,
    Unread,
)
from reviewbot.render import comments
from reviewbot.source.permalink import Remote

GOLDEN = Path(__file__).parent.parent / "golden"
REMOTE = Remote("github.com", "acme", "trainer")
HEAD = "5ac1f0c2b7d9e3684f50a1b2c3d4e5f60718293a"
BASE = "0be1f0c2b7d9e3684f50a1b2c3d4e5f60718293a"
PATH = "tests/parity/test_restore.py"

EXCUSE = Finding(
    rule="excuse-branch",
    span=Span(PATH, 41, 9, 43, 25),
    certainty="proved",
    message="rows in `excused` skip the comparison, and `excused` is made from the rows compared",
    steps=(
        Step(PATH, 18, 24, "a row is excused when its first difference lies before `prefix_end`"),
        Step(
            "trainer/restore.py", 112, 112, "`prefix_end` counts from the row's first token, not the prefix's"
        ),
        Step(PATH, 41, 43, "excused rows compare `reward` alone"),
    ),
    still_catches=(
        "line 51 compares the length of every row",
        "nothing notices a token that changed in an earlier turn",
    ),
    fix=Fix("compare excused rows like the others", ()),
    unit="compare_rows",
    fingerprint="00112233445566aa",
)
TUPLE = Finding(
    rule="constant-verdict",
    span=Span(PATH, 60, 5, 60, 48),
    certainty="proved",
    message="the assertion is about a tuple, which is true whatever stands in it",
    still_catches=("nothing else in `test_lengths`",),
    unit="test_lengths",
    fingerprint="00112233445566bb",
)
QUESTION = Finding(
    rule="excuse-branch",
    span=Span(PATH, 70, 5, 71, 16),
    certainty="question",
    message="is a missing dump meant to pass?",
    unit="test_dumps",
    fingerprint="00112233445566cc",
)


def thread(finding, name, place="line", proposal=None, **more):
    span = finding.span
    anchor = None if place == "summary" else Anchor(span.path, span.line, span.end_line)
    return Thread(name, finding, "new", 1, 1, place, anchor, proposal, **more)


REVIEW = Review(
    repository=str(REMOTE),
    rounds=(
        Round(
            number=1,
            base=BASE,
            merge_base=BASE,
            head=HEAD,
            files=4,
            read=2,
            unread=(Unread("tests/old.py", "deleted"), Unread("tests/new.py", "not valid Python (x)", 3)),
            suppressed=(replace(TUPLE, span=Span(PATH, 90, 5, 90, 9)),),
        ),
    ),
    threads=(
        thread(
            EXCUSE,
            "C1",
            proposal=Proposal(
                "diff",
                "compare excused rows like the others",
                f"@@ {PATH} L40-L46 @@\n     for row in rows:\n-        if row.id in excused:\n"
                "-            check_reward(row)\n-            continue\n         check(row)\n",
            ),
        ),
        thread(
            TUPLE,
            "C2",
            proposal=Proposal(
                "suggestion",
                "assert the comparison and give the message after it",
                "    assert run(1) == [2], 'wrong'\n",
            ),
            also=("mock-echo",),
        ),
        thread(QUESTION, "C3", "summary"),
    ),
    rules=(
        RuleNote(
            "constant-verdict",
            "A check whose condition has the same value on every run.",
            "Assert the comparison itself, and put the message after a comma outside the parentheses.",
        ),
        RuleNote(
            "excuse-branch",
            "A branch that the compared values control leads around the check.",
            "Compare every row. If a difference is expected, require its evidence.",
        ),
    ),
)


@pytest.mark.parametrize("name", ["C1.md", "C2.md", "summary.md", "without-links.md"])
def test_the_text_is_the_one_that_was_agreed_on(name):
    made = comments.rendered(REVIEW, None if name == "without-links.md" else REMOTE)
    texts = {f"{thread.id}.md": thread.body for thread in made.threads}
    texts |= {"summary.md": made.summary, "without-links.md": comments.document(made)}
    assert texts[name] == (GOLDEN / name).read_text(encoding="utf-8")


def test_a_comment_is_laid_out_as_it_reads(page):
    made = comments.rendered(REVIEW, REMOTE)
    excuse, assertion, _ = (page(thread.body) for thread in made.threads)
    pinned = f"https://github.com/acme/trainer/blob/{HEAD}"
    assert excuse.links == [
        f"{pinned}/{PATH}#L18-L24",
        f"{pinned}/trainer/restore.py#L112",
        f"{pinned}/{PATH}#L41-L43",
    ]
    assert excuse.elements.count("ol") == 1
    assert excuse.elements.count("li") == 3
    assert excuse.comments == [" reviewbot C1 00112233445566aa "]
    assert "    assert run(1) == [2], 'wrong'\n" in assertion.quoted
    assert {seen.elements.count("details") for seen in (excuse, assertion)} == {1}


def hostile_review(draw):
    """The same review with other people's text wherever such text can stand."""
    path = "tests/x" + draw().replace("\ud800", "")

    def finding(one):
        return replace(
            one,
            message=draw(),
            span=replace(one.span, path=path),
            steps=tuple(replace(step, path=path, says=draw()) for step in one.steps),
            still_catches=(draw(), draw()),
        )

    def rewritten(one):
        proposal = one.proposal and replace(one.proposal, says=draw(), text=draw())
        return replace(one, finding=finding(one.finding), proposal=proposal)

    last = REVIEW.rounds[0]
    unread = (Unread(path, f"one {draw()}", 3), Unread(draw(), f"two {draw()}"))
    last = replace(last, unread=unread, suppressed=tuple(map(finding, last.suppressed)))
    return replace(REVIEW, threads=tuple(map(rewritten, REVIEW.threads)), rounds=(last,))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_nothing_in_a_pull_request_acts_in_its_review(page, hostile, data):
    plain = comments.rendered(REVIEW, REMOTE)
    made = comments.rendered(hostile_review(lambda: data.draw(hostile)), REMOTE)
    for usual, body in zip(
        [*(thread.body for thread in plain.threads), plain.summary],
        [*(thread.body for thread in made.threads), made.summary],
        strict=True,
    ):
        seen, expected = page(body), page(usual)
        assert seen.acts == {}
        assert all(link.startswith("https://github.com/acme/trainer/") for link in seen.links)
        assert len(seen.links) == len(expected.links)
        assert seen.comments == expected.comments
        # Code comes and goes with the text; the frame of the comment stays.
        frame = {
            "details",
            "summary",
            "ol",
            "li",
            "ul",
            "pre",
            "strong",
            "h3",
            "sub",
            "table",
            "img",
            "input",
        }
        assert [e for e in seen.elements if e in frame] == [e for e in expected.elements if e in frame]


@pytest.mark.parametrize("text", ["x" * 100_000, "`" * 100_000, "\u202e" * 100_000, "\u4e2d" * 100_000])
def test_no_comment_is_longer_than_github_takes(text):
    step = Step("a/" * 2000 + "x.py", 1, 2, text)
    finding = replace(EXCUSE, message=text, steps=(step,) * 100, still_catches=(text,) * 100)
    proposal = Proposal("diff", text, text)
    many = tuple(thread(finding, f"C{n}", "summary" if n % 2 else "line", proposal) for n in range(30))
    unread = tuple(Unread(f"{text[:200]}{n}.py", text) for n in range(1000))
    rounds = (replace(REVIEW.rounds[0], unread=unread, suppressed=(finding,) * 300),)
    made = comments.rendered(replace(REVIEW, threads=many, rounds=rounds), REMOTE)
    for body in (*(one.body for one in made.threads), made.summary):
        assert len(body.encode("utf-8", "surrogatepass")) <= comments.LIMIT
        assert body.count("<details>") == body.count("</details>")
    assert "30 findings" in made.summary


def test_a_summary_that_is_cut_says_what_is_missing():
    many = tuple(thread(EXCUSE, f"C{n}") for n in range(3000))
    made = comments.rendered(replace(REVIEW, threads=many), REMOTE).summary
    assert len(made) <= comments.LIMIT
    listed = made.count("- **C")
    assert listed > 20
    assert f"and {3000 - listed} more" in made
