"""A fix as a suggestion or a diff: either way it is the fix."""

from __future__ import annotations

import ast
import re
import subprocess

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reviewbot.model import Anchor, Edit, Fix
from reviewbot.review.proposal import SUGGESTION_LINES, propose
from reviewbot.review.threads import Shown

PATH = "test_rows.py"
LINES = [f"x{number} = {number}\n" for number in range(1, 41)]


def shown(*ranges):
    return Shown({PATH: ranges}).around


def made(*edits, near=(5, 5), lines=LINES, ranges=((1, 40),)):
    """The proposal and its anchor for edits given as (line, end_line, text)."""
    fix = Fix("change it", tuple(Edit(PATH, *edit) for edit in edits))
    return propose(fix, Anchor(PATH, *near), {PATH: list(lines)}.get, shown(*ranges))


def test_lines_in_the_diff_are_replaced_by_a_suggestion_that_stands_on_them():
    proposal, anchor = made((4, 6, "a = 1\n"))
    assert (proposal.form, proposal.text, anchor) == ("suggestion", "a = 1\n", Anchor(PATH, 4, 6))


def test_a_deletion_is_an_empty_suggestion():
    proposal, anchor = made((5, 5, ""))
    assert (proposal.form, proposal.text, anchor) == ("suggestion", "", Anchor(PATH, 5, 5))


def test_an_insertion_gives_the_next_line_again():
    proposal, anchor = made((5, 4, "a = 1\n"))
    assert (proposal.form, proposal.text, anchor) == ("suggestion", "a = 1\nx5 = 5\n", Anchor(PATH, 5, 5))


def test_a_suggestion_stands_also_on_the_lines_right_before_or_after_the_comment():
    proposal, anchor = made((5, 4, "a = 1\n"), near=(6, 6))
    assert (proposal.form, anchor) == ("suggestion", Anchor(PATH, 5, 5))
    assert made((7, 7, "a = 1\n"), near=(6, 6))[1] == Anchor(PATH, 7, 7)
    assert made((8, 8, "a = 1\n"), near=(6, 6))[0].form == "diff"


def test_several_edits_make_one_suggestion_with_the_lines_between():
    proposal, anchor = made((7, 7, ""), (4, 4, "a = 1\n"))
    assert proposal.text == "a = 1\nx5 = 5\nx6 = 6\n"
    assert anchor == Anchor(PATH, 4, 7)


def test_an_import_far_above_is_shown_as_a_diff_and_not_with_all_lines_between():
    proposal, anchor = made((1, 1, "from x import y\n"), (12, 12, "a = y\n"), near=(12, 12))
    assert (proposal.form, anchor) == ("diff", Anchor(PATH, 12, 12))
    assert re.findall("^[-+][^-+].*$", proposal.text, re.MULTILINE) == [
        "-x1 = 1",
        "+from x import y",
        "-x12 = 12",
        "+a = y",
    ]


@pytest.mark.parametrize(
    "more",
    [
        {"ranges": ((1, 5), (9, 40))},  # lines outside of the diff
        {"ranges": ()},
        {"near": (20, 20)},  # away from the comment
        {"lines": [line.replace("\n", "\r\n") for line in LINES]},
    ],
)
def test_other_lines_are_shown_as_a_diff(more):
    proposal, anchor = made((5, 6, "a = 1\n"), **more)
    assert proposal.form == "diff"
    end = "\r\n" if "lines" in more else "\n"
    assert proposal.text == (
        "--- a/test_rows.py\n+++ b/test_rows.py\n@@ -2,8 +2,7 @@\n"
        f" x2 = 2{end} x3 = 3{end} x4 = 4{end}-x5 = 5{end}-x6 = 6{end}+a = 1\n"
        f" x7 = 7{end} x8 = 8{end} x9 = 9{end}"
    )
    assert anchor == Anchor(PATH, *more.get("near", (5, 5)))


def test_a_long_change_is_a_diff():
    assert made((5, 4 + SUGGESTION_LINES, ""))[0].form == "suggestion"
    assert made((5, 5 + SUGGESTION_LINES, ""))[0].form == "diff"


def test_edits_far_apart_have_a_head_each_and_near_ones_share_one():
    proposal, _ = made((5, 5, ""), (11, 11, ""), (30, 30, ""), ranges=())
    assert re.findall("^@@.*@@$", proposal.text, re.MULTILINE) == [
        "@@ -2,13 +2,11 @@",
        "@@ -27,7 +25,6 @@",
    ]


