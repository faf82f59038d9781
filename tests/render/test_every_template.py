"""Every document that can stand on GitHub, with other people's text wherever there is text."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.lint.engine import Report
from reviewbot.model import Finding, Fix, Review, Round, Settled, Span, Step, Unread
from reviewbot.parity.result import Result as Parity
from reviewbot.probe import evidence
from reviewbot.probe.inside.edits import Edit
from reviewbot.render import (
    answers,
    comments,
    findings_markdown,
    inert,
    parity_markdown,
    probe_markdown,
    size_markdown,
    status,
)
from reviewbot.review.ledger import Dismissal, Entry
from reviewbot.review.size.result import Size
from reviewbot.source.permalink import Remote, from_address

ROOT = Path(__file__).parents[2]
DUMPS = ROOT / "tests" / "cases" / "dumps"
REMOTE = Remote("github.com", "acme", "trainer")
HEAD = "5ac1f0c2b7d9e3684f50a1b2c3d4e5f60718293a"
OURS = re.compile(r"https://github\.com/acme/trainer/(?:blob|commit)/[0-9a-f]{40}(?:/[^\s()<>\"']*)?")
MANY = settings(max_examples=20, deadline=None)
# What is ours in a document, or what a schema has held to a few words: a pull request does not choose it.
KEPT = {
    "certainty", "state", "place", "verdict", "kind", "status", "head", "base", "merge_base", "id", "ids",
    "sides", "form", "kinds", "role", "edit", "labels",
}  # fmt: skip


def defaced(value: Any, draw: Callable[[], str], keep: frozenset[str] = frozenset(KEPT)) -> Any:
    """The same thing with every text in it replaced, but for names of fields and what is ours."""
    if isinstance(value, str):
        return draw()
    if isinstance(value, list | tuple):
        return type(value)(defaced(one, draw, keep) for one in value)
    if isinstance(value, dict):
        return {key: defaced(one, draw, keep) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [one.name for one in dataclasses.fields(value) if one.init and one.name not in keep]
        return dataclasses.replace(
            value, **{name: defaced(getattr(value, name), draw, keep) for name in names}
        )
    if isinstance(value, msgspec.Struct):
        names = [name for name in value.__struct_fields__ if name not in keep]
        return msgspec.structs.replace(
            value, **{name: defaced(getattr(value, name), draw, keep) for name in names}
        )
    return value


def ran(*words: str | Path, cwd: Path = ROOT) -> str:
    command = [sys.executable, "-m", "reviewbot", *map(str, words), "--output-format", "json"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def parities() -> list[Parity]:
    """A run that failed with its tokens, and one with a row set aside."""
    made = []
    for case in ("prefix-swapped", "near-tie"):
        folder = DUMPS / case
        words = ("parity", "compare", folder / "reference", folder / "restored")
        made.append(msgspec.json.decode(ran(*words, "--restores", folder / "restores.jsonl"), type=Parity))
    assert made[0].failures and made[1].set_aside
    return made


@pytest.fixture(scope="module")
def sized(tmp_path_factory: pytest.TempPathFactory) -> Size:
    """The size of a change with findings that take lines away."""
    folder = tmp_path_factory.mktemp("sized")
    git = ("git", "-C", str(folder), "-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run([*git, "init", "--quiet", "--initial-branch=main"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", "start"], check=True)
    (folder / "test_rows.py").write_text(
        "def compare(one, other):\n    for a, b in zip(one, other, strict=True):\n"
        "        if a.ids != b.ids and b.ids[0] < b.end:\n            continue\n"
        "        assert a.ids == b.ids\n"
    )
    subprocess.run([*git, "add", "--all"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "rows"], check=True)
    made = msgspec.json.decode(ran("size", "--base", "HEAD~1", cwd=folder), type=Size)
    assert made.cuts and made.cuts[0].diff and made.rounds[-1].files
    return made


def looked_at(page: Callable[[str], Any], text: str, allowed: re.Pattern[str] = OURS) -> None:
    """That nothing in it acts, for GitHub, and that no link is anybody else's."""
    seen = page(text)
    assert seen.acts == {}, text
    assert all(allowed.fullmatch(link) for link in seen.links), seen.links
    assert not set(seen.elements) & {"img", "script", "input", "h1", "h2", "hr", "del"}, text


@MANY
@given(data=st.data())
def test_a_parity_comment(page, hostile, parities, data):
    for one in parities:
        looked_at(page, parity_markdown.text(defaced(one, lambda: data.draw(hostile))))


@MANY
@given(data=st.data())
def test_a_size_comment(page, hostile, sized, data):
    made = defaced(sized, lambda: data.draw(hostile).replace("\ud800", ""))
    looked_at(page, size_markdown.text(made, REMOTE))


