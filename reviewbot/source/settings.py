"""Whether YAML is YAML, told without making anything of it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from reviewbot.errors import UnreadableFile

_TEMPLATE = re.compile(r"\{[%{]")
_WORKFLOWS = (".github", "workflows")


def check(path: str, text: str) -> None:
    """Raises `UnreadableFile`, with the line, for YAML that does not parse.

    What holds places for a template to fill is none yet, but for a workflow, in whose values they may stand.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for _ in yaml.parse(text, Loader=loader):
            pass
    except yaml.YAMLError as error:
        if _TEMPLATE.search(text) and PurePosixPath(path).parent.parts[-2:] != _WORKFLOWS:
            return
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or "a character that YAML does not allow"
        line = mark.line + 1 if mark is not None else None
        raise UnreadableFile(path, f"not valid YAML ({' '.join(said.split())})", line) from None