def test_edits_of_another_file_are_a_diff_that_names_it():
    fix = Fix("change it", (Edit("log.py", 1, 1, "b\n"),))
    proposal, anchor = propose(fix, Anchor(PATH, 5, 5), {"log.py": ["a\n"], PATH: LINES}.get, shown((1, 40)))
    assert (proposal.form, proposal.text) == ("diff", "--- a/log.py\n+++ b/log.py\n@@ -1,1 +1,1 @@\n-a\n+b\n")
    assert anchor == Anchor(PATH, 5, 5)


@pytest.mark.parametrize(
    "edits",
    [
        [(41, 41, "")],
        [(42, 41, "a\n")],
        [(0, 0, "")],
        [(9, 7, "")],
        [(5, 6, ""), (6, 7, "")],
        [],
        [(5, 4, "")],
    ],
)
def test_a_fix_that_names_lines_that_are_not_there_or_changes_none_is_not_shown(edits):
    assert made(*edits) is None


def test_a_fix_after_which_the_file_would_not_be_python_is_not_shown():
    assert made((5, 5, "x = (\n")) is None
    assert made((5, 5, "x = (\n"), ranges=()) is None


def test_a_fix_of_a_file_that_cannot_be_read_is_not_shown():
    fix = Fix("change it", (Edit("gone.py", 1, 1, ""),))
    assert propose(fix, Anchor(PATH, 5, 5), lambda path: None, shown((1, 40))) is None


@st.composite
def edits_of(draw):
    """Edits of LINES, apart from one another."""
    at, found = 1, []
    for _ in range(draw(st.integers(1, 4))):
        line = at + draw(st.integers(0, 12))
        end = line - 1 + draw(st.integers(0, 3))
        if end > len(LINES) or line > len(LINES):
            break
        found.append((line, end, draw(st.sampled_from(["", "a = 1\n", "a = 1\nb = 2\n"]))))
        at = max(line, end) + 1
    assume(any(text or end >= line for line, end, text in found))
    return found


def applied(edits):
    out = list(LINES)
    for line, end, text in reversed(edits):
        out[line - 1 : end] = [text]
    return "".join(out)


@given(edits=edits_of())
def test_a_suggestion_does_what_the_fix_does(edits):
    proposal, anchor = made(*edits, near=(1, 40))
    if proposal.form == "suggestion":
        assert applied([(anchor.line, anchor.end_line, proposal.text)]) == applied(edits)


@settings(max_examples=25, deadline=None)
@given(edits=edits_of())
def test_a_diff_does_what_the_fix_does(edits, tmp_path_factory):
    proposal, _ = made(*edits, ranges=())
    assert proposal.form == "diff"
    folder = tmp_path_factory.mktemp("applied")
    (folder / PATH).write_text("".join(LINES))
    done = subprocess.run(["git", "apply"], cwd=folder, input=proposal.text, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert (folder / PATH).read_text() == applied(edits)


CLASS = """\
class TestRows:
    def test_one(
        self, rows,
    ):
        assert (rows, "m")

    def test_two(self, rows):
        text = '''
low
'''
        assert text, rows
""".splitlines(keepends=True)


@pytest.mark.parametrize(
    ("edit", "stands"),
    [
        ((5, 5, '        assert rows, "m"\n'), True),
        ((11, 11, "        assert text\n"), True),
        ((7, 7, "    def test_three(self):\n"), True),
        ((5, 5, "        assert (rows\n"), False),
        # What stands by itself need not where it is put.
        ((5, 5, "assert rows\n"), False),
        ((5, 5, "  assert rows\n"), False),
        ((5, 5, "    def test_three(self): pass\n"), False),
        ((5, 5, ""), False),
        ((11, 11, "    else: pass\n"), False),
    ],
)
def test_a_fix_inside_a_function_is_shown_only_where_the_file_is_python_after_it(edit, stands):
    lines = [*CLASS[: edit[0] - 1], edit[2], *CLASS[edit[1] :]]
    try:
        ast.parse("".join(lines))
        is_python = True
    except SyntaxError:
        is_python = False
    assert is_python is stands
    assert (made(edit, near=edit[:2], lines=CLASS) is not None) is stands
