"""A branch is only proposed to be dropped where nothing but the way around the check goes with it."""

from __future__ import annotations

import json

import pytest

LOOP = """
def compare(baseline, restored, allowed, log):
    aside = 0
    for b, o in zip(baseline, restored, strict=True):
{branch}
    print(aside)
"""
COUNTED = """
def compare(baseline, restored, allowed):
    aside = 0
    for b, o in zip(baseline, restored, strict=True):
        if b.tokens != o.tokens:
            aside += 1
            continue
        assert b.reward == o.reward
    assert aside <= allowed
"""
DRIFT = """
def compare(baseline, restored):
    for b, o in zip(baseline, restored, strict=True):
        if b["tokens"] != o["tokens"]:
            continue
        assert b["reward"] == o["reward"]
"""
ONLY_COMPARISON = "without the branch nothing compares `b.tokens` with `o.tokens`"


def found(reviewbot, text):
    words = ("lint", "--select", "excuse-branch", "--output-format", "json", "--fail-on", "never")
    ran = reviewbot(*words, "-", stdin=text)
    assert ran.code == 0, ran.err
    (finding,) = json.loads(ran.out)
    return finding


def looped(*lines):
    return LOOP.format(branch="\n".join(f"        {line}" for line in lines))


def test_a_counted_and_bounded_excuse_is_a_question_without_a_fix_that_says_one_thing(reviewbot):
    finding = found(reviewbot, COUNTED)
    assert (finding["certainty"], finding["fix"]) == ("question", None)
    assert finding["no_fix"] == ONLY_COMPARISON
    (catches,) = finding["still_catches"]
    assert catches == "line 9 bounds how many are excused, not which; nothing else looks at what is missed"


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (("if b.tokens != o.tokens:", "    continue", "assert b.reward == o.reward"), ONLY_COMPARISON),
        (
            ("if o.cancelled:", "    aside += 1", "    continue", "assert b.reward == o.reward"),
            "what the branch notes in `aside` is read further on",
        ),
        (
            ("if o.cancelled:", "    log.append(o)", "    continue", "assert b.reward == o.reward"),
            "what the branch notes in `log` is read further on",
        ),
        (
            ("if o.cancelled:", "    set_aside(o)", "    continue", "assert b.reward == o.reward"),
            "the branch itself calls `set_aside`",
        ),
        (
            ("if o.late:", "    assert b.day == o.day", "    continue", "assert b.reward == o.reward"),
            "without the branch nothing compares `b.day` with `o.day`",
        ),
    ],
)
def test_a_branch_that_does_more_than_lead_around_stays(reviewbot, lines, why):
    finding = found(reviewbot, looped(*lines))
    assert (finding["fix"], finding["no_fix"]) == (None, why)


@pytest.mark.parametrize(
    "lines",
    [
        ("if b.tokens != o.tokens and b.tokens[:2] == o.tokens[:2]:", "    continue", "assert b == o"),
        ("if o.cancelled:", "    print(o)", "    continue", "assert b.reward == o.reward"),
        ("if o.late:", "    assert b.day == o.day", "    continue", "assert b == o"),
    ],
)
def test_a_branch_that_only_leads_around_can_go(reviewbot, lines):
    finding = found(reviewbot, looped(*lines))
    assert finding["fix"]["says"] == "compare every row: drop the branch"


def test_review_and_size_propose_no_deletion_of_the_only_comparison(reviewbot, repository):
    base = repository.commit({"pyproject.toml": ""})
    repository.git("remote", "add", "origin", "https://github.com/example/rows.git")
    files = {"tests/parity.py": DRIFT, "tests/counted.py": COUNTED}
    repository.commit(files)

    def ran(*words):
        ran = reviewbot(*words, "--base", base, "--quiet", "--output-format", "json", cwd=repository.folder)
        assert ran.code in (0, 1), ran.err
        return json.loads(ran.out)

    threads = {
        one["finding"]["span"]["path"]: one
        for one in ran("review")["threads"]
        if one["finding"]["rule"] == "excuse-branch"
    }
    assert set(threads) == set(files)
    assert all(one["proposal"] is None and "suggestion" not in one["body"] for one in threads.values())
    assert "without the branch nothing compares" in threads["tests/parity.py"]["body"]
    (cut,) = [one for one in ran("size")["cuts"] if one["rule"] == "excuse-branch"]
    assert (cut["path"], cut["state"], cut["diff"]) == ("tests/parity.py", "estimate", "")
    assert cut["says"] == "without the branch nothing compares `b['tokens']` with `o['tokens']`"
    assert cut["files"] == []
