"""A probe's result in Markdown, as a comment shows it: one claim a witness, what it rests on, a replay."""

from __future__ import annotations

from functools import cache
from importlib import resources

import jinja2

from reviewbot.probe.evidence import Result
from reviewbot.render import inert, probe_text

MOST_LINES = 60


def text(result: Result, saved: str = "evidence.json") -> str:
    """The document. Whatever stands in names, values and messages comes out inert."""
    return _template("probe.md.j2").render(
        result=result,
        saved=saved,
        headline=probe_text.headline(result),
        title=probe_text.title,
        drawn=lambda witness: "\n".join(probe_text.drawn(witness)[:MOST_LINES]),
        argument=lambda witness: [line for line in probe_text.argument(witness, result.verdict_by) if line][
            :MOST_LINES
        ],
        checks=[line for line in probe_text.checks(result) if line][:MOST_LINES],
        notes=probe_text.notes(result)[:MOST_LINES],
    )


@cache
def _template(name: str) -> jinja2.Template:
    # Ours alone: nothing of a pull request is ever a template.
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_source),
        autoescape=False,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(plain=inert.plain, code=inert.code, block=inert.block, claim=inert.claim)
    return environment.get_template(name)


def _source(name: str) -> str:
    return resources.files("reviewbot.templates").joinpath(name).read_text(encoding="utf-8")
