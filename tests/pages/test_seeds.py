"""The pages of four changes that let a real fault pass: what a maintainer reads of each in two minutes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow


@pytest.fixture
def page(browser: Browser):
    context = browser.new_context(viewport={"width": 1024, "height": 900})
    yield context.new_page()
    context.close()


def of_rule(folder: Path, rule: str) -> Path:
    """The page of the first finding of a rule."""
    number = re.compile(r"\d+")
    pages = sorted(folder.glob("C*.html"), key=lambda path: int(number.findall(path.name)[0]))
    return next(path for path in pages if f"<code>{rule}</code>" in path.read_text(encoding="utf-8"))


def opened(page: Page, path: Path) -> list[str]:
    """Opens a page; the headings of what it shows, the title first."""
    page.goto(path.as_uri())
    return [" ".join(one.split()) for one in page.locator("h1, h2").all_inner_texts()]


def drawn(page: Page) -> list[str]:
    """The texts of the drawing that is shown."""
    return [text for text in page.locator("svg:visible text").all_text_contents() if text.strip()]


def test_an_excuse_shows_the_row_that_passes(page: Page, seeds: Path):
    path = of_rule(seeds / "excuse-wider-than-its-reason", "excuse-branch")
    heads = opened(page, path)
    assert heads[0] == "A restored row can differ outside its restored prefix and still pass check."
    assert heads[1:4] == [
        "One row, ten positions of hours",
        "How it comes about",
        "The fix: compare every row: drop the branch — proposed, not in the PR",
    ]
    assert heads[4:6] == ["What still catches it", "So what"]
    labels = drawn(page)
    for text in (
        "passes all the same: index 2 to 6",
        "really restored: 2 tokens, index 5 to 6",
        "prompt",
        "trained turn 1",
        "tool result",
        "trained turn 2",
    ):
        assert text in labels
    assert "first difference: index 4 (90 → 0)" in labels
    facts = page.locator(".facts").inner_text()
    assert "Not there: the change adds tests/resumed_tides.py." in facts
    assert "Shown by a run of tests/resumed_tides.py::check" in facts
    assert "3 tests still pass; each of " in page.locator("main").inner_text()


def test_the_fix_of_an_excuse_takes_all_along_that_only_it_used(seeds: Path, tmp_path: Path):
    """The set of what is excused, the reasons for it, and the function that finds them."""
    name = "excuse-wider-than-its-reason"
    diff = of_rule(seeds / name, "excuse-branch").with_suffix(".diff")
    repository = seeds / "repositories" / name
    there = tmp_path / "there"
    subprocess.run(["git", "clone", "--quiet", repository, there], check=True)
    subprocess.run(["git", "apply", diff], check=True, cwd=there)
    left = (there / "tests" / "resumed_tides.py").read_text()
    for word in ("excused", "EXCUSED", "explain", "reasons"):
        assert word not in left
    assert "def check(calm, stormy, saved):" in left


def test_an_excuse_that_was_not_run_is_drawn_and_said_to_be_made_up(page: Page, seeds: Path):
    heads = opened(page, of_rule(seeds / "not-run", "excuse-branch"))
    assert heads[0].startswith("Where key in excused holds, hours and loss_mask are never compared")
    assert heads[1] == "What is excused, on a row that stands for any"
    assert "excused, as lines 25 and 26 have it" in drawn(page)
    caption = page.locator("figcaption").inner_text()
    assert "calm['loss_mask'].index(1) up to stormy['resumed_at'] + saved" in caption
    assert "not from a run: the row and its numbers are made up" in caption


def test_a_dropped_part_shows_the_path_that_keeps_it_and_the_one_that_loses_it(page: Page, seeds: Path):
    folder = seeds / "saved-part-dropped"
    heads = opened(page, of_rule(folder, "field-dropped-on-rebuild"))
    assert (
        heads[0] == "fold builds a new Ticket from ticket and leaves printed behind: it falls back to None."
    )
    assert heads[1] == "One value, two paths"
    assert {"Handed on as it is", "Through fold", "✓ printed is used", "✗ printed is lost"} <= set(
        drawn(page)
    )
    assert "Shown by a run of printer/device.py::fold" in page.locator(".facts").inner_text()
    assert "run finds None in place of what printed held" in page.locator(".sowhat").inner_text()
    heads = opened(page, of_rule(folder, "ignored-option-pair"))
    assert heads[1] == "Two pairs of settings, two paths"
    assert {"resume with watermark", "resume with booklet", "✗ runs on, and printed is lost"} <= set(
        drawn(page)
    )
    assert "goes on without printed" in page.locator(".sowhat").inner_text()
    assert (
        "The fix: refuse resume with booklet as it is refused with watermark — proposed, not in the PR"
        in heads
    )
    assert "settings.booklet" in page.locator(".diff .add").first.inner_text()
    assert "What still catches it" in heads and "So what" in heads


def test_what_exists_already_is_shown_beside_its_copy_with_the_import_that_replaces_it(
    page: Page, seeds: Path
):
    heads = opened(page, of_rule(seeds / "recorder-beside-a-dump", "reimplements-existing"))
    assert heads[0].startswith("record is write_night of survey/dump.py again")
    added = page.locator(".diff .add").all_inner_texts()
    assert [line.strip("+ \n") for line in added] == ["from survey.dump import write_night as record"]
    opened(page, of_rule(seeds / "recorder-beside-a-dump", "legs-share-folder"))
    assert "--log-dir" in page.locator(".steps").inner_text()


def test_the_lines_of_a_test_are_told_apart_and_each_check_has_its_place(page: Page, seeds: Path):
    heads = opened(page, seeds / "lines-that-check-nothing" / "size.html")
    assert re.fullmatch(r"Where the 99 lines of tests go, and the \d+ that can go\.", heads[0])
    for head in (
        "Lines added, by file and by kind",
        "What each finding takes away, or adds",
        "Where each check stands",
        "So what",
    ):
        assert head in heads
    rows = [" ".join(row.split()) for row in page.locator("table").last.locator("tr").all_inner_texts()]
    gone = [row for row in rows if "gone with" in row]
    assert any(row.startswith("if int(match[2]) + int(match[3]) != int(match[4]):") for row in gone)
    assert all(re.search(r"gone with C\d+: .", row) for row in gone)
    assert any(row.endswith(("line 22", "line 27", "line 30")) for row in rows)
