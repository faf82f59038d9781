"""A fix that would lose a comment is not proposed, and the finding says so."""

from __future__ import annotations

from textwrap import dedent

import pytest

from reviewbot.lint import registry
from reviewbot.lint.engine import lint_file
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import loses_comment
from reviewbot.model import Edit
from reviewbot.source.files import InMemory
from reviewbot.source.units import File, file_of


def test_the_finding_says_why_no_fix_is_proposed():
    code = """
        def test_rows(run):
            assert (
                run() == 1,  # as the paper says
                "rows",
            )

        def test_more(run):
            assert (run() == 1, "# rows")  # as the paper says
        """
    path = "tests/test_rows.py"
    content = dedent(code).encode()
    repo = Repo(files=InMemory({path: content}))
    rule = registry.load("constant-verdict")
    lost, kept = lint_file(file_of(path, content), [rule], repo.of(path))
    assert lost.fix is None
    assert lost.no_fix == "it would lose a comment that stands there"
    assert lost.withheld == "assert the comparison and give the message after it"
    assert kept.fix is not None
    assert not kept.no_fix


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("assert f() == 1\n", True),
        ("assert f() == 1  # as they say\n", False),
        ("# as they say\nassert f() == 1\n", False),
        ("assert all(f() == 1 # as they say)\n", True),
        ("", False),
    ],
)
def test_an_edit_that_leaves_a_comment_out(text, lost):
    file = File("a.py", b"assert (\n    f() == 1,  # as they say\n)\n# and more\n")
    assert loses_comment(file, Edit("a.py", 1, 3, text)) is lost


def test_one_of_two_alike_is_lost():
    file = File("a.py", b"a = (  # why\n    1,  # why\n)\n")
    assert loses_comment(file, Edit("a.py", 1, 3, "a = 1  # why\n"))


def test_what_looks_like_one_in_a_text_is_none():
    file = File("a.py", b"a = (\n    '# why',\n)\n")
    assert not loses_comment(file, Edit("a.py", 1, 3, "a = 1\n"))
