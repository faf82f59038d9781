"""Takes the README's pictures of the demo's pages, in docs/images. `make readme` runs the demo first.

Needs Chromium (`chromium` on the path, or Playwright's own), playwright and pillow.
"""

from __future__ import annotations

import shutil
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
PAGES = HERE / "out" / "pages"
IMAGES = HERE.parent / "docs" / "images"
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
COLOURS = 128  # enough for text and a few tints, and half the size

# The rule of the finding that is shown, the scheme, width and height of the window, the name of the image.
SHOTS = (
    ("excuse-branch", "light", 900, 860, "finding.png"),
    ("repeated-row-index", "dark", 900, 735, "call-tree.png"),
)


def page_of(rule: str) -> Path:
    """The page of the demo's finding under that rule."""
    (found,) = (path for path in PAGES.glob("C*.html") if f"<code>{rule}</code> ·" in path.read_text("utf-8"))
    return found


def shoot(page: Page, name: str) -> None:
    """Takes what the window shows, in few colours."""
    image = Image.open(BytesIO(page.screenshot())).convert("RGB")
    image.quantize(COLOURS).save(IMAGES / name, optimize=True)
    print(f"{IMAGES / name}: {(IMAGES / name).stat().st_size // 1000} kB")


def main() -> None:
    """Takes every picture."""
    if not PAGES.is_dir():
        sys.exit(f"{PAGES} is not there: make demo")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGS)
        for rule, scheme, width, height, name in SHOTS:
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=1.5
            )
            page = context.new_page()
            page.goto(page_of(rule).as_uri())
            shoot(page, name)
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
