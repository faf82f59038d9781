"""Markdown out of templates: what a template puts out is inert, unless a filter says that it is Markdown."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

import jinja2

from reviewbot.render import inert
from reviewbot.render.inert import Markdown


def render(template: str, **values: object) -> str:
    """The text of `templates/TEMPLATE`, with at most one empty line in a row."""
    text = _environment().get_template(template).render(values)
    return _folded(text)


def _folded(text: str) -> str:
    """At most one empty line in a row outside of fences."""
    out: list[str] = []
    fence = ""
    for line in text.strip().split("\n"):
        opening = re.match("`{3,}", line)
        if fence:
            fence = "" if line == fence else fence
        elif opening:
            fence = opening[0]
        elif not line.strip() and out and not out[-1].strip():
            continue
        out.append(line if fence or opening else line.rstrip())
    return "\n".join(out) + "\n"


@cache
def _environment() -> jinja2.Environment:
    folder = resources.files("reviewbot.templates")
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: folder.joinpath(name).read_text(encoding="utf-8")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        # Whatever a template puts out is inert, unless a filter has said that it is Markdown.
        finalize=_inert,
    )
    made.filters.update(
        claim=inert.claim,
        prose=inert.prose,
        code=inert.code,
        block=inert.block,
        markdown=Markdown,
        cell=inert.cell,
        marker=lambda text: Markdown(re.sub("[^A-Za-z0-9]", "", text)),
        html=inert.within_html,
        counted=lambda number, what: f"{number} {what}{'' if number == 1 else 's'}",
    )
    return made


def _inert(value: object) -> object:
    return inert.plain(value) if isinstance(value, str) and not isinstance(value, Markdown) else value