def probed() -> evidence.Result:
    """A probe's result with something in every part of it."""
    place = evidence.Place("tests/a.py", 3, "if x: continue", "compare")
    changed = evidence.Altered("rows[0].ids[4]", 40, "text", "a token changed", Edit("set", ("rows",), 1))
    strip = evidence.Strip(
        "ids", (1, "two"), (1, "other"), ("baseline", "restored"), (0, 1), ("a", "b"), 1, (0, 1)
    )
    witness = evidence.Witness(
        "excuse", (changed,), (place,), {"first": {"rows": "text"}}, 3, 2, "caught then",
        {"rows": ["text"]}, "source", 2, strip, "other",
    )  # fmt: skip
    return evidence.Result(
        "tests/a.py::compare", "0" * 64, ("sandbox",), 12, (witness,),
        dead=(evidence.Dead(place, 1, "decided nothing"),),
        kills=(evidence.Kill("token-changed", (place,), "ValueError: text"),),
        not_run=("a stub stood for it",), never_compared=("reward",), unread_values=("masks",),
        excuses_taken=((place, 3),), sufficient=(place,), checks=(evidence.Checked(place, 3, 1, 1),),
        questions=("is it meant?",), derivations=("ids from text",), inputs="the tests", loaded="cut out",
        verdict_by="an exception", joint="all three", joint_survive=("order",),
        dropped=(evidence.Dropped("Row", "rows", ("ids",), {"ids": "text"}, {"ids": None}),),
    )  # fmt: skip


@MANY
@given(data=st.data())
def test_a_probe_comment(page, hostile, data):
    made = defaced(probed(), lambda: data.draw(hostile), frozenset({*KEPT, "why"}))
    looked_at(page, probe_markdown.text(made))


FINDING = Finding(
    rule="excuse-branch",
    span=Span("tests/a.py", 1, 1, 2, 3),
    certainty="likely",
    message="rows skip the comparison",
    steps=(Step("tests/a.py", 1, 1, "decided here"), Step("b.py", 2, 3, "made here", base=True)),
    still_catches=("nothing",),
    fix=Fix("drop the branch", ()),
)


@MANY
@given(data=st.data())
def test_findings_in_markdown(page, hostile, data):
    draw = lambda: data.draw(hostile)  # noqa: E731 a name for what is drawn often
    made = defaced(Report((FINDING, FINDING), (), (Unread("a.py", "why", 3),), (), files=2), draw)
    looked_at(page, findings_markdown.encode(made, lambda path: [draw(), draw(), draw()]))


@MANY
@given(data=st.data())
@pytest.mark.parametrize("state", ["fixed", "gone", "back", "dismissed", "open"])
def test_what_became_of_a_thread(page, hostile, state, data):
    draw = lambda: data.draw(hostile).replace("\ud800", "")  # noqa: E731 a name for what is drawn often
    dismissal = Dismissal("ada", "meant", 2, HEAD, "c") if state in ("dismissed", "open") else None
    made = Entry("C1", "r", "a.py", "u", 1, "f", "t", "c", "s", state, 2, 1, 2, "line", 5, dismissal)
    text = str(status.status(defaced(made, draw), HEAD, REMOTE))
    looked_at(page, text)
    assert page(text).elements[0] == "blockquote" and page(text).elements.count("blockquote") == 1


@MANY
@given(data=st.data())
def test_a_summary_of_a_later_round(page, hostile, data):
    draw = lambda: data.draw(hostile)  # noqa: E731 a name for what is drawn often
    settled = tuple(
        Settled(f"C{number}", "excuse-branch", "a.py", state, 2, "ada", "meant")
        for number, state in enumerate(("fixed", "gone", "dismissed", "open"), 1)
    )
    last = Round(2, HEAD, HEAD, HEAD, 3, 2, (Unread("a.py", "why", 3),), (FINDING,), (Unread("b.py", "why"),))
    review = defaced(Review(str(REMOTE), (last,), (), settled), draw)
    looked_at(page, comments.rendered(review, REMOTE, (draw(), draw())).summary)


def test_half_a_character_in_a_path_stops_no_summary(page):
    half = dataclasses.replace(FINDING, span=dataclasses.replace(FINDING.span, path="\ud800.py"))
    last = Round(2, HEAD, HEAD, HEAD, 3, 2, (Unread("\ud800.py", "why", 3),), (half,))
    summary = comments.rendered(Review(str(REMOTE), (last,), (), ()), REMOTE, ("", "")).summary
    assert f"/blob/{HEAD}/%3F.py#" in summary
    looked_at(page, summary)


@MANY
@given(data=st.data())
def test_what_is_said_of_a_job_and_of_an_error(page, hostile, data):
    draw = lambda: data.draw(hostile)  # noqa: E731 a name for what is drawn often
    looked_at(page, answers.started("parity", HEAD, draw(), REMOTE, ""))
    looked_at(page, answers.nothing("probe", draw(), HEAD, REMOTE, ""))
    looked_at(page, answers.sentence(draw()))


@MANY
@given(data=st.data())
def test_a_name_that_an_address_holds_never_leads_elsewhere(page, hostile, data):
    """Titles and branches are shown nowhere; an address of a submodule is, as a link or not at all."""
    address = data.draw(st.sampled_from(["https://github.com/", "git@github.com:", "../", ""])) + data.draw(
        hostile
    )
    found = from_address(address)
    if found is not None:
        text = inert.link("a.py", found.permalink(HEAD, data.draw(hostile).replace("\ud800", ""), 1, 2))
        seen = page(text)
        assert seen.acts == {} and len(seen.links) == 1
        assert seen.links[0].startswith(f"https://{found}/blob/{HEAD}/"), json.dumps(address)
