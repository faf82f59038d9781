"""Writes docs/rules/ from the rules' own files. With --check it only says which pages are not current.

Run in a checkout: `make docs`, or `python docs/make_rule_pages.py [--check]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from reviewbot.lint import registry  # noqa: E402  the checkout is found first
from reviewbot.render import rule_page  # noqa: E402

PAGES = ROOT / "docs" / "rules"
NOTE = "<!-- Made from rules/{}.py by `make docs`; change it there. -->\n\n"
INDEX = """\
<!-- Made from rules/ by `make docs`; change it there. -->

# Rules

Each page is made from the rule's own file; `reviewbot rule ID` prints the same.

| rule | what it finds |
| --- | --- |
"""


def pages() -> dict[str, str]:
    """The text of every page, by its name."""
    made = {"README.md": INDEX}
    for rule in registry.rule_ids():
        made[f"{rule}.md"] = NOTE.format(rule.replace("-", "_")) + rule_page.page(rule)
        says = registry.first_sentence(rule).replace("|", "\\|")
        made["README.md"] += f"| [{rule}]({rule}.md) | {says} |\n"
    return made


def stale() -> list[str]:
    """The names of pages that are missing, not current, or of no rule."""
    wanted = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    return sorted(name for name in {*wanted, *there} if wanted.get(name) != there.get(name))


def main() -> int:
    """Writes, or checks. Returns 1 if a check finds a page that is not current."""
    if "--check" in sys.argv[1:]:
        old = stale()
        for name in old:
            print(f"docs/rules/{name} is not current: make docs", file=sys.stderr)
        return int(bool(old))
    PAGES.mkdir(exist_ok=True)
    wanted = pages()
    for path in PAGES.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (PAGES / name).write_text(text, encoding="utf-8")
    print(f"{len(wanted)} pages in docs/rules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
