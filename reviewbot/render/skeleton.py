"""The file that a new rule starts from."""

from __future__ import annotations

from importlib import resources


def rule(name: str) -> str:
    """A complete rule of that id, whose examples pass, to be filled with what it is really about."""
    import jinja2

    text = resources.files("reviewbot.templates").joinpath("rule.py.j2").read_text(encoding="utf-8")
    words = name.split("-")
    template = jinja2.Environment(keep_trailing_newline=True, autoescape=False).from_string(text)
    return template.render(name=name, kind="".join(word.capitalize() for word in words))
