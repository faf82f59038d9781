"""Files of a change that are too large to have been written by hand: named, not read, counted by git."""

from __future__ import annotations

import json

import pytest

CHECK = "def test_rows(run):\n    assert (run(1) == [2], 'rows')\n"
LIMIT = "[tool.reviewbot]\nmax-file-bytes = 500\n"
LARGE = CHECK.replace("test_rows", "test_large") + "# generated\n" * 100


@pytest.fixture
def generated(repository):
    """A branch that adds a weak check, and one in a file that its base's configuration takes for generated;
    the branch itself would read it."""
    repository.commit({"pyproject.toml": LIMIT, "tests/test_before.py": LARGE})
    repository.git("checkout", "--quiet", "-b", "topic")
    changed = {"tests/test_rows.py": CHECK, "tests/test_large.py": LARGE, "tests/test_before.py": CHECK}
    repository.commit({"pyproject.toml": "[tool.reviewbot]\n", **changed})
    return repository


def test_a_file_above_the_limit_is_named_and_not_read_by_review(reviewbot, generated):
    ran = reviewbot("review", "--base", "main", "--output-format", "json", cwd=generated.folder)
    made = json.loads(ran.out)
    unread = {one["path"]: one["why"] for one in made["rounds"][-1]["unread"]}
    assert {thread["finding"]["span"]["path"] for thread in made["threads"]} == {"tests/test_rows.py"}
    for name in ("tests/test_large.py", "tests/test_before.py"):
        assert "larger than 500 bytes (max-file-bytes)" in unread[name]


def test_its_lines_are_counted_by_git_all_the_same(reviewbot, generated):
    ran = reviewbot("size", "--base", "main", "--output-format", "json", cwd=generated.folder)
    files = {file["path"]: file for file in json.loads(ran.out)["rounds"][-1]["files"]}
    large = files["tests/test_large.py"]
    assert (large["lines"]["added"], large["kinds"]["test"]["added"]) == (102, 102)
    assert large["note"] == "larger than 500 bytes (max-file-bytes)"
    assert files["tests/test_before.py"]["lines"]["deleted"] == 101


def test_pages_hold_nothing_of_it(reviewbot, generated):
    ran = reviewbot("report", "--base", "main", "--out", "pages", cwd=generated.folder)
    assert ran.code == 0, ran.err
    pages = "".join(page.read_text() for page in (generated.folder / "pages").rglob("*.html"))
    assert "test_rows" in pages
    assert "def test_large" not in pages
