"""Pages out of templates. Whatever a template puts out is escaped and inert, unless it is `Markup`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import jinja2
from markupsafe import Markup

from reviewbot import __version__
from reviewbot.render.glossary import Words, code
from reviewbot.render.inert import visible

# Pages that lead to a page, and the page itself: what each is called, and its file (for the last one "").
Crumbs = Sequence[tuple[str, str]]
HOME = ("Index", "index.html")
LARGEST = 190_000  # bytes of a page


@dataclass(frozen=True, slots=True)
class Extra:
    """A page that another part makes: its file, what the index calls it, a sentence on it, its text."""

    file: str
    label: str
    says: str
    text: str


def render(template: str, crumbs: Crumbs, **values: object) -> str:
    """A whole page. `template` extends `page.html.j2`; it explains terms with `words.prose(text)`."""
    made = _environment().get_template(template)
    return made.render(values, crumbs=crumbs, words=Words(), css=_css(), version=__version__)


def fitting(make: Callable[[int], str], most: int) -> str:
    """The page that `make` makes with at most so many of its parts, fewer of them where it is too large."""
    while True:
        text = make(most)
        if most <= 1 or len(text.encode("utf-8", "backslashreplace")) <= LARGEST:
            return text
        most //= 2


@cache
def _css() -> Markup:
    return Markup(_read("page.css"))


def _read(name: str) -> str:
    return resources.files("reviewbot.templates").joinpath(name).read_text(encoding="utf-8")


def counted(number: int, what: str) -> str:
    """`1 finding`, `2 findings`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


@cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
        finalize=_inert,
    )
    made.filters.update(code=code, counted=counted)
    return made


def _inert(value: object) -> object:
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value, keep="\n\t")
    return value
