"""Answers and reports: what they say, and that nothing foreign in them acts."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.model import Finding, RuleNote, Span, Step, Thread
from reviewbot.render import answers, comments
from reviewbot.review.commands import Said, parse
from reviewbot.review.ledger import Dismissal, Entry
from reviewbot.review.outcome import Rejected, read
from reviewbot.source.permalink import Remote

MANY = settings(max_examples=60, deadline=None)
REMOTE = Remote("github.com", "acme", "trainer")
HEAD = "5ac1f0c2b7d9e3684f50a1b2c3d4e5f60718293a"
LOG = "https://github.com/acme/trainer/actions/runs/1"
OURS = {f"https://github.com/acme/trainer/commit/{HEAD}", LOG}


def entry(text: str) -> Entry:
    return Entry(
        id="C1",
        rule="excuse-branch",
        path=text,
        unit=text,
        line=1,
        fingerprint="f",
        text="t",
        code="c",
        says="s",
        state="dismissed",
        since=2,
        first_round=1,
        last_round=2,
        place="line",
        dismissal=Dismissal(text, text, 2, HEAD, "c"),
    )


def explained(text: str) -> str:
    path = text.replace("\ud800", "")  # half a character is in no name of a file
    finding = Finding(
        "excuse-branch", Span("a.py", 1, 1, 1, 2), "likely", text, (Step(path, 1, 2, text),), (text,)
    )
    thread = Thread("C1", finding, "new", 1, 1, "line")
    link = comments.links(HEAD, REMOTE)
    note = RuleNote("excuse-branch", "A branch leads around the check.", "Compare every row.")
    return answers.explanation(entry(text), note, "It excuses.", "", thread, link)


@MANY
@given(data=st.data())
def test_an_explanation_is_inert_whatever_the_finding_holds(page, hostile, data):
    seen = page(explained(data.draw(hostile)))
    assert seen.acts == {}
    assert all(link.startswith("https://github.com/acme/trainer/blob/") for link in seen.links)
    assert seen.comments == []


@MANY
@given(data=st.data())
def test_a_refusal_is_one_inert_sentence(page, hostile, data):
    seen = page(answers.sentence(data.draw(hostile)))
    assert set(seen.elements) <= {"p", "code"} and seen.elements.count("p") <= 1
    assert (seen.acts, seen.links) == ({}, [])


@MANY
@given(data=st.data())
def test_a_probe_s_report_is_inert_whatever_the_job_wrote(page, hostile, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("probe")
    draw = lambda: data.draw(hostile).encode("utf-8", "replace").decode()  # noqa: E731 a name for what is drawn often
    change = {"where": draw(), "before": draw(), "after": [draw()]}
    made = {"edits_tried": 1, "witnesses": [{"changes": [change]}] * 2, "not_run": [draw()]}
    (folder / "probe.json").write_text(json.dumps(made))
    seen = page(answers.reported("probe", read(folder, "probe"), HEAD, "C1", REMOTE, LOG))
    assert seen.acts == {}
    assert set(seen.links) == OURS
    assert seen.elements.count("pre") == 2


@MANY
@given(data=st.data())
def test_a_parity_report_is_inert_or_the_result_is_not_taken(page, hostile, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parity")
    text = data.draw(hostile).encode("utf-8", "replace").decode()
    made = {
        "verdict": "fail",
        "rows": 3,
        "failures": [{"row": [1, text, 2], "field": "reward", "first_difference": 4}],
        "failures_total": 1,
        "set_aside": [],
        "set_aside_allowed": 0,
        "restored_calls": None,
        "why": [text],
        "could_not_notice": [text, text],
        "environment": {text: text},
    }
    (folder / "parity.json").write_text(json.dumps(made))
    try:
        outcome = read(folder, "parity")
    except Rejected:
        return
    seen = page(answers.reported("parity", outcome, HEAD, "", REMOTE, LOG))
    assert (seen.acts, set(seen.links)) == ({}, OURS)
    assert seen.elements.count("details") == 1


def test_a_parity_report_says_what_a_pass_is_worth(tmp_path):
    made = {
        "verdict": "fail",
        "rows": 12,
        "failures": [{"row": [1, 4, 2], "field": "token_ids", "first_difference": 17}] * 11,
        "failures_total": 40,
        "set_aside": [],
        "set_aside_allowed": 0,
        "restored_calls": 3,
        "could_not_notice": ["`reward` is equal in all rows"] * 11,
        "environment": {"digest": "c0ffee12" * 8, "gpu": "<img>"},
    }
    (tmp_path / "parity.json").write_text(json.dumps(made))
    text = answers.reported("parity", read(tmp_path, "parity"), HEAD, "", REMOTE, LOG)
    assert "12 rows compared; 40 differences; 0 rows set aside; 3 calls restored." in text
    assert text.count("- step 1, prompt `4`, sample 2: `token_ids` from 17 on\n") == 10
    assert "- … and 30 more." in text
    assert text.count("- `reward` is equal in all rows.") == 10 and "- … and 1 more." in text
    assert "Environment `c0ffee12c0ff`: a digest of what the verdict holds for: versions, limits, " in text
    assert "engine and settings. The numbers are those" in text
    assert "Code that means to deceive can report a pass." in text


def test_no_answer_is_a_command_itself():
    texts = [
        answers.help_page(),
        answers.sentence("`/reviewbot help` lists it"),
        answers.nothing("parity", "the job left no result", HEAD, REMOTE, LOG),
        explained("/reviewbot dismiss C1 x"),
    ]
    for text in texts:
        assert parse(Said(text, edited=False, by_bot=False)) is None, text
