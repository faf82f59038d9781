"""Pages as a browser shows them: phone, tablet and desk, light and dark, without scripts, printed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

WIDTHS = (360, 768, 1280)
SCHEMES = ("light", "dark")

# What stands in drawings that are shown: each text's box, how large it is, its contrast with what lies under
# it, and whether it stays within its drawing.
TEXTS = """
() => {
  const rgb = text => (text.match(/[0-9.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b]
    .map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const out = [];
  for (const svg of document.querySelectorAll("svg")) {
    const whole = svg.getBoundingClientRect();
    if (!whole.width) continue;
    const boxes = [...svg.querySelectorAll(":scope > rect")];
    for (const text of svg.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      const scale = text.getScreenCTM();
      const middle = [box.x + box.width / 2, box.y + box.height / 2];
      const under = boxes.filter(rect => {
        const r = rect.getBoundingClientRect();
        return r.left <= middle[0] && middle[0] <= r.right && r.top <= middle[1] && middle[1] <= r.bottom;
      }).pop();
      const body = getComputedStyle(document.body).backgroundColor;
      const ground = rgb(under ? getComputedStyle(under).fill : body);
      const [one, other] = [light(rgb(getComputedStyle(text).fill)), light(ground)].sort((a, b) => b - a);
      out.push({
        text: text.textContent, left: box.left, right: box.right, top: box.top, bottom: box.bottom,
        size: parseFloat(getComputedStyle(text).fontSize) * Math.hypot(scale.a, scale.b),
        contrast: (one + 0.05) / (other + 0.05),
        inside: box.left >= whole.left - 1 && box.right <= whole.right + 1 && box.bottom <= whole.bottom + 1,
        drawing: svg.querySelector("title").id,
      });
    }
  }
  return out;
}
"""
# Texts that the line to another label runs through.
STRUCK = """
() => [...document.querySelectorAll("svg")].filter(svg => svg.getBoundingClientRect().width).flatMap(svg => {
  const lines = [...svg.querySelectorAll("line.lead")].map(line => line.getBoundingClientRect());
  return [...svg.querySelectorAll("text")].filter(text => {
    const box = text.getBoundingClientRect();
    return lines.some(line => line.width < 2 && box.left + 1 < line.left && line.left < box.right - 1
      && line.top < box.bottom - 4 && box.top + 4 < line.bottom);
  }).map(text => text.textContent);
})
"""
# Elements that reach beyond the window, and boxes of code whose text does.
TOO_WIDE = """
() => [...document.querySelectorAll("body *")]
  .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
  .filter(one => !one.closest(".wide-table, svg, .skip"))
  .map(one => one.outerHTML.slice(0, 120))
"""


@pytest.fixture(
    params=[(width, scheme) for width in WIDTHS for scheme in SCHEMES], ids=lambda p: f"{p[0]}-{p[1]}"
)
def window(request, browser: Browser) -> Iterator[Page]:
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.requested = []
    page.on("request", lambda request: page.requested.append(request.url))
    yield page
    context.close()


def test_nothing_overflows_overlaps_is_too_small_or_too_pale(window: Page, site: list[Path]):
    drawn = 0
    for path in site:
        window.goto(path.as_uri())
        assert window.evaluate("document.documentElement.scrollWidth") <= window.viewport_size["width"], (
            path.name
        )
        assert window.evaluate(TOO_WIDE) == [], path.name
        assert window.evaluate(STRUCK) == [], path.name
        texts = window.evaluate(TEXTS)
        drawn += bool(texts)
        for one in texts:
            where = f"{path.name}: {one['text']}"
            assert one["size"] >= 11, where
            assert one["contrast"] >= 4.5, f"{where}: {one['contrast']:.1f}"
            assert one["inside"], where
        assert [pair for pair in combinations(texts, 2) if overlap(*pair)] == [], path.name
    assert drawn >= 5
    assert {url.partition(":")[0] for url in window.requested} == {"file"}


def with_strip(site: list[Path]) -> Path:
    """The page of the finding whose example is a strip of tokens."""
    return next(
        path for path in site if path.name[0] == "C" and "A row can differ" in path.read_text("utf-8")
    )


def overlap(one: dict, other: dict) -> bool:
    """Whether two boxes of text in one drawing lie over each other by more than the room around letters."""
    across = min(one["right"], other["right"]) - max(one["left"], other["left"])
    down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
    return one["drawing"] == other["drawing"] and across > 1 and down > 3


def test_axe_finds_nothing(window: Page, site: list[Path]):
    for path in site:
        window.goto(path.as_uri())
        found = Axe().run(window)
        said = [
            (one["id"], [node["html"] for node in one["nodes"]][:2]) for one in found.response["violations"]
        ]
        assert said == [], path.name


def test_terms_are_explained_on_hover_and_on_focus_within_the_window(window: Page, site: list[Path]):
    path = with_strip(site)
    window.goto(path.as_uri())
    term = window.locator("a.term").first
    tip = term.locator(".tip")
    assert not tip.is_visible()
    term.hover()
    assert tip.is_visible()
    window.mouse.move(0, 0)
    assert not tip.is_visible()
    term.focus()
    assert tip.is_visible()
    box = tip.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= window.viewport_size["width"]
    assert window.evaluate("document.documentElement.scrollWidth") <= window.viewport_size["width"]


def test_the_keyboard_reaches_the_content_first(window: Page, site: list[Path]):
    window.goto(site[0].as_uri())
    window.keyboard.press("Tab")
    assert window.evaluate("document.activeElement.className") == "skip"
    assert window.locator(".skip").bounding_box()["x"] >= 0
    window.keyboard.press("Enter")
    assert window.evaluate("document.activeElement.id") == "content"
    window.keyboard.press("Tab")
    outline = window.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert float(outline.removesuffix("px")) >= 2


def looks(browser: Browser, path: Path, scripts: bool) -> bytes:
    """A picture of the whole page, as PNG."""
    context = browser.new_context(java_script_enabled=scripts, viewport={"width": 768, "height": 900})
    page = context.new_page()
    page.goto(path.as_uri())
    shot = page.screenshot(full_page=True)
    context.close()
    return shot


def test_pages_are_the_same_without_scripts(browser: Browser, site: list[Path]):
    # A busy machine may take a tall page before all of it is drawn; a real difference is there each time.
    for path in site:
        alike = any(looks(browser, path, True) == looks(browser, path, False) for _ in range(5))
        assert alike, path.name


def test_print_is_dark_on_white_with_everything_open(browser: Browser, site: list[Path]):
    context = browser.new_context(color_scheme="dark", viewport={"width": 720, "height": 900})
    page = context.new_page()
    page.emulate_media(media="print", color_scheme="dark")
    path = with_strip(site)
    page.goto(path.as_uri())
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert not page.locator(".top").is_visible()
    assert page.locator("details table").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 720
    assert page.pdf(format="A4").startswith(b"%PDF")
    context.close()


def test_charts_are_there_on_a_phone(browser: Browser, site: list[Path]):
    page = browser.new_page(viewport={"width": 360, "height": 800})
    size = next(path for path in site if path.name == "size.html")
    page.goto(size.as_uri())
    box = page.locator("figure svg").first.bounding_box()
    page.close()
    assert box is not None and box["width"] > 600  # as wide as its letters need, in a box that scrolls


def test_no_page_is_large(site: list[Path]):
    assert max(path.stat().st_size for path in site) < 200_000
