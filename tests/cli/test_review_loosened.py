"""A check that a change loosens is told with both versions, each pinned to its own commit."""

from __future__ import annotations

from reviewbot.render import review_json

BEFORE = """\
import math


def test_loss(run, reference):
    loss = run(1)
    assert math.isclose(loss, reference, rel_tol=1e-6)
    assert loss > 0


def test_rows(run):
    assert run(2).rows == [1, 2]
"""
# What the change makes of the file of that name, and what is said of it.
CHANGES = {
    "tests/test_tolerance.py": (
        BEFORE.replace("1e-6", "1e-2"),
        (6, "`rel_tol` goes from 1e-06 to 0.01"),
    ),
    "tests/test_membership.py": (
        BEFORE.replace("== [1, 2]", "in ([1, 2], [1, 3])"),
        (11, "`run(2).rows == [1, 2]` is now `run(2).rows in ([1, 2], [1, 3])`"),
    ),
    "tests/test_deleted.py": (
        BEFORE.replace("    assert loss > 0\n", ""),
        (6, "`loss > 0` is deleted"),
    ),
    "tests/test_skipped.py": (
        BEFORE.replace("def test_rows", "@pytest.mark.skip\ndef test_rows"),
        (10, "`pytest.mark.skip` is added"),
    ),
    "tests/test_renamed.py": (
        BEFORE.replace("test_loss", "test_the_loss").replace("assert loss > 0", "assert 0 < loss < 9"),
        None,
    ),
}


def test_what_became_looser_is_said_with_both_versions(reviewbot, repository):
    repository.git("remote", "add", "origin", "git@github.com:acme/trainer.git")
    base = repository.commit(dict.fromkeys(CHANGES, BEFORE))
    repository.git("checkout", "--quiet", "-b", "topic")
    head = repository.commit({path: text for path, (text, _) in CHANGES.items()})
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    every = review_json.decode(ran.out, "standard output").threads
    found = [one for one in every if one.finding.rule == "loosened-check"]
    assert {one.finding.span.path: (one.finding.span.line, one.finding.message) for one in found} == {
        path: (told[0], f"the change loosens a check: {told[1]}")
        for path, (_, told) in CHANGES.items()
        if told is not None
    }
    for thread in found:
        path = thread.finding.span.path
        pinned = {f"/blob/{base if step.base else head}/{path}#L" for step in thread.finding.steps}
        assert pinned
        assert all(link in thread.body for link in pinned)
        assert (thread.finding.certainty, thread.place) == ("likely", "line")


OVEN = "def bake(dough, minutes):\n    return dough * minutes\n"
TOOLS = "def assert_same(left, right):\n    assert left == right\n\ndef tray():\n    return 2\n"
BAKING = """\
from bakery.oven import bake
from bakery.tools import assert_same, tray


def test_bake():
    assert_same(bake(tray(), 3), 6)


def test_tray():
    assert tray() == 2
"""


def test_a_deleted_test_is_told_by_what_it_was_about(reviewbot, repository):
    code = {"bakery/oven.py": OVEN, "bakery/tools.py": TOOLS, "bakery/__init__.py": ""}
    repository.commit({**code, "tests/test_bakery.py": BAKING})
    repository.git("checkout", "--quiet", "-b", "topic")
    start, end = BAKING.index("def test_bake"), BAKING.index("def test_tray")
    repository.commit({"tests/test_bakery.py": BAKING[:start] + BAKING[end:]})
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    found = [one.finding for one in review_json.decode(ran.out, "standard output").threads]
    deleted = [one for one in found if "deletes" in one.message]
    assert [(one.message, one.still_catches) for one in deleted] == [
        (
            "the change deletes `test_bake`, and `bake`, which it checked, stays",
            ("nothing: no test that is left calls it",),
        )
    ]


BUFFER = """\
class Buffer:
    def take_all(self):
        return []


class Waiter:
    def on_wait(self, found):
        return [one for one in found if one]
"""
WAITING = """\
from bakery.buffer import Buffer


class TestWaiter:
    def test_on_wait_leaves_nothing(self):
        waiter = self.waiter(Buffer())
        assert waiter.on_wait([0]) == []

    def test_buffer(self):
        assert Buffer().take_all() == []
"""


def test_a_deleted_test_is_about_the_method_that_its_name_speaks_of(reviewbot, repository):
    code = {"bakery/buffer.py": BUFFER, "bakery/__init__.py": ""}
    repository.commit({**code, "tests/test_buffer.py": WAITING})
    repository.git("checkout", "--quiet", "-b", "topic")
    start, end = WAITING.index("    def test_on_wait"), WAITING.index("    def test_buffer")
    repository.commit({"tests/test_buffer.py": WAITING[:start] + WAITING[end:]})
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    (found,) = [one.finding for one in review_json.decode(ran.out, "standard output").threads]
    assert found.message.endswith("and `Waiter.on_wait`, which it checked, stays")
    assert found.still_catches == ("nothing: no test that is left calls it",)


def test_a_check_that_moves_is_not_deleted(reviewbot, repository):
    repository.commit({"tests/test_run.py": BEFORE})
    repository.git("checkout", "--quiet", "-b", "topic")
    moved = "def test_more(run):\n    loss = run(1)\n    assert loss > 0\n"
    repository.commit(
        {"tests/test_run.py": BEFORE.replace("    assert loss > 0\n", ""), "tests/test_more.py": moved}
    )
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=repository.folder)
    assert review_json.decode(ran.out, "standard output").threads == ()


def test_its_page_shows_both_versions(reviewbot, repository, tmp_path):
    repository.git("remote", "add", "origin", "git@github.com:acme/trainer.git")
    base = repository.commit({"tests/test_run.py": BEFORE})
    repository.git("checkout", "--quiet", "-b", "topic")
    head = repository.commit({"tests/test_run.py": BEFORE.replace("1e-6", "1e-2")})
    words = ("--base", "main", "--out", str(tmp_path / "pages"), "--quiet")
    assert reviewbot("report", *words, cwd=repository.folder).code in (0, 1)
    pages = [page.read_text(encoding="utf-8") for page in (tmp_path / "pages").rglob("*.html")]
    (page,) = [page for page in pages if "How it comes about" in page]
    assert f"/blob/{base}/tests/test_run.py#L6" in page
    assert f"/blob/{head}/tests/test_run.py#L6" in page


def test_that_running_cannot_answer_it_is_said(reviewbot, repository):
    repository.commit({"tests/test_run.py": BEFORE})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"tests/test_run.py": BEFORE.replace("1e-6", "1e-2")})
    ran = reviewbot("review", "--base", "main", "--probe", cwd=repository.folder)
    assert "reviewbot: probe: running cannot answer loosened-check\n" in ran.err
